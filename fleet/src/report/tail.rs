//! Prints the announcements of all recorders.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use tapewright_fleet::announce::Announcement;
use tapewright_fleet::summary::{Notable, Summary, TOOL_ERROR};
use tapewright_fleet::tail::{Counts, Next, Wanted};

use super::{err, out, safe, state};

/// A line of JSON.
#[derive(Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Line<'a> {
    Announcement(&'a Announcement),
    Missed { messages: u64 },
    NoStream,
    ServerAway { why: &'a str },
    ServerBack,
    StreamCreatedAgain,
    End(Counts),
}

/// One message from the stream.
pub(crate) fn next(next: &Next, wanted: &Wanted, as_json: bool) -> io::Result<()> {
    if as_json {
        return json(&match next {
            Next::New(one) => Line::Announcement(one),
            Next::Missed(messages) => Line::Missed {
                messages: *messages,
            },
            Next::Nothing => Line::NoStream,
            Next::Away(why) => Line::ServerAway { why },
            Next::Back => Line::ServerBack,
            Next::Anew => Line::StreamCreatedAgain,
        });
    }
    match next {
        Next::New(one) => out(&announcement(one, wanted))?,
        Next::Missed(1) => err("1 announcement is missing: the stream no longer had it\n"),
        Next::Missed(count) => err(&format!(
            "{count} announcements are missing: the stream no longer had them\n"
        )),
        Next::Nothing => err("nothing announced yet; waiting\n"),
        Next::Away(why) => err(&format!("the server is unavailable: {}\n", safe(why))),
        Next::Back => err("the server is available again\n"),
        Next::Anew => err("the stream was created again\n"),
    }
    Ok(())
}

/// The counts of all messages.
pub(crate) fn counts(counts: Counts, as_json: bool) -> io::Result<()> {
    if as_json {
        return json(&Line::End(counts));
    }
    for (count, what) in [
        (counts.redelivered, "delivered again"),
        (counts.repeated, "announced twice"),
        (counts.foreign, "not of ours"),
    ] {
        if count > 0 {
            err(&format!("{count} messages {what}, not shown\n"));
        }
    }
    Ok(())
}

fn json(line: &Line<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")
}

/// One line, and one more for each failed exchange that matches.
fn announcement(one: &Announcement, wanted: &Wanted) -> String {
    let mut text = format!(
        "{}  {}/{}  {}  {} events{}",
        safe(&one.shipped),
        one.gateway,
        one.tape,
        safe(&one.label),
        one.events,
        rows(&one.rows),
    );
    if let Some(ended) = one.ended {
        // Writing to a string does not fail.
        let _never_fails = write!(text, "  {}", state(ended));
    }
    text.push('\n');
    for notable in one.rows.notable.iter().filter(|one| wanted.is_notable(one)) {
        text.push_str(&exchange(notable));
    }
    if one.rows.more_notable > 0 {
        let _never_fails = writeln!(text, "    and {} more", one.rows.more_notable);
    }
    text
}

fn rows(rows: &Summary) -> String {
    let answered = rows.exchanges;
    let mut text = String::new();
    for (count, what) in [
        (answered, "exchanges"),
        (rows.hangs(), "hangs"),
        (
            rows.outcomes.get("error").copied().unwrap_or_default(),
            "errors",
        ),
        (rows.tool_errors, "tool errors"),
        (rows.findings, "findings"),
    ] {
        if count > 0 {
            let what = if count == 1 {
                what.trim_end_matches('s')
            } else {
                what
            };
            let _never_fails = write!(text, "  {count} {what}");
        }
    }
    let mut tools: Vec<String> = rows
        .tools
        .keys()
        .take(TOOLS)
        .map(|tool| safe(tool))
        .collect();
    if rows.tools.len() > TOOLS || rows.of_other_tools > 0 {
        tools.push("…".to_owned());
    }
    if !tools.is_empty() {
        let _never_fails = write!(text, "  [{}]", tools.join(" "));
    }
    text
}

/// How many tools a line lists.
const TOOLS: usize = 6;

fn exchange(one: &Notable) -> String {
    let how = match one.outcome.as_str() {
        TOOL_ERROR => "tool error".to_owned(),
        outcome => safe(outcome).replace('_', " "),
    };
    let tool = one.tool.as_ref().map(|tool| format!(" {}", safe(tool)));
    let waited = one
        .waited_ms
        .map(|ms| format!(" after {}.{} s", ms / 1_000, ms % 1_000 / 100));
    format!(
        "    #{}  {}{}: {how}{}\n",
        one.seq,
        safe(&one.method),
        tool.unwrap_or_default(),
        waited.unwrap_or_default(),
    )
}
