use super::{check, content, form, notification, request, result};
use crate::method::Method;
use crate::revision::{R1, R3, R4, R5, Revisions};
use crate::value::Value;

fn told(outcome: Result<(), super::ShapeError>) -> String {
    match outcome {
        Ok(()) => "fine".to_owned(),
        Err(wrong) => wrong.told("it"),
    }
}

fn params(method: Method, text: &str, possible: Revisions) -> String {
    let value = Value(text.as_bytes());
    told(check(value, request(method, Some(value)), possible))
}

#[test]
fn parameters_are_told_what_they_lack() {
    let name = r#"{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"c"}}"#;
    for (method, text, expected) in [
        (
            Method::Initialize,
            "{}",
            "it: has no string `protocolVersion`",
        ),
        (
            Method::Initialize,
            name,
            "it: `/clientInfo` has no string `version`",
        ),
        (
            Method::ToolsCall,
            r#"{"name":1}"#,
            "it: `/name` is an integer, not a string",
        ),
        (Method::ToolsCall, r#"{"name":"a","arguments":{}}"#, "fine"),
        (
            Method::LoggingSetLevel,
            r#"{"level":"loud"}"#,
            "it: `/level` is `loud`, not one of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`",
        ),
        (
            Method::PromptsGet,
            r#"{"name":"a","arguments":{"b/c":1}}"#,
            "it: `/arguments/b~1c` is an integer, not a string",
        ),
        (Method::Ping, "{}", "fine"),
        (
            Method::ElicitationCreate,
            r#"{"mode":"url","message":"m","url":"u","elicitationId":"e"}"#,
            "fine",
        ),
        (
            Method::ElicitationCreate,
            r#"{"mode":"song","message":"m","requestedSchema":{}}"#,
            "it: `/mode` is `song`, not one of `form`, `url`",
        ),
    ] {
        assert_eq!(params(method, text, R4), expected);
    }
}

#[test]
fn a_member_counts_where_its_revision_is_certain() {
    let url = r#"{"mode":"url","message":"m","url":"u"}"#;
    let lacks = "it: has no string `elicitationId`";
    assert_eq!(params(Method::ElicitationCreate, url, R4), lacks);
    assert_eq!(params(Method::ElicitationCreate, url, R5), "fine");
    assert_eq!(params(Method::ElicitationCreate, url, R4 | R5), "fine");
    let progress = Value(br#"{"progressToken":1,"progress":1,"message":2}"#);
    let members = notification(Method::Progress);
    assert_eq!(told(check(progress, members, R1)), "fine");
    assert_ne!(told(check(progress, members, R3)), "fine");
}

#[test]
fn results_and_their_parts_are_told_apart() {
    let of = |method, text: &str| told(check(Value(text.as_bytes()), result(method), R3));
    assert_eq!(of(Method::ToolsList, "{}"), "it: has no array `tools`");
    assert_eq!(
        of(
            Method::ResourcesRead,
            r#"{"contents":[{"uri":"u","text":"a"},{"uri":"u"}]}"#
        ),
        "it: `/contents/1` has neither `text` nor `blob`"
    );
    assert_eq!(
        of(
            Method::CompletionComplete,
            r#"{"completion":{"values":[1]}}"#
        ),
        "it: `/completion/values/0` is an integer, not a string"
    );
    assert_eq!(
        of(
            Method::RootsList,
            r#"{"roots":[{"uri":"file:///a","more":1}]}"#
        ),
        "fine"
    );
}

#[test]
fn blocks_have_a_type_that_their_revision_knows() {
    let of = |text: &str, possible| told(content::blocks(Value(text.as_bytes()), possible));
    assert_eq!(
        of(r#"[{"type":"text","text":"a"},{"text":"b"}]"#, R3),
        "it: `/1` has no string `type`"
    );
    assert_eq!(
        of(r#"[{"type":"text","text":7}]"#, R3),
        "it: `/0/text` is an integer, not a string"
    );
    assert_eq!(
        of(r#"{"type":"song"}"#, R3),
        "it: `/type` is `song`, which no revision has"
    );
    let link = r#"[{"type":"resource_link","uri":"u","name":"n"}]"#;
    assert_eq!(of(link, R3), "fine");
    assert_eq!(
        of(link, R1),
        "it: `/0/type` is `resource_link`, which belongs to 2025-06-18 and later"
    );
    assert_eq!(of(link, R1 | R3), "fine");
}

#[test]
fn one_block_of_text_is_known_at_a_glance_and_nothing_else_is() {
    for (text, plain) in [
        (r#"{"content":[{"type":"text","text":"a"}]}"#, true),
        (
            r#"{"content":[{"type":"text","text":"a\"}]"}],"isError":true}"#,
            true,
        ),
        (r#"{"content":[{"type":"text","text":"a\\"}]}"#, false),
        (
            r#"{"content":[{"type":"text","text":"a"}],"content":[1]}"#,
            false,
        ),
        (
            r#"{"content":[{"type":"text","text":"a","text":1}]}"#,
            false,
        ),
        (r#"{"content":[{"type":"text","text":1}]}"#, false),
        (r#"{"content":[{"type":"text","text":"a"},1]}"#, false),
    ] {
        assert_eq!(
            content::is_one_text(Value(text.as_bytes())),
            plain,
            "{text}"
        );
    }
}

#[test]
fn a_form_is_flat() {
    let of = |properties: &str, possible| {
        let text = format!(r#"{{"type":"object","properties":{properties}}}"#);
        told(form::check(Value(text.as_bytes()), possible))
    };
    assert_eq!(
        of(r#"{"a":{"type":"string"},"b":{"type":"integer"}}"#, R3),
        "fine"
    );
    assert_eq!(
        of(r#"{"a":{"type":"object"}}"#, R3),
        "it: `/properties/a` is of type `object`, which is not primitive"
    );
    let several = r#"{"a":{"type":"array","items":{"enum":["x"]}}}"#;
    assert_eq!(of(several, R4), "fine");
    assert_ne!(of(several, R3), "fine");
    assert_ne!(
        of(r#"{"a":{"type":"array","items":{"type":"object"}}}"#, R4),
        "fine"
    );
}
