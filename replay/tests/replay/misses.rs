//! The error for a request without a recording.

use super::stage::{Stage, cassette, exchange};

const CALL: &str = "tools/call";

fn stage() -> Stage {
    let weather = r#"{"name":"weather","arguments":{"city":"Berlin","days":3}}"#;
    let tides = r#"{"name":"tides","arguments":{"city":"Hull"}}"#;
    Stage::new(&cassette(&[
        &exchange("initialize", "", "{}"),
        &exchange(CALL, weather, "1"),
        &exchange(CALL, tides, "2"),
    ]))
}

#[test]
fn the_nearest_recordings_are_shown_with_what_differs() {
    let live = r#"{"name":"weather","arguments":{"city":"Paris","days":3}}"#;
    let error = stage().missed(CALL, live);
    assert_eq!(
        error["message"],
        "no recording answers `tools/call` of `weather`: never recorded with these parameters; the nearest of `weather`, /exchanges/1, differs at $.params.arguments.city"
    );
    let near = &error["data"]["nearest"];
    assert_eq!(near[0]["place"], "/exchanges/1");
    assert_eq!(near[0]["used"], false);
    assert_eq!(near[0]["differences"][0]["recorded"], "\"Berlin\"");
    assert_eq!(near[0]["differences"][0]["live"], "\"Paris\"");
    assert_eq!(near.as_array().unwrap().len(), 1, "of the same tool alone");
    assert_eq!(error["data"]["recorded"], 2);
}

#[test]
fn a_tool_that_was_never_called_is_told_with_those_that_were() {
    let live = r#"{"name":"search","arguments":{"city":"Berlin","days":3}}"#;
    let error = stage().missed(CALL, live);
    assert_eq!(
        error["message"],
        "no recording answers `tools/call` of `search`: the tool was never called; recorded tools: `weather`, `tides`"
    );
    assert_eq!(error["data"]["reason"], "never_called");
    assert_eq!(error["data"]["called"][1], "tides");
    assert!(error["data"].get("nearest").is_none(), "{error}");
}

#[test]
fn the_nearest_call_is_of_the_same_tool_however_late_it_was_recorded() {
    let other = |place: i32| format!(r#"{{"name":"other","arguments":{{"n":{place}}}}}"#);
    let mut all: Vec<String> = (0..500)
        .map(|place| exchange(CALL, &other(place), "0"))
        .collect();
    let late = r#"{"name":"late","arguments":{"a":1,"b":2,"c":3}}"#;
    all.push(exchange(CALL, late, "1"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let live = r#"{"name":"late","arguments":{"n":7}}"#;
    let error = Stage::new(&cassette(&all)).missed(CALL, live);
    assert_eq!(error["data"]["reason"], "never_recorded", "{error}");
    assert_eq!(error["data"]["nearest"][0]["place"], "/exchanges/500");
}

#[test]
fn a_name_that_a_rule_hid_is_not_said_to_be_never_called() {
    let key = format!("sk-{}-api03-{}", "ant", "0123456789abcdefXYZ");
    let error = stage().missed(CALL, &format!(r#"{{"name":"{key}"}}"#));
    assert_ne!(error["data"]["reason"], "never_called", "{error}");
}

#[test]
fn a_rule_is_blamed_only_for_what_it_hid() {
    let with = |note: &str| format!(r#"{{"name":"mail","arguments":{{"note":"{note}"}}}}"#);
    let recorded = exchange(CALL, &with("to Ann with <REDACTED:other#1>"), "1");
    let reason = |live: &str| {
        let error = Stage::new(&cassette(&[&recorded])).missed(CALL, live);
        error["data"]["reason"].clone()
    };
    assert_eq!(reason(&with("to Ann with that")), "hidden_by_rule");
    assert_eq!(reason(&with("to Bob with that")), "never_recorded");
    let absent = r#"{"name":"mail","arguments":{}}"#;
    assert_eq!(reason(absent), "never_recorded");
}

#[test]
fn no_secret_is_repeated() {
    let key = format!("sk-{}-api03-{}", "ant", "0123456789abcdefXYZ");
    let argument = format!(r#"{{"name":"weather","arguments":{{"key":"{key}"}}}}"#);
    let name = format!(r#"{{"name":"{key}"}}"#);
    for live in [argument, name] {
        let error = stage().missed(CALL, &live);
        assert!(!error.to_string().contains(&key), "{error}");
    }
}

#[test]
fn only_that_request_is_answered_and_the_rest_goes_on() {
    let mut stage = stage();
    let said = stage.send(r#"{"jsonrpc":"2.0","id":"a","method":"unknown/method"}"#);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("\"id\":\"a\""), "{said:?}");
    assert!(
        said[0].contains("the method was never recorded"),
        "{said:?}"
    );
    for silent in [
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        "   ",
    ] {
        assert!(stage.send(silent).is_empty(), "{silent}");
    }
    let broken = stage.send("{not json");
    assert!(
        broken[0].contains("-32700") && broken[0].contains("\"id\":null"),
        "{broken:?}"
    );
    assert!(stage.send("{}")[0].contains("-32600"));
    assert_eq!(stage.result("initialize", ""), "{}");
    let report = stage.report();
    assert_eq!((report.served, report.missed, report.unused), (1, 1, 2));
    assert_eq!(report.misses[0].method, "unknown/method");
}

#[test]
fn a_ping_is_answered_though_nobody_recorded_one() {
    let mut stage = stage();
    assert_eq!(stage.result("ping", ""), "{}");
    let report = stage.report();
    assert_eq!((report.own_pings, report.served, report.missed), (1, 0, 0));
    let stateless = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let refused = stage.ask("1", "ping", stateless);
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    assert_eq!(stage.report().own_pings, 1);
}

#[test]
fn much_may_be_recorded() {
    let numbered = |place: i32| format!(r#"{{"name":"t","arguments":{{"n":{place}}}}}"#);
    let many: Vec<String> = (0..20_000)
        .map(|place| exchange(CALL, &numbered(place), &place.to_string()))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut stage = Stage::new(&cassette(&many));
    let error = stage.missed(CALL, &numbered(-1));
    assert_eq!(error["data"]["nearest"].as_array().unwrap().len(), 3);
    assert_eq!(stage.result(CALL, &numbered(19_999)), "19999");
}

#[test]
fn a_batch_is_answered_as_one() {
    let said = stage().send(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]"#,
    );
    assert_eq!(
        said,
        [r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#]
    );
}
