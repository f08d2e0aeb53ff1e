//! Secrets whose placeholders are in a recording, and the live values in their place.

use tapewright_replay::{Exhausted, MatchMode, Options};

use super::stage::{Stage, cassette, exchange, options};

/// A recording of calls of one method with these values of `key`; the answer to each is its index.
fn stage(keys: &[&str], options: Options) -> Stage {
    let exchanges: Vec<String> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| exchange("whoami", &with(key), &place.to_string()))
        .collect();
    let exchanges: Vec<&str> = exchanges.iter().map(String::as_str).collect();
    Stage::with(&cassette(&exchanges), options)
}

fn with(key: &str) -> String {
    format!(r#"{{"key":"{key}"}}"#)
}

fn default(keys: &[&str]) -> Stage {
    stage(keys, options())
}

#[test]
fn what_a_variable_held_is_whatever_stands_there() {
    for (recorded, live) in [
        ("<REDACTED:env#1>", "anything at all"),
        ("Bearer <REDACTED:env#1>", "Bearer dummy"),
        ("<REDACTED:env#1>@<REDACTED:env#2>/x", "ann@example.org/x"),
        // A text whose shape is a secret even without the variable.
        (
            "<REDACTED:env#1>",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        ),
        (
            "token=<REDACTED:env#1>;",
            "token=ghp_0123456789abcdefghijABCDEFGHIJ012345;",
        ),
    ] {
        assert_eq!(
            default(&[recorded]).result("whoami", &with(live)),
            "0",
            "{live}"
        );
    }
    for (recorded, live) in [
        ("Bearer <REDACTED:env#1>", "Basic dummy"),
        ("Bearer <REDACTED:env#1>", "Bearer "),
        ("<REDACTED:env#1>", ""),
    ] {
        let error = default(&[recorded]).missed("whoami", &with(live));
        assert_eq!(error["data"]["reason"], "never_recorded", "{error}");
    }
}

#[test]
fn an_exact_value_goes_before_what_stands_for_any() {
    let mut stage = default(&["<REDACTED:env#1>", "plain"]);
    assert_eq!(stage.result("whoami", &with("plain")), "1");
    assert_eq!(stage.result("whoami", &with("other")), "0");
}

#[test]
fn swapped_secrets_do_not_swap_answers() {
    let recorded = [
        "<REDACTED:env#1>",
        "<REDACTED:env#2>",
        "<REDACTED:env#1>",
        "<REDACTED:env#2>",
    ];
    let shaped = |letter: &str| format!("ghp_{}", letter.repeat(36));
    for (first, second) in [
        ("a".to_owned(), "b".to_owned()),
        (shaped("a"), shaped("b")),
        (shaped("a"), "b".to_owned()),
    ] {
        let mut stage = default(&recorded);
        let mut ask = |key: &str| stage.result("whoami", &with(key));
        assert_eq!(ask(&first), "0");
        assert_eq!(ask(&second), "1");
        // In reverse order.
        assert_eq!(ask(&second), "3");
        assert_eq!(ask(&first), "2");
    }
}

#[test]
fn the_answer_to_another_secret_is_never_given() {
    let live = |secret: &str| format!(r#"{{"password":"{secret}-hunter-22"}}"#);
    for kind in ["env", "password"] {
        let call = |number: u8| {
            let params = format!(r#"{{"password":"<REDACTED:{kind}#{number}>"}}"#);
            exchange("login", &params, &number.to_string())
        };
        let recording = cassette(&[&call(1), &call(2)]);
        let mut stage = Stage::new(&recording);
        assert_eq!(stage.result("login", &live("one")), "1");
        let error = stage.missed("login", &live("one"));
        assert_eq!(error["data"]["reason"], "used_up", "{error}");
        assert_eq!(stage.result("login", &live("two")), "2");
        for exhausted in [Exhausted::Last, Exhausted::Cycle] {
            let again = Options {
                exhausted,
                ..options()
            };
            let mut stage = Stage::with(&recording, again);
            let mut ask = |secret: &str| stage.result("login", &live(secret));
            for (secret, answer) in [
                ("one", "1"),
                ("two", "2"),
                ("one", "1"),
                ("one", "1"),
                ("two", "2"),
            ] {
                assert_eq!(ask(secret), answer, "{exhausted:?}");
            }
        }
    }
}

#[test]
fn one_value_for_all_variables_is_enough_where_nothing_else_is_recorded() {
    let one = exchange("search", &with("<REDACTED:env#1>"), "0");
    let other = exchange("mail", &with("<REDACTED:env#2>"), "1");
    let mut stage = Stage::new(&cassette(&[&one, &other]));
    assert_eq!(stage.result("search", &with("dummy")), "0");
    assert_eq!(stage.result("mail", &with("dummy")), "1");
}

#[test]
fn a_rule_is_not_blamed_where_the_values_differ() {
    let reason = |recorded: &str, live: &str| {
        let error = default(&[recorded]).missed("whoami", &with(live));
        error["data"]["reason"].clone()
    };
    // Redacted here, but the same rules did not redact it in the recording.
    let shaped = format!("ghp_{}", "a".repeat(36));
    assert_eq!(reason("plain", &shaped), "never_recorded");
    // The placeholder describes the value that it replaces.
    assert_eq!(reason("[REDACTED:length=5]", "abc"), "never_recorded");
    assert_eq!(reason("<OPENAI_API_KEY>", "abc"), "never_recorded");
    // A rule that is not active here.
    assert_eq!(reason("<REDACTED:other#1>", "abc"), "hidden_by_rule");
}

#[test]
fn strict_matching_takes_no_text_for_another() {
    let strict = Options {
        mode: MatchMode::Strict,
        ..options()
    };
    let error = stage(&["<REDACTED:env#1>"], strict).missed("whoami", &with("dummy"));
    assert_eq!(error["data"]["reason"], "hidden_by_rule", "{error}");
}
