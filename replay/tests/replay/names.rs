//! Names that differ between a session and its recording.

use super::stage::{Stage, cassette, exchange};

#[test]
fn subscriptions_go_by_the_id_of_the_live_request() {
    let listen = r#"{
      "request": {"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}},
      "response": {"jsonrpc":"2.0","id":7,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}},
      "stream": [
        {"from":"server","message":{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}},
        {"from":"server","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}}
      ]
    }"#;
    let mut stage = Stage::new(&cassette(&[listen]));
    let said = stage.send(r#"{"jsonrpc":"2.0","id":"L-1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#);
    // Without times, an answer is sent separately from the notification before it.
    let answer = stage.within(2).into_iter().map(|(_, line)| line);
    let said: Vec<_> = said.into_iter().chain(answer).collect();
    assert_eq!(
        said,
        [
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L-1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L-1"}}"#,
            r#"{"jsonrpc":"2.0","id":"L-1","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L-1"}}}"#,
        ]
    );
}

#[test]
fn a_task_of_the_client_goes_by_the_name_that_it_gave() {
    let call = r#"{
      "request": {"id":1,"method":"tools/call","params":{"name":"t"}},
      "response": {"id":1,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"rec-1"}}}},
      "stream": [
        {"from":"server","message":{"id":5,"method":"sampling/createMessage","params":{"task":{}}}},
        {"from":"client","message":{"id":5,"result":{"task":{"taskId":"rec-1","status":"working"}}}},
        {"from":"server","message":{"id":6,"method":"tasks/result","params":{"taskId":"rec-1"}}},
        {"from":"client","message":{"id":6,"result":{}}}
      ]
    }"#;
    let about = exchange("tasks/get", r#"{"taskId":"rec-1"}"#, "9");
    let mut stage = Stage::new(&cassette(&[call, &about]));
    stage.send(r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let asked =
        stage.send(r#"{"id":5,"result":{"task":{"taskId":"live \"7\"","status":"working"}}}"#);
    assert_eq!(
        asked,
        [r#"{"id":6,"method":"tasks/result","params":{"taskId":"live \"7\""}}"#]
    );
    let done = stage.send(r#"{"id":6,"result":{}}"#);
    assert_eq!(
        done,
        [
            r#"{"id":1,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"live \"7\""}}}}"#
        ]
    );
    // The client's own requests about the task are translated as well.
    let about = r#"{"taskId":"live \"7\""}"#;
    assert_eq!(stage.result("tasks/get", about), "9");
}

#[test]
fn a_request_that_goes_on_is_followed_through_new_ids() {
    let again =
        r#"{"name":"confirm","requestState":"state-1","inputResponses":{"k":{"action":"accept"}}}"#;
    let first = exchange(
        "tools/call",
        r#"{"name":"confirm"}"#,
        r#"{"resultType":"input_required","requestState":"state-1","inputRequests":{"k":{"method":"elicitation/create"}}}"#,
    );
    let second = exchange("tools/call", again, r#"{"resultType":"complete"}"#);
    let mut stage = Stage::new(&cassette(&[&first, &second]));
    let answer = stage.ask("10", "tools/call", r#"{"name":"confirm"}"#);
    assert_eq!(answer["result"]["requestState"], "state-1");
    let answer = stage.ask("11", "tools/call", again);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["id"], 11);
}

#[test]
fn sessions_of_one_recording_are_kept_apart() {
    let exchange = |session: u32, id: u32, method: &str, params: &str, result: &str| {
        format!(
            r#"{{"request":{{"id":{id},"method":"{method}","params":{params}}},"response":{{"id":{id},"result":{result}}},"session":{session}}}"#
        )
    };
    let recording = cassette(&[
        &exchange(1, 0, "initialize", r#"{"who":"a"}"#, "\"first\""),
        &exchange(2, 0, "initialize", r#"{"who":"b"}"#, "\"second\""),
        &exchange(1, 1, "count", "{}", "1"),
        &exchange(2, 1, "count", "{}", "2"),
    ]);
    let mut one = Stage::new(&recording);
    let mut other = one.another();
    let mut third = one.another();
    // The session of the same client is found, in any order.
    assert_eq!(other.result("initialize", r#"{"who":"b"}"#), "\"second\"");
    assert_eq!(one.result("initialize", r#"{"who":"x"}"#), "\"first\"");
    assert_eq!(one.result("count", ""), "1");
    assert_eq!(other.result("count", ""), "2");
    assert_eq!(third.result("initialize", r#"{"who":"b"}"#), "\"second\"");
    assert_eq!(third.result("count", ""), "2");
}
