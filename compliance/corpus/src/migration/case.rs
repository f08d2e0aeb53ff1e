//! What a migration case is.

use super::fold::Fold;

/// One thing that a peer has to change before it can speak a later revision.
#[derive(Debug)]
pub struct Case {
    /// Its name: `missing-server-discover`.
    pub id: &'static str,
    /// What sort of change it is.
    pub kind: Kind,
    /// How much it breaks.
    pub severity: Severity,
    /// The revision from which on it matters.
    pub spec_version: &'static str,
    /// It, in a line.
    pub summary: &'static str,
    /// What held before.
    pub old_contract: &'static str,
    /// What holds from that revision on.
    pub new_contract: &'static str,
    /// By what it is seen on the wire.
    pub detection_signal: &'static str,
    /// What to do instead.
    pub replacement: &'static str,
    /// Where the specification says it.
    pub doc_link: &'static str,
    /// The proposal that brought it.
    pub sep: &'static str,
    /// What looks for it.
    pub(crate) begin: fn() -> Box<dyn Fold>,
}

/// What sort of change a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No handshake and no sessions.
    StatelessTransport,
    /// Tasks are an extension.
    TasksExtension,
    /// A capability that goes.
    DeprecatedCapability,
    /// Authorization.
    AuthHardening,
    /// An error code that is gone.
    LegacyErrorCode,
    /// The dialect of schemas.
    SchemaVersion,
}

impl Kind {
    /// Its word in reports.
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
    /// Its word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
