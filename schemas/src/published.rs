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
    schema(
        "suite",
        "a YAML suite, version 1",
        include_str!("../json/suite.schema.json"),
    ),
    schema(
        "calibration",
        "labelled examples, for `eval --calibrate`",
        include_str!("../json/calibration.schema.json"),
    ),
    schema(
        "cassette",
        "request and response envelopes for replay",
        include_str!("../json/cassette.schema.json"),
    ),
    schema(
        "capture",
        "a session, for session invariants",
        include_str!("../json/capture.schema.json"),
    ),
    schema(
        "corpus",
        "rules of one revision of MCP, for `compliance run`",
        include_str!("../json/corpus.schema.json"),
    ),
    schema(
        "registry",
        "every compliance rule",
        include_str!("../json/registry.schema.json"),
    ),
    schema(
        "tape-line",
        "one line of a tape",
        include_str!("../json/tape-line.schema.json"),
    ),
    schema(
        "exchange",
        "one exchange, as every view shows it",
        include_str!("../json/exchange.schema.json"),
    ),
    schema(
        "inspect",
        "what `inspect --json` prints",
        include_str!("../json/inspect.schema.json"),
    ),
    schema(
        "model-call",
        "one call of a model, as every view shows it",
        include_str!("../json/model-call.schema.json"),
    ),
    schema(
        "recording",
        "what `inspect --json` prints of an agent's recording",
        include_str!("../json/recording.schema.json"),
    ),
    schema(
        "report",
        "what `run --format json` prints",
        include_str!("../json/report.schema.json"),
    ),
    schema(
        "compliance-report",
        "what `compliance run --format json` prints",
        include_str!("../json/compliance-report.schema.json"),
    ),
    schema(
        "model-baseline",
        "answers of a model, for `model-baseline`",
        include_str!("../json/model-baseline.schema.json"),
    ),
    schema(
        "judgements",
        "verdicts of judges about a test, recorded next to its suite",
        include_str!("../json/judgements.schema.json"),
    ),
    schema(
        "log-line",
        "one line of `--log` as JSON",
        include_str!("../json/log-line.schema.json"),
    ),
    schema(
        "scrub",
        "one line of `scrub --json`",
        include_str!("../json/scrub.schema.json"),
    ),
    schema(
        "migrate",
        "one line of `migrate --json`",
        include_str!("../json/migrate.schema.json"),
    ),
    schema(
        "clients",
        "one line of `wrap --list --json`",
        include_str!("../json/clients.schema.json"),
    ),
];

const fn schema(name: &'static str, what: &'static str, text: &'static str) -> Published {
    Published { name, what, text }
}

/// The schema of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Published> {
    ALL.iter().find(|schema| schema.name == name)
}
