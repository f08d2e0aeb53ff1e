//! Generated sessions.

use bytes::Bytes;
use proptest::prelude::*;
use tapewright_schemas::event::{
    CloseReason, Direction, Event, EventBody, Exit, LineEnd, Offset, Payload,
};

/// A message at a time.
pub(crate) fn message(at: u64, dir: Direction, text: &str) -> Event {
    let payload = Payload::Whole(Bytes::from(text.to_owned()));
    let end = LineEnd::Lf;
    Event::new(Offset(at), dir, EventBody::message(payload, end))
}

/// Valid and invalid messages of peers. `@` is an id.
const SAID: &[(Direction, &str)] = &[
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"ping"}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/list"}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":@}}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"resources/list","params":{"cursor":"c@"}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"no/such"}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":"@","method":"prompts/get","params":[1]}"#,
    ),
    (
        Direction::ToServer,
        r#"{"id":@.5,"method":"logging/setLevel","params":{"level":"error"}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":@,"result":{}}"#,
    ),
    (
        Direction::ToServer,
        r#"[{"jsonrpc":"2.0","id":@,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"result":{}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"c@"}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"result":{"content":[],"isError":"no"}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"complete","content":[]}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"error":{"code":-32601,"message":"Method not found"}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"error":{"code":"x","message":1}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":@,"method":"roots/list"}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@,"progress":0.@}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    ),
    (Direction::ToClient, "listening on port @"),
];

const OPENING: &[(Direction, &str)] = &[
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
];

/// Sessions over a pipe, right and wrong.
pub(crate) fn sessions() -> impl Strategy<Value = Vec<Event>> {
    // No two at the same time: a cassette has its order from the times.
    let steps = prop::collection::vec((0..SAID.len(), 0_u8..5, 1_u64..1_200_000), 0..40);
    let opening = prop::sample::select(vec![0, 2, 3, 3, 3]);
    let ending = prop::sample::select(vec![None, Some(Exit::Code(0)), Some(Exit::Signal(9))]);
    (opening, steps, ending).prop_map(|(opening, steps, ending)| {
        let mut events = Vec::new();
        for (at, (dir, text)) in (1_000..).step_by(1_000).zip(&OPENING[..opening]) {
            events.push(message(at, *dir, text));
        }
        let mut at = 10_000;
        for (which, id, later) in steps {
            at += later;
            let (dir, text) = SAID[which];
            let text = text.replace('@', &id.to_string());
            // No two alike, so that a text identifies its message.
            let text = match text.strip_suffix('}') {
                Some(open) => format!("{open},\"at\":{at}}}"),
                None => text,
            };
            events.push(message(at, dir, &text));
        }
        if let Some(exit) = ending {
            let closed = || EventBody::Closed(CloseReason::EndOfInput);
            events.push(Event::new(Offset(at + 10), Direction::ToServer, closed()));
            events.push(Event::new(Offset(at + 20), Direction::ToClient, closed()));
            let exited = EventBody::Exited(exit.into());
            events.push(Event::new(Offset(at + 30), Direction::ToClient, exited));
        }
        events
    })
}
