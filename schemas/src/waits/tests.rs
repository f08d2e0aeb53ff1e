use super::*;
use crate::event::{
    CloseReason, ConduitId, Direction, Effect, EventBody, FaultKind, FaultRef, Head, LineEnd,
    MessageNumber, Origins, Payload, Peer, Release, SessionEnd, SessionKey, SessionMark, Until,
    What,
};
use Direction::{ToClient, ToServer};

const HELD: What = What::Held {
    until: Until::Removed,
};

fn released(all: bool) -> What {
    What::Released {
        after: Offset(7_000),
        why: Release::Removed,
        all,
    }
}

/// A conversation fed event by event, one millisecond apart.
struct Talk {
    waits: Waits,
    at: u64,
    origins: Origins,
    conduit: u32,
}

impl Talk {
    fn new(long_ms: u64) -> Self {
        Self {
            waits: Waits::new(Offset(long_ms * 1_000)),
            at: 0,
            origins: Origins::default(),
            conduit: 0,
        }
    }

    fn event(&mut self, dir: Direction, body: EventBody) {
        self.at += 1_000;
        let mut event = Event::new(Offset(self.at), dir, body);
        event.conduit = ConduitId(self.conduit);
        event.session = SessionKey(u32::from(self.conduit > 0));
        self.origins.complete(&mut event);
        self.waits.observe(&event, None, |_| {});
    }

    fn say(&mut self, dir: Direction, text: &str) {
        let payload = Payload::Whole(text.to_owned().into());
        let end = LineEnd::Lf;
        self.event(dir, EventBody::message(payload, end));
    }

    /// A fault of this name did something, to this message or to the one before.
    fn fault(&mut self, name: &str, message: Option<u64>, what: What) {
        let kind = FaultKind::known("hang");
        let name = name.to_owned();
        let fault = (!name.is_empty()).then_some(FaultRef { name, kind });
        let message = message.and_then(MessageNumber::new);
        let faulted = Effect { fault, what }.about(message);
        self.event(ToClient, EventBody::Faulted(faulted));
    }

    /// The changes since: `+id` for a hang that began, `-id how` for one that ended.
    fn told(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.waits.poll())
            .filter_map(|change| match change {
                Change::Hangs(wait) => Some(format!("+{}", wait.id)),
                Change::Over { over, hung } => {
                    let (wait, how) = (&over.exchange, over.outcome.word());
                    let waited = over.at.since(wait.at).0 / 1_000;
                    hung.then(|| format!("-{} {how} {waited}", wait.id))
                }
            })
            .collect()
    }

    fn pending(&self) -> Vec<&str> {
        self.waits.pending().map(|wait| wait.id.as_str()).collect()
    }
}

fn ask(id: u64) -> String {
    format!("{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"search\"}}}}")
}

fn answer(id: u64) -> String {
    format!("{{\"id\":{id},\"result\":{{}}}}")
}

#[test]
fn what_is_answered_soon_is_no_hang() {
    let mut talk = Talk::new(10);
    talk.say(ToServer, &ask(1));
    assert_eq!(talk.pending(), ["1"]);
    assert_eq!(
        talk.waits.pending().next().unwrap().name.as_deref(),
        Some("search")
    );
    talk.say(ToClient, &answer(1));
    assert!(talk.pending().is_empty());
    talk.waits.finish();
    assert!(talk.told().is_empty());
}

#[test]
fn what_waits_for_long_is_told_and_how_it_ended() {
    let mut talk = Talk::new(10);
    talk.say(ToServer, &ask(1));
    talk.waits.tick(Offset(20_000));
    assert_eq!(talk.told(), ["+1"]);
    talk.at = 30_000;
    talk.say(ToClient, &answer(1));
    talk.waits.finish();
    assert_eq!(talk.told(), ["-1 answered 30"]);
}

#[test]
fn a_fault_keeps_an_answer_until_it_is_let_go() {
    let mut talk = Talk::new(1_000);
    for id in [1, 2] {
        talk.say(ToServer, &ask(id));
        talk.say(ToClient, &answer(id));
        talk.fault("hang-1", None, HELD);
    }
    assert_eq!(talk.told(), ["+1", "+2"]);
    assert_eq!(talk.pending(), ["1", "2"]);
    let fault = talk.waits.pending().next().unwrap().fault.clone();
    assert_eq!(fault.unwrap().name, "hang-1");
    talk.fault("hang-1", Some(2), released(false));
    assert_eq!(talk.told(), ["-2 answered 3"]);
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#;
    talk.say(ToServer, cancel);
    assert_eq!(talk.told(), ["-1 cancelled 7"]);
}

#[test]
fn what_waits_behind_a_wedge_is_let_go_with_it() {
    let mut talk = Talk::new(1_000);
    for (id, name, what) in [
        (1, "w", What::HeldAll { cut_after: None }),
        (2, "", What::Behind { holder: None }),
        (3, "h", HELD),
    ] {
        talk.say(ToServer, &ask(id));
        talk.say(ToClient, &answer(id));
        talk.fault(name, None, what);
    }
    assert_eq!(talk.told(), ["+1", "+2", "+3"]);
    talk.fault("w", Some(1), released(true));
    assert_eq!(talk.pending(), ["3"]);
    talk.event(ToServer, EventBody::Closed(CloseReason::EndOfInput));
    talk.event(ToClient, EventBody::Closed(CloseReason::EndOfInput));
    assert_eq!(talk.told().last().unwrap(), "-3 still pending 5");
}

