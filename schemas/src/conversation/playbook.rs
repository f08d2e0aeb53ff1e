//! Playbooks: a list of events, and the outcome of each exchange.

use proptest::prelude::*;

use super::*;
use crate::event::{
    CloseReason, ConduitId, Direction, Effect, Event, EventBody, FaultKind, FaultRef, Gap,
    GapReason, LineEnd, Offset, Origins, Payload, Peer, SessionKey, Until, What,
};
use Direction::{ToClient, ToServer};

/// A conversation fed event by event, one millisecond apart.
#[derive(Default)]
struct Talk {
    conversation: Conversation<()>,
    origins: Origins,
    at: u64,
    session: u32,
    conduit: u32,
    said: Vec<String>,
}

impl Talk {
    fn event(&mut self, dir: Direction, body: EventBody) {
        self.at += 1_000;
        let mut event = Event::new(Offset(self.at), dir, body);
        event.seq = self.at / 1_000;
        event.conduit = ConduitId(self.conduit);
        event.session = SessionKey(self.session);
        self.origins.complete(&mut event);
        let said = &mut self.said;
        self.conversation.observe(&event, None, |step| {
            let about = step.exchange.map(|one| one.seq.to_string());
            said.push(format!("{:?} {}", step.what, about.unwrap_or_default()));
        });
    }

    fn say(mut self, dir: Direction, text: &str) -> Self {
        let payload = Payload::Whole(text.to_owned().into());
        let end = LineEnd::Lf;
        self.event(dir, EventBody::message(payload, end));
        self
    }

    fn c(self, text: &str) -> Self {
        self.say(ToServer, text)
    }

    fn s(self, text: &str) -> Self {
        self.say(ToClient, text)
    }

    fn push(mut self, dir: Direction, body: EventBody) -> Self {
        self.event(dir, body);
        self
    }

    fn on(mut self, session: u32, conduit: u32) -> Self {
        (self.session, self.conduit) = (session, conduit);
        self
    }

    /// The effect of each message.
    fn said(&self) -> Vec<&str> {
        self.said.iter().map(|said| said.trim_end()).collect()
    }

    /// The outcome of every exchange, by the number of its request.
    fn ended(mut self) -> Vec<(u64, Outcome)> {
        self.conversation.finish();
        let over = std::iter::from_fn(|| self.conversation.poll());
        let mut all: Vec<_> = over.map(|one| (one.exchange.seq, one.outcome)).collect();
        all.sort_unstable_by_key(|(seq, _)| *seq);
        all
    }
}

/// `hang-1` holds the message before.
fn held() -> EventBody {
    let fault = FaultRef {
        name: "hang-1".to_owned(),
        kind: FaultKind::known("hang"),
    };
    let effect = Effect {
        fault: Some(fault),
        what: What::Held {
            until: Until::Removed,
        },
    };
    EventBody::Faulted(effect.about(None))
}

