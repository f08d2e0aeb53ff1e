use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::envelope::RequestId;
use crate::event::Direction::{self, ToClient, ToServer};
use crate::event::{ConduitId, Event, EventBody, LineEnd, Offset, Payload, Scope, SessionKey};

fn session(number: u32) -> Scope {
    Scope {
        session: SessionKey(number),
        exchange: ConduitId(0),
    }
}

fn sessionless(number: u32) -> Scope {
    Scope {
        session: SessionKey(0),
        exchange: ConduitId(number),
    }
}

fn key(source: &str) -> IdKey {
    IdKey::exact_of(source.as_bytes())
}

/// Feeds a pairing with requests and answers in words, and returns the result of each answer.
#[derive(Default)]
struct Talk(Pairing<u64>, u64);

impl Talk {
    fn ask(&mut self, scope: Scope, dir: Direction, id: &str) -> Registered<u64> {
        self.1 += 1;
        self.0.ask(scope, dir, key(id), self.1)
    }

    fn answer(&mut self, scope: Scope, dir: Direction, id: &str) -> String {
        match self
            .0
            .answer(scope, dir, &RequestId::of_source(id.as_bytes()))
        {
            Answer::Pairs(_, number) => number.to_string(),
            Answer::Duplicate => "duplicate".to_owned(),
            Answer::TypeChanged(handle) => format!("type of {}", self.0.get(handle).unwrap()),
            Answer::Forgotten => "forgotten".to_owned(),
            Answer::Orphan => "orphan".to_owned(),
        }
    }

    /// Requests of the first session's client, then answers to it.
    fn plays(asks: &[&str], answers: &[(&str, &str)]) {
        let mut talk = Self::default();
        for id in asks {
            assert!(talk.ask(session(1), ToServer, id).forgotten.is_none());
        }
        for (id, expected) in answers {
            assert_eq!(talk.answer(session(1), ToClient, id), *expected, "{id}");
        }
    }
}

#[test]
fn an_answer_is_for_the_request_of_its_id() {
    Talk::plays(&["1", "2"], &[("2", "2"), ("1", "1")]);
    Talk::plays(&["\"a\"", "\"b\""], &[("\"b\"", "2"), ("\"\\u0061\"", "1")]);
    Talk::plays(
        &["7", "-3", "9000", "8"],
        &[("9000", "3"), ("8", "4"), ("-3", "2"), ("7", "1")],
    );
}

#[test]
fn ids_of_another_type_or_spelling_are_other_ids() {
    Talk::plays(
        &["2", "\"2\"", "2.0"],
        &[("2.0", "3"), ("\"2\"", "2"), ("2", "1")],
    );
}

#[test]
fn a_changed_type_is_told_and_the_request_waits_on() {
    Talk::plays(
        &["2"],
        &[("\"2\"", "type of 1"), ("2", "1"), ("\"2\"", "orphan")],
    );
    Talk::plays(&["\"2\""], &[("2", "type of 1"), ("\"2\"", "1")]);
    Talk::plays(&["\"a\""], &[("2", "orphan")]);
}

#[test]
fn duplicates_and_orphans_are_told_apart() {
    Talk::plays(&["1"], &[("3", "orphan"), ("1", "1"), ("1", "duplicate")]);
    Talk::plays(
        &["\"a\""],
        &[("\"a\"", "1"), ("\"a\"", "duplicate"), ("\"b\"", "orphan")],
    );
}

#[test]
fn of_an_id_in_flight_that_is_used_again_the_first_is_answered_first() {
    let mut talk = Talk::default();
    let first = talk.ask(session(1), ToServer, "1");
    let second = talk.ask(session(1), ToServer, "1");
    let third = talk.ask(session(1), ToServer, "1");
    assert_eq!(first.reuses, None);
    assert_eq!(second.reuses, Some(first.handle));
    assert_eq!(third.reuses, Some(second.handle));
    assert_eq!(talk.0.remove(second.handle), Some(2));
    assert_eq!(talk.0.remove(second.handle), None);
    for expected in ["1", "3", "duplicate"] {
        assert_eq!(talk.answer(session(1), ToClient, "1"), expected);
    }
}

