//! A kind has the same effect in a line, a body and an event of a stream.

use std::sync::Arc;

use bytes::Bytes;
use tapewright_engine::fault::{
    Carried, Chosen, Fault, FaultMatch, FaultSet, Memory, Subject, TransportSupport,
};
use tapewright_engine::policy::{Decision, Hold, Holds, Ticket};
use tapewright_engine::{Outbox, SseFramer, SseItem};
use tapewright_schemas::event::{
    Direction, MessageNumber, Offset, Payload, Release, SessionKey, What,
};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"as it is"}}"#;

/// Decides with the tickets of a fault set.
struct Tickets<'a>(&'a FaultSet);

impl Holds for Tickets<'_> {
    fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        self.0.hold(now, ticket)
    }

    fn give_back(&self, ticket: Ticket) {
        self.0.give_back(ticket);
    }

    fn changes(&self) -> u64 {
        self.0.changes()
    }

    fn due(&self, ticket: Ticket) -> Option<Offset> {
        self.0.due_at(ticket)
    }
}

fn fault_set(fault: &str) -> Arc<FaultSet> {
    let fault_set = FaultSet::new(7, "fs", TransportSupport::Http);
    fault_set
        .add(Fault::parse(fault).expect("a fault"))
        .expect("it may act");
    Arc::new(fault_set)
}

fn chosen(fault_set: &FaultSet) -> Chosen {
    let subject = Subject {
        method: "tools/call",
        text: br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
        dir: Direction::ToServer,
        session: SessionKey(1),
        is_request: true,
    };
    let hit = fault_set
        .choose(Offset(0), &subject)
        .expect("it meets the call");
    Chosen::new(hit, Some(b"1".to_vec()))
}

fn event(text: &str) -> Carried {
    let event = Bytes::from(format!("event: message\ndata: {text}\n\n"));
    let mut framer = SseFramer::new(1 << 20);
    framer.feed(&event);
    let Some(SseItem::Event(fields)) = framer.poll() else {
        panic!("an event");
    };
    Carried::event(&event, &fields, text.as_bytes())
}

fn decide(fault_set: &FaultSet, carried: &Carried) -> Decision {
    let meeting = FaultMatch {
        fault_set,
        now: Offset(0),
        dir: Direction::ToClient,
        carried,
        chosen: &chosen(fault_set),
    };
    meeting.decide(&mut Memory::default())
}

/// All output, and whether the direction was cut.
fn played(fault: &str, carried: &Carried) -> (Vec<u8>, bool) {
    let fault_set = fault_set(fault);
    let mut outbox = Outbox::default();
    let decision = decide(&fault_set, carried);
    outbox.take(
        Offset(0),
        MessageNumber::new(1),
        decision,
        carried.whole().clone(),
    );
    let mut out = Vec::new();
    let mut now = Offset(0);
    loop {
        let cut = outbox.turn(now, &Tickets(&fault_set));
        while let Some(bytes) = outbox.pop() {
            out.extend_from_slice(&bytes);
        }
        if cut || outbox.holds_nothing() {
            return (out, cut);
        }
        now = outbox.due().expect("it is held for a time");
    }
}

/// The data of all events of a stream.
fn data(stream: &[u8]) -> Vec<String> {
    let mut framer = SseFramer::new(1 << 20);
    framer.feed(&Bytes::copy_from_slice(stream));
    let events = std::iter::from_fn(|| framer.poll()).filter_map(|item| match item {
        SseItem::Event(event) => event.data,
        SseItem::Comment(_) => None,
    });
    let texts = events.map(|payload| match payload {
        Payload::Whole(bytes) => String::from_utf8(bytes.to_vec()).expect("text"),
        clipped @ Payload::Clipped { .. } => panic!("{clipped:?}"),
    });
    texts.collect()
}

#[test]
fn a_kind_does_the_same_whatever_carries_the_message() {
    for fault in [
        "slow delay_ms=5",
        "error message=broken",
        "wrong-id id=9",
        "oversize bytes=10",
        "truncate bytes=12",
        "slicer size=3 delay_ms=1",
        "duplicate times=3",
        "garbage text=noise",
    ] {
        let line = Bytes::from(format!("{ANSWER}\n"));
        let (lines, _) = played(fault, &Carried::line(&line));
        let lines = String::from_utf8(lines).expect("text");
        let lines: Vec<&str> = lines.lines().collect();
        let (stream, cut) = played(fault, &event(ANSWER));
        assert!(!cut, "{fault}");
        let events = data(&stream);
        assert_eq!(events, lines, "{fault}");
        let (body, _) = played(
            fault,
            &Carried::body(&Bytes::from_static(ANSWER.as_bytes())),
        );
        let body = String::from_utf8(body).expect("text");
        // A body has no lines: several lines are joined there.
        assert_eq!(body.replace('\n', ""), lines.concat(), "{fault}");
    }
}

