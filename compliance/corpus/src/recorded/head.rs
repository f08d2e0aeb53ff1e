//! Whether the head of a recorded request satisfies its revision: a server may refuse any other.

use serde_json::{Map, Value};
use tapewright_compliance::LOG_LEVELS;
use tapewright_schemas::era::{Era, PROTOCOL_VERSION_KEY};
use tapewright_schemas::event::RequestHead;

use super::sessions::Issued;

/// The first revision in which every request names its revision in the head.
const FIRST_NAMED: &str = "2025-06-18";

/// The head of a recorded request, and its content.
pub(super) struct RecordedRequest<'a> {
    pub(super) head: &'a RequestHead,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a Map<String, Value>>,
}

impl RecordedRequest<'_> {
    /// Whether it satisfies a server of the revision. `issued` has the ids of open sessions that
    /// the server issued.
    pub(super) fn is_right(&self, revision: &str, issued: &Issued) -> bool {
        let fields = &self.head.fields;
        let accept: Vec<&str> = fields.all("accept").collect();
        let accept = accept.join(",");
        let accepts = accept.contains("*/*")
            || (accept.contains("application/json") && accept.contains("text/event-stream"));
        let kind = fields.get("content-type").unwrap_or_default();
        if self.head.method != "POST"
            || !accepts
            || !kind.starts_with("application/json")
            || fields.get("origin").is_some()
        {
            return false;
        }
        let version = fields.get("mcp-protocol-version");
        if self.method == "initialize" {
            return true;
        }
        if revision >= FIRST_NAMED && version != Some(revision) {
            return false;
        }
        match Era::of_revision(Some(revision)) {
            Era::Handshake => self.is_in_a_session(issued),
            Era::Stateless => self.mirrors(),
        }
    }

    /// Whether it names a session that the server issued, if it issues any (2025-03-26,
    /// basic/transports §Session Management).
    fn is_in_a_session(&self, issued: &Issued) -> bool {
        let id = self.head.fields.get(SESSION);
        !issued.is_any() || id.is_some_and(|id| issued.may_have(id))
    }

    /// Whether the head matches the body (2026-07-28, basic/transports/streamable-http).
    fn mirrors(&self) -> bool {
        let fields = &self.head.fields;
        let member = match self.method {
            "tools/call" | "prompts/get" => Some("name"),
            "resources/read" => Some("uri"),
            _ => None,
        };
        let name = member.and_then(|member| self.params?.get(member)?.as_str());
        let same = |found: Option<&str>, wanted: &str| {
            found.is_some_and(|found| found == wanted || found.starts_with("=?base64?"))
        };
        same(fields.get("mcp-method"), self.method)
            && name.is_none_or(|name| same(fields.get("mcp-name"), name))
    }
}

/// A field whose value a recording hides, so that a valid one cannot be distinguished from an
/// invalid one.
const SECRET: &str = "authorization";
/// A field whose value is a secret, which a recording hides by one name everywhere.
pub(super) const SESSION: &str = "mcp-session-id";

/// Whether the fields of an assertion were sent: an empty value means that the field is absent.
/// `issued` has the session ids that the server issued.
pub(super) fn has(
    head: Option<&RequestHead>,
    wanted: &[(String, String)],
    issued: &Issued,
) -> bool {
    let Some(head) = head else {
        return wanted.is_empty();
    };
    wanted.iter().all(|(name, value)| match name.as_str() {
        ":method" => head.method.eq_ignore_ascii_case(value),
        // Documents outside MCP are not followed.
        ":path" => false,
        _ if value.is_empty() => head.fields.get(name).is_none(),
        _ if SECRET.eq_ignore_ascii_case(name) => false,
        // No id of tapewright's is in a recording as it was sent; the matching one is any that no
        // server issued.
        _ if SESSION.eq_ignore_ascii_case(name) => head
            .fields
            .get(name)
            .is_some_and(|found| !issued.may_have(found)),
        _ => head.fields.all(name).any(|found| found == value),
    })
}

/// Whether a stateless request describes itself (2026-07-28, basic/index §_meta).
pub(super) fn describes_itself(params: Option<&Map<String, Value>>, revision: &str) -> bool {
    let meta = params.and_then(|params| params.get("_meta"));
    let Some(meta) = meta.and_then(Value::as_object) else {
        return false;
    };
    let version = meta.get(PROTOCOL_VERSION_KEY).and_then(Value::as_str);
    let level = meta.get("io.modelcontextprotocol/logLevel");
    let is_level = |level: &Value| level.as_str().is_some_and(|one| LOG_LEVELS.contains(&one));
    version == Some(revision)
        && level.is_none_or(is_level)
        && meta
            .get("io.modelcontextprotocol/clientCapabilities")
            .is_some_and(Value::is_object)
}
