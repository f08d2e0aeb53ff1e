//! An exchange in numbers.

use std::ops::Range;

use crate::cassette::read::micros;
use crate::era::Era;
use crate::event::{Offset, SessionKey};
use crate::json::{Span, Text, valid_members};

/// An exchange that is only a request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    /// Where its element begins.
    start: u64,
    /// [`NONE`] while unknown.
    pub(super) asked_us: u64,
    /// How long the answer took, and later when it came; [`NONE`] while unknown.
    pub(super) answered_us: u64,
    // Counted from there.
    request: [u32; 2],
    response: [u32; 2],
    pub(super) session: SessionKey,
    pub(super) era: Option<Era>,
    /// The number of messages of the client in between, if recorded.
    seen: u32,
}

/// No time.
const NONE: u64 = u64::MAX;
/// No number of messages.
const NOT_SAID: u32 = u32::MAX;

impl Plain {
    /// The positions in an element of `exchanges` with these members; `None` for an element with
    /// other parts, or that needs the full parser.
    pub(super) fn read(text: &[u8], members: &[(Text, Span)], start: u64) -> Option<Self> {
        let mut found = Members::default();
        for (name, value) in members {
            let place = match name.span.of(text) {
                _ if name.escaped => None,
                b"request" => Some(&mut found.request),
                b"response" => Some(&mut found.response),
                b"timing" => Some(&mut found.timing),
                b"era" => Some(&mut found.era),
                b"session" => Some(&mut found.session),
                b"seen" => Some(&mut found.seen),
                // Not used by any reader.
                b"marks" => continue,
                _ => None,
            };
            if place?.replace(*value).is_some() {
                return None;
            }
        }
        let timing = found.timing.map(|span| span.of(text)).unwrap_or_default();
        let [sent, took] = times(timing)?;
        let message = |span: Option<Span>| {
            let span = span.filter(|span| span.of(text).first() == Some(&b'{'))?;
            Some([span.start, span.end].map(|at| u32::try_from(at).unwrap_or(u32::MAX)))
        };
        u32::try_from(text.len()).ok()?;
        let number = |span: Span| std::str::from_utf8(span.of(text)).ok()?.parse().ok();
        let seen = match found.seen {
            // Anything more needs the full parser.
            Some(span) => number(span).filter(|seen| *seen != NOT_SAID)?,
            None => NOT_SAID,
        };
        Some(Self {
            seen,
            start,
            asked_us: sent.map_or(NONE, |at| at.0),
            answered_us: took.map_or(NONE, |at| at.0),
            request: message(found.request)?,
            response: message(found.response)?,
            session: SessionKey(found.session.and_then(number).unwrap_or_default()),
            era: match found.era {
                Some(era) => Some(era_of(era.of(text))?),
                None => None,
            },
        })
    }

    /// When it was requested, and how long the answer took, if known.
    pub(super) fn times(&self) -> [Option<Offset>; 2] {
        let known = |at| (at != NONE).then_some(Offset(at));
        [known(self.asked_us), known(self.answered_us)]
    }

    /// The number of messages of the client in between, if recorded.
    pub(super) fn seen(&self) -> Option<u64> {
        (self.seen != NOT_SAID).then_some(self.seen.into())
    }

    /// The position of the request.
    pub(super) fn request(&self) -> Range<u64> {
        self.span(self.request)
    }

    /// The position of the response.
    pub(super) fn response(&self) -> Range<u64> {
        self.span(self.response)
    }

    fn span(&self, [start, end]: [u32; 2]) -> Range<u64> {
        self.start + u64::from(start)..self.start + u64::from(end)
    }
}

#[derive(Default)]
struct Members {
    request: Option<Span>,
    response: Option<Span>,
    timing: Option<Span>,
    era: Option<Span>,
    session: Option<Span>,
    seen: Option<Span>,
}

/// The times of `timing`; `None` for those that need the full parser.
fn times(timing: &[u8]) -> Option<[Option<Offset>; 2]> {
    let (mut sent, mut took) = (None, None);
    let mut plain = true;
    valid_members(timing, |name, value| {
        let place = match name.span.of(timing) {
            _ if name.escaped => return plain = false,
            b"sent_ms" => &mut sent,
            b"took_ms" => &mut took,
            _ => return,
        };
        plain &= place.replace(value.of(timing)).is_none();
    });
    let time = |text: Option<&[u8]>| text.and_then(micros);
    let times = [time(sent), time(took)];
    let known = times.iter().flatten().all(|at| at.0 != NONE);
    (plain && known).then_some(times)
}

fn era_of(text: &[u8]) -> Option<Era> {
    let name = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Era::from_name(std::str::from_utf8(name).ok()?)
}
