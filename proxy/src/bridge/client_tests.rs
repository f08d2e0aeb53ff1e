use super::*;

fn post(client: &mut Client, line: &str) -> Post {
    match client.line(&Bytes::copy_from_slice(line.as_bytes())) {
        Step::Post(post) => {
            assert_eq!(post.line, line, "the body is the line");
            post
        }
        other => panic!("{line} is not sent: {other:?}"),
    }
}

fn shown(post: &Post) -> Vec<String> {
    let mut shown: Vec<String> = post
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    shown.sort();
    shown
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn begun() -> Client {
    let mut client = Client::default();
    let first = post(&mut client, INITIALIZE);
    assert_eq!(first.kind, PostKind::Initialize);
    assert!(first.headers.is_empty());
    let mut head = HeaderMap::new();
    head.insert("Mcp-Session-Id", HeaderValue::from_static("abc"));
    client.begins(&head);
    client.passes(br#"{"id":0,"result":{"protocolVersion":"2025-06-18"}}"#);
    assert!(client.ended(first.exchange).is_empty());
    client
}

fn stateless(id: u32, method: &str, more: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}{more}}}}}"#
    )
}

#[test]
fn session_and_negotiated_revision_are_kept_and_sent() {
    let mut client = begun();
    let next = post(&mut client, INITIALIZED);
    assert_eq!(next.kind, PostKind::Initialized);
    let expected = ["mcp-protocol-version: 2025-06-18", "mcp-session-id: abc"];
    assert_eq!(shown(&next), expected);
    let call = post(&mut client, r#"{"id":1,"method":"tools/call"}"#);
    assert_eq!(shown(&call), expected);
    let answer = post(&mut client, r#"{"id":0,"result":{}}"#);
    assert_eq!(
        (shown(&answer), answer.kind),
        (shown(&call), PostKind::Response)
    );
}

#[test]
fn a_second_initialize_begins_anew() {
    let mut client = begun();
    assert!(post(&mut client, INITIALIZE).headers.is_empty());
    client.begins(&HeaderMap::new());
    client.passes(br#"{"id":0,"result":{"protocolVersion":"2025-03-26"}}"#);
    let next = post(&mut client, r#"{"id":1,"method":"ping"}"#);
    assert_eq!(shown(&next), ["mcp-protocol-version: 2025-03-26"]);
}

#[test]
fn a_stateless_request_says_in_its_head_what_it_is() {
    let mut client = Client::default();
    let list = post(&mut client, &stateless(1, "tools/list", ""));
    assert_eq!(list.era, Era::Stateless);
    assert_eq!(
        shown(&list),
        ["mcp-method: tools/list", "mcp-protocol-version: 2026-07-28"]
    );
    client.passes(
        br#"{"id":1,"result":{"tools":[{"name":"d","inputSchema":{"properties":
            {"r":{"type":"string","x-mcp-header":"Region"}}}}]}}"#,
    );
    let call = stateless(2, "tools/call", r#","name":"d","arguments":{"r":"eu"}"#);
    assert_eq!(
        shown(&post(&mut client, &call)),
        [
            "mcp-method: tools/call",
            "mcp-name: d",
            "mcp-param-region: eu",
            "mcp-protocol-version: 2026-07-28"
        ]
    );
}