#[test]
fn without_an_id_the_oldest_is_answered() {
    Talk::plays(
        &["null", "1", "null"],
        &[("null", "1"), ("", "3"), ("null", "orphan"), ("1", "2")],
    );
}

#[test]
fn both_sides_and_all_scopes_count_for_themselves() {
    let mut talk = Talk::default();
    for scope in [session(1), session(2), sessionless(1), sessionless(2)] {
        drop(talk.ask(scope, ToServer, "0"));
        drop(talk.ask(scope, ToClient, "0"));
    }
    assert_eq!(talk.answer(sessionless(1), ToServer, "0"), "6");
    assert_eq!(talk.answer(sessionless(1), ToServer, "0"), "duplicate");
    assert_eq!(talk.answer(session(2), ToClient, "0"), "3");
    assert_eq!(talk.answer(session(3), ToClient, "0"), "orphan");
    assert_eq!(talk.0.forget(session(1)), [1, 2]);
    assert_eq!(talk.answer(session(1), ToClient, "0"), "orphan");
    assert_eq!((talk.0.count(ToServer), talk.0.count(ToClient)), (2, 2));
}

#[test]
fn a_cancelled_request_stays_in_flight() {
    let mut talk = Talk::default();
    let first = talk.ask(session(1), ToServer, "1").handle;
    let second = talk.ask(session(1), ToServer, "1").handle;
    let cancel = |talk: &mut Talk, dir| talk.0.cancel(session(1), dir, key("1"));
    assert_eq!(talk.0.latest(session(1), ToServer), Some(second));
    assert_eq!(cancel(&mut talk, ToClient), None);
    assert_eq!(cancel(&mut talk, ToServer), Some(first));
    assert_eq!(cancel(&mut talk, ToServer), Some(second));
    assert_eq!(talk.0.latest(session(1), ToServer), None);
    assert!(talk.0.is_cancelled(second));
    assert_eq!(talk.answer(session(1), ToClient, "1"), "1");
    drop(talk.ask(session(1), ToServer, "null"));
    assert_eq!(talk.0.cancel(session(1), ToServer, IdKey::Null), None);
}

#[test]
fn of_an_id_that_is_used_again_after_a_cancellation_the_new_request_is_answered() {
    let mut talk = Talk::default();
    let first = talk.ask(session(1), ToServer, "1").handle;
    assert_eq!(
        talk.0.cancel(session(1), ToServer, key("1")),
        Some(first),
        "it stays in flight"
    );
    let second = talk.ask(session(1), ToServer, "1");
    assert_eq!(second.reuses, Some(first));
    assert_eq!(talk.answer(session(1), ToClient, "1"), "2");
    // A request that was given up may still be answered.
    assert_eq!(talk.answer(session(1), ToClient, "1"), "1");
    assert_eq!(talk.answer(session(1), ToClient, "1"), "duplicate");
}

#[test]
fn tokens_name_requests_in_flight() {
    let mut talk = Talk::default();
    let one = talk.ask(session(1), ToServer, "1").handle;
    talk.0.set_token(one, key("\"t\""));
    let named = |talk: &Talk, scope| talk.0.by_token(scope, ToServer, key("\"t\""));
    assert_eq!(named(&talk, session(1)), Some(one));
    assert_eq!(named(&talk, session(2)), None);
    talk.answer(session(1), ToClient, "1");
    assert_eq!(named(&talk, session(1)), None);
}

