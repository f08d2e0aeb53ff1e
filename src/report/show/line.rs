//! One exchange, as a line.

use std::fmt::Write as _;

use tapewright_schemas::conversation::{ExchangeRow, Outcome};
use tapewright_schemas::event::Direction;

use super::model;
use crate::report::figures::duration;
use crate::report::{effect, safe};

/// The context of a line.
#[derive(Debug, Default)]
pub(super) struct Margin {
    /// The name of its tape, padded, if the recording has several.
    pub(super) part: String,
    /// The session, if there are several.
    pub(super) session: Option<u32>,
    /// Whether to use colours.
    pub(super) colour: bool,
}

impl Margin {
    /// Only a session.
    pub(super) fn of_session(session: u32) -> Self {
        Self {
            session: Some(session),
            ..Self::default()
        }
    }

    /// The beginning of every line: time, tape, session, direction.
    pub(super) fn front(&self, at_ms: Option<f64>, to_client: bool) -> String {
        let at = at_ms.map_or_else(|| "-".to_owned(), moment);
        let session = self.session.map_or_else(String::new, |session| {
            format!("{:<4}", format!("s{session}"))
        });
        let arrow = if to_client { '←' } else { '→' };
        format!("{at:>9}  {}{session}{arrow} ", self.part)
    }
}

/// A text in a colour, if colours are used.
pub(super) fn paint(text: &str, colour: &str, has_colours: bool) -> String {
    if has_colours && !colour.is_empty() {
        format!("\u{1b}[{colour}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

pub(crate) const RED: &str = "31";
pub(crate) const YELLOW: &str = "33";
pub(super) const DIM: &str = "2";

/// An exchange.
pub(super) fn exchange(row: &ExchangeRow, margin: &Margin) -> String {
    let has_colours = margin.colour;
    let front = margin.front(row.at_ms, row.from == "server");
    let id = short(&safe(&row.id), ID_CHARS);
    let mut what = safe(&row.method);
    let name = row.tool.as_ref().or(row.resource.as_ref());
    if let Some(name) = name.or(row.prompt.as_ref()) {
        // Writing to a string does not fail.
        let _never_fails = write!(what, " {}", safe(name));
    }
    let what = short(&what, WHAT_CHARS);
    let took = row.waited_ms.map_or_else(|| "-".to_owned(), duration);
    let (ended, colour) = ended(row);
    let ended = paint(&ended, colour, has_colours);
    let what = format!("{id:<4} {what}");
    let mut line = format!("{front}{what:<WIDTH$} {took:>9}  {ended}");
    for code in &row.findings {
        let _never_fails = write!(line, "  {}", paint(&safe(code), YELLOW, has_colours));
    }
    if let Some(asked) = &row.asked_by {
        let by = model::asked_by(asked);
        let _never_fails = write!(line, "  {}", paint(&by, DIM, has_colours));
    }
    line
}

/// How an exchange ended, with its colour.
fn ended(row: &ExchangeRow) -> (String, &'static str) {
    let (word, colour) = outcome(
        row.outcome,
        row.from,
        row.tool_error,
        row.error_code,
        row.http_status,
    );
    match &row.fault {
        Some(fault) => (format!("{word}, fault {}", effect::fault(fault)), colour),
        None => (word, colour),
    }
}

/// How an exchange ended, without its fault; `from` sent the request.
pub(crate) fn outcome(
    outcome: Outcome,
    from: &str,
    tool_error: bool,
    error_code: Option<i64>,
    http_status: Option<u16>,
) -> (String, &'static str) {
    match outcome {
        Outcome::Answered if tool_error => ("tool error".to_owned(), RED),
        Outcome::Answered => ("ok".to_owned(), ""),
        Outcome::Cancelled => ("cancelled".to_owned(), YELLOW),
        Outcome::ClientGone => ("client gone".to_owned(), YELLOW),
        Outcome::Error => match error_code {
            Some(code) => (format!("error {code}"), RED),
            None => ("error".to_owned(), RED),
        },
        Outcome::Failed if http_status.is_none_or(|status| status < 400) => {
            ("HTTP failed".to_owned(), RED)
        }
        Outcome::Failed | Outcome::HttpError => match http_status {
            Some(status) => (format!("HTTP {status}"), RED),
            None => ("HTTP error".to_owned(), RED),
        },
        Outcome::KeptByFault => ("kept by a fault".to_owned(), YELLOW),
        Outcome::NoResponse => ("no HTTP response".to_owned(), RED),
        Outcome::PeerGone => (format!("{} gone", receiver(from)), RED),
        Outcome::StillPending => ("pending".to_owned(), YELLOW),
        Outcome::Unknown => ("unknown: something is missing".to_owned(), YELLOW),
    }
}

/// The peer that a request from the other one went to.
pub(crate) fn receiver(from: &str) -> &'static str {
    if from == Direction::ToClient.sender() {
        Direction::ToServer.sender()
    } else {
        Direction::ToClient.sender()
    }
}

/// A text cut to `most` characters.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// The time since the tape began, to the millisecond, to distinguish lines.
pub(crate) fn moment(ms: f64) -> String {
    if ms < 1_000.0 {
        duration(ms)
    } else {
        format!("{:.3} s", ms / 1_000.0)
    }
}

/// The width of the column with the id and the request.
pub(super) const WIDTH: usize = 48;
const ID_CHARS: usize = 40;
/// How many characters of a tape's name are shown.
pub(super) const PART_CHARS: usize = 16;
pub(super) const WHAT_CHARS: usize = 100;
