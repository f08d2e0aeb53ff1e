//! HTTP: sessions, exchanges without one, streams that break off and are resumed, errors.

use serde_json::{Value, json};
use tapewright_schemas::capture::Projector;
use tapewright_schemas::event::{Event, EventBody, SseNote};
use tapewright_schemas::recording::Document;
use tapewright_schemas::tape::{Ending, Header, Reader};

use crate::support::{self, capture, spool};

/// Two sessions, one of them of 2024-11-05, and a lane.
pub(crate) const TAPE: &str = include_str!("../../../tests/golden/http.tape.jsonl");

pub(crate) struct Tape {
    pub(crate) header: Header,
    pub(crate) events: Vec<Event>,
    pub(crate) ending: Ending,
}

pub(crate) fn read(text: &str) -> Tape {
    let mut reader = Reader::open(text.as_bytes()).unwrap();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    Tape {
        header: reader.header().clone(),
        events,
        ending: reader.ending().unwrap().clone(),
    }
}

pub(crate) fn cassette(header: &Header, events: &[Event], ending: &Ending) -> String {
    support::cassette(header, events, ending).0
}

fn golden() -> Value {
    let tape = read(TAPE);
    serde_json::from_str(&cassette(&tape.header, &tape.events, &tape.ending)).unwrap()
}

/// The exchange, answered or not, that one HTTP exchange carried.
fn carried_by(cassette: &Value, conduit: u64) -> Value {
    ["exchanges", "unanswered", "http"]
        .iter()
        .flat_map(|list| cassette[list].as_array().unwrap())
        .find(|one| one["http"]["conduit"] == conduit)
        .unwrap_or_else(|| panic!("{conduit}"))
        .clone()
}

#[test]
fn an_answer_on_another_stream_finds_its_request() {
    let cassette = golden();
    // The stream broke off, and its end came after `Last-Event-ID`.
    let call = carried_by(&cassette, 4);
    assert_eq!(call["response"]["result"]["content"][0]["text"], "done");
    assert_eq!(call["via"], json!({"conduit": 6, "sse": {"id": "s-4"}}));
    assert_eq!(call["http"]["ended"], "aborted");
    // The stream of 2024-11-05 carries every answer of its session.
    let call = carried_by(&cassette, 11);
    assert_eq!(call["via"], json!({"conduit": 9}));
    assert_eq!(
        call["stream"][0]["message"]["method"],
        "notifications/message"
    );
    assert_eq!(call["stream"][0]["conduit"], 9);
}

#[test]
fn what_is_sent_again_is_no_second_answer() {
    let cassette = golden();
    let messages = cassette["messages"].as_array().unwrap();
    let replayed: Vec<_> = messages
        .iter()
        .filter(|one| one["mark"] == "replayed")
        .collect();
    assert_eq!(replayed.len(), 1);
    assert_eq!(replayed[0]["sse"], json!({"id": "s-3"}));
    assert!(!cassette.to_string().contains("duplicate response"));
    assert!(!cassette.to_string().contains("to nobody"));
}

#[test]
fn equal_ids_in_the_lane_are_not_the_same_request() {
    let cassette = golden();
    for (conduit, tools) in [(12, 0), (13, 1)] {
        let list = carried_by(&cassette, conduit);
        assert_eq!(
            list["response"]["result"]["tools"]
                .as_array()
                .unwrap()
                .len(),
            tools
        );
        assert_eq!(list["sessionless"], true);
        assert_eq!(list["session"], Value::Null);
    }
}

#[test]
fn an_http_error_belongs_to_its_exchange() {
    let cassette = golden();
    for (conduit, id, marked) in [
        (14, json!(null), true),
        (15, json!("a"), false),
        (17, json!("server-error"), true),
    ] {
        let one = carried_by(&cassette, conduit);
        assert_eq!(one["response"]["id"], id);
        assert_eq!(one["marks"] == json!(["http error"]), marked, "{one}");
    }
    let page = carried_by(&cassette, 16);
    assert_eq!(page["why"], "http error");
    assert_eq!(page["stream"][0]["body"]["text"], "<h1>Bad gateway</h1>");
    // The tape is an older one, with the reason as a sentence.
    let ours = carried_by(&cassette, 18);
    assert_eq!(ours["why"], "failed");
    assert_eq!(ours["http"]["ours"], "broken");
    let detail = &ours["http"]["ours_about"];
    assert_eq!(*detail, "the server cannot be reached");
}

#[test]
fn who_left_says_why_there_is_no_answer() {
    let cassette = golden();
    // Before 2026-07-28 a stream that the client closes is not cancelled by that.
    assert_eq!(carried_by(&cassette, 7)["why"], "client gone");
    assert_eq!(carried_by(&cassette, 19)["why"], "cancelled");
}

