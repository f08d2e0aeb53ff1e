//! Any sequence of events can be followed and judged, live and to its end: nothing stops or loops, and every request
//! ends once.
//!
//! Four bytes are one event: its body, from the table below; its conduit, session and direction; the id in it; and how
//! much later it is.

use std::collections::HashMap;

use proptest::prelude::*;
use tapewright_compliance::live::{Live, Watch};
use tapewright_compliance::{Facts, Selection};
use tapewright_schemas::conversation::{Conversation, Does};
use tapewright_schemas::event::{Event, Judge as _, Offset};
use tapewright_schemas::tape::Reader;
use tapewright_schemas::waits::Waits;

const HEADER: &[u8] = b"{\"tape\":\"2.4\"}\n";
const SECOND_US: u64 = 1_000_000;

/// Bodies of events as on a tape. `#` is an id.
const BODIES: [&str; 58] = [
    // Messages and other lines.
    r#""message":{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":#}}}"#,
    r#""message":{"jsonrpc":"2.0","id":#,"result":{"content":[]}}"#,
    r#""message":{"jsonrpc":"2.0","id":#,"error":{"code":-32000,"message":"m"}}"#,
    r#""message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":#}}"#,
    r#""message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":#,"progress":#}}"#,
    r#""message":[{"jsonrpc":"2.0","id":#,"method":"ping"},{"jsonrpc":"2.0","id":#,"result":{}}]"#,
    r##""message":{"jsonrpc":"2.0","id":"#","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"##,
    r##""message":{"jsonrpc":"2.0","id":"#","result":{"protocolVersion":"2025-06-18","capabilities":{}}}"##,
    r#""message":{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#""message":{"jsonrpc":"2.0","id":null,"error":{"code":#}}"#,
    r#""message":{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#""message":{"jsonrpc":"2.0","id":#,"method":"subscriptions/listen"}"#,
    r#""text":"no JSON","why":"not JSON""#,
    r#""clipped":{"len":9,"head":"ab"}"#,
    r#""body":{"text":"a body"}"#,
    r#""stderr":"a line""#,
    r#""gap":{"events":3,"bytes":900,"why":"queue_full"}"#,
    r#""finding":{"code":"INV-012","status":"fail","side":"server","severity":"must","detail":"d","evidence":[{"seq":#}]}"#,
    // HTTP.
    r#""client":{"connection":1,"address":"127.0.0.1:1"}"#,
    r##""request":{"method":"POST","target":"/mcp","version":"HTTP/1.1","fields":[["mcp-session-id","#"]]}"##,
    r##""request":{"method":"GET","target":"/mcp","version":"HTTP/1.1","fields":[["last-event-id","#"]]}"##,
    r#""request":{"method":"DELETE","target":"/mcp","version":"HTTP/1.1","fields":[]}"#,
    r#""response":{"status":200,"version":"HTTP/1.1","fields":[["content-type","text/event-stream"]]}"#,
    r#""response":{"status":404,"version":"HTTP/1.1","fields":[]}"#,
    r#""added":{"request_us":80,"response_us":30}"#,
    r##""sse":{"id":"#","retry_ms":500,"message":true}"##,
    // Ends.
    r#""closed":"end of input""#,
    r#""closed":"receiver gone""#,
    r#""closed":"aborted""#,
    r#""closed":"failed""#,
    r#""began":"session_id""#,
    r#""began":"event_stream""#,
    r#""ended":"deleted""#,
    r#""ended":"process_ended""#,
    r#""exited":{"code":0}"#,
    r#""exited":{"code":1}"#,
    // Faults.
    r#""faulted":{@,"did":"answered","status":503}"#,
    r#""faulted":{@,"did":"behind","behind":#}"#,
    r#""faulted":{@,"did":"cancellation_kept"}"#,
    r#""faulted":{@,"did":"changed"}"#,
    r#""faulted":{@,"did":"cut"}"#,
    r#""faulted":{@,"did":"cut","all":true}"#,
    r#""faulted":{@,"did":"cut_off","after_us":#}"#,
    r#""faulted":{@,"did":"delayed","by_us":1#0000}"#,
    r#""faulted":{@,"did":"dropped"}"#,
    r#""faulted":{@,"did":"ended"}"#,
    r#""faulted":{@,"did":"held","until":"removed"}"#,
    r#""faulted":{@,"did":"held_amid"}"#,
    r#""faulted":{@,"did":"held_all","cut_after_us":#}"#,
    r#""faulted":{@,"did":"left","after_us":#}"#,
    r#""faulted":{"did":"lost","count":#}"#,
    r#""faulted":{"did":"not_passed","why":"unasked"}"#,
    r#""faulted":{@,"did":"released","after_us":#,"why":"due"}"#,
    r#""faulted":{@,"did":"released","after_us":#,"why":"due","all":true}"#,
    r#""faulted":{@,"did":"repeated","times":#}"#,
    r#""faulted":{@,"did":"replaced","by":"error","code":#}"#,
    r#""faulted":{@,"did":"sliced","pieces":#,"by_us":1#0000}"#,
    r#""faulted":{@,"did":"stalled","for_us":1#0000}"#,
];

