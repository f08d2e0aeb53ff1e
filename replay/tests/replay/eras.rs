//! Clients of one era, and recordings of the other.

use serde_json::json;

use super::stage::{Stage, cassette, exchange};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn handshake() -> Stage {
    let opening = exchange(
        "initialize",
        r#"{"protocolVersion":"2025-06-18"}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#,
    );
    let list = exchange("tools/list", "", "1");
    Stage::new(&cassette(&[&opening, &list]))
}

fn stateless() -> Stage {
    let list = exchange("tools/list", &format!("{{{META}}}"), "1");
    Stage::new(&cassette(&[&list]))
}

#[test]
fn a_probe_finds_a_server_of_the_handshake_era() {
    let mut stage = handshake();
    let answer = stage.ask("1", "server/discover", &format!("{{{META}}}"));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert_eq!(answer["error"].get("data"), None);
    // Then it starts as with such a server. The probe was not a miss.
    let opening = stage.result("initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert!(opening.contains("2025-06-18"), "{opening}");
    assert_eq!(stage.result("tools/list", ""), "1");
    let report = stage.report();
    assert!(report.is_exact(), "{report:?}");
}

#[test]
fn a_stateless_request_is_told_which_revision_was_recorded() {
    let mut stage = handshake();
    let answer = stage.ask("1", "tools/list", &format!("{{{META}}}"));
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(
        answer["error"]["data"],
        json!({"supported": ["2025-06-18"], "requested": "2026-07-28"})
    );
    let report = stage.report();
    assert_eq!(report.missed, 1);
    assert!(report.misses[0].message().contains("2025-06-18"));
}

#[test]
fn a_handshake_is_refused_where_none_was_recorded() {
    let mut stage = stateless();
    let answer = stage.ask("1", "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(
        answer["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "2025-11-25"})
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("has no initialize"),
        "{answer}"
    );
    assert_eq!(stage.result("tools/list", &format!("{{{META}}}")), "1");
}

#[test]
fn a_recording_of_both_eras_serves_both() {
    let opening = exchange("initialize", "{}", r#"{"protocolVersion":"2025-06-18"}"#);
    let old = exchange("tools/list", "", "1");
    let new = exchange("tools/list", &format!("{{{META}}}"), "2");
    let mut stage = Stage::new(&cassette(&[&opening, &old, &new]));
    stage.result("initialize", "{}");
    assert_eq!(stage.result("tools/list", ""), "1");
    assert_eq!(stage.result("tools/list", &format!("{{{META}}}")), "2");
}

#[test]
fn a_recording_that_tells_of_no_era_serves_any() {
    let call = exchange("tools/call", r#"{"name":"t"}"#, "1");
    let mut stage = Stage::new(&cassette(&[&call, &call]));
    assert_eq!(stage.result("tools/call", r#"{"name":"t"}"#), "1");
    let stateless = format!(r#"{{"name":"t",{META}}}"#);
    assert_eq!(stage.result("tools/call", &stateless), "1");
}

#[test]
fn a_refused_probe_tells_nothing_of_the_era() {
    let refused = format!(
        r#"{{"request":{{"id":1,"method":"server/discover","params":{{{META}}}}},"response":{{"id":1,"error":{{"code":-32601,"message":"as it was recorded"}}}}}}"#
    );
    let opening = exchange("initialize", "{}", r#"{"protocolVersion":"2025-06-18"}"#);
    let list = exchange("tools/list", "", "1");
    let mut stage = Stage::new(&cassette(&[&refused, &opening, &list]));
    let probe = || format!("{{{META}}}");
    let answer = stage.ask("1", "server/discover", &probe());
    assert_eq!(answer["error"]["message"], "as it was recorded", "{answer}");
    // A second probe, which was not recorded, is refused as well, and is not a miss.
    let answer = stage.ask("2", "server/discover", &probe());
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert_eq!(stage.report().missed, 0);
    let answer = stage.ask("3", "tools/list", &probe());
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    stage.result("initialize", "{}");
    assert_eq!(stage.result("tools/list", ""), "1");
}

#[test]
fn a_refused_handshake_tells_nothing_of_the_era_either() {
    let refused = r#"{"request":{"id":1,"method":"initialize","params":{}},"response":{"id":1,"error":{"code":-32022,"message":"as it was recorded"}}}"#;
    let list = exchange("tools/list", &format!("{{{META}}}"), "1");
    let mut stage = Stage::new(&cassette(&[refused, &list]));
    for expected in ["as it was recorded", "has no initialize"] {
        let answer = stage.ask("1", "initialize", "{}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{answer}");
    }
    assert_eq!(stage.result("tools/list", &format!("{{{META}}}")), "1");
    // An unrecorded handshake is still a miss.
    assert_eq!(stage.report().missed, 1);
}

#[test]
fn a_probe_takes_no_session_away() {
    let session = |session: u32, method: &str, params: &str, response: &str| {
        format!(
            r#"{{"request":{{"id":1,"method":"{method}","params":{params}}},"response":{{"id":1,{response}}},"session":{session}}}"#
        )
    };
    let error = r#""error":{"code":-32601,"message":"no"}"#;
    let mut exchanges = Vec::new();
    for number in [1, 2] {
        let count = format!(r#""result":{number}"#);
        exchanges.push(session(
            number,
            "server/discover",
            &format!("{{{META}}}"),
            error,
        ));
        exchanges.push(session(number, "initialize", "{}", r#""result":{}"#));
        exchanges.push(session(number, "count", "{}", &count));
    }
    let exchanges: Vec<&str> = exchanges.iter().map(String::as_str).collect();
    let mut one = Stage::new(&cassette(&exchanges));
    let mut other = one.another();
    for (stage, count) in [(&mut one, "1"), (&mut other, "2")] {
        stage.ask("1", "server/discover", &format!("{{{META}}}"));
        stage.result("initialize", "{}");
        assert_eq!(stage.result("count", ""), count);
    }
}
