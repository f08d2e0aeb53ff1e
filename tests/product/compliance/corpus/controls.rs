//! What a server breaks is found by the rules that forbid it, and by no others. Some rules overlap: noise on standard
//! output breaks one of the protocol and one of the transport, and a list that is no list has no cursors to judge.

use std::collections::BTreeSet;

use super::{failed, judged};

/// What is broken, and by which rules that is found.
type Control = (&'static [&'static str], &'static [&'static str]);

/// What breaks rules of the first revision.
const FIRST: &[Control] = &[
    (
        &["drop", "initialize", "/capabilities"],
        &["PROTO-002", "RES-003", "TOOL-001"],
    ),
    (&["noise"], &["PROTO-008", "TRANSPORT-001"]),
    (&["unstable"], &["REPLAY-002"]),
    (&["error", "resources/list", "-32603"], &["SCHEMA-003"]),
    (&["code", "-32601", "-32000"], &["PROTO-004"]),
];

/// What breaks the one rule that 2025-06-18 has changed.
const CHANGED: &[Control] = &[(&["set", "initialize", "/capabilities", "7"], &["PROTO-002"])];

/// What breaks rules of 2025-11-25.
const LATEST_HANDSHAKE: &[Control] = &[
    (&["mute-on-noise"], &["EDGE-008"]),
    (&["answers-notifications"], &["EDGE-009"]),
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
    (&["drop", "tools/call", "/content"], &["TOOL-003"]),
    (
        &["set", "tools/call", "/content", "7"],
        &["SCHEMA-002", "TOOL-003"],
    ),
    (
        &["drop", "tools/call", "/content/0/type"],
        &["SCHEMA-002", "TOOL-003"],
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
];

/// What breaks rules of 2026-07-28.
const STATELESS: &[Control] = &[
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
    (&["drop", "tools/call", "/content"], &["TOOL-003"]),
    (
        &["set", "tools/call", "/content", "7"],
        &["SCHEMA-002", "TOOL-003"],
    ),
    (
        &["drop", "tools/call", "/content/0/type"],
        &["SCHEMA-002", "TOOL-003"],
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
        &["PROTO-009", "PROTO-016", "RES-003", "TOOL-001"],
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
];

fn all_are_found(version: &str, controls: &[Control]) {
    let mut wrong = Vec::new();
    for (broken, found_by) in controls {
        let (report, _) = judged(version, broken);
        let found = failed(&report);
        let ids: BTreeSet<&str> = found.keys().map(String::as_str).collect();
        if ids != found_by.iter().copied().collect() {
            wrong.push(format!("{version} {broken:?}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_broken_in_the_first_revision_is_found_by_its_rules_alone() {
    all_are_found("v2024-11-05", FIRST);
    all_are_found("v2025-06-18", CHANGED);
}

#[test]
fn what_is_broken_in_the_last_handshake_revision_is_found_by_its_rules_alone() {
    all_are_found("v2025-11-25", LATEST_HANDSHAKE);
}

#[test]
fn what_is_broken_in_the_stateless_revision_is_found_by_its_rules_alone() {
    all_are_found("v2026-07-28", STATELESS);
}
