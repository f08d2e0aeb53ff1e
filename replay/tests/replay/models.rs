//! The law of the model side: recorded answers are served byte by byte.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tapewright_engine::{SseFramer, SseItem};
use tapewright_models::Operation;
use tapewright_models::recorded::{ProviderExchange, ProviderExchanges};
use tapewright_proxy::front::non_mcp::{Answers as _, OtherResponse, Reply, Request};
use tapewright_replay::Options;
use tapewright_replay::models::Provider;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Fields, Head, Offset, Payload,
    RequestHead, ResponseHead, SseNote,
};
use tapewright_schemas::redact::{Rules, Settings};

/// Exchanges with real providers.
const FILES: [&str; 4] = [
    include_str!("../../../schemas/models/tests/recorded/anthropic.jsonl"),
    include_str!("../../../schemas/models/tests/recorded/gemini.jsonl"),
    include_str!("../../../schemas/models/tests/recorded/mistral.jsonl"),
    include_str!("../../../schemas/models/tests/recorded/openai.jsonl"),
];

/// A request, and its answer.
struct Recorded {
    request: Request,
    status: u16,
    fields: Fields,
    body: String,
}

fn recorded() -> Vec<Recorded> {
    let lines = FILES.iter().flat_map(|file| file.lines());
    let files = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let exchanges = files.flat_map(|file| file["exchanges"].as_array().unwrap().clone());
    exchanges.map(|exchange| read(&exchange)).collect()
}