#[test]
fn memory_is_bounded_and_says_what_it_forgot() {
    let mut talk = Talk::default();
    for number in 0..70_000 {
        let asked = talk.ask(session(1), ToServer, &format!("\"{number}\""));
        let forgotten = (number >= 65_536).then(|| number - 65_535);
        assert_eq!(asked.forgotten.map(|(_, number)| number), forgotten);
    }
    assert_eq!((talk.0.len(), talk.0.forgotten()), (65_536, 4_464));
    assert_eq!(talk.answer(session(1), ToClient, "\"0\""), "forgotten");
    assert_eq!(talk.answer(session(1), ToClient, "\"69999\""), "70000");
    assert_eq!(talk.0.iter().next().map(|(_, number)| *number), Some(4_465));
    let mut talk = Talk::default();
    for _ in 0..2_000 {
        drop(talk.ask(session(1), ToServer, "1"));
    }
    assert_eq!((talk.0.len(), talk.0.forgotten()), (1_024, 976));
    assert_eq!(talk.answer(session(1), ToClient, "1"), "977");
    let mut talk = Talk::default();
    for number in 0..100_000 {
        drop(talk.ask(sessionless(number), ToServer, "1"));
        assert_eq!(
            talk.answer(sessionless(number), ToClient, "1"),
            (number + 1).to_string()
        );
    }
    assert_eq!(talk.answer(sessionless(1), ToClient, "1"), "forgotten");
    assert_eq!(talk.answer(sessionless(99_999), ToClient, "1"), "duplicate");
    assert!(talk.0.has_forgotten(sessionless(1), ToServer));
    assert!(!talk.0.has_forgotten(sessionless(99_999), ToServer));
}

#[test]
fn without_memory_a_second_answer_is_an_orphan() {
    let mut pairing = Pairing::without_memory();
    drop(pairing.ask(session(1), ToServer, key("1"), ()));
    let one = RequestId::Number("1");
    assert!(matches!(
        pairing.answer(session(1), ToClient, &one),
        Answer::Pairs(_, ())
    ));
    assert!(matches!(
        pairing.answer(session(1), ToClient, &one),
        Answer::Orphan
    ));
}

/// What is done to a pairing and to a plain model of it.
#[derive(Clone, Debug)]
enum Step {
    Ask,
    Answer,
    Cancel,
    Remove,
}

fn steps() -> impl Strategy<Value = Vec<(Step, u32, i64)>> {
    let step = prop_oneof![
        3 => Just(Step::Ask),
        2 => Just(Step::Answer),
        1 => Just(Step::Cancel),
        1 => Just(Step::Remove),
    ];
    let id = prop_oneof![-3_i64..12, 60_i64..64, 5_000_i64..5_002];
    prop::collection::vec((step, 1_u32..4, id), 0..300)
}

