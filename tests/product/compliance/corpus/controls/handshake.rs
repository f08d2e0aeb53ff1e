//! Violations of a server of the handshake revisions over stdio.

use super::Control;

/// Violations of rules of the first revision.
pub(super) const FIRST: &[Control] = &[
    (
        &["drop", "initialize", "/capabilities"],
        &["PROTO-002", "RES-003", "TOOL-001"],
    ),
    (&["noise"], &["PROTO-008", "TRANSPORT-001"]),
    (&["unstable"], &["REPLAY-002"]),
    (&["error", "resources/list", "-32603"], &["SCHEMA-003"]),
    (&["code", "-32601", "-32000"], &["PROTO-004"]),
];

/// Violations of the one rule that 2025-06-18 changed.
pub(super) const CHANGED: &[Control] =
    &[(&["set", "initialize", "/capabilities", "7"], &["PROTO-002"])];

/// Violations of rules of 2025-11-25.
pub(super) const LATEST: &[Control] = &[
    (&["mute-on-noise"], &["EDGE-008"]),
    (&["answers-notifications"], &["EDGE-009"]),
    // A rule about roots applies if the server asks for them.
    (
        &["answers-notifications", "asks", "roots/list", "{}"],
        &["EDGE-009", "ROOTS-002"],
    ),
    (&["any-level"], &["PROTO-023"]),
    (&["echo-any-version"], &["PROTO-003"]),
    (
        &["any-cursor"],
        &["PROMPT-004", "RES-008", "RESTPL-003", "TOOL-006"],
    ),
    (&["any-reference"], &["COMPL-003"]),
    (&["unstable"], &["REPLAY-002"]),
    (&["any-arguments"], &["EDGE-002", "PROMPT-003"]),
    (&["any-tool"], &["EDGE-003", "EDGE-004", "TOOL-002"]),
    (&["wrong-token"], &["PROG-001"]),
    (&["falling-progress"], &["PROG-001"]),
    (&["any-prompt"], &["PROMPT-002"]),
    (&["drop", "tools/list", "/tools"], &["SCHEMA-001"]),
    (
        &["drop", "tools/list", "/tools/0/inputSchema"],
        &["SCHEMA-001", "TOOL-005"],
    ),
    (&["drop", "tools/list", "/tools/0/name"], &["SCHEMA-001"]),
    (
        &[
            "set",
            "tools/list",
            "/tools/0/inputSchema/type",
            "\"array\"",
        ],
        &["TOOL-005"],
    ),
    (&["drop", "resources/list", "/resources"], &["SCHEMA-003"]),
    (
        &["drop", "resources/list", "/resources/0/uri"],
        &["SCHEMA-003"],
    ),
    (&["drop", "prompts/list", "/prompts"], &["SCHEMA-004"]),
    (
        &["drop", "prompts/list", "/prompts/0/name"],
        &["SCHEMA-004"],
    ),
    (
        &["drop", "tools/call", "/content"],
        &["TOOL-003", "TOOL-009"],
    ),
    (
        &["set", "tools/call", "/content", "7"],
        &["SCHEMA-002", "TOOL-003", "TOOL-009"],
    ),
    (
        &["drop", "tools/call", "/content/0/type"],
        &["SCHEMA-002", "TOOL-003", "TOOL-009"],
    ),
    (&["drop", "resources/read", "/contents"], &["RES-002"]),
    (&["drop", "prompts/get", "/messages"], &["PROMPT-001"]),
    (&["drop", "initialize", "/serverInfo"], &["PROTO-001"]),
    (
        &["set", "initialize", "/protocolVersion", "\"1999-01-01\""],
        &["PROTO-003"],
    ),
    (
        &["drop", "completion/complete", "/completion"],
        &["COMPL-001"],
    ),
    (
        &["drop", "completion/complete", "/completion/values"],
        &["COMPL-001"],
    ),
    (
        &["error", "prompts/list", "-32603"],
        &["PROMPT-004", "SCHEMA-004"],
    ),
    (&["code", "-32601", "-32000"], &["PROTO-004"]),
    (&["code", "-32700", "-32000"], &["EDGE-008"]),
    (&["code", "-32600", "-32000"], &["EDGE-006"]),
    (
        &["drop", "resources/templates/list", "/resourceTemplates"],
        &["RESTPL-001", "RESTPL-002"],
    ),
    (
        &["set", "prompts/get", "/messages/0/role", "\"nobody\""],
        &["PROMPT-001"],
    ),
    (&["bare-errors"], &["PROTO-007"]),
    (
        &["set", "ping", "", "7"],
        &[
            "EDGE-005",
            "PROTO-005",
            "REPLAY-001",
            "SCHEMA-005",
            "SEQ-001",
        ],
    ),
    (&["error", "tasks/get", "-32603"], &["PROTO-018"]),
    (&["error", "tasks/result", "-32603"], &["PROTO-019"]),
    (&["error", "tasks/cancel", "-32603"], &["PROTO-020"]),
    (&["drop", "tasks/list", "/tasks"], &["PROTO-021"]),
    (&["set", "logging/setLevel", "", "7"], &["PROTO-022"]),
    (
        &["set", "tools/list", "/tools/0/icons", "[{}]"],
        &["SCHEMA-006"],
    ),
    (
        &[
            "set",
            "resources/list",
            "/resources/0/annotations",
            "{\"priority\":7}",
        ],
        &["SCHEMA-007"],
    ),
    (
        &[
            "set",
            "tools/list",
            "/tools/0/execution",
            "{\"taskSupport\":\"maybe\"}",
        ],
        &["SCHEMA-008"],
    ),
    (
        &["mute", "tools/call", "\"echo\",\"arguments\":{}"],
        &["SCHEMA-002", "SEQ-002", "TOOL-003", "TOOL-004"],
    ),
    (
        &["mute", "resources/read", ""],
        &["RES-001", "RES-002", "SEQ-003"],
    ),
    (
        &["mute", "prompts/get", "\"plain\""],
        &["PROMPT-001", "SEQ-004"],
    ),
    (
        &["set", "tools/call", "/isError", "\"no\""],
        &["EDGE-001", "TOOL-004"],
    ),
    (&["drop", "tools/call", "/structuredContent"], &["TOOL-008"]),
    (&["set", "tools/call", "/content", "[]"], &["TOOL-009"]),
    (
        &["set", "tools/list", "/tools/0/name", "\"echo b\""],
        &["TOOL-010"],
    ),
    (&["set", "resources/subscribe", "", "7"], &["RES-006"]),
    (&["set", "resources/unsubscribe", "", "7"], &["RES-007"]),
    (&["lenient"], &["EDGE-001"]),
    (&["stuck-on-noise"], &["EDGE-005", "EDGE-008"]),
    (&["loses-calls"], &["EDGE-010"]),
    (&["thrice", "ping"], &["REPLAY-001"]),
    (&["unstable-opening"], &["REPLAY-003"]),
    (&["stuck-on-cancel"], &["TRANSPORT-003"]),
    (
        &["asks", "elicitation/create", "{\"message\":\"who\"}"],
        &["ELICIT-001"],
    ),
    (
        &[
            "asks",
            "elicitation/create",
            "{\"message\":\"who\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}",
        ],
        &[],
    ),
    (
        &[
            "asks",
            "elicitation/create",
            "{\"message\":\"who\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}",
            "never-goes-on",
        ],
        &[
            "ELICIT-002",
            "SCHEMA-002",
            "SEQ-002",
            "TOOL-003",
            "TOOL-004",
        ],
    ),
    (
        &["asks", "sampling/createMessage", "{\"messages\":\"none\"}"],
        &["SAMPLE-001"],
    ),
    (
        &[
            "asks",
            "sampling/createMessage",
            "{\"messages\":[],\"maxTokens\":5}",
        ],
        &[],
    ),
    (
        &[
            "asks",
            "sampling/createMessage",
            "{\"messages\":[],\"maxTokens\":5}",
            "never-goes-on",
        ],
        &[
            "SAMPLE-002",
            "SCHEMA-002",
            "SEQ-002",
            "TOOL-003",
            "TOOL-004",
        ],
    ),
    (&["asks", "roots/list", "{}"], &[]),
    (&["many-values"], &["COMPL-002"]),
    (&["unasked-progress"], &["PROG-002"]),
    (
        &[
            "set",
            "resources/templates/list",
            "/resourceTemplates/0/uriTemplate",
            "\"memo://{name\"",
        ],
        &["RESTPL-002"],
    ),
];
