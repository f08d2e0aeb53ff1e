//! The part of a line that a filter examines.

use crate::conversation::{ExchangeRow, ModelRow, Outcome, ToolUseRow};
use crate::event::Direction;

/// The type of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineKind {
    /// A request and its outcome.
    Exchange,
    /// A model call.
    Model,
    /// A notification that is about no request.
    Notification,
    /// The progress of a request.
    Progress,
    /// A request is given up.
    Cancellation,
    /// An answer to a request that is over.
    Late,
    /// An answer to no known request.
    Orphan,
    /// Content that is not a message.
    Noise,
    /// A line of the server's standard error.
    Stderr,
    /// The head of an HTTP request or response.
    Http,
    /// The effect of a fault.
    Fault,
    /// A finding of a judge.
    Finding,
    /// Something was not recorded.
    Gap,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Exchange,
        Self::Model,
        Self::Notification,
        Self::Progress,
        Self::Cancellation,
        Self::Late,
        Self::Orphan,
        Self::Noise,
        Self::Stderr,
        Self::Http,
        Self::Fault,
        Self::Finding,
        Self::Gap,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Model => "model",
            Self::Notification => "notification",
            Self::Progress => "progress",
            Self::Cancellation => "cancellation",
            Self::Late => "late",
            Self::Orphan => "orphan",
            Self::Noise => "noise",
            Self::Stderr => "stderr",
            Self::Http => "http",
            Self::Fault => "fault",
            Self::Finding => "finding",
            Self::Gap => "gap",
        }
    }

    /// The kind of lines with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One line of a view, as a filter sees it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The type of the line.
    pub kind: LineKind,
    /// Its session.
    pub session: u32,
    /// Its direction; that of an exchange is the direction of its request.
    pub dir: Direction,
    /// Its method; empty if it has none.
    pub method: &'a str,
    /// The tool that is called.
    pub tool: Option<&'a str>,
    /// The tools that a model asked for.
    pub uses: &'a [ToolUseRow],
    /// The model that was called.
    pub model: Option<&'a str>,
    /// The tool, resource or prompt that it is about.
    pub name: Option<&'a str>,
    /// The id, as it was written.
    pub id: Option<&'a str>,
    /// The id of the tool use of a model that it carried out.
    pub use_id: Option<&'a str>,
    /// How an exchange ended.
    pub outcome: Option<Outcome>,
    /// The tool reports a failure.
    pub tool_error: bool,
    /// The code of an error.
    pub error_code: Option<i64>,
    /// The status of an HTTP response.
    pub http_status: Option<u16>,
    /// A fault affects it.
    pub has_fault: bool,
    /// A judge found something about it.
    pub has_findings: bool,
    /// How long its sender waited, in milliseconds, if known.
    pub waited_ms: Option<f64>,
    /// Message contents, where a view shows them.
    pub texts: [&'a [u8]; 2],
}

impl<'a> Subject<'a> {
    /// A line without further details.
    #[must_use]
    pub fn new(kind: LineKind, session: u32, dir: Direction) -> Self {
        Self {
            kind,
            session,
            dir,
            method: "",
            tool: None,
            uses: &[],
            model: None,
            name: None,
            id: None,
            use_id: None,
            outcome: None,
            tool_error: false,
            error_code: None,
            http_status: None,
            has_fault: kind == LineKind::Fault,
            has_findings: kind == LineKind::Finding,
            waited_ms: None,
            texts: [b"", b""],
        }
    }

    /// Whether a model asked for a tool with such a name.
    pub(super) fn asks_for(&self, is_meant: impl Fn(&[u8]) -> bool) -> bool {
        self.uses.iter().any(|used| is_meant(used.name.as_bytes()))
    }

    /// An exchange.
    #[must_use]
    pub fn of_row(row: &'a ExchangeRow) -> Self {
        let dir = if row.from == Direction::ToServer.sender() {
            Direction::ToServer
        } else {
            Direction::ToClient
        };
        let tool = row.tool.as_deref();
        Self {
            method: &row.method,
            tool,
            name: tool.or(row.resource.as_deref()).or(row.prompt.as_deref()),
            id: Some(&row.id),
            use_id: row.asked_by.as_ref().and_then(|one| one.id.as_deref()),
            outcome: Some(row.outcome),
            tool_error: row.tool_error,
            error_code: row.error_code,
            http_status: row.http_status,
            has_fault: row.fault.is_some(),
            has_findings: !row.findings.is_empty(),
            waited_ms: row.waited_ms,
            ..Self::new(LineKind::Exchange, row.session, dir)
        }
    }

    /// A model call.
    #[must_use]
    pub fn of_model(row: &'a ModelRow) -> Self {
        Self {
            uses: &row.tool_uses,
            model: row.model.as_deref(),
            id: row.id.as_deref(),
            outcome: Some(row.outcome),
            http_status: row.http_status,
            waited_ms: row.waited_ms,
            ..Self::new(LineKind::Model, row.session, Direction::ToServer)
        }
    }
}