proptest! {
    #[test]
    fn agrees_with_a_plain_model(steps in steps()) {
        let mut pairing = Pairing::default();
        // Scope, id, number, cancelled.
        let mut model: Vec<(u32, i64, u64, bool)> = Vec::new();
        for (number, (step, scope, id)) in (0..).zip(steps) {
            let key = IdKey::Integer(id);
            let is_it = |one: &(u32, i64, u64, bool)| (one.0, one.1) == (scope, id);
            let open = model.iter().position(|one| is_it(one) && !one.3);
            let first = open.or(model.iter().position(is_it));
            let place = session(scope);
            match step {
                Step::Ask => {
                    drop(pairing.ask(place, ToServer, key, number));
                    model.push((scope, id, number, false));
                }
                Step::Answer => {
                    let expected = first.map(|at| model.remove(at).2);
                    prop_assert_eq!(pairing.take(place, ToServer, key), expected);
                }
                Step::Cancel => {
                    let expected = first.map(|at| {
                        model[at].3 = true;
                        model[at].2
                    });
                    let found = pairing.cancel(place, ToServer, key);
                    prop_assert_eq!(found.and_then(|one| pairing.get(one)).copied(), expected);
                }
                Step::Remove => {
                    let last = model.iter().rposition(|one| (one.0, one.1) == (scope, id));
                    let expected = last.map(|at| model.remove(at).2);
                    let found = pairing.iter().find(|(_, one)| Some(**one) == expected);
                    let found = found.map(|(handle, _)| handle);
                    prop_assert_eq!(found.and_then(|one| pairing.remove(one)), expected);
                }
            }
            let numbers: Vec<u64> = model.iter().map(|one| one.2).collect();
            let found: Vec<u64> = pairing.iter().map(|(_, one)| *one).collect();
            prop_assert_eq!(found, numbers);
            let latest = model.iter().rev().find(|one| one.0 == scope && !one.3);
            let found = pairing.latest(place, ToServer).and_then(|one| pairing.get(one));
            prop_assert_eq!(found.copied(), latest.map(|one| one.2));
        }
    }

    #[test]
    fn what_is_noted_of_exchanges_is_found_by_their_handles_alone(steps in steps()) {
        let mut pairing = Pairing::default();
        let mut notes = PerExchange::default();
        let mut model: BTreeMap<Handle, u64> = BTreeMap::new();
        for (number, (step, scope, id)) in (0..).zip(steps) {
            let (place, key) = (session(scope), IdKey::Integer(id));
            if let Step::Ask | Step::Cancel = step {
                let handle = pairing.ask(place, ToServer, key, number).handle;
                // The previous value in its place belongs to an exchange that is over.
                if let Some(before) = notes.insert(handle, number) {
                    model.retain(|_, one| *one != before);
                }
                model.insert(handle, number);
            } else if let Some(handle) = pairing.find(place, ToServer, key) {
                prop_assert_eq!(pairing.remove(handle), model.get(&handle).copied());
                if let Step::Answer = step {
                    prop_assert_eq!(notes.remove(handle), model.remove(&handle));
                    prop_assert_eq!(notes.get(handle), None);
                }
            }
            prop_assert_eq!(notes.len(), model.len());
            for (handle, number) in &model {
                prop_assert_eq!(notes.get(*handle), Some(number));
            }
        }
        let left: Vec<_> = notes.drain().collect();
        prop_assert_eq!(left, model.into_iter().collect::<Vec<_>>());
        prop_assert!(notes.is_empty());
    }

    #[test]
    fn the_order_of_unrelated_scopes_does_not_matter(steps in steps()) {
        let play = |steps: &[(Step, u32, i64)]| {
            let mut talk = Talk::default();
            let mut answers = Vec::new();
            for (step, scope, id) in steps {
                let (place, id) = (session(*scope), id.to_string());
                match step {
                    Step::Ask => drop(talk.0.ask(place, ToServer, key(&id), 0)),
                    Step::Cancel => drop(talk.0.cancel(place, ToServer, key(&id))),
                    _ => answers.push((*scope, talk.answer(place, ToClient, &id))),
                }
            }
            answers.sort_by_key(|(scope, _)| *scope);
            answers
        };
        let mut sorted = steps.clone();
        sorted.sort_by_key(|(_, scope, _)| *scope);
        prop_assert_eq!(play(&steps), play(&sorted));
    }

    #[test]
    fn nor_does_it_to_a_conversation(steps in steps()) {
        let mut sorted = steps.clone();
        sorted.sort_by_key(|(_, scope, _)| *scope);
        prop_assert_eq!(told(&steps), told(&sorted));
    }
}

/// What a conversation reports for each scope: what its messages do, and how its exchanges end.
fn told(steps: &[(Step, u32, i64)]) -> BTreeMap<u32, Vec<String>> {
    let mut conversation = Conversation::<()>::default();
    let mut told: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let over = |conversation: &mut Conversation<()>, told: &mut BTreeMap<u32, Vec<String>>| {
        while let Some(over) = conversation.poll() {
            let words = format!("{} is over: {:?}", over.exchange.seq, over.outcome);
            told.entry(over.exchange.session.0).or_default().push(words);
        }
    };
    for (step, scope, id) in steps {
        let (dir, text) = match step {
            Step::Ask => (ToServer, format!(r#"{{"id":{id},"method":"m"}}"#)),
            Step::Answer => (ToClient, format!(r#"{{"id":{id},"result":{{}}}}"#)),
            Step::Cancel => (
                ToServer,
                format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#),
            ),
            Step::Remove => (ToClient, format!(r#"{{"id":"{id}","result":{{}}}}"#)),
        };
        let payload = Payload::Whole(text.into());
        let body = EventBody::message(payload, LineEnd::Lf);
        let mut event = Event::new(Offset::default(), dir, body);
        (event.session, event.conduit) = (SessionKey(*scope), ConduitId(*scope));
        let of_scope = told.entry(*scope).or_default();
        event.seq = of_scope.len() as u64;
        conversation.observe(&event, None, |step| {
            let exchange = step.exchange.map(|exchange| exchange.seq);
            of_scope.push(format!("{:?} {exchange:?}", step.what));
        });
        over(&mut conversation, &mut told);
    }
    conversation.finish();
    over(&mut conversation, &mut told);
    told
}
