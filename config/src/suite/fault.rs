//! `faults`: how a tool misbehaves for an agent.

use std::time::Duration;

use crate::issue::Code;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A way to misbehave, by name.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The name that `inject` uses.
    pub name: String,
    /// The tool that it is for; any with `None`.
    pub tool: Option<String>,
    /// The server that it is for; any with `None`.
    pub server: Option<String>,
    /// What it does.
    pub kind: FaultKind,
    /// Its position.
    pub place: SourceSpot,
}

/// What a fault does to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is never answered.
    Hang,
    /// It is never answered, and neither is anything after it.
    Wedged,
    /// It is answered after this time, by up to the jitter sooner or later.
    Slow {
        /// The delay.
        delay: Duration,
        /// The random variation of the delay.
        jitter: Duration,
    },
    /// So many calls are never answered, later ones are.
    RecoverAfter(u64),
    /// A fault on the wire, in real time, as `--fault` takes it.
    Wire(String),
}

/// The longest delay, in milliseconds: a day.
const MOST_MS: u64 = 86_400_000;
/// The most calls that may fail before one is answered.
const MOST_FAILURES: u64 = 1_000_000;

impl Fault {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let name = fields.name("name");
        if let Some(wire) = fields.optional_name("wire") {
            fields.finish();
            return Self {
                name,
                tool: None,
                server: None,
                kind: FaultKind::Wire(wire),
                place: at.place(),
            };
        }
        let (tool, server) = fields
            .required("target")
            .map(|at| target(&at))
            .unwrap_or_default();
        let kind = fields
            .required("kind")
            .and_then(|at| at.word(&["hang", "wedged", "slow", "recover_after"]));
        let mut count = |key, needed, least, most| {
            let found = if needed {
                fields.required(key)
            } else {
                fields.optional(key)
            };
            found.map_or(0, |at| at.integer_within(least, most))
        };
        let delay = count("delay_ms", kind == Some("slow"), 0, MOST_MS);
        let jitter = count("jitter_ms", false, 0, MOST_MS);
        let failures = count("failures", kind == Some("recover_after"), 1, MOST_FAILURES);
        fields.finish();
        let kind = match kind {
            Some("slow") => FaultKind::Slow {
                delay: Duration::from_millis(delay),
                jitter: Duration::from_millis(jitter),
            },
            Some("recover_after") => FaultKind::RecoverAfter(failures),
            Some("wedged") => FaultKind::Wedged,
            _ => FaultKind::Hang,
        };
        Self {
            name,
            tool,
            server,
            kind,
            place: at.place(),
        }
    }
}

fn target(at: &Cursor<'_>) -> (Option<String>, Option<String>) {
    let mut fields = at.fields();
    let tool = fields.optional_name("tool");
    let server = fields.optional_name("server");
    if at.is_object() && at.entries().is_empty() {
        let help = "give `tool`, `server` or both".to_owned();
        at.error_at_key(
            Code::Choice,
            "the target names neither a tool nor a server",
            help,
        );
    }
    fields.finish();
    (tool, server)
}
