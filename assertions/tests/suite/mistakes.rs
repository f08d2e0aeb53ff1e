//! Errors of authors: their positions, messages and hints.

use serde_json::{Value, json};
use tapewright_assertions::{compile, matcher_names};

fn mistake(assertion: &Value) -> (String, String, String) {
    let error = compile(assertion).expect_err("a mistake");
    (error.pointer, error.message, error.help.unwrap_or_default())
}

#[test]
fn each_points_at_itself() {
    for (assertion, pointer, message, help) in [
        (json!([]), "", "an assertion is an object", "target:"),
        (
            json!({"target": "result"}),
            "",
            "no `matcher`",
            "add `matcher:`",
        ),
        (
            json!({"target": 1, "matcher": {"exact": 1}}),
            "/target",
            "`target` is a string, not a number",
            "",
        ),
        (
            json!({"target": "a[", "matcher": {"exact": 1}}),
            "/target",
            "`[` without its `]`",
            "",
        ),
        (
            json!({"target": "a[-1]", "matcher": {"exact": 1}}),
            "/target",
            "`[-1]`",
            "negative",
        ),
        (
            json!({"matchr": {"exact": 1}}),
            "/matchr",
            "no member `matchr`",
            "did you mean `matcher`?",
        ),
        (
            json!({"target": "a", "exact": 1}),
            "/exact",
            "no member `exact`",
            "matcher: { exact: … }",
        ),
        (
            json!({"matcher": {"exact": 1}, "message": 1}),
            "/message",
            "`message` is a string",
            "",
        ),
        (
            json!({"matcher": {"exact": 1}, "transform": "jq 'a"}),
            "/transform",
            "a quote that is not closed",
            "",
        ),
        (
            json!({"matcher": {"exact": 1}, "transform": " "}),
            "/transform",
            "the command is empty",
            "",
        ),
        (
            json!({"matcher": "exact"}),
            "/matcher",
            "a matcher is an object",
            "exact",
        ),
        (
            json!({"matcher": {}}),
            "/matcher",
            "the matcher is empty",
            "one matcher",
        ),
        (
            json!({"matcher": {"exact": 1, "regex": "x"}}),
            "/matcher",
            "`exact` and `regex`",
            "allOf",
        ),
        (
            json!({"matcher": {"equals": 1}}),
            "/matcher/equals",
            "unknown matcher `equals`",
            "write `exact`",
        ),
        (
            json!({"matcher": {"length": 1}}),
            "/matcher/length",
            "unknown matcher `length`",
            "minItems",
        ),
        (
            json!({"matcher": {"jsonpath": "$.a"}}),
            "/matcher/jsonpath",
            "unknown matcher `jsonpath`",
            "target",
        ),
        (
            json!({"matcher": {"contain": 1}}),
            "/matcher/contain",
            "unknown matcher `contain`",
            "did you mean `contains`?",
        ),
        (
            json!({"matcher": {"zzzzzz": 1}}),
            "/matcher/zzzzzz",
            "unknown matcher",
            "expected one of `exact`",
        ),
        (
            json!({"matcher": {"regex": "a("}}),
            "/matcher/regex",
            "invalid regular expression",
            "regex",
        ),
        (
            json!({"matcher": {"regex": 1}}),
            "/matcher/regex",
            "takes a string, not a number",
            "",
        ),
        (
            json!({"matcher": {"regex": "(?:a{1000}){1000}"}}),
            "/matcher/regex",
            "size limit",
            "",
        ),
        (
            json!({"matcher": {"contains-all": "x"}}),
            "/matcher/contains-all",
            "takes a list, not a string",
            "",
        ),
        (
            json!({"matcher": {"icontains": null}}),
            "/matcher/icontains",
            "takes a string, not null",
            "",
        ),
        (
            json!({"matcher": {"is-sql": {}}}),
            "/matcher/is-sql",
            "takes nothing",
            "is-sql: ~",
        ),
        (
            json!({"matcher": {"is-json": {}}}),
            "/matcher/is-json",
            "needs the member `schema`",
            "",
        ),
        (
            json!({"matcher": {"is-json": {"shema": {}}}}),
            "/matcher/is-json/shema",
            "no member `shema`",
            "is-json: ~",
        ),
        (
            json!({"matcher": {"is-xml": {"root": "a b"}}}),
            "/matcher/is-xml/root",
            "invalid element name",
            "",
        ),
        (
            json!({"matcher": {"levenshtein": {"value": "x"}}}),
            "/matcher/levenshtein",
            "needs the member `max`",
            "",
        ),
        (
            json!({"matcher": {"levenshtein": {"value": "x", "max": -1}}}),
            "/matcher/levenshtein/max",
            "whole number from 0",
            "",
        ),
        (
            json!({"matcher": {"levenshtein": {"value": "x", "max": 1.5}}}),
            "/matcher/levenshtein/max",
            "whole number from 0",
            "",
        ),
        (
            json!({"matcher": {"schema": {"properties": {"a": {"$ref": "other.json"}}}}}),
            "/matcher/schema/properties/a/$ref",
            "SchemaExternalRef",
            "$defs",
        ),
        (
            json!({"matcher": {"schema": {"properties": {"a": {"type": "strng"}}}}}),
            "/matcher/schema/properties/a/type",
            "the schema is invalid",
            "",
        ),
        (
            json!({"matcher": {"snapshot": "../../etc/x"}}),
            "/matcher/snapshot",
            "not a key of a snapshot",
            "baseline",
        ),
        (
            json!({"matcher": {"snapshot": "/etc/x"}}),
            "/matcher/snapshot",
            "not a key of a snapshot",
            "",
        ),
        (
            json!({"matcher": {"snapshot": {"name": "a", "updat": true}}}),
            "/matcher/snapshot/updat",
            "no member `updat`",
            "",
        ),
        (
            json!({"matcher": {"snapshot": {"name": "a", "update": 1}}}),
            "/matcher/snapshot/update",
            "true or false",
            "",
        ),
        (
            json!({"matcher": {"not": {"exct": 1}}}),
            "/matcher/not/exct",
            "unknown matcher `exct`",
            "exact",
        ),
        (
            json!({"matcher": {"anyOf": [{"exact": 1}, {"regex": "["}]}}),
            "/matcher/anyOf/1/regex",
            "invalid regular expression",
            "",
        ),
        (
            json!({"matcher": {"allOf": {}}}),
            "/matcher/allOf",
            "takes a list of matchers",
            "",
        ),
        (
            json!({"matcher": {"cel": ""}}),
            "/matcher/cel",
            "the expression is empty",
            "",
        ),
        (
            json!({"matcher": {"cel": "a b"}}),
            "/matcher/cel",
            "invalid CEL",
            "",
        ),
        (
            json!({"matcher": {"llm-judge": {}}}),
            "/matcher/llm-judge",
            "needs the member `rubric`",
            "",
        ),
        (
            json!({"matcher": {"llm-judge": {"rubric": "x", "threshold": 2}}}),
            "/matcher/llm-judge/threshold",
            "from 0 to 1",
            "",
        ),
        (
            json!({"matcher": {"llm-jury": {"rubric": "x", "jurors": []}}}),
            "/matcher/llm-jury/jurors",
            "at least one juror",
            "",
        ),
        (
            json!({"matcher": {"llm-jury": {"rubric": "x", "jurors": [{"modl": "m"}]}}}),
            "/matcher/llm-jury/jurors/0/modl",
            "no member `modl`",
            "",
        ),
        (
            json!({"matcher": {"similar": {"value": "x", "model": "m"}}}),
            "/matcher/similar",
            "needs the member `threshold`",
            "",
        ),
    ] {
        let (found_pointer, found_message, found_help) = mistake(&assertion);
        assert_eq!(found_pointer, pointer, "{assertion}: {found_message}");
        assert!(
            found_message.contains(message),
            "{assertion}: {found_message}"
        );
        assert!(found_help.contains(help), "{assertion}: {found_help}");
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = (0..40).fold(json!({"exact": 1}), |inner, _| json!({"not": inner}));
    assert!(mistake(&json!({"matcher": deep})).1.contains("deeper than"));
}

#[test]
fn every_documented_matcher_is_there() {
    let documented = "exact contains regex schema snapshot llm-judge llm-jury contains-all \
        contains-any icontains starts-with is-json is-valid-tools-call levenshtein is-xml is-sql \
        similar cel factuality answer-relevance context-faithfulness not oneOf anyOf allOf";
    let documented: Vec<&str> = documented.split_whitespace().collect();
    assert_eq!(matcher_names().collect::<Vec<_>>(), documented);
}