#[test]
fn a_connection_is_cut_where_it_is_asked_for() {
    let whole = format!("event: message\ndata: {ANSWER}\n\n");
    let half = &ANSWER[..ANSWER.len() / 2];
    for (at, body, stream) in [
        ("before", String::new(), String::new()),
        ("head", String::new(), "event: message\ndata: ".to_owned()),
        (
            "mid",
            half.to_owned(),
            format!("event: message\ndata: {half}"),
        ),
        ("after", ANSWER.to_owned(), whole),
    ] {
        let fault = format!("reset at={at}");
        let carried = Carried::body(&Bytes::from_static(ANSWER.as_bytes()));
        assert_eq!(played(&fault, &carried), (body.into_bytes(), true), "{at}");
        assert_eq!(
            played(&fault, &event(ANSWER)),
            (stream.into_bytes(), true),
            "{at}"
        );
    }
}

#[test]
fn all_that_wait_for_one_ticket_see_how_it_ends() {
    for (fault, cut) in [("wedged", false), ("timeout timeout_ms=5", true)] {
        let fault_set = fault_set(fault);
        let holds = Tickets(&fault_set);
        let whole = Bytes::from_static(ANSWER.as_bytes());
        let mut holder = Outbox::default();
        let decision = decide(&fault_set, &Carried::body(&whole));
        let ticket = decision.ticket().expect("it is held");
        holder.take(Offset(0), MessageNumber::new(1), decision, whole.clone());
        let mut other = Outbox::default();
        assert!(fault_set.share(ticket));
        let named = fault_set.fault_of(ticket).expect("its fault");
        other.wait_for(Offset(1), ticket, Some(named.clone()));
        assert!(other.waits_for(ticket) && !other.turn(Offset(1), &holds));
        other.take(
            Offset(2),
            MessageNumber::new(1),
            Decision::PASS,
            whole.clone(),
        );
        let told = other.told().expect("it waits behind");
        assert_eq!(told.effect.what, What::Behind { holder: None });
        assert_eq!(told.effect.fault, Some(named));
        if !cut {
            fault_set.remove("wedged-1").expect("it is there");
        }
        for outbox in [&mut holder, &mut other] {
            assert_eq!(outbox.turn(Offset(9_000), &holds), cut, "{fault}");
            assert_eq!(outbox.pop().is_some(), !cut, "{fault}");
        }
        if cut {
            for outbox in [&mut holder, &mut other] {
                outbox.abandon(Offset(9_000), &holds, |after| What::CutOff { after });
            }
            let after = Offset(8_999);
            let told = other.told().expect("it was cut");
            assert_eq!(told.effect.what, What::CutOff { after });
        } else {
            let told = other.told().expect("it goes on");
            let released = What::Released {
                after: Offset(8_999),
                why: Release::Removed,
                all: true,
            };
            assert_eq!(told.effect.what, released);
        }
        assert!(!fault_set.share(ticket), "everybody has given it back");
    }
}

#[test]
fn who_leaves_gives_everything_back() {
    let fault_set = fault_set("hang");
    let whole = Bytes::from_static(ANSWER.as_bytes());
    let mut outbox = Outbox::default();
    let carried = Carried::body(&whole);
    for number in 1..=3 {
        let decision = decide(&fault_set, &carried);
        outbox.take(
            Offset(0),
            MessageNumber::new(number),
            decision,
            whole.clone(),
        );
    }
    assert_eq!(fault_set.entries()[0].holds, 3);
    while outbox.told().is_some() {}
    outbox.abandon(Offset(5), &Tickets(&fault_set), |after| What::Left {
        after,
    });
    assert_eq!(fault_set.entries()[0].holds, 0);
    let told: Vec<_> = std::iter::from_fn(|| outbox.told()).collect();
    let left = What::Left { after: Offset(5) };
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|one| one.effect.what == left), "{told:?}");
}