fn ask(id: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"a","_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn answer(id: &str) -> String {
    format!(r#"{{"id":{id},"result":{{}}}}"#)
}

fn about(method: &str, member: &str, id: &str) -> String {
    format!(r#"{{"method":"notifications/{method}","params":{{"{member}":{id}}}}}"#)
}

#[test]
fn each_message_is_told_with_the_exchange_that_it_is_about() {
    let talk = Talk::default()
        .c(&ask("1"))
        .s(&about("progress", "progressToken", "1"))
        .s(&about("progress", "progressToken", "9"))
        .s(&answer("\"1\""))
        .s(&answer("1"))
        .s(&answer("1"))
        .s(&answer("7"))
        .c(&about("initialized", "x", "1"))
        .s("banner");
    assert_eq!(
        talk.said(),
        [
            "Asks 1",
            "Progress 1",
            "Nothing",
            "TypeChanged 1",
            "Answers 1",
            "Duplicate",
            "Orphan",
            "Nothing",
            "Nothing"
        ]
    );
    assert_eq!(talk.ended(), [(1, Outcome::Answered)]);
}

#[test]
fn an_exchange_ends_once_and_says_how() {
    let error = r#"{"id":2,"error":{"code":-32601,"message":"no"}}"#;
    let talk = Talk::default()
        .c(&ask("1"))
        .c(&ask("2"))
        .c(&ask("3"))
        .c(&ask("4"))
        .s(&answer("1"))
        .s(error)
        .c(&about("cancelled", "requestId", "3"))
        .s(&answer("3"))
        .push(ToClient, EventBody::Closed(CloseReason::EndOfInput));
    assert_eq!(talk.said().last(), Some(&"Late 3"));
    assert_eq!(
        talk.ended(),
        [
            (1, Outcome::Answered),
            (2, Outcome::Error),
            (3, Outcome::Cancelled),
            (4, Outcome::PeerGone),
        ]
    );
    let pending = Talk::default().c(&ask("1"));
    assert_eq!(pending.ended(), [(1, Outcome::StillPending)]);
}

#[test]
fn of_an_id_that_is_used_again_after_a_cancellation_the_new_request_is_answered() {
    let talk = Talk::default()
        .c(&ask("1"))
        .c(&about("cancelled", "requestId", "1"))
        .c(&ask("1"))
        .s(&answer("1"))
        .s(&answer("1"));
    let said = ["Asks 1", "Cancels 1", "Asks 3", "Answers 3", "Late 1"];
    assert_eq!(talk.said(), said);
    let ended = [(1, Outcome::Cancelled), (3, Outcome::Answered)];
    assert_eq!(talk.ended(), ended);
}

#[test]
fn what_is_missing_may_have_been_the_answer() {
    let gap = Gap {
        events: 1,
        bytes: 9,
        why: GapReason::QueueFull,
        detail: None,
    };
    let talk = Talk::default()
        .c(&ask("1"))
        .push(ToClient, EventBody::Gap(gap));
    assert_eq!(
        talk.c(&ask("2")).ended(),
        [(1, Outcome::Unknown), (3, Outcome::StillPending)]
    );
}

#[test]
fn a_fault_that_keeps_an_answer_to_the_end_is_told() {
    let talk = Talk::default().c(&ask("1")).s(&answer("1"));
    let mut talk = talk.push(ToClient, held());
    talk.conversation.finish();
    let over = talk.conversation.poll().unwrap();
    assert_eq!(over.outcome, Outcome::KeptByFault);
    let row = ExchangeRow::of(&over);
    assert_eq!(row.fault.map(|fault| fault.name).as_deref(), Some("hang-1"));
    assert_eq!((row.answer_seq, row.answered_ms), (Some(2), Some(1.0)));
}

#[test]
fn an_answer_that_a_fault_keeps_can_be_given_up() {
    let talk = Talk::default().c(&ask("1")).s(&answer("1"));
    let talk = talk.push(ToClient, held());
    let talk = talk.c(&about("cancelled", "requestId", "1"));
    assert_eq!(talk.said().last(), Some(&"Cancels 1"));
    let talk = talk.s(&answer("1"));
    assert_eq!(talk.said().last(), Some(&"Duplicate"));
    assert_eq!(talk.ended(), [(1, Outcome::Cancelled)]);
}

#[test]
fn what_was_given_up_is_known_by_its_answer_once() {
    let talk = Talk::default()
        .c(&ask("1"))
        .c(&about("cancelled", "requestId", "1"))
        .s(&about("progress", "progressToken", "1"))
        .c(&about("cancelled", "requestId", "1"))
        .s(&answer("\"1\""));
    assert!(talk.conversation.iter().next().is_none());
    let talk = talk.s(&answer("1")).s(&answer("1"));
    let said = [
        "Asks 1",
        "Cancels 1",
        "Progress 1",
        "Cancels 1",
        "TypeChanged 1",
        "Late 1",
        "Duplicate",
    ];
    assert_eq!(talk.said(), said);
    assert_eq!(talk.ended(), [(1, Outcome::Cancelled)]);
}

#[test]
fn an_answer_that_a_lost_exchange_owes_may_come_on_another_stream() {
    let opened = EventBody::Opened(Peer::Client {
        address: "127.0.0.1:1".to_owned(),
        connection: 1,
    });
    let talk = Talk::default().on(1, 4).push(ToServer, opened).c(&ask("1"));
    let talk = talk.push(ToClient, EventBody::Closed(CloseReason::ReceiverGone));
    let talk = talk.on(1, 5).s(&answer("1")).s(&answer("1"));
    assert_eq!(talk.said(), ["Asks 2", "Late 2", "Duplicate"]);
    assert_eq!(talk.ended(), [(2, Outcome::ClientGone)]);
}

#[test]
fn a_request_without_an_id_is_answered_by_a_response_without_one() {
    let null = r#"{"id":null,"result":{}}"#;
    let noise = r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#;
    let talk = Talk::default().c(&ask("null")).s(noise).s(null).s(null);
    assert_eq!(talk.said(), ["Asks 1", "Orphan", "Answers 1", "Orphan"]);
    assert_eq!(talk.ended(), [(1, Outcome::Answered)]);
}

#[test]
fn an_id_that_is_used_again_in_flight_is_told() {
    let mut talk = Talk::default();
    let mut reuses = Vec::new();
    for id in ["1", "\"1\"", "1.0", "1", "null", "null"] {
        talk.at += 1_000;
        let payload = Payload::Whole(ask(id).into());
        let event = Event::new(
            Offset(talk.at),
            ToServer,
            EventBody::message(payload, LineEnd::Lf),
        );
        talk.conversation.observe(&event, None, |step| {
            reuses.push((step.reuses.is_some(), step.is_member));
        });
    }
    let told = [false, false, false, true, false, false];
    assert_eq!(reuses, told.map(|reuses| (reuses, false)));
}

#[test]
fn what_is_given_up_is_remembered_within_a_bound() {
    let mut talk = Talk::default();
    for number in 0..6_000 {
        let id = number.to_string();
        talk = talk.c(&ask(&id)).c(&about("cancelled", "requestId", &id));
        while talk.conversation.poll().is_some() {}
    }
    talk.said.clear();
    let talk = talk.s(&answer("0")).s(&answer("5999"));
    // A forgotten answer is not mistaken for a duplicate.
    assert_eq!(talk.said(), ["Orphan", "Late 11999"]);
}

#[test]
fn ids_mean_something_within_a_session_and_within_an_exchange_of_the_lane() {
    let mut talk = Talk::default();
    for (session, conduit) in [(1, 1), (2, 2), (0, 3), (0, 4)] {
        talk = talk.on(session, conduit).c(&ask("1"));
    }
    let talk = talk.on(0, 4).s(&answer("1")).on(2, 5).s(&answer("1"));
    let talk = talk.on(0, 5).s(&answer("1"));
    assert_eq!(talk.said()[4..], ["Answers 4", "Answers 2", "Orphan"]);
}

#[test]
fn by_value_a_number_is_one_id_however_it_is_spelled() {
    let (exact, mut by_value) = (Talk::default(), Talk::default());
    by_value.conversation = Conversation::default().by_value();
    let play = |talk: Talk| {
        let talk = talk.c(&ask("2")).s(&answer("\"2\"")).s(&answer("2.0"));
        let talk = talk.s(&answer("2e0")).c(&ask("3.0"));
        talk.c(&about("cancelled", "requestId", "3"))
            .s(&answer("3"))
    };
    let (exact, by_value) = (play(exact), play(by_value));
    let said = [
        "Asks 1",
        "TypeChanged 1",
        "Orphan",
        "Orphan",
        "Asks 5",
        "Nothing",
        "Orphan",
    ];
    assert_eq!(exact.said(), said);
    let said = [
        "Asks 1",
        "TypeChanged 1",
        "Answers 1",
        "Duplicate",
        "Asks 5",
        "Cancels 5",
        "Late 5",
    ];
    assert_eq!(by_value.said(), said);
}

#[test]
fn whether_an_id_was_used_before_is_told_with_the_first_that_has_it() {
    let mut conversation = Conversation::<()>::of_handles().by_value();
    let mut told = Vec::new();
    let mut handles = Vec::new();
    for text in [
        ask("1"),
        ask("1.0"),
        ask("1"),
        answer("1"),
        ask("\"1\""),
        ask("1"),
    ] {
        let asks = text.contains("method");
        let dir = if asks { ToServer } else { ToClient };
        let body = EventBody::message(Payload::Whole(text.into()), LineEnd::Lf);
        let event = Event::new(Offset::default(), dir, body);
        conversation.observe(&event, None, |step| {
            if asks {
                let first = step.first_of_id();
                told.push((
                    step.again,
                    first.and_then(|one| handles.iter().position(|all| *all == one)),
                ));
                handles.extend(step.handle);
            }
        });
    }
    let expected = [
        (false, None),
        (true, Some(0)),
        (true, Some(0)),
        (false, None),
        (true, Some(1)),
    ];
    assert_eq!(told, expected);
}

#[test]
fn members_of_a_batch_are_exchanges_of_their_own() {
    let batch = |one: String, other: String| format!("[{one},{other}]");
    let talk = Talk::default()
        .c(&batch(ask("1"), ask("\"1\"")))
        .s(&batch(answer("\"1\""), answer("1")))
        .s("[]");
    let said = ["Asks 1", "Asks 1", "Answers 1", "Answers 1", "Nothing"];
    assert_eq!(talk.said(), said);
    assert_eq!(talk.ended(), [(1, Outcome::Answered); 2]);
}

#[test]
fn an_http_exchange_ends_its_requests() {
    let address = "127.0.0.1:1".to_owned();
    let opened = EventBody::Opened(Peer::Client {
        address,
        connection: 1,
    });
    let talk = Talk::default().on(1, 4).push(ToServer, opened);
    let talk = talk.c(&ask("1"));
    let talk = talk.push(ToClient, EventBody::Closed(CloseReason::Aborted));
    assert_eq!(talk.ended(), [(2, Outcome::PeerGone)]);
}

/// A message: its session, whether the client sends it, whether it is a request, and the id.
fn messages() -> impl Strategy<Value = Vec<(u32, bool, bool, u8)>> {
    prop::collection::vec((1_u32..4, any::<bool>(), any::<bool>(), 0_u8..6), 0..80)
}

fn play(messages: &[(u32, bool, bool, u8)]) -> Talk {
    messages.iter().fold(Talk::default(), |talk, message| {
        let (session, client, asks, id) = *message;
        let id = id.to_string();
        let text = if asks { ask(&id) } else { answer(&id) };
        let dir = if client { ToServer } else { ToClient };
        talk.on(session, 0).say(dir, &text)
    })
}

proptest! {
    #[test]
    fn a_tape_that_is_cut_anywhere_gives_a_prefix_and_what_is_pending(
        messages in messages(),
        cut in 0_usize..80,
    ) {
        let cut = cut.min(messages.len());
        let (whole, part) = (play(&messages), play(&messages[..cut]));
        prop_assert_eq!(&whole.said()[..part.said().len()], part.said());
        let (whole, part) = (whole.ended(), part.ended());
        for (seq, outcome) in part {
            let later = whole.iter().find(|(one, _)| *one == seq).map(|(_, outcome)| *outcome);
            let waits = outcome == Outcome::StillPending;
            prop_assert!(waits && later.is_some() || later == Some(outcome));
        }
    }

    #[test]
    fn every_request_ends_exactly_once(messages in messages()) {
        let asked = messages.iter().filter(|(_, _, asks, _)| *asks).count();
        prop_assert_eq!(play(&messages).ended().len(), asked);
    }

    #[test]
    fn live_and_from_disk_are_the_same(messages in messages()) {
        // The live conversation also gets the times in between.
        let mut live = Talk::default();
        for message in &messages {
            let (session, client, asks, id) = *message;
            let id = id.to_string();
            let text = if asks { ask(&id) } else { answer(&id) };
            let dir = if client { ToServer } else { ToClient };
            live = live.on(session, 0).say(dir, &text);
            live.conversation.tick(Offset(live.at + 500));
        }
        prop_assert_eq!(live.ended(), play(&messages).ended());
    }
}
