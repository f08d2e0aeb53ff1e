//! Rules that no test server can violate visibly in a call.

/// The rule, and why it has no control.
pub(super) const REASONS: &[(&str, &str)] = &[
    (
        "AUTH-006",
        "it binds the client, and trying it would send a good token in an address",
    ),
    ("AUTH-007", "it takes a valid token for another server"),
    (
        "AUTH-008",
        "what a server sends to others is out of sight of its client",
    ),
    (
        "AUTH-011",
        "it is between the client and the authorization server",
    ),
    (
        "ELICIT-003",
        "no call provokes it; the mutants of INV-028 break it",
    ),
    (
        "ELICIT-004",
        "no call provokes it; the mutants of INV-084 break it",
    ),
    (
        "ELICIT-005",
        "no call provokes it; the mutants of INV-028 break it",
    ),
    (
        "ELICIT-006",
        "no call provokes it; the mutants of INV-076 break it",
    ),
    (
        "HEADER-012",
        "our client writes every name in lower case: a server that minds the case refuses all it asks",
    ),
    (
        "HEADER-015",
        "no expectation is about characters of a field; the mutants of INV-056 break it",
    ),
    (
        "PROG-003",
        "it may come at any later time; the mutants of INV-036 break it",
    ),
    (
        "PROTO-025",
        "no single call shows it; the mutants of INV-075 break it",
    ),
    (
        "REPLAY-004",
        "it takes several streams; the mutants of INV-064 break it",
    ),
    (
        "REPLAY-005",
        "it takes a stream that breaks; the mutants of INV-065 break it",
    ),
    (
        "ROOTS-001",
        "whoever asks for roots does it by this method: what is asked by another is no request for roots",
    ),
    (
        "SAMPLE-003",
        "no call provokes it; the mutants of INV-028 break it",
    ),
    (
        "TRANSPORT-006",
        "it is seen at the end of a session; the mutants of INV-026 break it",
    ),
];
