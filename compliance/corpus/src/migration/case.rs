//! The definition of a migration case.

use super::fold::Fold;

/// One change that a peer needs before it can use a later revision.
#[derive(Debug)]
pub struct Case {
    /// Its name: `missing-server-discover`.
    pub id: &'static str,
    /// The kind of change.
    pub kind: Kind,
    /// How much it breaks.
    pub severity: Severity,
    /// The revision from which on it matters.
    pub spec_version: &'static str,
    /// It, in a line.
    pub summary: &'static str,
    /// The rule before that revision.
    pub old_contract: &'static str,
    /// The rule from that revision on.
    pub new_contract: &'static str,
    /// How it shows on the wire.
    pub detection_signal: &'static str,
    /// The replacement.
    pub replacement: &'static str,
    /// The section of the specification.
    pub doc_link: &'static str,
    /// The proposal that brought it.
    pub sep: &'static str,
    /// Creates the fold that detects it.
    pub(crate) begin: fn() -> Box<dyn Fold>,
}

/// The kind of change that a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No handshake and no sessions.
    StatelessTransport,
    /// Tasks are an extension.
    TasksExtension,
    /// A capability that is being removed.
    DeprecatedCapability,
    /// Authorization.
    AuthHardening,
    /// A removed error code.
    LegacyErrorCode,
    /// The dialect of schemas.
    SchemaVersion,
}

impl Kind {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StatelessTransport => "stateless-transport",
            Self::TasksExtension => "tasks-extension",
            Self::DeprecatedCapability => "deprecated-capability",
            Self::AuthHardening => "auth-hardening",
            Self::LegacyErrorCode => "legacy-error-code",
            Self::SchemaVersion => "schema-version",
        }
    }
}

/// How much a case breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Little.
    Low,
    /// Something.
    Medium,
    /// Peers do not understand each other.
    High,
}

impl Severity {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
