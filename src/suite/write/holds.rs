//! Property test: for any recorded answers, the suite written from them loads without warnings, and
//! holds for each answer.

use std::io;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tapewright_assertions::{Answer, Headers, Json, NoWorld};
use tapewright_config::{EnvFiles, Environment, Files};

use super::call::{Asks, Call};
use super::server::{Reach, Server};
use super::{Draft, ServerDraft};
use crate::suite::plan;

/// A suite in memory.
struct Suite(String);

impl Files for Suite {
    fn read(&self, path: &Path, _: u64) -> io::Result<Vec<u8>> {
        self.canonical(path)?;
        Ok(self.0.clone().into_bytes())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let is_it = path == Path::new("suite.yaml");
        is_it
            .then(|| path.to_owned())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// What went wrong when a suite was written from these envelopes, loaded, and used to judge them.
fn wrong(asks: Asks, answers: &[String]) -> Option<String> {
    let draft = Draft {
        about: Vec::new(),
        servers: vec![ServerDraft {
            server: Server {
                name: "any".to_owned(),
                reach: Reach::Command(vec!["any".to_owned()]),
            },
            calls: vec![Call {
                asks,
                name: "any".to_owned(),
                arguments: Some(json!({})),
                answers: answers
                    .iter()
                    .map(|text| serde_json::from_str(text).expect("JSON"))
                    .collect(),
            }],
            stubs: Vec::new(),
        }],
    };
    let suite_text = draft.write();
    let environment = Environment::default();
    let path = Path::new("suite.yaml");
    let loaded = tapewright_config::load(
        path,
        &Suite(suite_text.clone()),
        &environment,
        &EnvFiles::None,
    );
    let Some(suite) = loaded.suite.as_ref().filter(|_| loaded.issues.is_empty()) else {
        return Some(format!("{:#?}\n{suite_text}", loaded.issues));
    };
    let (plan, issues) = plan::build(suite);
    let Some(plan) = plan.filter(|_| issues.is_empty()) else {
        return Some(format!("{issues:#?}\n{suite_text}"));
    };
    let case = plan.cases.first().expect("a case");
    let asked = case.test().expect("a question");
    answers.iter().find_map(|answer| {
        let envelope = Json::read(answer.as_bytes()).expect("JSON");
        let envelope = match (envelope.get("result"), envelope.get("error")) {
            (Some(result), _) => Answer::of_result(result.clone()),
            (None, error) => Answer::of_error(error.expect("an error").clone()),
        };
        let answer = Answer {
            envelope: &envelope,
            took_us: None,
            headers: Headers::NotHttp,
            redacted: false,
        };
        let outcome = asked.expectation.judge(&answer, &NoWorld);
        let held = outcome.holds() && outcome.passed > 0;
        (!held).then(|| format!("{envelope}\n{outcome:#?}\n{suite_text}"))
    })
}

#[test]
fn a_call_that_sometimes_fails_may_fail() {
    let answers = [
        json!({ "result": { "content": [] } }).to_string(),
        json!({ "error": { "code": -32000, "message": "busy" } }).to_string(),
    ];
    assert_eq!(wrong(Asks::Tool, &answers), None);
    let said = |failed: bool| json!({ "result": { "content": [], "isError": failed } }).to_string();
    assert_eq!(wrong(Asks::Tool, &[said(true), said(false)]), None);
}

#[test]
fn numbers_hold_however_they_are_written() {
    for number in [
        "1",
        "1.0",
        "1e3",
        "0.1",
        "-0",
        "12345678901234567890123",
        "1e-7",
    ] {
        let answer = format!(r#"{{"result":{{"structuredContent":{{"n":{number}}}}}}}"#);
        assert_eq!(wrong(Asks::Tool, &[answer]), None, "{number}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z $.:#{}-]{0,30}",
        any::<String>(),
        "(at 2026-11-2[0-9]T10:00:0[0-9]Z|[0-9a-f]{16}|took [0-9]{1,3} ms|pid [0-9]{2,4})( [a-z]{0,9})?",
        "([a-z ${}]{0,12}(\r\n|\n)){0,12}",
        value(Just("x".to_owned())).prop_map(|value| value.to_string()),
    ]
}

fn value(text: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c_]|[ -~]{1,4}", inner), 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

fn block() -> impl Strategy<Value = Value> {
    let any_value = || value("[a-z ]{0,6}".boxed());
    prop_oneof![
        4 => text().prop_map(|text| json!({ "type": "text", "text": text })),
        1 => text().prop_map(|text| json!({ "type": "resource", "resource": { "uri": "a:b", "text": text } })),
        1 => "[a-z]{3}".prop_map(|kind| json!({ "type": "image", "mimeType": kind, "data": "AA==" })),
        1 => any_value(),
    ]
}

fn envelope() -> impl Strategy<Value = String> {
    let blocks = || prop::collection::vec(block(), 0..6);
    let messages = prop::collection::vec(block(), 0..3).prop_map(|all| {
        let message = |one: Value| json!({ "role": "user", "content": one });
        all.into_iter().map(message).collect::<Vec<_>>()
    });
    let structure = value(text().boxed());
    prop_oneof![
        4 => (blocks(), any::<Option<bool>>()).prop_map(|(content, failed)| match failed {
            None => json!({ "result": { "content": content } }),
            Some(failed) => json!({ "result": { "content": content, "isError": failed } }),
        }),
        3 => (blocks(), structure).prop_map(|(content, structure)| {
            json!({ "result": { "content": content, "structuredContent": structure } })
        }),
        1 => blocks().prop_map(|all| json!({ "result": { "contents": all } })),
        1 => messages.prop_map(|all| json!({ "result": { "messages": all } })),
        1 => value("[a-z]{0,4}".boxed()).prop_map(|any| json!({ "result": any })),
        1 => (any::<i32>(), text()).prop_map(|(code, message)| {
            json!({ "error": { "code": code, "message": message } })
        }),
        1 => value("[a-z]{0,4}".boxed()).prop_map(|any| json!({ "error": any })),
    ]
    .prop_map(|value| value.to_string())
}

proptest! {
    #[test]
    fn a_suite_holds_of_what_it_was_written_of(
        asks in prop_oneof![Just(Asks::Tool), Just(Asks::Resource), Just(Asks::Prompt)],
        answers in prop::collection::vec(envelope(), 1..4),
        again in any::<bool>(),
    ) {
        let mut answers = answers;
        if again {
            answers.truncate(1);
            answers.extend(answers.clone());
        }
        prop_assert_eq!(wrong(asks, &answers), None);
    }
}
