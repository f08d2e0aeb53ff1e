//! A line or a finding in detail, as rows.

use tapewright_schemas::event::Offset;
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::slices::Part as _;

use super::rows::{ended, said, what};
use crate::command::explain;
use crate::report::body::{self, Look};
use crate::report::figures::{duration, size};
use crate::report::{finding as words, safe, show};
use crate::watch::{Found, Jump, Line, MessageText, MessageTexts, Row, State, Tone, Word};

/// The largest number of rows of a page.
const ROWS: usize = 50_000;
/// How many later lines are searched for related ones.
const BEHIND: u64 = 2_000;
/// How many lines related to an exchange are shown.
const BESIDE: usize = 100;

/// Rows of a page.
struct Page {
    rows: Vec<Row>,
    width: usize,
}

impl Page {
    fn new(width: usize) -> Self {
        let rows = Vec::new();
        Self { rows, width }
    }

    fn put(&mut self, text: &str, tone: Tone) {
        self.lead(text, tone, None);
    }

    /// Adds a row with a link; a text without line ends, wrapped over several rows if it is long.
    fn lead(&mut self, text: &str, tone: Tone, jump: Option<Jump>) {
        let indent = text.len() - text.trim_start().len();
        let indent = " ".repeat((indent + 2).min(self.width / 2));
        let mut rest = text;
        let mut is_first = true;
        while self.rows.len() < ROWS {
            let front = if is_first { "" } else { &*indent };
            let (here, more) = rest.split_at(fits(rest, self.width - front.len()));
            self.rows.push(Row {
                text: format!("{front}{here}"),
                tone: if is_first || tone != Tone::Json {
                    tone
                } else {
                    Tone::Plain
                },
                jump,
            });
            rest = more;
            is_first = false;
            if rest.is_empty() {
                break;
            }
        }
    }

    fn head(&mut self, text: &str) {
        if !self.rows.is_empty() {
            self.put("", Tone::Plain);
        }
        self.put(text, Tone::Head);
    }

    fn fact(&mut self, name: &str, text: &str, tone: Tone) {
        self.put(&format!("  {name:<10} {text}"), tone);
    }
}

/// How many bytes of a text fit into this many columns; at least one character.
fn fits(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, char) in text.char_indices() {
        // Characters that may be wide count as wide: a row that is too short is better than a lost
        // character.
        used += if char.is_ascii() { 1 } else { 2 };
        if used > columns.max(2) {
            // Breaks between words, if there is a space not too far back.
            let space = text.part(..at).rfind(' ');
            return space
                .filter(|space| *space > at / 2)
                .map_or(at, |space| space + 1);
        }
    }
    text.len()
}

/// A line in detail.
pub(super) fn line(
    state: &State,
    number: u64,
    said: Option<&MessageTexts>,
    width: usize,
) -> Vec<Row> {
    let mut page = Page::new(width);
    let Some(line) = state.store.get(number) else {
        page.put("this line was dropped", Tone::Dim);
        return page.rows;
    };
    if line.kind == LineKind::Finding {
        let mut all = state.store.findings.iter();
        let found = all.find(|found| (found.part, found.seq) == (line.part, line.seq));
        if let Some(found) = found {
            return finding(state, found, width);
        }
    }
    page.put(&title(state, line), Tone::Head);
    facts(state, line, &mut page);
    if line.kind == LineKind::Exchange {
        findings(state, line, &mut page);
        beside(state, number, line, &mut page);
    }
    match said {
        None => page.head("reading …"),
        Some(said) => spoken(line, said, &mut page),
    }
    page.rows
}

fn title(state: &State, line: &Line) -> String {
    let part = super::part_name(state, line.part);
    let id = state.store.words.texts.get(line.id);
    let id = id.map_or_else(String::new, |id| format!("   id {}", safe(id)));
    let place = format!(
        "   session s{}   event {} of {part}",
        line.session, line.seq
    );
    match line.kind {
        LineKind::Exchange => format!("{}{id}{place}", what(state, line)),
        LineKind::Model => format!("model {}{id}{place}", what(state, line)),
        kind => format!("{}{id}{place}", kind.name()),
    }
}

