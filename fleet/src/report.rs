//! All output: results on stdout, everything else on stderr. Nothing else prints.

mod answer;
pub(crate) mod tail;

use std::io::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

use tapewright_fleet::entry::{Ended, How};
use tapewright_fleet::fetch::Fetched;
use tapewright_fleet::list::{Catalogue, Row};
use tapewright_fleet::scrub::Scrubbed;
use tapewright_fleet::ship::ShipEvent;
use tapewright_fleet::store::StoreLocation;
use tapewright_fleet::sweep::Swept;

pub(crate) use self::answer::{Form, Printer, counts, damaged, sql};

/// Escapes every character that could move the cursor, change colours or reverse the direction of
/// writing.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_risky(char) {
            out.extend(char.escape_default());
        } else {
            out.push(char);
        }
    }
    out
}

fn is_risky(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A duration.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// A number of bytes.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

fn out(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())
}

fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")
}

fn err(text: &str) {
    // A closed terminal cannot show it.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// An error that ends the program.
pub(crate) fn error(text: &str) {
    err(&format!("error: {}\n", safe(text)));
}

/// The tapes of a store.
pub(crate) fn list(catalogue: &Catalogue, rows: &[Row], as_json: bool) -> io::Result<()> {
    #[derive(Serialize)]
    struct List<'a> {
        tapes: &'a [Row],
        foreign: u64,
    }
    if as_json {
        return json(&List {
            tapes: rows,
            foreign: catalogue.foreign,
        });
    }
    for row in rows {
        out(&line(row))?;
    }
    if catalogue.foreign > 0 {
        err(&format!("{} foreign objects ignored\n", catalogue.foreign));
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let missing = row.missing.as_ref().map(|what| format!("  {}", safe(what)));
    format!(
        "{}/{}  {}  {} events  {} exchanges  {} findings  {} in {}  {}{}{}\n",
        row.gateway,
        row.tape,
        safe(&row.label),
        row.events,
        row.exchanges,
        row.findings,
        size(row.bytes),
        size(row.stored_bytes),
        row.state.name(),
        row.ended.map(lost).unwrap_or_default(),
        missing.unwrap_or_default(),
    )
}

/// What a tape lacks of its recording.
fn lost(ended: Ended) -> String {
    if ended.how == How::Dropped {
        let (events, bytes) = (ended.lost_events, size(ended.lost_bytes));
        return format!("  {events} events ({bytes}) lost");
    }
    if ended.torn_bytes > 0 {
        return format!(
            "  {} of an unfinished line left out",
            size(ended.torn_bytes)
        );
    }
    String::new()
}

/// The locations of a store's objects.
pub(crate) fn files(place: &StoreLocation, paths: &[String]) -> io::Result<()> {
    for path in paths {
        out(&format!("{place}/{path}\n"))?;
    }
    Ok(())
}

/// The result of `fetch`.
pub(crate) fn fetched(fetched: &Fetched, as_json: bool) -> io::Result<()> {
    if as_json {
        return json(fetched);
    }
    out(&format!("{}\n", safe(&fetched.file)))?;
    let state = fetched.state.name();
    let lost = fetched.ended.map(lost).unwrap_or_default();
    err(&format!("{}, {state}{lost}\n", size(fetched.bytes)));
    if let Some(missing) = &fetched.missing {
        err(&format!("the rest is missing: {}\n", safe(missing)));
    }
    Ok(())
}

/// The result of `sweep`.
pub(crate) fn swept(swept: &Swept, as_json: bool) -> io::Result<()> {
    if as_json {
        return json(swept);
    }
    let verb = if swept.dry_run {
        "would remove"
    } else {
        "removed"
    };
    for tape in &swept.tapes {
        out(&format!("{verb} {}\n", safe(tape)))?;
    }
    let (tapes, bytes) = (swept.tapes.len(), size(swept.bytes));
    let (orphans, orphan_bytes) = (swept.orphans, size(swept.orphan_bytes));
    out(&format!(
        "{verb} {tapes} tapes ({bytes}) and {orphans} segments without an entry ({orphan_bytes}); kept {} tapes ({})\n",
        swept.kept,
        size(swept.kept_bytes),
    ))?;
    if swept.foreign > 0 {
        err(&format!("{} foreign objects ignored\n", swept.foreign));
    }
    Ok(())
}

/// The result of `scrub`.
pub(crate) fn scrubbed(scrubbed: &Scrubbed, as_json: bool) -> io::Result<()> {
    if as_json {
        return json(scrubbed);
    }
    let verb = if scrubbed.dry_run {
        "would change"
    } else {
        "changed"
    };
    for tape in &scrubbed.changed {
        out(&format!("{verb} {}\n", safe(tape)))?;
    }
    let kinds: Vec<String> = scrubbed
        .replaced
        .iter()
        .map(|(kind, count)| format!("{} {count}", safe(kind)))
        .collect();
    let replaced = if kinds.is_empty() {
        "nothing to replace".to_owned()
    } else {
        kinds.join(", ")
    };
    out(&format!(
        "{verb} {} of {} tapes in {} segments: {replaced}; {} objects removed\n",
        scrubbed.changed.len(),
        scrubbed.tapes,
        scrubbed.entries,
        scrubbed.removed,
    ))?;
    for left in &scrubbed.left {
        err(&format!(
            "{}: not scrubbed to its end: {}\n",
            safe(&left.tape),
            safe(&left.why)
        ));
    }
    Ok(())
}

/// Prints an event of a shipper on stderr.
pub(crate) fn told(told: &ShipEvent<'_>, as_json: bool, is_verbose: bool) {
    if !is_verbose && !told.is_important() {
        return;
    }
    if as_json {
        let line = serde_json::to_string(&told.line()).unwrap_or_default();
        return err(&format!("{line}\n"));
    }
    err(&format!("{}\n", safe(&words(told))));
}

/// How a tape ended.
fn state(ended: Ended) -> &'static str {
    match ended.how {
        How::Footer => "with its footer",
        How::CutShort => "cut short",
        How::Dropped => "dropped",
        How::Abandoned => "abandoned",
    }
}

