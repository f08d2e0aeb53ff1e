//! Results for people: failures come first, with their lines in the suite.

use std::fmt::Write as _;

use tapewright_schemas::slices::Part as _;

use super::view::{Excerpt, Problem, RowView, View};
use crate::report::safe;
use crate::suite::result::Status;

/// The longest value and the longest line of a suite that are shown, in characters.
const VALUE_CHARS: usize = 400;
const LINE_CHARS: usize = 140;

/// All suites.
pub(super) fn text(views: &[View]) -> String {
    let mut out = String::new();
    for view in views {
        one(view, &mut out);
    }
    out
}

/// The text with the words of verdicts in colour.
pub(super) fn coloured(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let word = COLOURS.iter().find_map(|(word, colour)| {
            let rest = line.strip_prefix("  ")?.strip_prefix(word)?;
            rest.starts_with("  ").then_some((word, colour, rest))
        });
        match word {
            Some((word, colour, rest)) => {
                let _never_fails = write!(out, "  \u{1b}[{colour}m{word}\u{1b}[0m{rest}");
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Words of verdicts, and their colours (ECMA-48, Select Graphic Rendition).
const COLOURS: [(&str, u8); 8] = [
    ("DEFERRED", 36),
    ("PASS", 32),
    ("FAIL", 31),
    ("ERROR", 31),
    ("INCONCLUSIVE", 33),
    ("KNOWN FAILURE", 33),
    ("NOT EXERCISED", 33),
    ("SKIP", 36),
];

fn one(view: &View, out: &mut String) {
    line(out, &format!("Suite {}", safe(&view.suite)));
    let (good, bad): (Vec<_>, Vec<_>) = view.rows.iter().partition(|row| is_good(row));
    for row in bad {
        line(out, "");
        headline(row, out);
        for problem in &row.problems {
            tell(problem, out);
        }
        for reason in &row.reasons {
            paragraph("    ", reason, out);
        }
        judged(row, out);
        warnings(row, out);
    }
    if !good.is_empty() {
        line(out, "");
    }
    for row in good {
        headline(row, out);
        judged(row, out);
        warnings(row, out);
    }
    tools(view, out);
    if !view.notes.is_empty() || !view.skipped.is_empty() {
        line(out, "");
    }
    for note in view.notes.iter().chain(&view.skipped) {
        paragraph("", note, out);
    }
    line(out, "");
    line(out, &format!("Result: {}", summary(view)));
}

fn is_good(row: &RowView) -> bool {
    use Status::{Deferred, Known, Pass, Skip};
    matches!(row.status, Deferred | Known | Pass | Skip)
}

/// `  PASS  name  (3.1 ms)  [replay]`
fn headline(row: &RowView, out: &mut String) {
    let word = row.status.name().replace('_', " ").to_uppercase();
    let mut text = format!("  {word}  {}", safe(&row.title));
    if row.kind != "tool" {
        let _never_fails = write!(text, "  [{}]", row.kind);
    }
    if let Some(took) = row.took_us {
        let _never_fails = write!(text, "  ({})", time(took));
    }
    if row.replay {
        text.push_str("  [replay]");
    }
    if let Some(cost) = row.cost {
        let _never_fails = write!(text, "  [{cost}]");
    }
    if row.flaky {
        text.push_str("  [flaky]");
    }
    if row.asked > 1 {
        let _never_fails = write!(text, "  (asked {} times)", row.asked);
    }
    if let Some(count) = row.exercised.filter(|count| *count > 1) {
        let _never_fails = write!(text, "  ({count} exchanges)");
    }
    if matches!(row.status, Status::Deferred | Status::Skip)
        && let Some(reason) = row.reasons.first()
    {
        let _never_fails = write!(text, "  {}", safe(reason));
    }
    line(out, &text);
}

/// The opinions of judges that no problem or reason shows already.
fn judged(row: &RowView, out: &mut String) {
    for one in row.judgements.iter().filter(|one| one.is_news) {
        paragraph("    ", &one.text, out);
    }
}

fn warnings(row: &RowView, out: &mut String) {
    for warning in &row.warnings {
        paragraph("    warning: ", warning, out);
    }
}

fn tell(problem: &Problem, out: &mut String) {
    if let Some(message) = &problem.message {
        paragraph("    ", message, out);
    }
    if let Some(spot) = &problem.spot {
        excerpt(spot, out);
    }
    let target = match problem.target.as_str() {
        "" => "the whole answer".to_owned(),
        target => format!("`{}`", safe(target)),
    };
    let not = if problem.judged {
        ""
    } else {
        " could not be judged"
    };
    let text = format!("`{}` on {target}{not}: {}", problem.matcher, problem.note);
    paragraph("    ", &text, out);
    for (name, value) in [
        ("expected", &problem.expected),
        ("actual  ", &problem.actual),
    ] {
        if let Some((kind, text)) = value {
            line(
                out,
                &format!("      {name}  {kind}  {}", cut(text, VALUE_CHARS)),
            );
        }
    }
    if let Some(diff) = &problem.diff {
        paragraph("      diff      ", diff, out);
    }
    if let Some(exchange) = problem.exchange {
        let answer = exchange.response.map_or(String::new(), |response| {
            format!(", answered by event {response}")
        });
        line(out, &format!("      recorded  {exchange}{answer}"));
    }
}

/// The line of the suite with carets below the marked part.
fn excerpt(spot: &Excerpt, out: &mut String) {
    let margin = " ".repeat(spot.line.to_string().len());
    let place = format!("{}:{}:{}", safe(&spot.file), spot.line, spot.column);
    line(out, &format!("    {margin}--> {place}"));
    let Some(text) = &spot.text else { return };
    let shown = text.replace('\t', " ");
    let Some(room) = LINE_CHARS.checked_sub(spot.column) else {
        return;
    };
    line(
        out,
        &format!("    {} | {}", spot.line, cut(&shown, LINE_CHARS)),
    );
    let length = shown.chars().count().saturating_sub(spot.column - 1);
    let carets = "^".repeat(spot.width.min(length).min(room).max(1));
    line(
        out,
        &format!("    {margin} | {}{carets}", " ".repeat(spot.column - 1)),
    );
}

fn tools(view: &View, out: &mut String) {
    if view.tools.is_empty() {
        return;
    }
    line(out, "");
    line(out, "Tools of the recording");
    let width = |name: &str| name.chars().count();
    let widest = view.tools.iter().map(|tool| width(&tool.name)).max();
    let widest = widest.unwrap_or(0).min(40);
    for tool in &view.tools {
        let name = safe(&tool.name);
        let pad = " ".repeat(widest.saturating_sub(width(&name)));
        let calls = match tool.calls {
            0 => "never called".to_owned(),
            1 => "1 call".to_owned(),
            count => format!("{count} calls"),
        };
        let tests = match tool.tests.as_slice() {
            [] => "no test".to_owned(),
            tests => tests
                .iter()
                .map(|name| safe(name))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let unlisted = if tool.listed {
            ""
        } else {
            "  (not in a recorded list)"
        };
        line(
            out,
            &format!(
                "  {name}{pad}  {calls:<12}  {}{unlisted}",
                cut(&tests, VALUE_CHARS)
            ),
        );
    }
}

/// `3 passed, 1 failed in 12.5 ms`
pub(super) fn summary(view: &View) -> String {
    let mut parts = Vec::new();
    for status in Status::ALL {
        let count = view.count(status);
        if count > 0 || status == Status::Pass {
            parts.push(format!("{count} {}", status.counted()));
        }
        let flaky = view.flaky();
        if status == Status::Pass && flaky > 0 {
            parts.push(format!("{flaky} of them flaky"));
        }
    }
    format!("{} in {}", parts.join(", "), time(view.took_us))
}

#[expect(clippy::cast_precision_loss, reason = "a time of 2^53 µs is 285 years")]
fn time(us: u64) -> String {
    match us {
        0..10_000 => format!("{:.1} ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

/// Text of one or more lines, indented by the width of `first`.
fn paragraph(first: &str, text: &str, out: &mut String) {
    for (number, part) in text.trim_end().lines().enumerate() {
        if number == 0 {
            line(out, &format!("{first}{}", safe(part)));
        } else {
            let indent = " ".repeat(first.chars().count());
            line(out, &format!("{indent}{}", safe(part)));
        }
    }
}

fn cut(text: &str, limit: usize) -> String {
    let text = safe(text);
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", text.part(..at)),
        None => text,
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}
