//! Any event that is written to a tape is read back unchanged.

use std::sync::Arc;

use proptest::prelude::*;
use tapewright_schemas::event::{
    Added, CloseReason, ConduitId, Direction, Edit, EditTarget, Effect, Event, EventBody, Exit,
    Exited, FaultKind, FaultRef, Fields, Gap, GapReason, Head, InPlace, InPlaceCause, LineEnd,
    Offset, Payload, Peer, Release, RequestHead, ResponseHead, SessionEnd, SessionKey, SessionMark,
    SessionStart, SseNote, Until, What,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Reader};

use crate::support::header;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~]{0,20}",
        1 => "\\PC{0,10}",
        1 => any::<String>(),
    ]
}

fn payload() -> impl Strategy<Value = Payload> {
    let json = prop::sample::select(vec![
        r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#" {"id": 1e400 , "result": null} "#,
        "[1,\n2]",
        "\"word\"",
        "17",
    ]);
    prop_oneof![
        json.prop_map(|json| Payload::Whole(json.into())),
        text().prop_map(|text| Payload::Whole(text.into())),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| Payload::Whole(bytes.into())),
        // The head of a clipped message is recorded as text, without the part that a cut may hide.
        any::<u64>().prop_map(|len| Payload::Clipped {
            len,
            head: "{ ".into()
        }),
    ]
}

fn fields() -> impl Strategy<Value = Fields> {
    // Credentials are never written, and so never come back.
    let name = prop::sample::select(vec![
        "content-type",
        "Accept",
        "x-y",
        "Location",
        "ETag",
        "",
    ]);
    let fields = prop::collection::vec((name, text()), 0..4);
    fields.prop_map(|fields| fields.into_iter().collect())
}

fn head() -> impl Strategy<Value = Head> {
    let request = (text(), text(), fields()).prop_map(|(method, target, fields)| {
        Head::Request(RequestHead {
            method: method.into(),
            target,
            version: "HTTP/1.1".into(),
            fields,
        })
    });
    let response = (any::<u16>(), in_place(), fields()).prop_map(|(status, ours, fields)| {
        Head::Response(ResponseHead {
            status,
            version: "HTTP/2".into(),
            fields,
            ours_cause: ours.as_ref().map(|_| InPlaceCause::TlsRefused),
            ours_about: ours.as_ref().map(|_| "why".to_owned()),
            ours,
        })
    });
    prop_oneof![request, response]
}

fn in_place() -> impl Strategy<Value = Option<InPlace>> {
    prop::option::of(prop::sample::select(InPlace::ALL))
}

