use tapewright_schemas::event::{
    CloseReason, Direction, LineEnd, Payload, RequestHead, ResponseHead, SseNote,
};

use super::*;
use crate::Wire;

fn payload(text: &str) -> Payload {
    Payload::Whole(Bytes::copy_from_slice(text.as_bytes()))
}

fn body(text: &str) -> EventBody {
    let payload = payload(text);
    EventBody::Body { payload }
}

fn named(name: &str) -> EventBody {
    EventBody::Sse(Box::new(SseNote {
        event: Some(name.to_owned()),
        ..SseNote::default()
    }))
}

fn asked(method: &'static str, target: &str) -> EventBody {
    let head = RequestHead {
        method: method.into(),
        target: target.to_owned(),
        ..RequestHead::default()
    };
    EventBody::Head(Box::new(Head::Request(head)))
}

fn begun(status: u16, kind: &str) -> EventBody {
    let fields = [("content-type", kind)].into_iter().collect();
    let head = ResponseHead {
        status,
        fields,
        ..ResponseHead::default()
    };
    EventBody::Head(Box::new(Head::Response(head)))
}

/// Events a millisecond apart, each with its direction.
fn fold(events: Vec<(Direction, EventBody)>) -> Vec<ProviderExchange> {
    let mut all = ProviderExchanges::default();
    for (at, (dir, body)) in (1..).zip(events) {
        let mut event = Event::new(Offset(at * 1_000), dir, body);
        event.seq = at;
        all.observe(&event);
    }
    all.finish().0
}

use Direction::{ToClient, ToServer};

const ENDED: EventBody = EventBody::Closed(CloseReason::EndOfInput);

#[test]
fn a_stream_is_put_together_as_it_was_with_its_times() {
    let comment = EventBody::Sse(Box::new(SseNote {
        comment: Some(" ping".to_owned()),
        ..SseNote::default()
    }));
    let all = fold(vec![
        (ToServer, asked("POST", "http://h:1/v1/messages?beta=true")),
        (ToServer, body("{\"model\":\"m\"}")),
        (ToServer, ENDED),
        (ToClient, begun(200, "text/event-stream; charset=utf-8")),
        (ToClient, named("ping")),
        (ToClient, body("{}")),
        (ToClient, comment),
        (ToClient, named("lone")),
        (ToClient, body("one\ntwo")),
        (ToClient, body("[DONE]")),
        (ToClient, ENDED),
    ]);
    let [exchange] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        (exchange.seq, &*exchange.body),
        (1, b"{\"model\":\"m\"}".as_slice())
    );
    assert_eq!(exchange.call().unwrap().wire, Wire::Anthropic);
    let answer = exchange.answer.as_ref().unwrap();
    assert_eq!((answer.is_events, answer.is_whole), (true, true));
    assert_eq!(answer.waited, Offset(1_000));
    assert_eq!(
        String::from_utf8_lossy(&answer.body()),
        "event: ping\ndata: {}\n\n: ping\n\nevent: lone\ndata: one\ndata: two\n\ndata: [DONE]\n\n"
    );
    let waited: Vec<u64> = answer.pieces.iter().map(|piece| piece.waited.0).collect();
    assert_eq!(waited, [2_000, 1_000, 2_000, 1_000]);
}

#[test]
fn what_broke_off_is_known_as_such() {
    let cut = EventBody::Sse(Box::new(SseNote {
        cut: true,
        ..SseNote::default()
    }));
    let all = fold(vec![
        (ToServer, asked("POST", "/v1/chat/completions")),
        (ToServer, body("{}")),
        (ToClient, begun(200, "text/event-stream")),
        (ToClient, cut),
        (ToClient, body("{\"half\":")),
        (ToClient, EventBody::Closed(CloseReason::Aborted)),
    ]);
    let answer = all[0].answer.as_ref().unwrap();
    assert!(!answer.is_whole);
    assert_eq!(&*answer.body(), b"data: {\"half\":\n");
    let silent = fold(vec![(ToServer, asked("POST", "/v1/messages"))]);
    assert_eq!(silent[0].answer, None);
}

#[test]
fn mcp_is_left_out_and_other_requests_stay() {
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let message = |text: &str| EventBody::message(payload(text), LineEnd::None);
    let all = fold(vec![
        (ToServer, asked("POST", "/mcp")),
        (ToServer, message(ping)),
        (ToClient, ENDED),
        (ToServer, asked("POST", "/v1/messages")),
        (ToServer, message("{\"model\":\"m\",\"messages\":[]}")),
        (ToClient, ENDED),
        (ToServer, asked("GET", "/v1/models")),
        (ToClient, begun(200, "application/json")),
        (ToClient, body("{\"data\":[]}")),
        (ToClient, ENDED),
    ]);
    let targets: Vec<&str> = all.iter().map(|one| one.target.as_str()).collect();
    assert_eq!(targets, ["/v1/messages", "/v1/models"]);
}

#[test]
fn a_request_that_was_not_kept_whole_cannot_be_served() {
    let clipped = Payload::Clipped {
        len: 9,
        head: Bytes::from_static(b"{"),
    };
    let mut all = ProviderExchanges::default();
    let events = [
        asked("POST", "/v1/messages"),
        EventBody::Body { payload: clipped },
    ];
    for body in events {
        all.observe(&Event::new(Offset(1), ToServer, body));
    }
    assert_eq!(all.finish(), (Vec::new(), 1));
}
