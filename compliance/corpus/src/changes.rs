//! What each revision changed, and which rule or invariant detects a server that did not follow.
//!
//! The facts come from the change logs (`docs/specification/<revision>/changelog.mdx`) and from
//! differences between the schemas, in our own words.

/// One change of a revision.
#[derive(Clone, Copy, Debug)]
pub struct RevisionChange {
    /// The revision that introduced it: `2025-06-18`.
    pub revision: &'static str,
    /// The change.
    pub what: &'static str,
    /// Rules of the corpus and session invariants that test it; empty if no message shows it.
    pub tested_by: &'static [&'static str],
}

const fn change(
    revision: &'static str,
    what: &'static str,
    tested_by: &'static [&'static str],
) -> RevisionChange {
    RevisionChange {
        revision,
        what,
        tested_by,
    }
}

const R2: &str = "2025-03-26";
const R3: &str = "2025-06-18";
const R4: &str = "2025-11-25";
const R5: &str = "2026-07-28";

/// Every change, oldest first.
pub static CHANGES: &[RevisionChange] = &[
    change(
        R2,
        "Streamable HTTP replaces HTTP with SSE: one URL for POST and GET",
        &["TRANSPORT-002", "PROTO-006", "INV-061"],
    ),
    change(
        R2,
        "A message that needs no answer is accepted with status 202",
        &["HEADER-001", "INV-060"],
    ),
    change(
        R2,
        "Sessions have an id, in `Mcp-Session-Id`",
        &["HEADER-002", "INV-055", "INV-056", "INV-057"],
    ),
    change(
        R2,
        "Streams can be resumed with `Last-Event-ID`",
        &["INV-063", "INV-064", "INV-065"],
    ),
    change(
        R2,
        "Lists of messages (batches) may be sent, and must be accepted",
        &["INV-018"],
    ),
    change(
        R2,
        "Authorization by OAuth 2.1: a request without a token is refused with 401",
        &["AUTH-001", "AUTH-002", "AUTH-010"],
    ),
    change(
        R2,
        "Blocks of content may be audio",
        &["SCHEMA-002", "INV-088"],
    ),
    change(
        R2,
        "Tools have annotations, such as `readOnlyHint`",
        &["SCHEMA-001"],
    ),
    change(
        R2,
        "Completion is a separate capability, `completions`",
        &["COMPL-001", "COMPL-002", "INV-027"],
    ),
    change(
        R2,
        "Progress may have a `message`",
        &["PROG-001", "INV-086"],
    ),
    change(
        R3,
        "Batches are removed: a line or a body is one message",
        &["INV-017"],
    ),
    change(
        R3,
        "After the handshake `MCP-Protocol-Version` is required over HTTP",
        &["INV-058", "INV-059"],
    ),
    change(
        R3,
        "Both sides must keep to the negotiated revision and capabilities",
        &["INV-025", "INV-027", "INV-028"],
    ),
    change(
        R3,
        "Servers can ask the user, with `elicitation/create`",
        &["ELICIT-001", "ELICIT-002", "INV-089"],
    ),
    change(
        R3,
        "Tools can have an `outputSchema`, and results `structuredContent` that conforms to it",
        &["INV-043", "INV-044"],
    ),
    change(
        R3,
        "Blocks of content may be links to resources",
        &["INV-088"],
    ),
    change(
        R3,
        "References of completions are to templates: `ResourceTemplateReference`",
        &["INV-085"],
    ),
    change(
        R3,
        "A server is an OAuth resource server: a refusal names its metadata (RFC 9728)",
        &["AUTH-004", "AUTH-005"],
    ),
    change(
        R3,
        "Tools, prompts and resources have a `title` for people in addition to their name",
        &["INV-087"],
    ),
    change(
        R4,
        "A request with a foreign `Origin` is refused with 403",
        &["EDGE-007", "INV-072"],
    ),
    change(
        R4,
        "Invalid arguments are reported to the model, in a result with `isError`",
        &["EDGE-001"],
    ),
    change(
        R4,
        "Names of tools keep to letters, digits, `_`, `-` and `.`",
        &["TOOL-010", "INV-041"],
    ),
    change(
        R4,
        "Requests can run as tasks (experimental)",
        &[
            "PROTO-018",
            "PROTO-019",
            "PROTO-020",
            "PROTO-021",
            "SCHEMA-008",
            "INV-081",
            "INV-082",
            "INV-083",
        ],
    ),
    change(
        R4,
        "Elicitation can open a URL, and the error -32042 asks for it",
        &["ELICIT-003", "ELICIT-004", "INV-084", "INV-090"],
    ),
    change(
        R4,
        "Sampling can offer tools to the model",
        &["SAMPLE-003", "INV-028"],
    ),
    change(
        R4,
        "Tools, prompts, resources and implementations can have icons",
        &["SCHEMA-006"],
    ),
    change(
        R4,
        "A stream may be closed and polled: `retry` says when to reconnect",
        &["REPLAY-005", "INV-068"],
    ),
    change(
        R4,
        "A refusal of authorization lists the scopes to request",
        &["AUTH-003"],
    ),
    change(
        R5,
        "The handshake is removed: every request has its revision and the capabilities of its client in `_meta`",
        &["SEQ-001", "PROTO-011", "PROTO-012", "INV-073"],
    ),
    change(
        R5,
        "`server/discover` reports the revisions and capabilities of a server",
        &["PROTO-009", "REPLAY-003"],
    ),
    change(
        R5,
        "A revision that the server lacks is refused with -32022",
        &["PROTO-013", "INV-093"],
    ),
    change(
        R5,
        "Every result has a `resultType`",
        &["PROTO-010", "TOOL-011", "RES-011", "PROMPT-006", "INV-074"],
    ),
    change(
        R5,
        "`initialize`, `ping`, `logging/setLevel`, `resources/subscribe` and similar methods are removed",
        &["PROTO-014", "INV-080"],
    ),
    change(
        R5,
        "The server sends no requests: it asks for input in an `input_required` result",
        &["PROTO-025", "ELICIT-006", "INV-075", "INV-076", "INV-077"],
    ),
    change(
        R5,
        "A request that needs a capability which the client did not declare is refused with -32021",
        &["ELICIT-005", "INV-028", "INV-070"],
    ),
    change(
        R5,
        "Changes are reported on the stream of `subscriptions/listen`, which is acknowledged first",
        &["PROTO-016", "INV-078"],
    ),
    change(
        R5,
        "Log messages are sent only for a request that asks for them",
        &["PROTO-024", "INV-032"],
    ),
    change(
        R5,
        "Lists, `server/discover` and read resources say how long they may be cached: `ttlMs`, `cacheScope`",
        &[
            "PROTO-017",
            "TOOL-007",
            "RES-009",
            "RES-010",
            "PROMPT-005",
            "RESTPL-004",
            "INV-079",
            "INV-092",
        ],
    ),
    change(
        R5,
        "Lists are the same for every client, and in the same order",
        &["REPLAY-002"],
    ),
    change(
        R5,
        "A missing resource is -32602; -32002 and an empty list are wrong",
        &["RES-004", "RES-005", "INV-046"],
    ),
    change(
        R5,
        "Codes from -32020 to -32099 are those of the specification, and -32002 and -32042 are retired",
        &["INV-019"],
    ),
    change(
        R5,
        "`Mcp-Method`, `Mcp-Name` and the revision are sent as headers and agree with the body; otherwise -32020",
        &[
            "HEADER-005",
            "HEADER-006",
            "HEADER-007",
            "HEADER-008",
            "HEADER-012",
            "INV-069",
            "INV-070",
        ],
    ),
    change(
        R5,
        "Arguments can be mirrored into `Mcp-Param-…`",
        &["TOOL-012", "INV-069"],
    ),
    change(
        R5,
        "An unknown method has status 404",
        &["HEADER-009", "INV-070"],
    ),
    change(
        R5,
        "No sessions, no stream by GET, no resumption",
        &[
            "COMPAT-001",
            "COMPAT-002",
            "COMPAT-003",
            "COMPAT-004",
            "INV-071",
        ],
    ),
    change(
        R5,
        "Closing the stream of a response cancels its request",
        &["TRANSPORT-004"],
    ),
    change(
        R5,
        "`structuredContent` may be any JSON value",
        &["TOOL-008", "INV-043"],
    ),
    change(
        R5,
        "Tasks are an extension: `tasks/list` and `tasks/result` are removed",
        &["PROTO-014", "INV-080"],
    ),
    change(
        R5,
        "A server exits when its standard input ends",
        &["TRANSPORT-006", "INV-026"],
    ),
    change(
        R5,
        "A response of the authorization server identifies it: `iss` (RFC 9207)",
        &["AUTH-011"],
    ),
    change(
        R5,
        "Roots, sampling, logging, HTTP with SSE and dynamic registration are deprecated, but still work",
        &[],
    ),
];

/// The changes of a revision.
pub fn of(revision: &str) -> impl Iterator<Item = &'static RevisionChange> {
    CHANGES
        .iter()
        .filter(move |change| change.revision == revision)
}
