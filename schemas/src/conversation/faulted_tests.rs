//! What faults do to exchanges.

use proptest::prelude::*;

use super::exchange::State;
use super::*;
use crate::event::{
    Carrier, CloseReason, ConduitId, Direction, Effect, Event, EventBody, FaultKind, FaultRef,
    LineEnd, MessageNumber, Offset, Origin, Payload, Peer, Release, Replacement, Unroutable, Until,
    What,
};
use Direction::{ToClient, ToServer};

/// A conversation on one conduit, of one message per millisecond.
struct Talk {
    conversation: Conversation<()>,
    at: u64,
    answers: Carrier,
    numbers: [u64; 2],
}

impl Talk {
    /// On lines, or on HTTP with answers on this carrier.
    fn on(answers: Carrier) -> Self {
        let mut talk = Self {
            conversation: Conversation::default(),
            at: 0,
            answers,
            numbers: [0, 0],
        };
        if answers.is_http() {
            let client = Peer::Client {
                address: "127.0.0.1:1".to_owned(),
                connection: 1,
            };
            talk.event(ToServer, EventBody::Opened(client));
        }
        talk
    }

    fn event(&mut self, dir: Direction, body: EventBody) {
        self.at += 1_000;
        let mut event = Event::new(Offset(self.at), dir, body);
        event.seq = self.at / 1_000;
        event.conduit = ConduitId(1);
        self.conversation.observe(&event, None, |_| ());
    }

    fn say(&mut self, dir: Direction, text: &str) {
        let number = &mut self.numbers[dir as usize];
        *number += 1;
        let carrier = match dir {
            ToServer if self.answers.is_http() => Carrier::Post,
            ToServer => Carrier::Line,
            ToClient => self.answers,
        };
        let body = EventBody::Message {
            payload: Payload::Whole(text.to_owned().into()),
            end: LineEnd::Lf,
            origin: Origin {
                number: MessageNumber::new(*number),
                carrier,
                ..Origin::default()
            },
        };
        self.event(dir, body);
    }

