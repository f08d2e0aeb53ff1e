//! The property of plain messages: a rule that examines every message has the same results.

use proptest::prelude::*;
use tapewright_schemas::era::EraTracker;
use tapewright_schemas::event::{
    Carrier, ConduitId, Direction, Event, EventBody, LineEnd, Maker, Offset, Origin, Payload,
    SessionKey, Sink as _,
};

use crate::{Checker, Facts, Keeps, Selection, Transport};

/// Words for the parts of a message, the plain one first.
const VERSIONS: &[&str] = &[r#""2.0""#, r#""2.0""#, "2.0", r#""2\\u002e0""#, "null"];
const IDS: &[&str] = &["@", "@", "@", r#""@""#, "@.0", "null", "true", "1e2"];
const METHODS: &[&str] = &[
    "tools/call",
    "tools/call",
    "tools/call",
    "prompts/get",
    "ping",
    "notifications/cancelled",
    "x",
    "sampling/createMessage",
    "tasks/get",
];
const PARAMS: &[&str] = &[
    r#"{"name":"a","arguments":{"b":"c"}}"#,
    r#"{"name":"a","arguments":{}}"#,
    r#"{"name":"a","arguments":{"b":{}}}"#,
    r#"{"name":"a","arguments":{},"_meta":{"progressToken":@}}"#,
    r#"{"name":"a","arguments":{},"task":{}}"#,
    r#"{"name":"a","arguments":[]}"#,
    r#"{"name":1,"arguments":{}}"#,
    r#"{"requestId":@}"#,
    "[]",
];
const RESULTS: &[&str] = &[
    r#"{"content":[{"type":"text","text":"a"}]}"#,
    r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#,
    r#"{"content":[{"type":"text","text":"a]b\\\""}],"isError":false}"#,
    r#"{"content":[{"type":"text","text":"\\\\"}]}"#,
    r#"{"content":[{"type":"text","text":"a"}],"isError":1}"#,
    r#"{"content":[{"type":"text","text":"a"},{"type":"b"}]}"#,
    r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{}}"#,
    r#"{"content":[]}"#,
    r#"{"task":{"taskId":"@","status":"working"}}"#,
    r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}"#,
    "[]",
];

const CARRIERS: &[Carrier] = &[
    Carrier::Line,
    Carrier::Line,
    Carrier::PostStream,
    Carrier::GetStream,
];

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

/// A request, a response, a notification, or something that is neither or several.
fn said() -> impl Strategy<Value = String> {
    let request = (
        one_of(VERSIONS),
        one_of(IDS),
        one_of(METHODS),
        one_of(PARAMS),
    )
        .prop_map(|(version, id, method, params)| {
            format!(r#"{{"jsonrpc":{version},"id":{id},"method":"{method}","params":{params}}}"#)
        });
    let response = (one_of(VERSIONS), one_of(IDS), one_of(RESULTS), 0..6_u8).prop_map(
        |(version, id, result, more)| {
            let more = match more {
                0 => r#","error":{"code":-32602,"message":"a"}"#,
                1 => r#","method":"ping""#,
                _ => "",
            };
            format!(r#"{{"jsonrpc":{version},"id":{id},"result":{result}{more}}}"#)
        },
    );
    let one = prop_oneof![6 => request, 8 => response];
    let cancels =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@}}"#;
    let lists = r#"{"jsonrpc":"2.0","id":@,"method":"tools/list"}"#;
    prop_oneof![
        12 => one.clone(),
        1 => Just(cancels.to_owned()),
        1 => Just(lists.to_owned()),
        1 => Just("no message".to_owned()),
        1 => prop::collection::vec(one, 0..3).prop_map(|all| format!("[{}]", all.join(","))),
    ]
}

/// A message: its content, id, direction and framing.
fn event() -> impl Strategy<Value = Event> {
    let carrier = prop::sample::select(CARRIERS);
    (said(), 1..6_u8, any::<bool>(), 0..12_u8, carrier).prop_map(
        |(text, id, back, odd, carrier)| {
            let dir = if back {
                Direction::ToClient
            } else {
                Direction::ToServer
            };
            let end = if odd == 0 { LineEnd::None } else { LineEnd::Lf };
            let payload = Payload::Whole(text.replace('@', &id.to_string()).into_bytes().into());
            let mut body = EventBody::message(payload, end);
            if let EventBody::Message { origin, .. } = &mut body {
                *origin = Origin {
                    carrier,
                    maker: Maker::Peer,
                    ..*origin
                };
            }
            let mut event = Event::new(Offset(0), dir, body);
            event.conduit = ConduitId(u32::from(odd == 1));
            event.session = SessionKey(u32::from(odd != 2));
            event
        },
    )
}

