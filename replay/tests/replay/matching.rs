//! When a live request matches a recorded one.

use tapewright_replay::{Exhausted, Ignore, MatchMode, Options, Ordering};

use super::stage::{Stage, cassette, exchange, options, rules};

fn stage(requests: &[(&str, &str)]) -> Stage {
    staged(requests, options())
}

/// A recording of these requests; the answer to each is its index.
fn staged(requests: &[(&str, &str)], options: Options) -> Stage {
    let exchanges: Vec<String> = requests
        .iter()
        .enumerate()
        .map(|(place, (method, params))| exchange(method, params, &place.to_string()))
        .collect();
    let exchanges: Vec<&str> = exchanges.iter().map(String::as_str).collect();
    Stage::with(&cassette(&exchanges), options)
}

const UUID: &str = "6fa459ea-ee8a-3ca4-894e-db77e160355e";
const OTHER_UUID: &str = "0190D5A2-7c1e-7b3a-9f00-ab12cd34ef56";

#[test]
fn the_handshake_is_found_by_its_method() {
    let mut stage = stage(&[("initialize", r#"{"clientInfo":{"version":"1"}}"#)]);
    let params = r#"{"clientInfo":{"version":"2"},"new":1}"#;
    let answer = stage.ask("\"x\"", "initialize", params);
    assert_eq!((&answer["id"], &answer["result"]), (&"x".into(), &0.into()));
}

#[test]
fn spelling_has_no_meaning() {
    let mut stage = stage(&[("m", r#"{"a":{"b":1,"c":[2.50]},"d":"é"}"#)]);
    let live = r#"{"d":"\u00e9", "a":{"c":[25e-1],"b":1.0}}"#;
    assert_eq!(stage.result("m", live), "0");
}

#[test]
fn absent_and_empty_parameters_are_the_same() {
    for (recorded, live) in [
        ("", "{}"),
        ("{}", ""),
        ("null", "{}"),
        (r#"{"_meta":{}}"#, ""),
    ] {
        let mut stage = stage(&[("tools/list", recorded)]);
        assert_eq!(stage.result("tools/list", live), "0", "{recorded} {live}");
    }
}

#[test]
fn who_asks_does_not_count() {
    let recorded = r#"{"a":1,"_meta":{"progressToken":7,"traceparent":"00-1"}}"#;
    let live = r#"{"a":1,"_meta":{"progressToken":"t","baggage":"x","io.modelcontextprotocol/clientInfo":{"name":"n"}}}"#;
    assert_eq!(stage(&[("m", recorded)]).result("m", live), "0");
}

#[test]
fn what_is_volatile_matches_its_kind() {
    let recorded = format!(
        r#"{{"id":"{UUID}","at":"2026-11-21T04:09:32Z","n":1763697600,"etag":"\"a\"","traceId":"x"}}"#
    );
    let live = format!(
        r#"{{"id":"{OTHER_UUID}","at":"2027-01-01 00:00:00+01:00","n":1763697601123,"etag":"W/\"b\"","traceId":"y"}}"#
    );
    assert_eq!(stage(&[("m", &recorded)]).result("m", &live), "0");
    let strict = Options {
        mode: MatchMode::Strict,
        ..options()
    };
    staged(&[("m", &recorded)], strict).missed("m", &live);
    // Kinds are distinguished.
    let mixed = format!(
        r#"{{"id":"2027-01-01T00:00:00Z","at":"{UUID}","n":1763697601123,"etag":"W/\"b\"","traceId":"y"}}"#
    );
    stage(&[("m", &recorded)]).missed("m", &mixed);
}

#[test]
fn an_exact_recording_wins() {
    let with = |uuid: &str| format!(r#"{{"id":"{uuid}"}}"#);
    let mut stage = stage(&[
        ("m", &with(UUID)),
        ("m", &with(OTHER_UUID)),
        ("m", &with(UUID)),
    ]);
    assert_eq!(stage.result("m", &with(OTHER_UUID)), "1");
    assert_eq!(stage.result("m", &with(UUID)), "0");
    let third = with("00000000-0000-4000-8000-000000000000");
    assert_eq!(stage.result("m", &third), "2");
}

#[test]
fn placeholders_of_other_tools_stand_for_what_they_hid() {
    let recorded = r#"{"id":"<UUID>","at":"<TIMESTAMP>","n":"<EPOCH>","key":"[REDACTED:length=8]","b":"Bearer [REDACTED:secret]"}"#;
    let live = format!(
        r#"{{"id":"{UUID}","at":"2026-11-21T04:09:32Z","n":1763697600,"key":"abcdefgh","b":"Bearer x"}}"#
    );
    assert_eq!(stage(&[("m", recorded)]).result("m", &live), "0");
    stage(&[("m", recorded)]).missed("m", &live.replace("abcdefgh", "abc"));
    // A chained replay sends the placeholders themselves.
    assert_eq!(stage(&[("m", recorded)]).result("m", recorded), "0");
    // A live placeholder also matches a recorded plain value.
    let raw = format!(r#"{{"id":"{UUID}"}}"#);
    let live = r#"{"id":"<UUID>"}"#;
    assert_eq!(stage(&[("m", &raw)]).result("m", live), "0");
}

#[test]
fn a_secret_matches_its_redacted_recording() {
    let mut stage = stage(&[
        ("login", r#"{"password":"<REDACTED:password#1>","n":1}"#),
        ("login", r#"{"password":"<REDACTED:password#2>","n":1}"#),
        ("login", r#"{"password":"<REDACTED:password#1>","n":1}"#),
    ]);
    let with = |secret: &str| format!(r#"{{"n":1,"password":"{secret}"}}"#);
    assert_eq!(stage.result("login", &with("hunter-two-22")), "0");
    // Equal secrets have equal placeholders.
    assert_eq!(stage.result("login", &with("hunter-two-22")), "2");
    assert_eq!(stage.result("login", &with("another-33")), "1");
}

#[test]
fn a_recording_that_kept_its_secrets_matches_them() {
    let recorded = r#"{"password":"hunter-two-22"}"#;
    assert_eq!(stage(&[("login", recorded)]).result("login", recorded), "0");
    // Both sides are redacted in the same way: another secret matches, but after the same one.
    let other = ("login", r#"{"password":"a-secret-1"}"#);
    let mut stage = stage(&[other, ("login", recorded)]);
    assert_eq!(stage.result("login", recorded), "1");
    assert_eq!(stage.result("login", recorded), "0");
}

#[test]
fn a_rule_of_the_user_hides_on_both_sides() {
    let with_rule = Options {
        rules: rules(&["internalRef"]),
        ..options()
    };
    let recorded = r#"{"internal_ref":"<REDACTED:internal-ref#1>"}"#;
    let live = r#"{"internal_ref":"AB-1234"}"#;
    assert_eq!(staged(&[("m", recorded)], with_rule).result("m", live), "0");
    // Without the rule, the error reports that a rule is missing.
    let error = stage(&[("m", recorded)]).missed("m", live);
    assert_eq!(error["data"]["reason"], "hidden_by_rule", "{error}");
    assert_eq!(error["data"]["path"], "$.params.internal_ref");
}

#[test]
fn shapes_match_when_they_may() {
    let structural = || Options {
        mode: MatchMode::Structural,
        ..options()
    };
    let recorded = [(
        "tools/call",
        r#"{"name":"t","arguments":{"q":"x","n":[1,2]}}"#,
    )];
    let alike = r#"{"name":"t","arguments":{"n":[3,4],"q":"y"}}"#;
    stage(&recorded).missed("tools/call", alike);
    assert_eq!(
        staged(&recorded, structural()).result("tools/call", alike),
        "0"
    );
    for unlike in [
        r#"{"name":"other","arguments":{"n":[3,4],"q":"y"}}"#,
        r#"{"name":"t","arguments":{"n":[3],"q":"y"}}"#,
        r#"{"name":"t","arguments":{"n":[3,4],"q":1}}"#,
        r#"{"name":"t","arguments":{"n":[3,4]}}"#,
    ] {
        staged(&recorded, structural()).missed("tools/call", unlike);
    }
}

#[test]
fn ignored_places_do_not_count() {
    let ignore = Ignore::new(&["/params/arguments/*/at", "/salt"], &["params"]).unwrap();
    let options = Options {
        ignore,
        ..options()
    };
    let recorded = r#"{"salt":1,"arguments":[{"at":1,"k":2}]}"#;
    let mut stage = staged(&[("m", recorded)], options);
    stage.missed("m", r#"{"salt":1,"arguments":[{"at":9,"k":3}]}"#);
    assert_eq!(stage.result("m", r#"{"arguments":[{"at":9,"k":2}]}"#), "0");
}

#[test]
fn repeats_come_in_recorded_order() {
    let requests = [("m", "{}"), ("other", ""), ("m", ""), ("m", "{}")];
    let mut error = stage(&requests);
    let played: Vec<String> = (0..3).map(|_| error.result("m", "")).collect();
    assert_eq!(played, ["0", "2", "3"]);
    let why = error.missed("m", "");
    assert_eq!(
        (&why["data"]["reason"], &why["data"]["times"]),
        (&"used_up".into(), &3.into())
    );
    for (policy, expected) in [
        (Exhausted::Last, ["0", "2", "3", "3", "3", "3", "3"]),
        (Exhausted::Cycle, ["0", "2", "3", "0", "2", "3", "0"]),
    ] {
        let options = Options {
            exhausted: policy,
            ..options()
        };
        let mut stage = staged(&requests, options);
        let played: Vec<String> = (0..7).map(|_| stage.result("m", "")).collect();
        assert_eq!(played, expected, "{policy:?}");
    }
}

#[test]
fn every_session_starts_afresh() {
    let mut first = stage(&[("m", "")]);
    let mut second = first.another();
    assert_eq!(first.result("m", ""), "0");
    assert_eq!(second.result("m", ""), "0");
    first.missed("m", "");
    // A second handshake in one process also starts a session.
    let mut again = stage(&[("initialize", ""), ("m", "")]);
    for _ in 0..3 {
        assert_eq!(again.result("initialize", ""), "0");
        assert_eq!(again.result("m", ""), "1");
    }
}

#[test]
fn the_order_can_be_demanded() {
    let requests = [("a", ""), ("b", "[1]"), ("b", "[2]")];
    let ordered = |ordering| {
        staged(
            &requests,
            Options {
                ordering,
                ..options()
            },
        )
    };
    let mut recorded = ordered(Ordering::Recorded);
    let why = recorded.missed("b", "[1]");
    assert_eq!(why["data"]["reason"], "out_of_order", "{why}");
    assert_eq!(why["data"]["expected"], "/exchanges/0");
    assert_eq!(recorded.result("a", ""), "0");
    assert_eq!(recorded.result("b", "[1]"), "1");
    let mut per_method = ordered(Ordering::PerMethod);
    per_method.missed("b", "[2]");
    assert_eq!(per_method.result("b", "[1]"), "1");
    assert_eq!(per_method.result("b", "[2]"), "2");
    assert_eq!(per_method.result("a", ""), "0");
    assert_eq!(stage(&requests).result("b", "[2]"), "2");
}

#[test]
fn what_was_in_flight_together_may_change_places() {
    let timed = |id: u32, sent: u32, took: u32| {
        format!(
            r#"{{"request":{{"id":{id},"method":"m","params":[{id}]}},"response":{{"id":{id},"result":{id}}},"timing":{{"sent_ms":{sent},"took_ms":{took}}}}}"#
        )
    };
    let recording = cassette(&[&timed(0, 0, 10), &timed(1, 5, 1), &timed(2, 20, 1)]);
    let options = Options {
        ordering: Ordering::Recorded,
        ..options()
    };
    let mut stage = Stage::with(&recording, options);
    stage.missed("m", "[2]");
    assert_eq!(stage.result("m", "[1]"), "1");
    stage.missed("m", "[2]");
    assert_eq!(stage.result("m", "[0]"), "0");
    assert_eq!(stage.result("m", "[2]"), "2");
}

#[test]
fn a_deep_or_a_strange_request_is_only_missed() {
    let mut stage = stage(&[("m", r#"{"a":1}"#)]);
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    stage.missed("m", &deep);
    stage.missed("m", "7");
    stage.missed("m", r#""\ud800""#);
    stage.missed("", "");
    assert_eq!(stage.result("m", r#"{"a":1}"#), "0");
}