#[test]
fn cancelling_breaks_a_stateless_exchange_off_and_is_sent_in_a_session() {
    let cancel = |id| {
        let text =
            format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        Bytes::from(text)
    };
    let mut client = Client::default();
    let call = post(&mut client, &stateless(7, "tools/call", ""));
    assert!(matches!(client.line(&cancel(7)), Step::Abort(exchange) if exchange == call.exchange));
    assert!(
        client.ended(call.exchange).is_empty(),
        "nobody waits for it"
    );

    let mut client = begun();
    let call = post(&mut client, r#"{"id":7,"method":"tools/call"}"#);
    let told = post(&mut client, std::str::from_utf8(&cancel(7)).unwrap());
    assert_eq!(told.kind, PostKind::Notification);
    assert_eq!(told.cancels, [call.exchange]);
    let again = post(&mut client, std::str::from_utf8(&cancel(7)).unwrap());
    assert!(again.cancels.is_empty(), "there is nothing left to follow");
    assert!(
        client.ended(call.exchange).is_empty(),
        "nobody waits for it"
    );
}

#[test]
fn an_exchange_owes_what_was_not_answered_on_any_stream() {
    let mut client = begun();
    let one = post(&mut client, r#"{"id":"a","method":"x"}"#).exchange;
    let two = post(&mut client, r#"{"id":2,"method":"x"}"#).exchange;
    assert!(client.owes(one) && client.owes(two));
    client.passes(br#"{"id":2,"error":{"code":1,"message":""}}"#);
    assert!(client.ended(two).is_empty());
    assert_eq!(client.ended(one), [b"\"a\"".to_vec()]);
    assert!(client.is_idle());
}

#[test]
fn a_batch_is_one_exchange_that_owes_all_its_answers() {
    let mut client = begun();
    let batch = r#"[{"id":1,"method":"a"},{"method":"n"},{"id":2,"method":"b"}]"#;
    let batch = post(&mut client, batch);
    assert_eq!(batch.kind, PostKind::Request);
    client.passes(br#"[{"id":2,"result":{}}]"#);
    assert_eq!(client.ended(batch.exchange), [b"1".to_vec()]);
    let only = post(&mut client, r#"[{"method":"n"}]"#);
    assert_eq!(only.kind, PostKind::Notification);
}

#[test]
fn a_cancellation_in_a_batch_is_one() {
    let cancel = |id: u64| {
        format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let mut client = begun();
    let one = post(&mut client, r#"{"id":1,"method":"a"}"#).exchange;
    let two = post(
        &mut client,
        r#"[{"id":2,"method":"a"},{"id":3,"method":"b"}]"#,
    )
    .exchange;
    let told = format!(r#"[{},{{"method":"n"}},{}]"#, cancel(1), cancel(2));
    let told = post(&mut client, &told);
    assert_eq!(told.kind, PostKind::Notification);
    assert_eq!(told.cancels, [one, two]);
    assert!(client.ended(one).is_empty(), "nobody waits for it");
    assert_eq!(client.ended(two), [b"3".to_vec()]);
    // A cancellation next to requests, including one for a request in the batch.
    let four = post(&mut client, r#"{"id":4,"method":"a"}"#).exchange;
    let mixed = format!(
        r#"[{{"id":5,"method":"a"}},{{"id":6,"method":"b"}},{},{}]"#,
        cancel(4),
        cancel(5)
    );
    let mixed = post(&mut client, &mixed);
    assert_eq!(mixed.kind, PostKind::Request);
    assert_eq!(mixed.cancels, [four]);
    assert!(client.ended(four).is_empty());
    assert_eq!(client.ended(mixed.exchange), [b"6".to_vec()]);
}

#[test]
fn what_is_no_message_is_sent_as_it_is() {
    let mut client = begun();
    assert_eq!(post(&mut client, "{\"id\":").kind, PostKind::Malformed);
    assert!(matches!(
        client.line(&Bytes::from_static(b"  ")),
        Step::Skip
    ));
}

#[test]
fn more_requests_than_can_be_followed_are_refused() {
    let mut client = begun();
    for id in 0..UNDER_WAY {
        post(&mut client, &format!(r#"{{"id":{id},"method":"x"}}"#));
    }
    let more = Bytes::from_static(br#"{"id":"more","method":"x"}"#);
    let Step::Refuse(lines) = client.line(&more) else {
        panic!("it is refused");
    };
    assert!(lines[0].starts_with(br#"{"jsonrpc":"2.0","id":"more","error""#));
}