/// A tape of these events.
fn tape(events: &[[u8; 4]]) -> Vec<u8> {
    let mut tape = HEADER.to_vec();
    let mut at_us = 0;
    // How many messages each direction of each conduit has.
    let mut numbers = HashMap::new();
    for (seq, [body, place, id, later]) in events.iter().copied().enumerate() {
        let body = BODIES.iter().cycle().nth(body.into()).expect("it repeats");
        // Few places, so that events are often about the same exchange.
        let (conduit, session) = (place & 1, u8::from(place & 0x0e == 0));
        let dir = if place & 16 == 0 {
            "to_server"
        } else {
            "to_client"
        };
        // Mostly some milliseconds, up to a quarter of a second.
        at_us += u64::from(later).pow(3) / 64;
        let number = numbers.entry((conduit, dir)).or_insert(0_u32);
        let seq = seq + 1;
        let mut line = format!(
            r#"{{"seq":{seq},"at_us":{at_us},"session":{session},"conduit":{conduit},"dir":"{dir}","#
        );
        if body.starts_with("\"message\"") {
            *number += 1;
            let numbered = format!(r#""number":{number},"#);
            line += &numbered;
        }
        let fault = format!(r#""message":{number},"fault":"f-{}","kind":"slow""#, id & 1);
        let id = (id % 2 + id / 128).to_string();
        line += &body.replace('@', &fault).replace('#', &id);
        line += "}\n";
        tape.extend_from_slice(line.as_bytes());
    }
    tape
}

/// Follows and judges a tape; how many requests it has, and how many of them ended.
fn ended(tape: &[u8]) -> (usize, usize) {
    let mut reader = Reader::open(tape).expect("the header is good");
    let watch = Watch {
        selection: Some(Selection::all()),
        hang_after: Some(Offset(SECOND_US)),
    };
    let mut live = Live::new(Facts::live(), &watch);
    let mut waits = Waits::new(Offset(SECOND_US));
    let mut conversation = Conversation::<()>::default();
    let mut asked = 0;
    let mut now = Offset::default();
    while let Some(event) = reader.next_event().expect("each body is one of a tape") {
        now = event.at;
        follow(&mut live, &event);
        waits.observe(&event, None, |_| ());
        conversation.observe(&event, None, |step| {
            asked += usize::from(step.what == Does::Asks);
        });
    }
    let later = Offset(now.0 + 60 * SECOND_US);
    waits.tick(later);
    waits.finish();
    conversation.tick(later);
    conversation.finish();
    let over = std::iter::from_fn(|| conversation.poll()).count();
    live.tick(later);
    live.end(later);
    while live.poll().is_some() {}
    (asked, over)
}

fn follow(live: &mut Live, event: &Event) {
    live.observe(event, None);
    live.tick(Offset(event.at.0 + 1));
    while live.poll().is_some() {}
}

/// Calls, their answers, and what faults do to these are half of all events.
fn events() -> impl Strategy<Value = [u8; 4]> {
    let is_frequent = |body: &&str| {
        [
            "\"method\":\"tools/call\"",
            "\"result\":{\"content\"",
            "by_us",
            "held\"",
            "released",
        ]
        .iter()
        .any(|part| body.contains(part))
    };
    let frequent: Vec<u8> = (0..)
        .zip(BODIES)
        .filter(|(_, body)| is_frequent(body))
        .map(|(at, _)| at)
        .collect();
    let body = prop_oneof![any::<u8>(), prop::sample::select(frequent)];
    (body, any::<[u8; 3]>()).prop_map(|(body, [place, id, later])| [body, place, id, later])
}

proptest! {
    // What follows a fault is rarely about its exchange.
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_events_can_be_followed_and_every_request_ends_once(
        events in prop::collection::vec(events(), 0..100),
    ) {
        let (asked, over) = ended(&tape(&events));
        prop_assert_eq!(over, asked);
    }
}
