//! Rows of lines: the stream, the lanes, the hangs.

use tapewright_schemas::filter::LineKind;

use super::cells::Cells;
use super::look::Look;
use crate::report::figures::duration;
use crate::report::{safe, show};
use crate::watch::{Line, State, Tone, Word};

/// From this many columns on, the latency is shown in two parts.
const WIDE: u16 = 110;

/// A line of the stream.
pub(super) fn stream(state: &State, number: Option<u64>, cells: &mut Cells<'_>, look: Look) {
    let Some((number, line)) = line_of(state, number) else {
        return;
    };
    front(state, line, cells, look);
    if state.stream.is_marked(number) {
        cells.back(1);
        cells.put("*", look.of(Tone::Warn));
    }
    match line.kind {
        LineKind::Exchange => exchange(state, line, cells, look),
        LineKind::Model => model(state, number, line, cells, look),
        _ => beside(state, line, cells, look),
    }
}

fn line_of(state: &State, number: Option<u64>) -> Option<(u64, &Line)> {
    let number = number?;
    Some((number, state.store.get(number)?))
}

/// Time, tape, session and direction.
fn front(state: &State, line: &Line, cells: &mut Cells<'_>, look: Look) {
    let at = line.at_ms().map_or_else(|| "-".to_owned(), show::moment);
    cells.right(&at, 9, look.of(Tone::Dim));
    if state.store.parts.all.len() > 1 {
        cells.column(&super::part_name(state, line.part), 10, look.of(Tone::Dim));
    }
    if state.store.parts.sessions.len() > 1 {
        cells.column(&format!("s{}", line.session), 4, look.of(Tone::Dim));
    }
    let arrow = if line.is_to_client() { "←" } else { "→" };
    cells.column(arrow, 1, look.of(Tone::Plain));
}

fn exchange(state: &State, line: &Line, cells: &mut Cells<'_>, look: Look) {
    let is_wide = cells.left() + 20 >= WIDE;
    let id = state.store.words.texts.get(line.id).unwrap_or("?");
    cells.column(&safe(id), 5, look.of(Tone::Dim));
    let behind = if is_wide { 64 } else { 34 };
    cells.until(behind, &what(state, line), look.of(Tone::Plain));
    took(state, line, cells, look);
    if is_wide {
        let [ours, theirs] = split(line);
        cells.right(&ours, 13, look.ours());
        cells.right(&theirs, 15, look.of(Tone::Dim));
    }
    let (ended, tone) = ended(line);
    let mark = if line.has_findings() { "! " } else { "" };
    cells.put(mark, look.of(Tone::Bad));
    cells.put(&ended, look.of(tone));
    if line.fault != Word::NONE {
        let fault = safe(state.store.words.get(line.fault));
        cells.put(&format!(" {fault}"), look.of(Tone::Warn));
    }
}

/// The latency of the recorder and that of the server, if measured.
fn split(line: &Line) -> [String; 2] {
    line.split_ms()
        .map_or_else(Default::default, |[ours, theirs]| {
            [
                format!("us {}", duration(ours)),
                format!("peer {}", duration(theirs)),
            ]
        })
}

/// The method, and its object.
pub(super) fn what(state: &State, line: &Line) -> String {
    let words = &state.store.words;
    let (method, name) = (safe(words.get(line.method)), safe(words.get(line.name)));
    if name.is_empty() {
        method
    } else {
        format!("{method} {name}")
    }
}

/// How long it took, or has been waiting.
fn took(state: &State, line: &Line, cells: &mut Cells<'_>, look: Look) {
    if let Some(age) = age_ms(state, line) {
        return cells.right(&clock(age), 8, look.of(urgency(state, age)));
    }
    let waited = line.waited_ms();
    let text = waited.map_or_else(|| "-".to_owned(), duration);
    cells.right(&text, 8, look.of(Tone::Plain));
}

/// How long a request has been waiting, if it still is.
fn age_ms(state: &State, line: &Line) -> Option<f64> {
    let now = state.now_us.filter(|_| line.is_waiting())?;
    let age = now.saturating_sub(line.at_us());
    Some(tapewright_schemas::event::Offset(age).millis())
}

/// A clock that shows seconds.
fn clock(ms: f64) -> String {
    format!("{:.0} s", (ms / 1_000.0).floor())
}

fn urgency(state: &State, age_ms: f64) -> Tone {
    let long = tapewright_schemas::event::Offset(state.store.hang_after_us).millis();
    if age_ms >= long {
        Tone::Bad
    } else if age_ms >= long / 3.0 {
        Tone::Warn
    } else {
        Tone::Plain
    }
}