fn facts(state: &State, line: &Line, page: &mut Page) {
    let is_exchange = matches!(line.kind, LineKind::Exchange | LineKind::Model);
    if !is_exchange {
        page.fact("says", &said(state, line), Tone::Plain);
        if line.other > 0 {
            let jump = Jump {
                part: line.part,
                seq: line.other,
            };
            let text = format!("  {:<10} event {}", "about", line.other);
            page.lead(&text, Tone::Plain, Some(jump));
        }
    } else if line.is_open() && line.kind == LineKind::Model {
        page.fact("ended", "not yet", Tone::Warn);
    } else {
        let (word, tone) = ended(line);
        page.fact("ended", &word, tone);
    }
    if line.kind == LineKind::Model {
        page.fact("told", &said(state, line), Tone::Plain);
    }
    let way = if line.is_to_client() {
        "server to client"
    } else {
        "client to server"
    };
    page.fact("way", way, Tone::Plain);
    if let Some(at) = line.at_ms() {
        page.fact(
            "at",
            &format!("{} after the start", show::moment(at)),
            Tone::Plain,
        );
    }
    if line.kind == LineKind::Exchange {
        latency(line, page);
        let [request, answer] = line.bytes.map(|bytes| size(u64::from(bytes)));
        page.fact(
            "sizes",
            &format!("request {request}, answer {answer}"),
            Tone::Plain,
        );
    }
    if line.fault != Word::NONE {
        page.fact(
            "fault",
            &safe(state.store.words.get(line.fault)),
            Tone::Warn,
        );
    }
}

/// The time to the answer: from the client to the recorder, at the server, and back, as far as
/// known.
fn latency(line: &Line, page: &mut Page) {
    let Some(waited) = line.waited_ms() else {
        let word = if line.is_waiting() {
            "pending"
        } else {
            "no times in this recording"
        };
        return page.fact("latency", word, Tone::Dim);
    };
    match line.split_ms() {
        None => {
            let text = format!("{}; our share was not measured", duration(waited));
            page.fact("latency", &text, Tone::Plain);
        }
        Some([ours, theirs]) => {
            let room = 30.0;
            let share = ours / (ours + theirs).max(f64::EPSILON) * room;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between none and thirty"
            )]
            let of_us = (share.round().clamp(0.0, room)) as usize;
            let text = format!(
                "{}: us {} {}{} peer {}",
                duration(waited),
                duration(ours),
                "▒".repeat(of_us),
                "█".repeat(30 - of_us),
                duration(theirs),
            );
            page.fact("latency", &text, Tone::Plain);
        }
    }
}

fn findings(state: &State, line: &Line, page: &mut Page) {
    if !line.has_findings() {
        return;
    }
    let is_evidence = |found: &&Found| {
        let mut evidence = found.finding.evidence.iter();
        found.part == line.part
            && evidence.any(|place| place.seq == line.seq || place.seq == line.other)
    };
    page.head("findings");
    for found in state.store.findings.iter().filter(is_evidence).take(BESIDE) {
        let jump = Jump {
            part: found.part,
            seq: found.seq,
        };
        let text = format!(
            "  {} {}: {}",
            safe(&found.finding.code),
            found.finding.status.name(),
            safe(&found.finding.detail)
        );
        page.lead(&text, Tone::Warn, Some(jump));
    }
}

