use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::conversation::{Outcome, ToolUseRow};
use crate::event::Direction;

const CASES: &str = include_str!("cases.json");

fn text<'v>(one: &'v Value, name: &str) -> Option<&'v str> {
    one.get(name).and_then(Value::as_str)
}

fn uses(one: &Value) -> Vec<ToolUseRow> {
    let uses = one["tool_uses"].as_array().into_iter().flatten();
    let row = |one: &Value| ToolUseRow {
        id: text(one, "id").map(str::to_owned),
        name: text(one, "name").unwrap().to_owned(),
        ..ToolUseRow::default()
    };
    uses.map(row).collect()
}

fn subject<'v>(one: &'v Value, uses: &'v [ToolUseRow]) -> Subject<'v> {
    let dir = if text(one, "from") == Some("server") {
        Direction::ToClient
    } else {
        Direction::ToServer
    };
    let session = one["session"].as_u64().and_then(|one| one.try_into().ok());
    let kind = LineKind::from_name(text(one, "kind").unwrap()).unwrap();
    let all = [
        Outcome::Answered,
        Outcome::Cancelled,
        Outcome::Error,
        Outcome::HttpError,
        Outcome::KeptByFault,
        Outcome::PeerGone,
    ];
    let said = |name: &str| text(one, name).unwrap_or_default().as_bytes();
    let name = text(one, "resource").or(text(one, "prompt"));
    Subject {
        method: text(one, "method").unwrap_or_default(),
        tool: text(one, "tool"),
        uses,
        model: text(one, "model"),
        name: text(one, "tool").or(name),
        id: text(one, "id"),
        use_id: one.get("asked_by").and_then(|by| text(by, "id")),
        outcome: text(one, "outcome").map(|outcome| {
            let is = |known: &Outcome| serde_json::to_value(known).unwrap() == outcome;
            all.into_iter().find(is).unwrap()
        }),
        tool_error: one["tool_error"] == true,
        error_code: one["error_code"].as_i64(),
        http_status: one["http_status"]
            .as_u64()
            .and_then(|one| one.try_into().ok()),
        has_fault: one.get("fault").is_some(),
        has_findings: one.get("findings").is_some(),
        waited_ms: one["waited_ms"].as_f64(),
        texts: [
            said(if kind == LineKind::Stderr {
                "text"
            } else {
                "request"
            }),
            said("answer"),
        ],
        ..Subject::new(kind, session.unwrap(), dir)
    }
}

fn words(case: &Value) -> Vec<&str> {
    let words = case["filter"].as_array().unwrap().iter();
    words.map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn every_case_matches_what_it_says() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let subjects = cases["subjects"].as_object().unwrap();
    for case in cases["cases"].as_array().unwrap() {
        let filter = Filter::new(&words(case)).unwrap();
        let found = subjects
            .iter()
            .filter(|(_, one)| filter.matches(&subject(one, &uses(one))));
        let mut found: Vec<&str> = found.map(|(name, _)| name.as_str()).collect();
        let mut wanted: Vec<&str> = case["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap())
            .collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{case}");
    }
}

#[test]
fn a_bad_word_is_told_with_what_there_is() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    for word in cases["wrong"].as_array().unwrap() {
        let word = word.as_str().unwrap();
        assert!(Filter::new(&[word]).is_err(), "{word}");
    }
    let told = |word: &str| Filter::new(&[word]).unwrap_err().to_string();
    assert!(told("tol:x").contains("`tool:`") && told("tol:x").contains("did you mean `tool`?"));
    assert!(told("status:fine").contains("pending"));
    assert!(told("slow:").contains(">200ms"));
}

#[test]
fn kinds_that_are_named_are_known() {
    let kinds = |words: &[&str]| Filter::new(words).unwrap().kinds();
    assert_eq!(kinds(&["tool:x", "-kind:noise"]), None);
    assert_eq!(
        kinds(&["kind:stderr,progress"]),
        Some(vec![LineKind::Stderr, LineKind::Progress])
    );
}

proptest! {
    #[test]
    fn a_sign_turns_a_word_round(which in 0..43_usize, line in 0..13_usize) {
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let case = &cases["cases"][which];
        prop_assume!(words(case).len() == 1);
        let line = cases["subjects"].as_object().unwrap().values().nth(line).unwrap();
        let (word, uses) = (words(case).remove(0), uses(line));
        let plain = Filter::new(&[word]).unwrap().matches(&subject(line, &uses));
        let turned = Filter::new(&[format!("-{word}")]).unwrap().matches(&subject(line, &uses));
        prop_assert_ne!(plain, turned);
    }

    #[test]
    fn more_words_never_match_more(one in 0..43_usize, other in 0..43_usize, line in 0..13_usize) {
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let both = [words(&cases["cases"][one]), words(&cases["cases"][other])].concat();
        let line = cases["subjects"].as_object().unwrap().values().nth(line).unwrap();
        let uses = uses(line);
        let matches = |words: &[&str]| Filter::new(words).unwrap().matches(&subject(line, &uses));
        prop_assert_eq!(
            matches(&both),
            matches(&words(&cases["cases"][one])) && matches(&words(&cases["cases"][other]))
        );
    }

    #[test]
    fn no_text_is_a_panic(words in proptest::collection::vec(".{0,20}", 0..4)) {
        if let Ok(filter) = Filter::new(&words) {
            let line = Subject::new(LineKind::Noise, 0, Direction::ToServer);
            prop_assert!(filter.is_empty() == words.is_empty() && (filter.matches(&line) || !words.is_empty()));
        }
    }
}