fn note() -> impl Strategy<Value = SseNote> {
    let some = || prop::option::of(text());
    (
        some(),
        some(),
        prop::option::of(any::<u64>()),
        some(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(id, event, retry_ms, comment, message, cut)| SseNote {
            id,
            event,
            retry_ms,
            comment,
            message,
            cut,
        })
}

fn body() -> impl Strategy<Value = EventBody> {
    let end = prop::sample::select(vec![LineEnd::Lf, LineEnd::CrLf, LineEnd::None]);
    let reasons = prop::sample::select(vec![
        CloseReason::Aborted,
        CloseReason::EndOfInput,
        CloseReason::Failed,
        CloseReason::Policy,
        CloseReason::ReceiverGone,
    ]);
    let peer = prop_oneof![
        Just(Peer::Cassette),
        any::<u32>().prop_map(|pid| Peer::Process { pid }),
        text().prop_map(|url| Peer::Server { url }),
        (text(), any::<u64>()).prop_map(|(address, connection)| Peer::Client {
            address,
            connection
        }),
    ];
    let gap = (
        any::<u64>(),
        any::<u64>(),
        prop::sample::select(GapReason::ALL),
        prop::option::of(text()),
    )
        .prop_map(|(events, bytes, why, detail)| Gap {
            events,
            bytes,
            why,
            detail,
        });
    let edit = (
        prop::sample::select(EditTarget::ALL),
        text(),
        text(),
        text(),
    )
        .prop_map(|(what, field, before, after)| Edit {
            what,
            field,
            before,
            after,
        });
    let ended = prop_oneof![
        any::<i32>().prop_map(Exit::Code),
        any::<i32>().prop_map(Exit::Signal)
    ];
    prop_oneof![
        (payload(), end.clone()).prop_map(|(payload, end)| EventBody::message(payload, end)),
        (prop::collection::vec(any::<u8>(), 0..20), end).prop_map(|(line, end)| {
            EventBody::Stderr {
                line: line.into(),
                end,
            }
        }),
        payload().prop_map(|payload| EventBody::Body { payload }),
        head().prop_map(|head| EventBody::Head(Box::new(head))),
        fields().prop_map(|fields| EventBody::Trailers(Box::new(fields))),
        note().prop_map(|note| EventBody::Sse(Box::new(note))),
        edit.prop_map(|edit| EventBody::Edited(Box::new(edit))),
        (any::<u64>(), any::<u64>()).prop_map(|(request_us, response_us)| EventBody::Added(
            Added {
                request_us,
                response_us
            }
        )),
        prop::sample::select(SessionStart::ALL)
            .prop_map(|how| EventBody::Session(SessionMark::Began(how))),
        prop::sample::select(SessionEnd::ALL)
            .prop_map(|why| EventBody::Session(SessionMark::Ended(why))),
        peer.prop_map(EventBody::Opened),
        gap.prop_map(EventBody::Gap),
        (ended, any::<u32>()).prop_map(|(how, ours)| {
            let ours = Offset(ours.into());
            EventBody::Exited(Exited { how, ours })
        }),
        reasons.prop_map(EventBody::Closed),
        any::<u64>().prop_map(|bytes| EventBody::Part { bytes }),
        text().prop_map(EventBody::Signal),
        (text(), what()).prop_map(|(name, what)| faulted(name, what)),
    ]
}

fn what() -> impl Strategy<Value = What> {
    let time = any::<u64>().prop_map(Offset);
    prop_oneof![
        text().prop_map(|text| What::Other { text }),
        time.clone().prop_map(|by| What::Delayed { by }),
        (time, any::<bool>()).prop_map(|(after, all)| What::Released {
            after,
            why: Release::Removed,
            all,
        }),
        Just(What::Held {
            until: Until::Removed,
        }),
    ]
}

fn faulted(name: String, what: What) -> EventBody {
    let kind = FaultKind::known("hang");
    let fault = Some(FaultRef { name, kind });
    EventBody::Faulted(Effect { fault, what }.about(None))
}

fn event() -> impl Strategy<Value = Event> {
    (any::<u64>(), 0..4_u32, 0..4_u32, any::<bool>(), body()).prop_map(
        |(at, session, conduit, server, body)| Event {
            conduit: ConduitId(conduit),
            session: SessionKey(session),
            ..Event::new(
                Offset(at),
                if server {
                    Direction::ToServer
                } else {
                    Direction::ToClient
                },
                body,
            )
        },
    )
}

proptest! {
    #[test]
    fn every_event_comes_back(events in prop::collection::vec(event(), 0..20)) {
        let settings = Settings { off: true, ..Settings::default() };
        let mut encoder = Encoder::new(Redactor::new(Arc::new(Rules::new(&settings).unwrap())));
        let mut tape = Vec::new();
        header().write(&mut tape);
        for event in &events {
            encoder.encode(event, &mut tape);
        }
        let mut reader = Reader::open(tape.as_slice()).unwrap();
        for event in &events {
            let read = reader.next_event().unwrap().unwrap();
            prop_assert_eq!(&read.body, &event.body);
            prop_assert_eq!((read.conduit, read.session, read.at), (event.conduit, event.session, event.at));
            let has_dir = !matches!(
                event.body,
                EventBody::Added(_) | EventBody::Exited(_) | EventBody::Gap(_) | EventBody::Opened(_)
                    | EventBody::Session(_) | EventBody::Signal(_) | EventBody::Stderr { .. }
            );
            prop_assert!(!has_dir || read.dir == event.dir);
        }
        prop_assert_eq!(reader.next_event().unwrap(), None);
    }
}

#[test]
fn a_tape_of_the_first_format_is_read() {
    let tape = concat!(
        "{\"tape\":\"2.0\",\"created\":\"\",\"transport\":\"stdio\"}\n",
        "{\"seq\":1,\"at_us\":2,\"opened\":{\"pid\":7}}\n",
        "{\"seq\":2,\"at_us\":3,\"dir\":\"to_client\",\"closed\":\"failed\"}\n",
        "{\"seq\":3,\"at_us\":3,\"opened\":{\"pid\":7},\"of a later format\":1}\n",
        "{\"seq\":4,\"at_us\":3,\"of a later format\":1}\n",
        "{\"end\":{\"at_us\":4,\"events\":4,\"complete\":true}}\n",
    );
    let mut reader = Reader::open(tape.as_bytes()).unwrap();
    let mut bodies = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        bodies.push(event.body);
    }
    let opened = EventBody::Opened(Peer::Process { pid: 7 });
    assert_eq!(
        bodies,
        [
            opened.clone(),
            EventBody::Closed(CloseReason::Failed),
            opened
        ]
    );
}