#[test]
fn a_delay_ends_by_itself() {
    let mut talk = Talk::new(20);
    talk.say(ToServer, &ask(1));
    talk.say(ToClient, &answer(1));
    let by = Offset(50_000);
    talk.fault("slow-1", None, What::Delayed { by });
    assert_eq!(talk.pending(), ["1"]);
    talk.waits.tick(Offset(40_000));
    assert_eq!(talk.told(), ["+1"]);
    talk.waits.tick(Offset(60_000));
    assert_eq!(talk.told(), ["-1 answered 52"]);
    assert!(talk.pending().is_empty());
}

#[test]
fn a_delay_ends_when_its_fault_is_taken_away() {
    let mut talk = Talk::new(20);
    talk.say(ToServer, &ask(1));
    talk.say(ToClient, &answer(1));
    let by = Offset(50_000);
    talk.fault("slow-1", Some(1), What::Delayed { by });
    talk.waits.tick(Offset(40_000));
    assert_eq!(talk.told(), ["+1"]);
    talk.at = 40_000;
    talk.fault("slow-1", Some(1), released(false));
    assert_eq!(talk.told(), ["-1 answered 40"]);
    talk.waits.tick(Offset(60_000));
    assert!(talk.told().is_empty());
}

/// A client that has a stream besides, on which its calls are answered.
fn with_a_stream() -> Talk {
    let mut talk = Talk::new(20);
    for conduit in [4, 5] {
        talk.conduit = conduit;
        let address = "127.0.0.1:1".to_owned();
        let connection = u64::from(conduit);
        let peer = Peer::Client {
            address,
            connection,
        };
        talk.event(ToServer, EventBody::Opened(peer));
    }
    talk.conduit = 4;
    talk.say(ToServer, &ask(1));
    talk.conduit = 5;
    talk.say(ToClient, &answer(1));
    let by = Offset(50_000);
    talk.fault("slow-1", Some(1), What::Delayed { by });
    talk.waits.tick(Offset(40_000));
    assert_eq!(talk.told(), ["+1"]);
    talk.at = 40_000;
    talk
}

#[test]
fn a_delay_on_another_conduit_ends_when_it_is_over_there() {
    let mut talk = with_a_stream();
    talk.fault("slow-1", Some(1), released(false));
    assert_eq!(talk.told(), ["-1 answered 38"]);
    talk.waits.tick(Offset(90_000));
    assert!(talk.told().is_empty());
}

#[test]
fn who_leaves_during_a_delay_gets_no_answer() {
    let mut talk = with_a_stream();
    let after = Offset(1_000);
    talk.fault("slow-1", Some(1), What::Left { after });
    assert_eq!(talk.told(), ["-1 client gone 38"]);
    talk.waits.tick(Offset(90_000));
    assert!(talk.told().is_empty());
}

#[test]
fn a_server_that_leaves_answers_nothing() {
    let mut talk = Talk::new(1_000);
    talk.say(ToServer, &ask(1));
    talk.event(ToClient, EventBody::Closed(CloseReason::EndOfInput));
    assert_eq!(talk.told(), ["-1 peer gone 1"]);
    talk.say(ToServer, &ask(2));
    talk.event(
        ToClient,
        EventBody::Session(SessionMark::Ended(SessionEnd::Deleted)),
    );
    assert_eq!(talk.told(), ["-2 client gone 1"]);
}

#[test]
fn an_exchange_that_ends_in_an_error_ends_its_request() {
    let mut talk = Talk::new(1_000);
    talk.conduit = 4;
    let address = "127.0.0.1:1".to_owned();
    let connection = 1;
    talk.event(
        ToServer,
        EventBody::Opened(Peer::Client {
            address,
            connection,
        }),
    );
    talk.say(ToServer, &ask(1));
    talk.say(ToServer, &ask(2));
    talk.say(ToClient, &answer(2));
    talk.fault("h", None, HELD);
    let status = 503;
    let head = crate::event::ResponseHead {
        status,
        ..Default::default()
    };
    talk.event(ToClient, EventBody::Head(Box::new(Head::Response(head))));
    talk.event(ToClient, EventBody::Closed(CloseReason::EndOfInput));
    assert_eq!(talk.told(), ["+2", "-1 http error 5"]);
    let after = Offset(3_000);
    talk.fault("h", None, What::Left { after });
    assert_eq!(talk.told(), ["-2 client gone 5"]);
}

#[test]
fn what_is_followed_is_bounded() {
    let mut talk = Talk::new(u64::MAX / 2_000);
    for id in 0..65_539 {
        talk.say(ToServer, &ask(id));
    }
    // The oldest were forgotten, and are reported as such.
    assert_eq!(talk.waits.pending().count(), 65_536);
    assert_eq!(talk.told().len(), 3);
}