fn read(exchange: &Value) -> Recorded {
    let (when, then) = (&exchange["when"], &exchange["then"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pairs = |list: &Value| -> Vec<(String, String)> {
        let list = list.as_array().cloned().unwrap_or_default();
        let pair = |pair: &Value| (text(&pair["name"]), text(&pair["value"]));
        list.iter().map(pair).collect()
    };
    let query: Vec<String> = pairs(&when["query_param"])
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Recorded {
        request: Request {
            method: text(&when["method"]),
            target: format!("{}?{}", text(&when["path"]), query.join("&")),
            fields: pairs(&when["header"]).into_iter().collect(),
            body: text(&when["body"]).into(),
        },
        status: u16::try_from(then["status"].as_u64().unwrap()).unwrap(),
        fields: pairs(&then["header"]).into_iter().collect(),
        body: text(&then["body"]),
    }
}

impl Recorded {
    fn is_events(&self) -> bool {
        let kind = self.fields.get("content-type").unwrap_or_default();
        kind.starts_with("text/event-stream")
    }

    /// Its events, as on a tape.
    fn events(&self) -> Vec<(Direction, EventBody)> {
        let request = RequestHead {
            method: self.request.method.clone().into(),
            target: self.request.target.clone(),
            fields: self.request.fields.clone(),
            ..RequestHead::default()
        };
        let response = ResponseHead {
            status: self.status,
            fields: self.fields.clone(),
            ..ResponseHead::default()
        };
        let head = |head| EventBody::Head(Box::new(head));
        let whole = |bytes: Bytes| EventBody::Body {
            payload: Payload::Whole(bytes),
        };
        let closed = || EventBody::Closed(CloseReason::EndOfInput);
        let mut answer = vec![head(Head::Response(response))];
        if self.is_events() {
            for item in items(self.body.as_bytes()) {
                answer.extend(noted(item));
            }
        } else {
            answer.push(whole(self.body.clone().into()));
        }
        answer.push(closed());
        let mut all = vec![
            (Direction::ToServer, head(Head::Request(request))),
            (Direction::ToServer, whole(self.request.body.clone())),
            (Direction::ToServer, closed()),
        ];
        all.extend(answer.into_iter().map(|body| (Direction::ToClient, body)));
        all
    }
}

fn items(bytes: &[u8]) -> Vec<SseItem> {
    let mut framer = SseFramer::new(1 << 24);
    framer.feed(&Bytes::copy_from_slice(bytes));
    std::iter::from_fn(|| framer.poll()).collect()
}

/// An event of a stream, as the recorder notes it.
fn noted(item: SseItem) -> Vec<EventBody> {
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    let note = |note: SseNote| EventBody::Sse(Box::new(note));
    match item {
        SseItem::Comment(comment) => vec![note(SseNote {
            comment: Some(text(&comment)),
            ..SseNote::default()
        })],
        SseItem::Event(event) => {
            let named = event.event.as_ref().map(|name| {
                note(SseNote {
                    event: Some(text(name)),
                    ..SseNote::default()
                })
            });
            let data = event.data.map(|payload| EventBody::Body { payload });
            named.into_iter().chain(data).collect()
        }
    }
}

/// The exchanges of a tape, all overlapping from the recorder's point of view.
fn tape(recorded: &[Recorded]) -> Vec<ProviderExchange> {
    let mut exchanges = ProviderExchanges::default();
    let mut seq = 0;
    for (conduit, one) in (1..).zip(recorded) {
        for (dir, body) in one.events() {
            seq += 1;
            let mut event = Event::new(Offset(seq * 100), dir, body);
            (event.seq, event.conduit) = (seq, ConduitId(conduit));
            exchanges.observe(&event);
        }
    }
    let (all, more) = exchanges.finish();
    assert_eq!((all.len(), more), (recorded.len(), 0));
    all
}

fn provider(exchanges: Vec<ProviderExchange>) -> Provider {
    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    Provider::new(exchanges, 0, Arc::new(Options::new(rules)), None)
}

fn given(provider: &Provider, request: &Request) -> (OtherResponse, Vec<u8>) {
    let Reply::Response(given) = provider.answer(request) else {
        unreachable!("{} is answered", request.target)
    };
    let parts: Vec<Bytes> = given.parts.iter().map(|(_, part)| part.clone()).collect();
    (given, parts.concat())
}

#[test]
fn whatever_was_recorded_is_answered_byte_by_byte() {
    let recorded = recorded();
    let provider = provider(tape(&recorded));
    let mut streams = 0;
    for one in &recorded {
        let (given, body) = given(&provider, &one.request);
        let target = &one.request.target;
        assert_eq!(given.status, one.status, "{target}");
        assert_eq!(
            given.fields.get("content-type"),
            one.fields.get("content-type")
        );
        if one.is_events() {
            streams += 1;
            assert_eq!(items(&body), items(one.body.as_bytes()), "{target}");
            if items(&body).is_empty() {
                // An error that claims to be a stream but is not: a tape has no event for it.
                assert_eq!(one.status, 404);
                continue;
            }
            // A tape does not contain the line ends of a stream.
            let plain = one.body.replace("\r\n", "\n");
            assert_eq!(String::from_utf8(body).unwrap(), plain, "{target}");
        } else {
            assert_eq!(String::from_utf8(body).unwrap(), one.body, "{target}");
        }
    }
    assert!(streams > 10, "{streams}");
    let report = provider.report();
    assert!(report.is_exact(), "{report:?}");
    assert_eq!((report.others_missed, report.unread), (0, 0));
    assert_eq!(report.converted, []);
}

#[test]
fn every_recorded_call_is_known_under_other_ids_and_in_the_other_form() {
    let recorded = recorded();
    let exchanges = tape(&recorded);
    let mut turned = 0;
    for (one, exchange) in recorded.iter().zip(exchanges) {
        let is_call = exchange
            .call()
            .is_some_and(|call| call.operation == Operation::Generate && call.model.is_none());
        let Ok(Value::Object(mut body)) = serde_json::from_slice(&one.request.body) else {
            continue;
        };
        if !is_call || one.status != 200 {
            continue;
        }
        let stream = body.get("stream").and_then(Value::as_bool) == Some(true);
        body.insert("stream".to_owned(), (!stream).into());
        let provider = provider(vec![exchange]);
        let request = Request {
            body: Value::Object(body).to_string().into(),
            ..one.request.clone()
        };
        let (given, _) = given(&provider, &request);
        let kind = given.fields.get("content-type").unwrap_or_default();
        assert_eq!(
            (given.status, kind.contains("event-stream")),
            (200, !stream)
        );
        assert_eq!(provider.report().converted.len(), 1);
        turned += 1;
    }
    assert!(turned > 30, "{turned}");
}