#[test]
fn exchanges_without_a_request_stand_for_themselves_and_in_order() {
    let cassette = golden();
    let http = cassette["http"].as_array().unwrap();
    let told: Vec<_> = http
        .iter()
        .map(|one| {
            (
                one["http"]["conduit"].as_u64().unwrap(),
                one["http"]["method"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (2, "POST"),
            (3, "GET"),
            (5, "POST"),
            (6, "GET"),
            (8, "DELETE"),
            (9, "GET"),
            (20, "GET"),
            (21, "OPTIONS"),
            (22, "POST")
        ]
    );
    let stream = carried_by(&cassette, 3);
    assert_eq!(
        stream["stream"][0]["sse"],
        json!({"id": "g-0", "retry_ms": 500})
    );
    assert_eq!(stream["stream"][1]["sse"], json!({"comment": " ping"}));
    let metadata = carried_by(&cassette, 20);
    assert_eq!(
        metadata["stream"][0]["body"]["json"]["resource"],
        "http://127.0.0.1:9/mcp"
    );
    assert_eq!(metadata["http"]["trailers"], json!([["x-checksum", "1"]]));
}

#[test]
fn the_documented_format_is_what_it_was() {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Envelope {
        #[serde(rename = "jsonrpc")]
        _jsonrpc: String,
        #[serde(rename = "id")]
        _id: Value,
        #[serde(rename = "method")]
        method: Option<String>,
        #[serde(rename = "params")]
        _params: Option<Value>,
        #[serde(rename = "result")]
        result: Option<Value>,
        #[serde(rename = "error")]
        error: Option<Value>,
    }
    #[derive(serde::Deserialize)]
    struct Exchange {
        request: Envelope,
        response: Envelope,
    }
    #[derive(serde::Deserialize)]
    struct Documented {
        version: String,
        meta: std::collections::BTreeMap<String, String>,
        exchanges: Vec<Exchange>,
    }
    let tape = read(TAPE);
    let text = cassette(&tape.header, &tape.events, &tape.ending);
    let documented: Documented = serde_json::from_str(&text).unwrap();
    assert_eq!(documented.version, "1");
    assert_eq!(documented.meta["source_url"], "https://up.example/mcp");
    assert_eq!(documented.exchanges.len(), 9);
    for one in documented.exchanges {
        assert!(one.request.method.is_some() && one.response.method.is_none());
        assert!(one.response.result.is_some() != one.response.error.is_some());
    }
}

#[test]
fn a_cassette_leads_back_to_the_same_events_and_the_same_cassette() {
    let tape = read(TAPE);
    let text = cassette(&tape.header, &tape.events, &tape.ending);
    let document = Document::read(text.clone()).unwrap();
    let recording = document.recording();
    assert_eq!(recording.header.transport, "http");
    let again = cassette(&recording.header, &recording.events, &recording.ending);
    let without_meta = |text: &str| text.split_once("\"exchanges\"").unwrap().1.to_owned();
    assert_eq!(without_meta(&again), without_meta(&text));
    let count = |events: &[Event], kind: fn(&EventBody) -> bool| {
        events.iter().filter(|event| kind(&event.body)).count()
    };
    for kind in [
        (|body| matches!(body, EventBody::Message { .. })) as fn(&EventBody) -> bool,
        |body| matches!(body, EventBody::Head(_)),
        |body| matches!(body, EventBody::Body { .. }),
        |body| matches!(body, EventBody::Closed(_)),
        |body| matches!(body, EventBody::Sse(_)),
        |body| matches!(body, EventBody::Session(_)),
        |body| matches!(body, EventBody::Opened(_)),
        |body| matches!(body, EventBody::Edited(_)),
        |body| matches!(body, EventBody::Added(_)),
        |body| matches!(body, EventBody::Trailers(_)),
    ] {
        assert_eq!(count(&recording.events, kind), count(&tape.events, kind));
    }
    let notes = |events: &[Event]| -> Vec<SseNote> {
        let notes = events.iter().filter_map(|event| match &event.body {
            EventBody::Sse(note) => Some(note.as_ref().clone()),
            _ => None,
        });
        notes.collect()
    };
    assert_eq!(notes(&recording.events), notes(&tape.events));
    let places = |events: &[Event]| {
        let mut places: Vec<_> = events
            .iter()
            .filter(|event| matches!(event.body, EventBody::Message { .. }))
            .map(|event| (event.at, event.conduit, event.session, event.dir))
            .collect();
        places.sort();
        places
    };
    assert_eq!(places(&recording.events), places(&tape.events));
}

#[test]
fn a_capture_has_one_object_for_each_session_and_one_for_the_lane() {
    let tape = read(TAPE);
    let text = capture(&tape.header, &tape.events, &tape.ending);
    let capture: Value = serde_json::from_str(&text).unwrap();
    let sessions = capture.as_array().unwrap();
    assert_eq!(sessions.len(), 3);
    assert_eq!(
        (
            &sessions[0]["sessionless"],
            &sessions[0]["server_capabilities"]
        ),
        (&json!(true), &json!(null))
    );
    assert_eq!(
        (&sessions[1]["session"], &sessions[2]["session"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(sessions[2]["server_capabilities"], json!({"tools": {}}));
    let methods = |session: &Value| -> Vec<String> {
        let all = session["exchanges"].as_array().unwrap().iter();
        all.map(|one| one["request"]["method"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        methods(&sessions[1]),
        [
            "initialize",
            "notifications/initialized",
            "tools/call",
            "tools/call"
        ]
    );
    assert_eq!(methods(&sessions[2]), ["initialize", "tools/call"]);
    // An error with another id answers no request.
    let lane = sessions[0]["exchanges"].as_array().unwrap();
    let answered: Vec<_> = lane
        .iter()
        .map(|one| one.get("response").is_some())
        .collect();
    assert_eq!(
        answered,
        [true, true, false, true, false, false, false, false, false]
    );
    // And back.
    let document = Document::read(text.clone()).unwrap();
    let recording = document.recording();
    let mut projector = Projector::new(&recording.header, spool(), spool());
    for event in &recording.events {
        projector.observe(event).unwrap();
    }
    let mut out = Vec::new();
    projector.finish(&recording.ending, &mut out).unwrap();
    let again: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(again[0]["exchanges"], capture[0]["exchanges"]);
    assert_eq!(again[1]["exchanges"], capture[1]["exchanges"]);
    assert_eq!(again[0]["sessionless"], true);
}
