use http_body_util::BodyExt as _;
use tapewright_schemas::event::{
    Effect, FaultKind, FaultRef, Judge, LineEnd, Payload, Release, SessionEnd, SessionKey, Until,
    What,
};
use tapewright_schemas::tape::Header;

use super::*;

const HELD: What = What::Held {
    until: Until::Removed,
};
const RELEASED: What = What::Released {
    after: Offset(5_000),
    why: Release::Removed,
    all: false,
};

fn message(at: u64, dir: Direction, text: &str) -> Event {
    let payload = Payload::Whole(text.to_owned().into());
    let end = LineEnd::Lf;
    let mut event = Event::new(Offset(at), dir, EventBody::message(payload, end));
    event.seq = at;
    event
}

fn seen(view: &Arc<View>) -> Box<dyn Judge> {
    let judge = view.watching(None).judge.expect("a judge that shows");
    judge(&Header::default())
}

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"secret-query"}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"secret-result"}}"#;

#[test]
fn sessions_and_what_they_wait_for_are_shown() {
    let view = View::new(Clock::start(), None);
    let mut judge = seen(&view);
    let hello = r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"}}}"#;
    let welcome = r#"{"id":0,"result":{"protocolVersion":"2025-03-26","serverInfo":{"name":"s","version":"2"}}}"#;
    judge.observe(&message(1, Direction::ToServer, hello), None);
    judge.observe(&message(2, Direction::ToClient, welcome), None);
    judge.observe(&message(3, Direction::ToServer, ASK), None);
    let sessions = view.sessions();
    let session = &sessions["sessions"][0];
    assert_eq!(session["client"]["name"], "c");
    assert_eq!(session["server"]["version"], "2");
    assert_eq!(session["protocol_version"], "2025-03-26");
    assert_eq!(session["pending"], 1);
    let pending = view.pending();
    assert_eq!(pending["pending"][0]["name"], "search");
    assert_eq!(pending["pending"][0]["hangs"], false);
    judge.observe(&message(4, Direction::ToClient, ANSWER), None);
    assert_eq!(view.pending()["count"], 0);
    assert_eq!(view.hangs()["count"], 0);
}

#[test]
fn a_hang_that_a_fault_made_says_so_and_how_it_ended() {
    let view = View::new(Clock::start(), None);
    let mut judge = seen(&view);
    judge.observe(&message(1, Direction::ToServer, ASK), None);
    judge.observe(&message(2, Direction::ToClient, ANSWER), None);
    let fault = |at, what: What| {
        let kind = FaultKind::known("hang");
        let name = "hang-1".to_owned();
        let fault = Some(FaultRef { name, kind });
        let faulted = Effect { fault, what }.about(None);
        Event::new(Offset(at), Direction::ToClient, EventBody::Faulted(faulted))
    };
    judge.observe(&fault(3, HELD), None);
    let open = view.hangs();
    let named = json!({"name": "hang-1", "kind": "hang"});
    assert_eq!(open["hangs"][0]["fault"], named);
    assert_eq!(open["hangs"][0]["closed"], Value::Null);
    assert_eq!(view.pending()["pending"][0]["hangs"], true);
    judge.observe(&fault(5_000, RELEASED), None);
    assert_eq!(view.hangs()["hangs"][0]["closed"], "answered");
    assert_eq!(view.pending()["count"], 0);
}

#[test]
fn sessions_are_forgotten_those_that_ended_first() {
    let view = View::new(Clock::start(), None);
    let mut judge = seen(&view);
    for number in (1..).take(SESSIONS + 2) {
        let mut event = message(number.into(), Direction::ToServer, ASK);
        event.session = SessionKey(number);
        judge.observe(&event, None);
        if number == 7 {
            event.body = EventBody::Session(SessionMark::Ended(SessionEnd::Deleted));
            judge.observe(&event, None);
        }
    }
    let shown = view.sessions();
    assert_eq!(shown["forgotten"], 2);
    let numbers: Vec<u64> = shown["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|session| session["session"].as_u64())
        .collect();
    assert_eq!(numbers.len(), SESSIONS);
    assert!(!numbers.contains(&7) && !numbers.contains(&1) && numbers.contains(&2));
}

#[tokio::test]
async fn a_slow_listener_loses_the_oldest_and_is_told_how_much() {
    let view = View::new(Clock::start(), None);
    let mut judge = seen(&view);
    let mut events = Events::new(view.listen());
    for at in 1..=BACKLOG as u64 + 10 {
        // Each has a different id: of too many requests with one id the oldest would be given up,
        // which is reported as well.
        let ask = ASK.replace("\"id\":1", &format!("\"id\":{at}"));
        judge.observe(&message(at, Direction::ToServer, &ask), None);
    }
    drop(judge);
    drop(view);
    let mut text = String::new();
    while let Some(frame) = events.frame().await {
        let data = frame.unwrap().into_data().unwrap();
        text.push_str(std::str::from_utf8(&data).unwrap());
    }
    assert!(
        text.starts_with(": listening\n\ndata: {\"event\":\"missed\",\"count\":10}\n\nid: 11\n")
    );
    assert_eq!(text.matches("\"kind\":\"request\"").count(), BACKLOG);
    assert!(!text.contains("secret-query"), "what was said is not told");
}
