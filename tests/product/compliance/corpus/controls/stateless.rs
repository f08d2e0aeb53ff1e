//! Violations of a server of 2026-07-28 over stdio.

use super::Control;

/// Violations of rules of 2026-07-28.
pub(super) const STATELESS: &[Control] = &[
    (&["mute-on-noise"], &["EDGE-008"]),
    (&["answers-notifications"], &["EDGE-009"]),
    (&["any-level"], &["PROTO-026"]),
    (
        &["any-cursor"],
        &["PROMPT-004", "RES-008", "RESTPL-003", "TOOL-006"],
    ),
    (&["any-resource"], &["RES-005"]),
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
        &["PROMPT-004", "PROMPT-005", "SCHEMA-004"],
    ),
    (&["code", "-32601", "-32000"], &["PROTO-004", "PROTO-014"]),
    (&["code", "-32700", "-32000"], &["EDGE-008"]),
    (&["code", "-32600", "-32000"], &["EDGE-006"]),
    (&["code", "-32022", "-32000"], &["PROTO-013"]),
    (
        &["drop", "server/discover", "/supportedVersions"],
        &["PROTO-009"],
    ),
    (
        &["drop", "server/discover", "/capabilities"],
        &["PROTO-009", "RES-003", "TOOL-001"],
    ),
    (&["drop", "tools/list", "/ttlMs"], &["TOOL-007"]),
    (&["drop", "tools/list", "/cacheScope"], &["TOOL-007"]),
    (
        &["set", "tools/list", "/cacheScope", "\"other\""],
        &["TOOL-007"],
    ),
    (&["drop", "resources/read", "/ttlMs"], &["RES-010"]),
    (&["drop", "tools/call", "/resultType"], &["TOOL-011"]),
    (
        &["drop", "resources/templates/list", "/resourceTemplates"],
        &["RESTPL-001", "RESTPL-002"],
    ),
    (
        &["set", "prompts/get", "/messages/0/role", "\"nobody\""],
        &["PROMPT-001"],
    ),
    (&["no-data"], &["PROTO-013"]),
    (&["drop", "server/discover", "/resultType"], &["PROTO-010"]),
    (&["no-version-needed"], &["PROTO-011"]),
    (&["no-capabilities-needed"], &["PROTO-012"]),
    (&["drop", "server/discover", "/_meta"], &["PROTO-015"]),
    (&["no-acknowledgement"], &["PROTO-016"]),
    (&["drop", "server/discover", "/ttlMs"], &["PROTO-017"]),
    (&["unasked-log"], &["PROTO-024"]),
    (
        &[
            "set",
            "tools/list",
            "/tools/1/inputSchema/properties/a/x-mcp-header",
            "\"not ok\"",
        ],
        &["TOOL-012"],
    ),
    (&["legacy-missing"], &["RES-004"]),
    (&["drop", "resources/list", "/ttlMs"], &["RES-009"]),
    (&["drop", "resources/read", "/resultType"], &["RES-011"]),
    (&["drop", "prompts/list", "/ttlMs"], &["PROMPT-005"]),
    (&["drop", "prompts/get", "/resultType"], &["PROMPT-006"]),
    (
        &["drop", "resources/templates/list", "/ttlMs"],
        &["RESTPL-004"],
    ),
    (&["unstable-opening"], &["REPLAY-003"]),
];
