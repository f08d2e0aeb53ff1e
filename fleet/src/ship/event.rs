//! The events of a shipper for its operator: names, numbers and tokens, without message contents.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::entry::{Ended, Entry};
use crate::names::{Gateway, TapeName};

/// One thing that happened while shipping.
#[derive(Debug)]
pub enum ShipEvent<'a> {
    /// Shipping began.
    Started {
        /// The name of the gateway.
        gateway: &'a Gateway,
        /// The folder with the tapes.
        folder: &'a Path,
    },
    /// A range was shipped.
    Shipped {
        /// Its tape.
        tape: &'a TapeName,
        /// Its entry.
        entry: &'a Entry,
    },
    /// Another shipper shipped a range first.
    Theirs {
        /// Its tape.
        tape: &'a TapeName,
        /// The start of the range.
        start: u64,
    },
    /// A tape is completely shipped.
    Ended {
        /// The tape.
        tape: &'a TapeName,
        /// How it ended.
        ended: Ended,
    },
    /// A file has the name of a tape but is not one.
    NotATape {
        /// The file.
        file: &'a Path,
    },
    /// A file is shorter than its shipped part.
    Shorter {
        /// The file.
        file: &'a Path,
        /// The tape in the store.
        tape: &'a TapeName,
    },
    /// A tape cannot be shipped now.
    Trouble {
        /// The file.
        file: &'a Path,
        /// The reason.
        why: &'a str,
    },
    /// The store is unavailable.
    Away {
        /// The reason.
        why: &'a str,
        /// The delay until the next try.
        again: Duration,
    },
    /// The store is available again.
    Back {
        /// How long it was unavailable.
        after: Duration,
    },
    /// A tape was deleted here, since it is completely in the store.
    Deleted {
        /// The file.
        file: &'a Path,
        /// Its length.
        bytes: u64,
    },
    /// A tape was deleted here although it is not completely in the store.
    Dropped {
        /// The file.
        file: &'a Path,
        /// How many of its bytes are lost.
        bytes: u64,
        /// How many of its events are lost.
        events: u64,
    },
    /// The folder is larger than its limit, and nothing can be deleted.
    Full {
        /// Its size.
        bytes: u64,
        /// Its limit.
        limit: u64,
    },
    /// A range was announced.
    Announced {
        /// Its tape.
        tape: &'a TapeName,
        /// The start of the range.
        start: u64,
    },
    /// Announcing is not possible now.
    NotAnnounced {
        /// The reason.
        why: &'a str,
        /// The delay until the next try.
        again: Duration,
        /// How many ranges and tapes wait, if known.
        waiting: Option<u64>,
    },
    /// Announcing is possible again, and everything that waited was announced.
    AnnouncesAgain {
        /// How long it was not possible.
        after: Duration,
    },
    /// The shipper ends with announcements left; the next one makes them.
    LeftUnannounced {
        /// How many ranges and tapes wait, if known.
        waiting: Option<u64>,
    },
}

/// An event as a line of JSON.
#[derive(Debug, Default, Serialize)]
pub struct Line {
    /// The token of the event.
    pub event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tape: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<u64>,
}

impl ShipEvent<'_> {
    /// Whether it is printed without `--verbose`.
    #[must_use]
    pub fn is_important(&self) -> bool {
        !matches!(
            self,
            Self::Started { .. }
                | Self::Shipped { .. }
                | Self::Theirs { .. }
                | Self::Ended { .. }
                | Self::Announced { .. }
        )
    }

    /// The event as a line of JSON.
    #[must_use]
    pub fn line(&self) -> Line {
        let plain = Line::default();
        match self {
            Self::Started { gateway, folder } => Line {
                event: "started",
                gateway: Some(gateway.to_string()),
                file: Some(path(folder)),
                ..plain
            },
            Self::Shipped { tape, entry } => Line {
                event: "shipped",
                tape: Some(tape.to_string()),
                start: Some(entry.start),
                end: Some(entry.end),
                events: Some(entry.content.events),
                bytes: entry.segment.as_ref().map(|segment| segment.bytes),
                ..plain
            },
            Self::Theirs { tape, start } => Line {
                event: "shipped_by_another",
                tape: Some(tape.to_string()),
                start: Some(*start),
                ..plain
            },
            Self::Ended { tape, ended } => Line {
                event: "ended",
                tape: Some(tape.to_string()),
                ended: Some(*ended),
                ..plain
            },
            Self::Shorter { file, tape } => Line {
                event: "shorter",
                tape: Some(tape.to_string()),
                file: Some(path(file)),
                ..plain
            },
            Self::NotATape { file } => Line {
                event: "not_a_tape",
                file: Some(path(file)),
                ..plain
            },
            _ => self.rare(),
        }
    }

    fn rare(&self) -> Line {
        let plain = Line::default();
        match self {
            Self::Trouble { file, why } => Line {
                event: "trouble",
                file: Some(path(file)),
                why: Some((*why).to_owned()),
                ..plain
            },
            Self::Away { why, again } => Line {
                event: "store_away",
                why: Some((*why).to_owned()),
                ms: millis(*again),
                ..plain
            },
            Self::Back { after } => Line {
                event: "store_back",
                ms: millis(*after),
                ..plain
            },
            Self::Deleted { file, bytes } => Line {
                event: "deleted",
                file: Some(path(file)),
                bytes: Some(*bytes),
                ..plain
            },
            Self::Dropped {
                file,
                bytes,
                events,
            } => Line {
                event: "dropped",
                file: Some(path(file)),
                bytes: Some(*bytes),
                events: Some(*events),
                ..plain
            },
            Self::Full { bytes, limit } => Line {
                event: "full",
                bytes: Some(*bytes),
                limit: Some(*limit),
                ..plain
            },
            _ => self.of_announcements(),
        }
    }

    fn of_announcements(&self) -> Line {
        let plain = Line::default();
        match self {
            Self::Announced { tape, start } => Line {
                event: "announced",
                tape: Some(tape.to_string()),
                start: Some(*start),
                ..plain
            },
            Self::NotAnnounced {
                why,
                again,
                waiting,
            } => Line {
                event: "not_announced",
                why: Some((*why).to_owned()),
                ms: millis(*again),
                waiting: *waiting,
                ..plain
            },
            Self::AnnouncesAgain { after } => Line {
                event: "announces_again",
                ms: millis(*after),
                ..plain
            },
            Self::LeftUnannounced { waiting } => Line {
                event: "left_unannounced",
                waiting: *waiting,
                ..plain
            },
            _ => plain,
        }
    }
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

fn millis(time: Duration) -> Option<u64> {
    u64::try_from(time.as_millis()).ok()
}