/// Calls and their answers in turn, with nothing else in between. `#` is the next id, or that of the oldest call without
/// an answer.
fn calls() -> impl Strategy<Value = Vec<Event>> {
    let said = (any::<bool>(), 0..12_u8, 1..3_u8).prop_map(|(back, odd, session)| {
        let params = PARAMS[usize::from(odd == 0)];
        let result = RESULTS[usize::from(odd == 1)];
        let (dir, text) = if back {
            let text = format!(r#"{{"jsonrpc":"2.0","id":#,"result":{result}}}"#);
            (Direction::ToClient, text)
        } else {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{params}}}"#);
            (Direction::ToServer, text)
        };
        let payload = Payload::Whole(text.into_bytes().into());
        let mut event = Event::new(Offset(0), dir, EventBody::message(payload, LineEnd::Lf));
        event.session = SessionKey(if odd == 2 { u32::from(session) } else { 1 });
        event
    });
    prop::collection::vec(said, 2..16)
}

/// Sets the ids that are written `#`, and the eras of messages.
fn count_up(events: &mut [Event]) {
    let (mut asked, mut answered) = (100, 100);
    let mut eras = EraTracker::default();
    for event in events {
        let EventBody::Message { payload, .. } = &mut event.body else {
            continue;
        };
        let text = String::from_utf8(payload.kept().to_vec()).unwrap();
        if text.contains('#') {
            let next = match event.dir {
                Direction::ToServer => &mut asked,
                Direction::ToClient => &mut answered,
            };
            *payload = Payload::Whole(text.replace('#', &next.to_string()).into_bytes().into());
            *next += 1;
        }
        let era = event.envelope().map(|one| eras.observe(event.dir, &one));
        event.era = era.flatten();
    }
}

fn handshake(version: &str) -> [Event; 3] {
    let said = |dir, text: String| {
        let payload = Payload::Whole(text.into_bytes().into());
        let mut event = Event::new(Offset(0), dir, EventBody::message(payload, LineEnd::Lf));
        event.session = SessionKey(1);
        event
    };
    let asks = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"a","version":"1"}}}}}}"#
    );
    let agrees = format!(
        r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"a","version":"1"}}}}}}"#
    );
    let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    [
        said(Direction::ToServer, asks),
        said(Direction::ToClient, agrees),
        said(Direction::ToServer, done),
    ]
}

/// The output of a checker for a session, and when it came.
fn verdicts(mut checker: Checker, events: &[Event]) -> String {
    let mut told = Vec::new();
    for event in events {
        checker.record(event);
        while let Some(finding) = checker.poll() {
            told.push((event.seq, finding));
        }
    }
    format!("{told:?} {:?}", checker.finish(None))
}

proptest! {
    #[test]
    fn no_rule_that_is_asked_says_anything_else(
        version in prop::sample::select(&["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"][..]),
        events in prop::collection::vec(prop_oneof![4 => event().prop_map(|one| vec![one]), 1 => calls()], 1..24),
        eras in any::<bool>(),
        transport in prop::sample::select(&[Transport::Stdio, Transport::Http, Transport::Unknown][..]),
        gap in 0..30_u64,
    ) {
        let mut events: Vec<Event> = handshake(version).into_iter().chain(events.concat()).collect();
        count_up(&mut events);
        for (seq, event) in (1..).zip(&mut events) {
            event.seq = seq + u64::from(seq > gap && gap > 0);
            event.at = Offset(seq * 1_000);
            event.era = event.era.filter(|_| eras);
        }
        let facts = Facts { transport, keeps: Keeps::Everything, numbered: true, ..Facts::live() };
        let spared = verdicts(Checker::new(facts, Selection::all()), &events);
        let asked = verdicts(Checker::new(facts, Selection::all()).asking_always(), &events);
        prop_assert_eq!(spared, asked);
    }
}
