//! One announcement: facts and counts about a segment, never its contents.

use serde::{Deserialize, Serialize};

use crate::entry::{Ended, Entry};
use crate::names::{Gateway, Kind, ObjectName, TapeId, TapeName};
use crate::summary::Summary;

/// The version of announcements that this build writes.
pub const VERSION: &str = "1.0";
/// The longest announcement, in bytes.
pub const LIMIT: usize = 8 << 10;

/// The facts about an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// Version of the format, `major.minor`.
    pub announcement: String,
    /// The gateway that shipped it.
    pub gateway: Gateway,
    /// Its tape.
    pub tape: TapeId,
    /// Name of the server that was recorded.
    pub label: String,
    /// Where its range of the tape begins, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// How many events it has.
    pub events: u64,
    /// The number of the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seq: Option<u64>,
    /// The number of the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// When the tape began.
    pub created: String,
    /// When the first event happened, in microseconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_us: Option<u64>,
    /// When the last event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_us: Option<u64>,
    /// The summary of its rows, if it has rows.
    #[serde(default)]
    pub rows: Summary,
    /// The paths of its files in the store.
    #[serde(default)]
    pub files: Vec<String>,
    /// When it was shipped.
    pub shipped: String,
    /// How the tape ended, if this is its last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The longest text from a header, in characters.
const TEXT: usize = 100;

impl Announcement {
    /// The announcement of an entry.
    #[must_use]
    pub fn of(tape: &TapeName, entry: &Entry) -> Self {
        let short = |text: &str| text.chars().take(TEXT).collect();
        Self {
            announcement: VERSION.to_owned(),
            gateway: tape.gateway.clone(),
            tape: tape.id.clone(),
            label: short(&entry.about.label),
            start: entry.start,
            end: entry.end,
            events: entry.content.events,
            first_seq: entry.content.first_seq,
            last_seq: entry.content.last_seq,
            created: short(&entry.about.created),
            first_us: entry.content.first_us,
            last_us: entry.content.last_us,
            rows: entry.rows.summary.clone().unwrap_or_default(),
            files: entry
                .objects()
                .map(|(_, path): (Kind, &str)| path.to_owned())
                .collect(),
            shipped: short(&entry.shipped),
            ended: entry.ended,
        }
    }

    /// Parses a message; `None` if it is not an announcement.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let read: Self = (bytes.len() <= LIMIT).then(|| serde_json::from_slice(bytes).ok())??;
        let is_known = read.announcement.split('.').next() == VERSION.split('.').next();
        let is_own =
            |path: &String| ObjectName::read(path).is_ok_and(|name| name.of.tape == read.name());
        (is_known && read.end >= read.start && read.files.iter().all(is_own)).then_some(read)
    }

    /// The message, in at most [`LIMIT`] bytes.
    #[must_use]
    pub fn write(mut self) -> Vec<u8> {
        loop {
            // A struct of strings and numbers can always be serialized.
            let text = serde_json::to_vec(&self).unwrap_or_default();
            if text.len() <= LIMIT || !self.rows.shorten() {
                return text;
            }
        }
    }

    /// The name of its tape.
    #[must_use]
    pub fn name(&self) -> TapeName {
        TapeName {
            gateway: self.gateway.clone(),
            id: self.tape.clone(),
        }
    }

    /// Its id, which is the same each time it is made.
    #[must_use]
    pub fn id(&self) -> String {
        id(&self.name(), self.start)
    }
}

/// The id of an entry's announcement.
pub(super) fn id(tape: &TapeName, start: u64) -> String {
    format!("{tape}/{start:020}")
}

/// The subject of a tape. A dot in a name would split it.
pub(super) fn subject(stream: &str, tape: &TapeName) -> String {
    let gateway = tape.gateway.as_str().replace('.', "%");
    let id = tape.id.to_string().replace('.', "%");
    format!("{stream}.{gateway}.{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{About, Content, RowFile, Rows, Segment};
    use crate::names::EntryName;
    use crate::summary::Notable;

    fn name() -> TapeName {
        TapeName {
            gateway: "g.1".parse().unwrap(),
            id: "20261126T031500Z-0123456789abcdef0123.2".parse().unwrap(),
        }
    }

    fn entry(summary: Summary) -> Entry {
        let of = EntryName::first(&name(), 5);
        let segment = ObjectName::fresh(&of);
        Entry {
            about: About {
                label: "\u{1}".repeat(200),
                ..About::default()
            },
            start: 5,
            end: 10,
            content: Content {
                events: 3,
                ..Content::default()
            },
            segment: Some(Segment {
                name: segment.path(),
                ..Segment::default()
            }),
            rows: Rows {
                exchanges: Some(RowFile {
                    name: segment.of_kind(Kind::Exchanges).path(),
                    ..RowFile::default()
                }),
                summary: Some(summary),
                ..Rows::default()
            },
            ..Entry::default()
        }
    }

    #[test]
    fn it_is_read_as_it_was_written_and_is_never_long() {
        let mut summary = Summary::default();
        for seq in 0..500 {
            let one = Notable {
                seq,
                method: "\u{2}".repeat(300),
                tool: Some(format!("{seq}{}", "\u{3}".repeat(300))),
                outcome: "still_pending".to_owned(),
                waited_ms: Some(seq),
            };
            summary.exchange(one, false);
            summary.finding(&format!("{seq}{}", "\u{4}".repeat(300)));
        }
        let made = Announcement::of(&name(), &entry(summary));
        let text = made.clone().write();
        assert!(text.len() <= LIMIT, "{}", text.len());
        let read = Announcement::read(&text).unwrap();
        assert_eq!((read.id(), read.rows.hangs()), (made.id(), 500));
        let small = Announcement::of(&name(), &entry(Summary::default()));
        assert_eq!(Announcement::read(&small.clone().write()), Some(small));
    }

    #[test]
    fn what_is_no_announcement_is_none() {
        let good = Announcement::of(&name(), &entry(Summary::default()));
        let foreign = |change: &dyn Fn(&mut Announcement)| {
            let mut one = good.clone();
            change(&mut one);
            assert_eq!(Announcement::read(&one.write()), None);
        };
        foreign(&|one| one.announcement = "2.0".to_owned());
        foreign(&|one| one.end = 0);
        foreign(&|one| one.files.push("../../etc/passwd".to_owned()));
        foreign(&|one| one.gateway = "other".parse().unwrap());
        for bytes in [b"".as_slice(), b"[]", &[b'x'; LIMIT + 1]] {
            assert_eq!(Announcement::read(bytes), None);
        }
    }

    #[test]
    fn a_point_in_a_name_divides_no_subject() {
        let subject = subject("s", &name());
        assert_eq!(subject, "s.g%1.20261126T031500Z-0123456789abcdef0123%2");
    }
}