    fn ask(&mut self, id: u32) {
        self.say(ToServer, &format!(r#"{{"id":{id},"method":"tools/call"}}"#));
    }

    fn answer(&mut self, id: u32) {
        let result = r#"{"isError":true}"#;
        self.say(ToClient, &format!(r#"{{"id":{id},"result":{result}}}"#));
    }

    /// The fault does this to the last message, or to none.
    fn fault(&mut self, dir: Direction, what: What) {
        let fault = Some(FaultRef {
            name: "f".to_owned(),
            kind: FaultKind::known("reset"),
        });
        let number = MessageNumber::new(self.numbers[dir as usize]);
        let body = EventBody::Faulted(Effect { fault, what }.about(number));
        self.event(dir, body);
    }

    fn rows(mut self) -> Vec<ExchangeRow> {
        self.conversation.finish();
        let over = std::iter::from_fn(|| self.conversation.poll());
        let mut rows: Vec<_> = over.map(|over| ExchangeRow::of(&over)).collect();
        rows.sort_unstable_by_key(|row| row.request_seq);
        rows
    }
}

fn fault_of(row: &ExchangeRow) -> Option<&str> {
    row.fault.as_ref().map(|fault| fault.name.as_str())
}

#[test]
fn an_exchange_ends_with_what_its_sender_saw() {
    let error = What::Replaced {
        by: Replacement::Error,
        code: Some(-5),
    };
    let (cut, all) = (What::Cut { all: false }, What::Cut { all: true });
    let (line, body, event) = (Carrier::Line, Carrier::PostAnswer, Carrier::PostStream);
    for (carrier, what, outcome) in [
        (line, error.clone(), Outcome::Error),
        (body, error, Outcome::Error),
        (body, What::Answered { status: 503 }, Outcome::HttpError),
        (line, cut.clone(), Outcome::PeerGone),
        (body, cut.clone(), Outcome::Failed),
        (event, cut, Outcome::Failed),
        (line, all.clone(), Outcome::Answered),
        (body, all.clone(), Outcome::Failed),
        (event, all, Outcome::Answered),
        (line, What::Repeated { times: 1 }, Outcome::Answered),
    ] {
        let mut talk = Talk::on(carrier);
        talk.ask(1);
        talk.answer(1);
        talk.fault(ToClient, what.clone());
        let rows = talk.rows();
        let row = rows.first().unwrap();
        let case = format!("{carrier:?} {what:?}: {row:?}");
        assert_eq!((rows.len(), row.outcome), (1, outcome), "{case}");
        assert_eq!(fault_of(row), Some("f"), "{case}");
        let code = (outcome == Outcome::Error).then_some(-5);
        assert_eq!(row.error_code, code, "{case}");
        let status = (outcome == Outcome::HttpError).then_some(503);
        assert_eq!(row.http_status, status, "{case}");
        assert_eq!(row.tool_error, outcome == Outcome::Answered, "{case}");
        assert!(row.answer_seq.is_some(), "{case}");
    }
}

#[test]
fn a_response_that_waits_before_its_first_message_names_the_fault() {
    let mut talk = Talk::on(Carrier::PostStream);
    talk.ask(1);
    talk.fault(ToClient, What::Behind { holder: None });
    assert!(talk.conversation.poll_kept().is_some());
    talk.event(ToClient, EventBody::Closed(CloseReason::ReceiverGone));
    let rows = talk.rows();
    assert_eq!(fault_of(rows.first().unwrap()), Some("f"));
}

#[test]
fn what_nothing_answers_on_a_line_that_was_cut_names_the_fault() {
    let mut talk = Talk::on(Carrier::Line);
    talk.ask(1);
    talk.ask(2);
    talk.answer(1);
    talk.fault(ToClient, What::Cut { all: false });
    talk.ask(3);
    talk.event(ToServer, EventBody::Closed(CloseReason::EndOfInput));
    talk.event(ToClient, EventBody::Closed(CloseReason::Policy));
    let rows = talk.rows();
    let faults: Vec<_> = rows.iter().map(fault_of).collect();
    assert_eq!(faults, [Some("f"); 3]);
}

#[test]
fn an_answer_in_place_of_a_held_one_names_the_fault() {
    let mut talk = Talk::on(Carrier::Line);
    talk.ask(1);
    talk.answer(1);
    let held = What::Held { until: Until::Next };
    talk.fault(ToClient, held);
    talk.answer(1);
    // The held answer is not passed on: no request waits for it any more.
    let what = What::NotPassed {
        why: Unroutable::Unasked,
    };
    let nobody = Effect { fault: None, what }.about(None);
    talk.event(ToClient, EventBody::Faulted(nobody));
    let rows = talk.rows();
    let row = rows.first().unwrap();
    assert_eq!((rows.len(), row.outcome), (1, Outcome::Answered));
    assert_eq!(fault_of(row), Some("f"));
}

/// What may happen to a call and its answer.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Asked(u32),
    Answered(u32),
    /// The last answer is passed on that many milliseconds later.
    Delayed(u64),
    Held,
    Released,
    /// The client leaves while its answer is held.
    Left,
    /// It becomes that many milliseconds later.
    Later(u64),
}

fn happenings() -> impl Strategy<Value = Vec<Happens>> {
    let one = prop_oneof![
        4 => (0_u32..4).prop_map(Happens::Asked),
        4 => (0_u32..4).prop_map(Happens::Answered),
        3 => (0_u64..40).prop_map(Happens::Delayed),
        1 => Just(Happens::Held),
        1 => Just(Happens::Released),
        1 => Just(Happens::Left),
        1 => (0_u64..40).prop_map(Happens::Later),
    ];
    prop::collection::vec(one, 0..60)
}

impl Talk {
    fn happens(&mut self, what: Happens) {
        let released = What::Released {
            after: Offset(1),
            why: Release::Due,
            all: true,
        };
        let by = |millis: u64| Offset(millis * 1_000);
        match what {
            Happens::Asked(id) => self.ask(id),
            Happens::Answered(id) => self.answer(id),
            Happens::Delayed(millis) => self.fault(ToClient, What::Delayed { by: by(millis) }),
            Happens::Held => self.fault(ToClient, What::Held { until: Until::Next }),
            Happens::Released => self.fault(ToClient, released),
            Happens::Left => self.fault(ToClient, What::Left { after: Offset(1) }),
            Happens::Later(millis) => {
                self.at += millis * 1_000;
                self.conversation.tick(Offset(self.at));
            }
        }
    }

    /// Each answer that is passed on at a time belongs to an exchange that waits for that time, which is still to come.
    fn is_due_later(&self) -> bool {
        let now = Offset(self.at);
        self.conversation.until.iter().all(|(due, handle)| {
            let exchange = self.conversation.get(*handle);
            let waits = |one: &Exchange<()>| matches!(one.state, State::Until(at, _) if at == *due);
            *due > now && exchange.is_some_and(waits)
        })
    }
}

proptest! {
    /// An exchange may be answered again, or forgotten, while a fault delays its answer.
    #[test]
    fn what_is_delayed_is_passed_on_once_and_then_over(all in happenings()) {
        let mut talk = Talk::on(Carrier::Line);
        for one in &all {
            talk.happens(*one);
            // A delay by nothing is over with the next event.
            talk.conversation.tick(Offset(talk.at));
            prop_assert!(talk.is_due_later());
        }
        let asked = all.iter().filter(|one| matches!(one, Happens::Asked(_))).count();
        prop_assert_eq!(talk.rows().len(), asked);
    }
}
