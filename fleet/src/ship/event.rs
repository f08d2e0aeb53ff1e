//! What a shipper tells its operator: names, numbers and tokens, and nothing that a message says.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::entry::{Ended, Entry};
use crate::names::{Gateway, TapeName};

/// One thing that happened while shipping.
#[derive(Debug)]
pub enum ShipEvent<'a> {
    /// Begun.
    Started {
        /// As whom.
        gateway: &'a Gateway,
        /// The folder that is followed.
        folder: &'a Path,
    },
    /// A range was shipped.
    Shipped {
        /// Of which tape.
        tape: &'a TapeName,
        /// Its entry.
        entry: &'a Entry,
    },
    /// Another shipper was first.
    Theirs {
        /// With which tape.
        tape: &'a TapeName,
        /// From which byte on.
        start: u64,
    },
    /// All of a tape is shipped.
    Ended {
        /// Which one.
        tape: &'a TapeName,
        /// How it ended.
        ended: Ended,
    },
    /// A file is called like a tape and is none.
    NotATape {
        /// Which one.
        file: &'a Path,
    },
    /// A file is shorter than what was shipped of it.
    Shorter {
        /// Which one.
        file: &'a Path,
        /// The tape in the store.
        tape: &'a TapeName,
    },
    /// A tape cannot be shipped now.
    Trouble {
        /// Which file.
        file: &'a Path,
        /// Why not.
        why: &'a str,
    },
    /// The store cannot be reached.
    Away {
        /// What happened.
        why: &'a str,
        /// When it is tried again.
        again: Duration,
    },
    /// It can be reached again.
    Back {
        /// For how long it was not.
        after: Duration,
    },
    /// A tape was deleted here, since all of it is in the store.
    Deleted {
        /// Which file.
        file: &'a Path,
        /// Its length.
        bytes: u64,
    },
    /// A tape was deleted here though not all of it is in the store.
    Dropped {
        /// Which file.
        file: &'a Path,
        /// How many of its bytes are in no store.
        bytes: u64,
        /// How many of its events.
        events: u64,
    },
    /// The folder holds more than it may, and nothing can be deleted.
    Full {
        /// How much it holds.
        bytes: u64,
        /// How much it may hold.
        limit: u64,
    },
    /// A range was announced.
    Announced {
        /// Of which tape.
        tape: &'a TapeName,
        /// From which byte on.
        start: u64,
    },
    /// What was shipped cannot be announced now.
    NotAnnounced {
        /// What happened.
        why: &'a str,
        /// When it is tried again.
        again: Duration,
        /// How many ranges and tapes wait, where that is known.
        waiting: Option<u64>,
    },
    /// It can be announced again, and what waited was.
    AnnouncesAgain {
        /// For how long it could not.
        after: Duration,
    },
    /// It ends with announcements that were not made; the next shipper makes them.
    LeftUnannounced {
        /// How many ranges and tapes wait, where that is known.
        waiting: Option<u64>,
    },
}

/// The same as a line of JSON.
#[derive(Debug, Default, Serialize)]
pub struct Line {
    /// What happened, as a token.
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
    /// Whether it is told without being asked for.
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

    /// As a line of JSON.
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
