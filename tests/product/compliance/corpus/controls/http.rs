//! Violations of a server over HTTP: heads, statuses, sessions, authorization.

use super::Control;

/// Violations of rules of 2025-11-25.
pub(super) const HANDSHAKE: &[Control] = &[
    (&["no-stream"], &["PROTO-006"]),
    (&["any-origin"], &["EDGE-007"]),
    (&["strict-fields"], &["HEADER-004"]),
    (&["status", "202", "200"], &["EDGE-009", "HEADER-001"]),
    (&["no-session-needed"], &["HEADER-002"]),
    (&["any-session"], &["HEADER-011"]),
    (&["version-needed"], &["HEADER-003"]),
    (&["any-version"], &["HEADER-010"]),
    (&["takes-batches"], &["TRANSPORT-005"]),
    (&["status", "200", "201"], &["PROTO-006", "TRANSPORT-002"]),
];

/// Violations of rules of 2026-07-28.
pub(super) const STATELESS: &[Control] = &[
    (&["no-method-needed"], &["HEADER-005"]),
    (&["any-method"], &["HEADER-006", "HEADER-014"]),
    (&["any-name"], &["HEADER-007"]),
    (&["any-head-version"], &["HEADER-008"]),
    (&["plain-names"], &["EDGE-004", "HEADER-013"]),
    (&["folded-values"], &["HEADER-014"]),
    (&["status", "404", "200"], &["HEADER-009"]),
    (&["issues-sessions"], &["COMPAT-003", "COMPAT-004"]),
    (&["minds-sessions"], &["COMPAT-004"]),
    (&["streams-for-all"], &["COMPAT-001"]),
    (&["deletes-for-all"], &["COMPAT-002"]),
    (&["stuck-on-cancel"], &["TRANSPORT-003", "TRANSPORT-004"]),
    (&["takes-batches"], &["TRANSPORT-005"]),
];

/// Violations of a server that requires authorization, in each version with rules about it. The
/// first entry has none.
pub(super) const ACCESS: &[(&str, &[Control])] = &[
    (
        "v2025-03-26",
        &[
            (&["authorizes"], &[]),
            (&["authorizes", "any-token"], &["AUTH-002"]),
            (
                &["authorizes", "trusts-sessions"],
                &["AUTH-001", "AUTH-010"],
            ),
            (&["authorizes", "no-metadata"], &[]),
            (&["authorizes", "no-issuer"], &["AUTH-005"]),
            (&["authorizes", "no-registration"], &["AUTH-003"]),
        ],
    ),
    (
        "v2025-06-18",
        &[
            (&["authorizes"], &[]),
            (&["authorizes", "any-token"], &["AUTH-002"]),
            (
                &["authorizes", "trusts-sessions"],
                &["AUTH-001", "AUTH-004", "AUTH-010"],
            ),
            (&["authorizes", "no-metadata-named"], &["AUTH-004"]),
            (&["authorizes", "no-metadata"], &["AUTH-005"]),
            (&["authorizes", "no-issuer"], &["AUTH-005"]),
            (&["authorizes", "no-registration"], &["AUTH-003"]),
        ],
    ),
    (
        "v2025-11-25",
        &[
            (&["authorizes"], &[]),
            (&["authorizes", "any-token"], &["AUTH-002"]),
            (
                &["authorizes", "trusts-sessions"],
                &["AUTH-001", "AUTH-003", "AUTH-010"],
            ),
            (&["authorizes", "no-metadata-named"], &[]),
            (&["authorizes", "no-metadata"], &["AUTH-004", "AUTH-005"]),
            (&["authorizes", "no-issuer"], &["AUTH-005"]),
            (&["authorizes", "no-pkce"], &["AUTH-009"]),
            (&["authorizes", "no-scopes"], &["AUTH-003"]),
        ],
    ),
    (
        "v2026-07-28",
        &[
            (&["authorizes"], &[]),
            (&["authorizes", "any-token"], &["AUTH-002"]),
            (&["authorizes", "no-metadata-named"], &[]),
            (&["authorizes", "no-metadata"], &["AUTH-004", "AUTH-005"]),
            (&["authorizes", "no-issuer"], &["AUTH-005"]),
            (&["authorizes", "no-pkce"], &["AUTH-009"]),
            (&["authorizes", "no-scopes"], &["AUTH-003"]),
        ],
    ),
];
