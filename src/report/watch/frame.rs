//! The frame around the panels.

use std::fmt::Write as _;

use ratatui::text::Span;

use super::cells::Cells;
use super::look::Look;
use super::texts::usage;
use crate::report::figures::{duration, plural};
use crate::report::safe;
use crate::watch::{Asks, List, OverlayContent, Panel, PartState, State, Tone, meant};

/// The watched recording, and its figures.
pub(super) fn title(state: &State, cells: &mut Cells<'_>, look: Look) {
    let parts = &state.store.parts;
    let name = match &*parts.all {
        [] => String::new(),
        [one] => safe(&one.name),
        [first, ..] => format!("{} and {} more", safe(&first.name), parts.all.len() - 1),
    };
    cells.put(&name, look.of(Tone::Head));
    cells.put("  ", look.of(Tone::Plain));
    let (word, style) = if parts.is_reading() {
        ("reading …", look.of(Tone::Dim))
    } else if parts.is_live() {
        ("● live", look.live())
    } else {
        ("over", look.of(Tone::Dim))
    };
    cells.put(word, style);
    let sums = &state.store.sums;
    let mut text = format!("   {} {}", sums.calls, plural(sums.calls, "call"));
    for (percent, word) in [(50, "p50"), (95, "p95")] {
        if let Some(time) = sums.times.percentile(percent) {
            let ms = tapewright_schemas::event::Offset(time).millis();
            // Writing to a string does not fail.
            let _never_fails = write!(text, "  {word} {}", duration(ms));
        }
    }
    if sums.failures > 0 {
        let _never_fails = write!(text, "  {} failed", sums.failures);
    }
    cells.put(&text, look.of(Tone::Plain));
    let waiting = state.store.waiting().len() as u64;
    if waiting > 0 {
        cells.put(&format!("  {waiting} pending"), look.of(Tone::Warn));
    }
}

/// How many unreadable files are listed.
const MISSING: usize = 3;

/// A warning about missing parts, if any.
pub(crate) fn banner(state: &State) -> Option<String> {
    let sums = &state.store.sums;
    let mut all = Vec::new();
    let [gaps, events] = sums.gaps;
    if gaps > 0 {
        let events_word = plural(events, "event");
        all.push(format!(
            "{events} {events_word} missing in {gaps} {}",
            plural(gaps, "gap")
        ));
    }
    if sums.clipped > 0 {
        let word = plural(sums.clipped, "message");
        all.push(format!("{} {word} clipped", sums.clipped));
    }
    if sums.missed > 0 {
        let word = plural(sums.missed, "event");
        all.push(format!(
            "{} {word} missed because reading fell behind",
            sums.missed
        ));
    }
    let forgotten = state.store.numbers().start;
    if forgotten > 0 {
        all.push(format!("the first {forgotten} lines were dropped"));
    }
    all.extend(
        state
            .store
            .parts
            .missing
            .iter()
            .take(MISSING)
            .map(|why| safe(why)),
    );
    for part in &state.store.parts.all {
        match &part.state {
            PartState::CutShort => {
                all.push(format!(
                    "{} is incomplete: it has no footer",
                    safe(&part.name)
                ));
            }
            PartState::Failed(why) => all.push(safe(why)),
            PartState::Live | PartState::Over | PartState::Reading => {}
        }
    }
    (!all.is_empty()).then(|| format!("! {}", all.join("; ")))
}

/// The panels, with the selected one marked.
pub(super) fn tabs(state: &State, cells: &mut Cells<'_>, look: Look) {
    for (number, panel) in (1..).zip(Panel::ALL) {
        let count = match panel {
            Panel::Hangs => state.store.waiting().len() + state.store.hung.len(),
            Panel::Findings => state.store.findings.len(),
            Panel::Faults => state.faults.all.iter().filter(|one| !one.is_off).count(),
            Panel::Sessions => state.store.parts.sessions.len(),
            Panel::Lanes | Panel::Stream | Panel::Tools => 0,
        };
        let count = match count {
            0 => String::new(),
            count => format!(" {count}"),
        };
        let text = format!("{number} {}{count}", name(panel));
        let is_seen = panel == state.panel;
        let style = match panel {
            _ if is_seen => Look::chosen(),
            Panel::Findings if !state.store.findings.is_empty() => look.of(Tone::Warn),
            _ => look.of(Tone::Dim),
        };
        cells.put(&text, style);
        cells.put("  ", look.of(Tone::Plain));
    }
}

fn name(panel: Panel) -> &'static str {
    match panel {
        Panel::Stream => "stream",
        Panel::Sessions => "sessions",
        Panel::Hangs => "hangs",
        Panel::Findings => "findings",
        Panel::Faults => "faults",
        Panel::Lanes => "lanes",
        Panel::Tools => "tools",
    }
}

