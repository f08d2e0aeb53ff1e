use super::*;
use tapewright_schemas::event::{EventBody, LineEnd, Offset, Payload};

const OLD: [&str; 4] = ["2024-11-05", "2025-03-26", "v2025-06-18", "2025-11-25"];

fn verdict(revision: &str, answer: Answer) -> Verdict {
    judge_missing_resource(revision, answer).verdict
}

#[test]
fn up_to_2025_11_25_the_code_should_be_32002_and_nothing_else_fails() {
    for revision in OLD {
        assert_eq!(
            verdict(revision, Answer::Error(Some(-32_002))),
            Verdict::Pass
        );
        assert_eq!(
            verdict(revision, Answer::Error(Some(-32_602))),
            Verdict::Note
        );
        assert_eq!(verdict(revision, Answer::Contents(0)), Verdict::Note);
        for code in [-32_603, 0, -32_001, -32_601] {
            assert_eq!(
                verdict(revision, Answer::Error(Some(code))),
                Verdict::Inconclusive
            );
        }
    }
}

#[test]
fn from_2026_07_28_on_it_must_be_32602_and_never_empty_contents() {
    for revision in ["2026-07-28", "v2026-07-28", "draft"] {
        assert_eq!(
            verdict(revision, Answer::Error(Some(-32_602))),
            Verdict::Pass
        );
        assert_eq!(
            verdict(revision, Answer::Error(Some(-32_002))),
            Verdict::Fail
        );
        assert_eq!(verdict(revision, Answer::Contents(0)), Verdict::Fail);
        for answer in [
            Answer::Error(Some(-32_603)),
            Answer::Error(Some(7)),
            Answer::Error(None),
            Answer::Contents(1),
            Answer::Shapeless,
        ] {
            let judgement = judge_missing_resource(revision, answer);
            assert_eq!(judgement.verdict, Verdict::Inconclusive, "{answer:?}");
            assert!(!judgement.detail.is_empty());
        }
    }
    let internal = judge_missing_resource("2026-07-28", Answer::Error(Some(-32_603)));
    assert!(
        internal.detail.contains("internal error"),
        "{}",
        internal.detail
    );
}

#[test]
fn an_answer_is_read_from_its_source_text() {
    let of = |result: Option<&str>, error: Option<&str>| {
        Answer::of(result.map(str::as_bytes), error.map(str::as_bytes))
    };
    assert_eq!(
        of(None, Some(r#"{"code": -32002 }"#)),
        Some(Answer::Error(Some(-32_002)))
    );
    assert_eq!(
        of(None, Some(r#"{"code":"-32002"}"#)),
        Some(Answer::Error(None))
    );
    assert_eq!(
        of(Some(r#"{"contents":[ ]}"#), None),
        Some(Answer::Contents(0))
    );
    assert_eq!(
        of(Some(r#"{"contents":[{"uri":"a"},{}]}"#), None),
        Some(Answer::Contents(2))
    );
    assert_eq!(of(Some("{}"), None), Some(Answer::Shapeless));
    assert_eq!(of(None, None), None);
}

fn fold(messages: &[&str]) -> MissingResources {
    let mut fold = MissingResources::default();
    for (at, text) in (1..).zip(messages) {
        let dir = if text.contains("\"method\"") {
            Direction::ToServer
        } else {
            Direction::ToClient
        };
        let body = EventBody::message(Payload::Whole((*text).to_owned().into()), LineEnd::Lf);
        let mut event = Event::new(Offset(at), dir, body);
        event.seq = at;
        fold.observe(&event, None);
    }
    fold
}

const OPEN: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const OPENED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
const READ: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}"#;

#[test]
fn only_answers_to_a_read_count() {
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#;
    let fold = fold(&[
        OPEN,
        OPENED,
        call,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"no"}}"#,
        READ,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}"#,
    ]);
    let [one] = fold.found() else {
        panic!("{fold:?}")
    };
    assert_eq!((one.asked, one.answered, one.uri.as_str()), (5, 6, "a://b"));
    assert_eq!(
        (one.revision.as_str(), one.judgement.verdict),
        ("2025-11-25", Verdict::Pass)
    );
    assert!(!one.client_goes_on);
}

#[test]
fn the_revision_is_the_one_of_the_request() {
    let read = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let fold = fold(&[read, r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}"#]);
    let [one] = fold.found() else {
        panic!("{fold:?}")
    };
    assert_eq!(
        (one.revision.as_str(), one.judgement.verdict),
        ("2026-07-28", Verdict::Fail)
    );
    assert_eq!(one.judgement.pointer, "/result/contents");
}

#[test]
fn a_client_that_asks_again_does_not_accept_the_code() {
    let again = READ.replace("\"id\":1", "\"id\":2");
    let fold = fold(&[
        OPEN,
        OPENED,
        READ,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}"#,
        &again,
    ]);
    assert!(fold.found()[0].client_goes_on);
}
