//! The JSON Schemas (2020-12) that describe our files to others.

/// A schema and what it describes.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// By what it is asked for.
    pub name: &'static str,
    /// What it describes, in a few words.
    pub what: &'static str,
    /// The schema.
    pub text: &'static str,
}

/// Every schema.
pub const ALL: &[Published] = &[
    Published {
        name: "suite",
        what: "a YAML suite, version 1",
        text: include_str!("../json/suite.schema.json"),
    },
    Published {
        name: "cassette",
        what: "request and response envelopes for replay",
        text: include_str!("../json/cassette.schema.json"),
    },
    Published {
        name: "capture",
        what: "a session, for session invariants",
        text: include_str!("../json/capture.schema.json"),
    },
    Published {
        name: "tape-line",
        what: "one line of a tape",
        text: include_str!("../json/tape-line.schema.json"),
    },
    Published {
        name: "inspect",
        what: "what `inspect --json` prints",
        text: include_str!("../json/inspect.schema.json"),
    },
    Published {
        name: "report",
        what: "what `run --reporter json` prints",
        text: include_str!("../json/report.schema.json"),
    },
];

/// The schema of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Published> {
    ALL.iter().find(|schema| schema.name == name)
}
