//! A cassette as a recording.

use super::project::RECORDED_BY;
use super::read::Cassette;
use super::timeline::Timeline;
use crate::event::Offset;
use crate::made_in::MadeIn;
use crate::recording::Recording;
use crate::tape::{Ending, Footer, Header, Incomplete, VERSION};

impl Cassette {
    /// Converts the cassette to events in the order of their times, if it has any: an event without
    /// a time follows the event before it in the file. Without times, events are in the order of
    /// [`Course`](super::Course), and all of them at the start.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut timeline = Timeline::new(self, self.tells_times());
        timeline.play(self, self.exchanges.len(), |timeline, place| {
            if let Some(one) = self.exchanges.get(place) {
                timeline.exchange(one);
            }
        });
        let (ended, http) = (timeline.ended(), timeline.is_http());
        let events = timeline.into_events(self.is_foreign(http));
        Recording {
            header: self.header(http),
            ending: self.ending(ended, events.len()),
            events,
            timed: self.exchanges.iter().any(|one| one.sent.is_some()),
        }
    }

    /// Whether another tool wrote it; such a cassette does not identify its transport.
    pub(super) fn is_foreign(&self, http: bool) -> bool {
        !http && self.meta("tapewright_version").is_none() && self.meta(RECORDED_BY).is_none()
    }

    /// The footer of an equivalent tape.
    pub(super) fn ending(&self, now: Offset, events: usize) -> Ending {
        Ending::Footer(Footer {
            at_us: now.0,
            events: events as u64,
            ..Incomplete::footer(self.incomplete.as_deref())
        })
    }

    /// The header of an equivalent tape.
    pub(super) fn header(&self, http: bool) -> Header {
        let meta = |name| self.meta(name).unwrap_or_default().to_owned();
        Header {
            tape: VERSION.to_owned(),
            created: meta("recorded_at"),
            by: self
                .meta("tapewright_version")
                .or_else(|| self.meta(RECORDED_BY))
                .unwrap_or_default()
                .to_owned(),
            label: meta("label"),
            made_in: MadeIn::recorded(&meta("made_in_folder"), &meta("made_in_home")),
            upstream: meta("source_url"),
            transport: if http { "http" } else { "" }.to_owned(),
            redacted: true,
            ..Header::default()
        }
    }
}