/// The lines about an exchange, and the standard error during it.
fn beside(state: &State, number: u64, line: &Line, page: &mut Page) {
    let waited = line.waited_ms().unwrap_or(f64::INFINITY);
    let end = line.at_ms().unwrap_or_default() + waited;
    let mut rows = Vec::new();
    for next in number + 1..number.saturating_add(BEHIND) {
        let Some(other) = state.store.get(next) else {
            break;
        };
        let is_exchange = matches!(other.kind, LineKind::Exchange | LineKind::Model);
        let is_within = other.at_ms().is_some_and(|at| at <= end);
        let is_its = other.other == line.seq && !is_exchange
            || is_within && matches!(other.kind, LineKind::Stderr | LineKind::Fault);
        if is_its && other.part == line.part && rows.len() < BESIDE {
            rows.push(other);
        }
    }
    if rows.is_empty() {
        return;
    }
    page.head("surroundings");
    for other in rows {
        let at = other.at_ms().map_or_else(|| "-".to_owned(), show::moment);
        let jump = Jump {
            part: other.part,
            seq: other.seq,
        };
        let text = format!(
            "  {at:>9}  {:<12} {}",
            other.kind.name(),
            said(state, other)
        );
        page.lead(&text, Tone::Dim, Some(jump));
    }
}

fn spoken(line: &Line, said: &MessageTexts, page: &mut Page) {
    if let Some(why) = &said.problem {
        return page.head(&safe(why));
    }
    if said.all.is_empty() && line.kind == LineKind::Exchange {
        page.head("no content");
    }
    for one in &said.all {
        let is_exchange = line.kind == LineKind::Exchange;
        let word = match one.seq {
            seq if is_exchange && seq == line.seq => "request",
            seq if is_exchange && seq == line.other => "answer",
            _ => "event",
        };
        let arrow = if one.to_client { "←" } else { "→" };
        page.head(&format!(
            "{word} {arrow} event {}, {}",
            one.seq,
            size(one.bytes)
        ));
        text(one, page);
    }
}

fn text(one: &MessageText, page: &mut Page) {
    let look = Look {
        colour: false,
        folded: false,
        indent: 2,
    };
    for row in body::text(&one.text, look).lines() {
        page.lead(row, Tone::Json, None);
    }
    let more = one.bytes.saturating_sub(one.text.len() as u64);
    if more > 0 {
        page.put(
            &format!("  … and {} more in the recording", size(more)),
            Tone::Dim,
        );
    }
}

/// The finding at an index.
pub(super) fn finding_at(state: &State, at: usize, width: usize) -> Vec<Row> {
    let found = state.store.findings.get(at);
    found.map_or_else(Vec::new, |found| finding(state, found, width))
}

/// A finding with its evidence, and what the rule requires.
fn finding(state: &State, found: &Found, width: usize) -> Vec<Row> {
    let mut page = Page::new(width);
    for (at, row) in words::line(&found.finding).lines().enumerate() {
        page.put(row, if at == 0 { Tone::Warn } else { Tone::Plain });
    }
    let at = found.at_ms.map(|ms| Offset(0).millis() + ms);
    if let Some(at) = at {
        page.fact("found at", &show::moment(at), Tone::Plain);
    }
    if !found.finding.evidence.is_empty() {
        page.head("evidence (enter opens it, o shows it in the stream)");
    }
    for place in &found.finding.evidence {
        let number = state.store.of_event(found.part, place.seq);
        let line = number.and_then(|number| state.store.get(number));
        let told = line.map_or_else(String::new, |line| match line.kind {
            LineKind::Exchange => what(state, line),
            kind => format!("{} {}", kind.name(), said(state, line)),
        });
        let text = format!("  event {} {}  {told}", place.seq, safe(&place.pointer));
        let jump = Jump {
            part: found.part,
            seq: place.seq,
        };
        page.lead(&text, Tone::Plain, Some(jump));
    }
    page.head(&format!("tapewright explain {}", safe(&found.finding.code)));
    match explain::page(&found.finding.code) {
        Ok(text) => {
            for row in text.lines() {
                page.put(&format!("  {}", safe(row)), Tone::Plain);
            }
        }
        Err(_) => page.put("  no explanation for this code", Tone::Dim),
    }
    page.rows
}