fn words(told: &ShipEvent<'_>) -> String {
    match told {
        ShipEvent::Started { gateway, folder } => {
            format!("shipping `{}` as {gateway}", folder.display())
        }
        ShipEvent::Shipped { tape, entry } => {
            let (start, end, events) = (entry.start, entry.end, entry.content.events);
            format!("{tape}: bytes {start} to {end} shipped, {events} events")
        }
        ShipEvent::Theirs { tape, start } => {
            format!("{tape}: another shipper has shipped the bytes from {start} on")
        }
        ShipEvent::Ended { tape, ended } => {
            format!("{tape}: ended, {}{}", state(*ended), lost(*ended))
        }
        ShipEvent::NotATape { file } => format!("`{}` is not a tape, ignored", file.display()),
        ShipEvent::Shorter { file, tape } => {
            format!(
                "`{}` is shorter than what was shipped as {tape}",
                file.display()
            )
        }
        _ => rare_words(told),
    }
}

fn rare_words(told: &ShipEvent<'_>) -> String {
    match told {
        ShipEvent::Trouble { file, why } => format!("cannot ship `{}`: {why}", file.display()),
        ShipEvent::Away { why, again } => {
            format!(
                "the store is unavailable, next try in {:.1} s: {why}",
                again.as_secs_f64()
            )
        }
        ShipEvent::Back { after } => {
            format!(
                "the store is available again after {:.1} s",
                after.as_secs_f64()
            )
        }
        ShipEvent::Deleted { file, bytes } => {
            format!(
                "deleted `{}` ({}), which is in the store",
                file.display(),
                size(*bytes)
            )
        }
        ShipEvent::Dropped {
            file,
            bytes,
            events,
        } => {
            let bytes = size(*bytes);
            format!(
                "dropped `{}`: {events} events ({bytes}) lost",
                file.display()
            )
        }
        ShipEvent::Full { bytes, limit } => {
            let (bytes, limit) = (size(*bytes), size(*limit));
            format!("the buffer is full: {bytes} of {limit}, and nothing can be deleted")
        }
        _ => words_of_announcements(told),
    }
}

fn words_of_announcements(told: &ShipEvent<'_>) -> String {
    let wait = |waiting: &Option<u64>| match waiting {
        Some(1) => "1 announcement waits".to_owned(),
        Some(count) => format!("{count} announcements wait"),
        None => "announcements wait".to_owned(),
    };
    match told {
        ShipEvent::Announced { tape, start } => format!("{tape}: bytes from {start} on announced"),
        ShipEvent::NotAnnounced {
            why,
            again,
            waiting,
        } => {
            let (again, waiting) = (again.as_secs_f64(), wait(waiting));
            format!("cannot announce, next try in {again:.1} s, {waiting}: {why}")
        }
        ShipEvent::AnnouncesAgain { after } => {
            let after = after.as_secs_f64();
            format!("announcing again after {after:.1} s; what waited is announced")
        }
        ShipEvent::LeftUnannounced { waiting } => {
            format!("{}; the next `ship` makes up for it", wait(waiting))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_of_others_moves_no_cursor() {
        let text = super::safe("a\u{1b}[2Jb\n\u{202e}ü");
        assert_eq!(text, "a\\u{1b}[2Jb\\n\\u{202e}ü");
    }
}