/// How a line ended, and its tone.
pub(super) fn ended(line: &Line) -> (String, Tone) {
    if line.is_waiting() {
        return ("pending".to_owned(), Tone::Warn);
    }
    let status = (line.status > 0).then_some(line.status);
    let (word, colour) = show::outcome(
        line.outcome,
        line.direction().sender(),
        line.is_tool_error(),
        line.error_code(),
        status,
    );
    let tone = match colour {
        show::RED => Tone::Bad,
        show::YELLOW => Tone::Warn,
        _ => Tone::Plain,
    };
    (word, tone)
}

fn model(state: &State, number: u64, line: &Line, cells: &mut Cells<'_>, look: Look) {
    cells.column("model", 5, look.of(Tone::Dim));
    if line.is_open() {
        cells.put("model call pending", look.of(Tone::Warn));
        return;
    }
    cells.until(44, &what(state, line), look.of(Tone::Plain));
    took(state, line, cells, look);
    let said = state.store.words.texts.get(line.said).unwrap_or_default();
    let is_bad = state
        .store
        .model(number)
        .is_some_and(|row| row.error.is_some());
    let tone = if is_bad { Tone::Bad } else { Tone::Plain };
    cells.put(&safe(said), look.of(tone));
}

fn beside(state: &State, line: &Line, cells: &mut Cells<'_>, look: Look) {
    let tone = tone_of(line.kind);
    cells.column(line.kind.name(), 12, look.of(tone));
    cells.put(&said(state, line), look.of(Tone::Plain));
}

/// The text of a note: made by `report` when it arrived, so it is already safe.
pub(super) fn said(state: &State, line: &Line) -> String {
    let said = state.store.words.texts.get(line.said);
    said.map_or_else(|| "…".to_owned(), safe)
}

fn tone_of(kind: LineKind) -> Tone {
    match kind {
        LineKind::Gap | LineKind::Finding | LineKind::Orphan | LineKind::Noise => Tone::Bad,
        LineKind::Late | LineKind::Fault | LineKind::Cancellation => Tone::Warn,
        _ => Tone::Dim,
    }
}

/// The lanes, by the letters of their contents.
const LANES: [(LineKind, char); 6] = [
    (LineKind::Notification, 'N'),
    (LineKind::Progress, 'P'),
    (LineKind::Cancellation, 'C'),
    (LineKind::Fault, 'F'),
    (LineKind::Http, 'H'),
    (LineKind::Stderr, 'E'),
];

/// A line of the lanes.
pub(super) fn lane(state: &State, number: Option<u64>, cells: &mut Cells<'_>, look: Look) {
    let Some((_, line)) = line_of(state, number) else {
        return;
    };
    front(state, line, cells, look);
    for (kind, letter) in LANES {
        let is_here = kind == line.kind;
        let mark = if is_here { letter } else { '·' };
        let tone = if is_here { tone_of(kind) } else { Tone::Dim };
        cells.column(mark.encode_utf8(&mut [0; 4]), 1, look.of(tone));
    }
    cells.put(&said(state, line), look.of(Tone::Plain));
}

/// A hang with its clock.
pub(super) fn hang(state: &State, number: Option<u64>, cells: &mut Cells<'_>, look: Look) {
    let Some((_, line)) = line_of(state, number) else {
        return;
    };
    front(state, line, cells, look);
    let id = state.store.words.texts.get(line.id).unwrap_or("?");
    cells.column(&safe(id), 5, look.of(Tone::Dim));
    cells.until(38, &what(state, line), look.of(Tone::Plain));
    took(state, line, cells, look);
    if let Some(age) = age_ms(state, line) {
        cells.column(&bar(state, age), 10, look.of(urgency(state, age)));
    }
    let (ended, tone) = ended(line);
    cells.put(&ended, look.of(tone));
    if line.fault != Word::NONE {
        let fault = safe(state.store.words.get(line.fault));
        cells.put(&format!(" {fault}"), look.of(Tone::Warn));
    }
}

/// How close a request is to being a hang.
fn bar(state: &State, age_ms: f64) -> String {
    let long = tapewright_schemas::event::Offset(state.store.hang_after_us).millis();
    let full = (age_ms / long.max(1.0) * 10.0).clamp(0.0, 10.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between none and ten"
    )]
    let full = full as usize;
    "█".repeat(full) + &"░".repeat(10 - full)
}