/// The filter, the input line, or a message.
pub(super) fn status(state: &State, cells: &mut Cells<'_>, look: Look) {
    if let Some(prompt) = &state.prompt {
        let at = prompt.text.char_indices().nth(prompt.cursor);
        let at = at.map_or(prompt.text.len(), |(at, _)| at);
        let (before, after) = prompt.text.split_at_checked(at).unwrap_or_default();
        let mut rest = after.chars();
        let under = rest.next().map_or_else(|| " ".to_owned(), String::from);
        let sign = match prompt.asks {
            Asks::Filter => "/",
            Asks::Command => ":",
        };
        cells.put(sign, look.of(Tone::Head));
        cells.put(&safe(before), look.of(Tone::Plain));
        cells.put(&safe(&under), Look::chosen());
        cells.put(&safe(rest.as_str()), look.of(Tone::Plain));
        if let Some(why) = &prompt.problem {
            cells.put(&format!("   {}", safe(why)), look.of(Tone::Bad));
        } else if prompt.asks == Asks::Command {
            cells.put(
                &format!("   {}", commands(&prompt.text)),
                look.of(Tone::Dim),
            );
        }
        return;
    }
    if let Some(message) = &state.message {
        return cells.put(&safe(message), look.of(Tone::Warn));
    }
    let mut all = Vec::new();
    if let Some((part, session)) = state.stream.only {
        let part = super::part_name(state, part);
        all.push(format!("only session s{session} of {part}"));
    }
    if state.stream.only_marked {
        all.push("only marked lines".to_owned());
    }
    if !state.typed.is_empty() {
        all.push(format!("filter: {}", safe(&state.typed)));
    }
    let (list, count) = match state.over.last() {
        // A page has no rows to count, unless it is one of the stream.
        Some(over) if !matches!(over.what, OverlayContent::Line(_)) => (List::default(), 0),
        _ => (state.list(state.panel), state.count(state.panel)),
    };
    if count > 0 {
        all.push(format!("{} of {count}", list.cursor + 1));
    }
    if let Some(at) = state.stream.paused {
        let more = state.store.numbers().end.saturating_sub(at);
        all.push(format!("paused, {more} more {}", plural(more, "line")));
    } else if list.follows && state.store.parts.is_live() {
        all.push("following".to_owned());
    }
    if let (Panel::Faults, Some(problem)) = (state.panel, &state.faults.problem) {
        all.push(safe(problem));
    }
    cells.put(&all.join("   "), look.of(Tone::Dim));
}

/// The commands that match the input.
fn commands(typed: &str) -> String {
    let names = meant(typed).into_iter().map(usage).collect::<Vec<_>>();
    match typed.trim() {
        "" => format!("the number of a row, or {}", names.join(", ")),
        _ => names.join(", "),
    }
}

/// The keys that work here.
pub(super) fn keys(state: &State, cells: &mut Cells<'_>, look: Look) {
    let keys: &[(&str, &str)] = if let Some(prompt) = &state.prompt {
        match prompt.asks {
            Asks::Filter => &FILTER,
            Asks::Command => &COMMAND,
        }
    } else if let Some(over) = state.over.last() {
        match over.what {
            OverlayContent::Line(_) => &LINE,
            OverlayContent::Finding(_) => &FINDING,
            OverlayContent::Help => &HELP,
        }
    } else {
        match state.panel {
            Panel::Stream => &STREAM,
            Panel::Faults if state.faults.has_control => &FAULTS,
            Panel::Faults => &PLAIN,
            Panel::Sessions => &FILTERS,
            Panel::Tools => &TOOLS,
            Panel::Findings | Panel::Hangs | Panel::Lanes => &LISTS,
        }
    };
    for (key, does) in keys {
        // A key without room is left out completely; `?` shows all.
        if usize::from(cells.left()) < Span::raw(*key).width() + does.len() + 1 {
            continue;
        }
        cells.put(key, look.of(Tone::Head));
        cells.put(&format!(" {does}  "), look.of(Tone::Dim));
    }
}

type Keys<const N: usize> = [(&'static str, &'static str); N];

const FILTER: Keys<3> = [("enter", "filter"), ("esc", "leave"), ("ctrl-u", "clear")];
const COMMAND: Keys<4> = [
    ("enter", "do it"),
    ("tab", "complete"),
    ("esc", "leave"),
    ("ctrl-u", "clear"),
];
const STREAM: Keys<11> = [
    ("q", "quit"),
    ("?", "help"),
    ("enter", "open"),
    ("/", "filter"),
    (":", "command"),
    ("f", "follow"),
    ("p", "pause"),
    ("a", "all"),
    ("m", "mark"),
    ("n", "next failure"),
    ("tab", "panels"),
];
const LISTS: Keys<5> = [
    ("q", "quit"),
    ("?", "help"),
    ("enter", "open"),
    ("o", "show in stream"),
    ("tab", "panels"),
];
const FILTERS: Keys<4> = [
    ("q", "quit"),
    ("?", "help"),
    ("enter", "show only this"),
    ("tab", "panels"),
];
const TOOLS: Keys<5> = [
    ("q", "quit"),
    ("?", "help"),
    ("enter", "show only this"),
    ("C F M P B T", "sort"),
    ("tab", "panels"),
];
const FAULTS: Keys<4> = [
    ("q", "quit"),
    ("?", "help"),
    ("enter", "switch on or off"),
    ("tab", "panels"),
];
const PLAIN: Keys<3> = [("q", "quit"), ("?", "help"), ("tab", "panels")];
const LINE: Keys<6> = [
    ("q", "back"),
    ("?", "help"),
    ("←→", "other exchanges"),
    ("enter", "go there"),
    ("y", "copy"),
    ("o", "show in stream"),
];
const FINDING: Keys<4> = [
    ("q", "back"),
    ("?", "help"),
    ("enter", "open the evidence"),
    ("o", "show in stream"),
];
const HELP: Keys<1> = [("q", "back")];
