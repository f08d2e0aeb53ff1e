//! The JSON Schemas (2020-12) that describe our files to others.

use std::sync::LazyLock;

use tapewright_packed::Texts;

/// A schema and what it describes.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The name by which it is requested.
    pub name: &'static str,
    /// A short description.
    pub what: &'static str,
}

impl Published {
    /// The schema.
    #[must_use]
    pub fn text(&self) -> &'static str {
        TEXTS.text(self.name)
    }
}

/// The files of `json`, which `build.rs` has packed.
static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    Texts::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/schemas.packed")))
        .expect("they are as `build.rs` has written them")
});

/// Every schema.
pub const ALL: &[Published] = &[
    schema("suite", "a YAML suite, version 1"),
    schema("calibration", "labelled examples, for `eval --calibrate`"),
    schema("cassette", "request and response envelopes for replay"),
    schema("capture", "a session, for session invariants"),
    schema(
        "corpus",
        "rules of one revision of MCP, for `compliance run`",
    ),
    schema("registry", "every compliance rule"),
    schema("tape-line", "one line of a tape"),
    schema("exchange", "one exchange, as every view shows it"),
    schema("inspect", "what `inspect --json` prints"),
    schema("model-call", "one call of a model, as every view shows it"),
    schema(
        "recording",
        "what `inspect --json` prints of an agent's recording",
    ),
    schema("report", "what `run --format json` prints"),
    schema(
        "compliance-report",
        "what `compliance run --format json` prints",
    ),
    schema("model-baseline", "answers of a model, for `model-baseline`"),
    schema(
        "judgements",
        "verdicts of judges about a test, recorded next to its suite",
    ),
    schema("log-line", "one line of `--log` as JSON"),
    schema("scrub", "one line of `scrub --json`"),
    schema("migrate", "one line of `migrate --json`"),
    schema("clients", "one line of `wrap --list --json`"),
];

const fn schema(name: &'static str, what: &'static str) -> Published {
    Published { name, what }
}

/// The schema of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Published> {
    ALL.iter().find(|schema| schema.name == name)
}
