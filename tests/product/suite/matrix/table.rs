//! The rows of the matrix: every matcher and every field, with passing and failing cases.

/// The live verdict of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// No key of a model is set.
    Deferred,
    Error,
    Fail,
    Pass,
}

use Live::{Deferred, Error, Fail, Pass};

impl Live {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::Error => "error",
            Self::Fail => "fail",
            Self::Pass => "pass",
        }
    }
}

/// For one answer: the target, the matcher, and the result.
pub(super) const MATCHERS: &[(&str, &str, Live)] = &[
    ("s", "exact: ping", Pass),
    ("s", "exact: pong", Fail),
    ("n", "exact: 42.0", Pass),
    ("f", "exact: 1", Pass),
    ("f", "exact: 2", Fail),
    ("missing", "exact: ~", Pass),
    ("s", "contains: in", Pass),
    ("obj", "contains: { k: 1.0 }", Pass),
    ("arr", "contains: [b, a]", Pass),
    ("arr", "contains: [c]", Fail),
    ("s", "regex: \"^p.ng$\"", Pass),
    ("n", "regex: \"^42$\"", Pass),
    ("s", "regex: \"^q\"", Fail),
    ("arr", "schema: { type: array, minItems: 2 }", Pass),
    ("f", "schema: { const: 1 }", Pass),
    ("arr", "schema: { type: object }", Fail),
    ("obj", "snapshot: same", Pass),
    ("obj", "snapshot: other", Fail),
    ("s", "llm-judge: { rubric: good }", Deferred),
    (
        "s",
        "llm-jury: { rubric: good, jurors: [{ model: m }] }",
        Error,
    ),
    ("s", "contains-all: [p, g]", Pass),
    ("s", "contains-all: [p, z]", Fail),
    ("s", "contains-any: [z, g]", Pass),
    ("s", "contains-any: [z, y]", Fail),
    ("s", "icontains: ING", Pass),
    ("s", "icontains: ONG", Fail),
    ("n", "icontains: \"4\"", Error),
    ("s", "starts-with: pi", Pass),
    ("s", "starts-with: po", Fail),
    ("json", "is-json: ~", Pass),
    ("json", "is-json: { schema: { required: [b] } }", Fail),
    ("s", "is-json: ~", Fail),
    ("n", "is-json: ~", Error),
    ("call", "is-valid-tools-call: ~", Pass),
    ("obj", "is-valid-tools-call: ~", Fail),
    ("s", "levenshtein: { value: pong, max: 1 }", Pass),
    ("s", "levenshtein: { value: tennis, max: 1 }", Fail),
    ("xml", "is-xml: { root: a }", Pass),
    ("s", "is-xml: ~", Fail),
    ("sql", "is-sql: ~", Pass),
    ("s", "is-sql: ~", Fail),
    (
        "s",
        "similar: { value: a, model: m, threshold: 0.5 }",
        Error,
    ),
    ("n", "cel: \"value == 42\"", Pass),
    ("n", "cel: \"value == 43\"", Fail),
    ("n", "cel: \"value + 1\"", Error),
    ("s", "factuality: { reference: a }", Deferred),
    ("s", "answer-relevance: { query: a }", Deferred),
    ("s", "context-faithfulness: { context: a }", Deferred),
    ("s", "not: { exact: pong }", Pass),
    ("s", "not: { exact: ping }", Fail),
    ("n", "not: { icontains: \"4\" }", Error),
    ("s", "oneOf: [{ exact: ping }, { exact: pong }]", Pass),
    ("s", "oneOf: [{ exact: ping }, { contains: p }]", Fail),
    ("s", "anyOf: [{ exact: pong }, { exact: ping }]", Pass),
    ("s", "anyOf: [{ exact: pong }, { exact: pang }]", Fail),
    ("s", "allOf: [{ exact: ping }, { contains: p }]", Pass),
    ("s", "allOf: [{ exact: ping }, { contains: z }]", Fail),
];

/// Conditions other than assertions, with their results over standard input and over HTTP.
pub(super) const FIELDS: &[(&str, Live, Live)] = &[
    ("max_duration_ms: 60000", Pass, Pass),
    ("max_response_tokens: 100", Pass, Pass),
    ("max_response_tokens: 1", Fail, Fail),
    ("max_response_tokens: { budget: 1, mode: warn }", Pass, Pass),
    ("response_headers: { x-kind: plain }", Fail, Pass),
    ("response_headers: { x-kind: fancy }", Fail, Fail),
    (
        "response_headers: { x-kind: { regex: \"^pl\" } }",
        Fail,
        Pass,
    ),
    ("response_headers: { x-kind: { contains: ai } }", Fail, Pass),
    (
        "response_headers: { x-kind: { schema: { maxLength: 2 } } }",
        Fail,
        Fail,
    ),
    ("response_headers: { x-kind: { exists: true } }", Fail, Pass),
    (
        "response_headers: { x-other: { exists: true } }",
        Fail,
        Fail,
    ),
    ("response_headers_absent: [x-other]", Fail, Pass),
    ("response_headers_absent: [x-kind]", Fail, Fail),
];

/// The answer for all of these, as members of a result.
pub(super) const ANSWER: &str = r#"{"content":[{"type":"text","text":"one two three"}],"isError":false,"s":"ping","n":42,"f":1.0,"arr":["a","b"],"obj":{"k":1,"l":[1,2]},"json":"{\"a\":1}","xml":"<a><b/></a>","sql":"SELECT 1","call":{"name":"t","arguments":{}}}"#;
