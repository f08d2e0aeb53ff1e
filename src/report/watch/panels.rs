//! Rows of the other panels: sessions, findings, faults, tools.

use tapewright_schemas::event::Offset;

use super::cells::Cells;
use super::look::Look;
use crate::report::figures::{duration, plural, size};
use crate::report::{finding as words, safe, show};
use crate::watch::{State, Tone, Word};

/// One session.
pub(super) fn session(state: &State, at: usize, cells: &mut Cells<'_>, look: Look) {
    let Some(key) = state.session(at) else { return };
    let Some(session) = state.store.parts.sessions.get(&key) else {
        return;
    };
    let (part, number) = key;
    cells.column(&super::part_name(state, part), 18, look.of(Tone::Head));
    cells.column(&format!("s{number}"), 4, look.of(Tone::Dim));
    let name = |name: &str| match name {
        "" => "(not named)".to_owned(),
        name => safe(name),
    };
    let peers = format!("{} → {}", name(&session.client), name(&session.server));
    cells.until(44, &peers, look.of(Tone::Plain));
    let count = session.exchanges;
    cells.right(
        &format!("{count} {}", plural(count, "call")),
        10,
        look.of(Tone::Plain),
    );
    for (count, word) in [
        (session.failures, "failed"),
        (session.findings, "found"),
        (session.faults, "faults"),
    ] {
        if count > 0 {
            cells.put(&format!(" {count} {word}"), look.of(Tone::Warn));
        }
    }
    if !session.revision.is_empty() {
        cells.put(&format!(" {}", safe(&session.revision)), look.of(Tone::Dim));
    }
}

/// One finding.
pub(super) fn finding(state: &State, at: usize, cells: &mut Cells<'_>, look: Look) {
    let Some(found) = state.store.findings.get(at) else {
        return;
    };
    let when = found.at_ms.map_or_else(|| "-".to_owned(), show::moment);
    cells.right(&when, 9, look.of(Tone::Dim));
    if state.store.parts.sessions.len() > 1 {
        cells.column(&format!("s{}", found.session), 4, look.of(Tone::Dim));
    }
    let line = words::line(&found.finding);
    let first = line.lines().next().unwrap_or_default();
    cells.put(first, look.of(Tone::Warn));
}

/// One fault.
pub(super) fn fault(state: &State, at: usize, cells: &mut Cells<'_>, look: Look) {
    let Some(fault) = state.faults.all.get(at) else {
        return;
    };
    if !state.faults.has_control {
        cells.column("at first", 9, look.of(Tone::Dim));
        return cells.put(&safe(&fault.spec), look.of(Tone::Plain));
    }
    let (word, tone) = if fault.is_off {
        ("[off]", Tone::Dim)
    } else {
        ("[on] ", Tone::Warn)
    };
    cells.column(word, 5, look.of(tone));
    cells.column(&safe(&fault.name), 14, look.of(Tone::Head));
    cells.until(34, &safe(&fault.spec), look.of(Tone::Plain));
    let counts = format!(
        "met {}  fired {}  holds {}",
        fault.met, fault.fired, fault.holds
    );
    cells.put(&counts, look.of(tone));
}

/// One tool.
pub(super) fn tool(state: &State, tool: Option<Word>, cells: &mut Cells<'_>, look: Look) {
    let Some((word, tool)) = tool.and_then(|word| Some((word, state.store.sums.tools.get(&word)?)))
    else {
        return;
    };
    cells.until(62, &safe(state.store.words.get(word)), look.of(Tone::Head));
    let count = format!("{} {}", tool.count, plural(tool.count, "call"));
    cells.right(&count, 13, look.of(Tone::Plain));
    let tone = if tool.failures > 0 {
        Tone::Bad
    } else {
        Tone::Dim
    };
    cells.right(&format!("{} failed", tool.failures), 10, look.of(tone));
    for (percent, name) in [(50, "p50"), (99, "p99")] {
        let time = tool.times.percentile(percent);
        let text = time.map_or_else(String::new, |us| {
            format!("{name} {}", duration(Offset(us).millis()))
        });
        cells.right(&text, 11, look.of(Tone::Plain));
    }
    cells.right(&size(tool.bytes), 8, look.of(Tone::Dim));
}
