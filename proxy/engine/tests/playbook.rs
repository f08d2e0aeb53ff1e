//! Scripts of a lane's input and its required output: policies, delays, endings.

mod support;

use bytes::Bytes;
use support::Driven;
use tapewright_engine::policy::{Decision, Hold, Holds, Message, Policy, Step, Ticket, Verdict};
use tapewright_engine::{Conduit, Forward};
use tapewright_schemas::event::{CloseReason, Direction, EventBody, Offset, Release};

/// Decides by method name; everything else passes.
#[derive(Clone)]
struct Script(Vec<(&'static str, Verdict)>);

impl Policy for Script {
    fn is_idle(&self) -> bool {
        self.0.is_empty()
    }

    fn decide(&mut self, _: Offset, _: Direction, message: &Message<'_>) -> Decision {
        let rule = self
            .0
            .iter()
            .find(|(method, _)| message.envelope.method() == Some(method));
        rule.map_or(Decision::PASS, |(_, verdict)| verdict.clone().into())
    }
}

impl Holds for Script {
    fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        if now.0 < ticket.0 {
            Hold::Passing
        } else {
            Hold::Over(Release::Due)
        }
    }
}

/// Forwarded at this time; its ticket is the time.
fn held(until: u64) -> Verdict {
    Verdict::Hold {
        ticket: Ticket(until),
        due: Some(Offset(until)),
    }
}

fn scripted(rules: &[(&'static str, Verdict)]) -> Driven<Script> {
    Driven::new(Forward::AtOnce, 1 << 20, Script(rules.to_vec()))
}

fn call(method: &str) -> Vec<u8> {
    format!("{{\"id\":1,\"method\":\"{method}\"}}\r\n").into_bytes()
}

fn effects<P: Policy>(driven: &Driven<P>) -> Vec<String> {
    let mut effects = Vec::new();
    for event in &driven.events {
        if let EventBody::Faulted(faulted) = &event.body {
            effects.push(faulted.effect.what.name());
        }
    }
    effects
}

#[test]
fn a_dropped_message_is_on_the_tape_with_what_was_done() {
    let mut driven = scripted(&[("a", Verdict::Drop)]);
    driven.input(0, &[call("a"), call("b")].concat());
    assert_eq!(driven.out, call("b"));
    assert_eq!(driven.messages().len(), 2);
    assert_eq!(effects(&driven), ["dropped"]);
    assert!(matches!(driven.events[1].body, EventBody::Faulted(_)));
}

#[test]
fn a_delayed_message_lets_others_overtake_and_keeps_its_bytes() {
    let mut driven = scripted(&[("slow", held(5_010))]);
    driven.input(10, &[call("slow"), call("b")].concat());
    assert_eq!(driven.out, call("b"));
    assert!(driven.lane.poll_timeout() <= Some(Offset(5_010)));
    driven.timeout(5_009);
    assert_eq!(driven.out, call("b"));
    driven.timeout(5_010);
    assert_eq!(driven.out, [call("b"), call("slow")].concat());
    assert_eq!(driven.lane.poll_timeout(), None);
}

#[test]
fn an_interrupted_delay_still_passes_on_what_it_holds() {
    let mut driven = scripted(&[("slow", held(9_000_000))]);
    driven.input(0, &call("slow"));
    driven.input(1, b"tail");
    driven.eof(2);
    assert_eq!(driven.out, [call("slow"), b"tail".to_vec()].concat());
}

#[test]
fn replaced_and_repeated() {
    let other = Bytes::from_static(b"{\"other\":1}\n");
    let mut driven = scripted(&[
        ("a", Verdict::Play(vec![Step::Send(other.clone())])),
        ("b", Verdict::Play(vec![Step::Send(call("b").into()); 3])),
    ]);
    driven.input(0, &[call("a"), call("b")].concat());
    assert_eq!(driven.out, [other.to_vec(), call("b").repeat(3)].concat());
    assert_eq!(effects(&driven), ["replaced", "replaced"]);
}

#[test]
fn a_policy_may_close_a_direction() {
    let mut driven = scripted(&[("a", Verdict::Play(vec![Step::Cut]))]);
    driven.input(0, &call("a"));
    assert_eq!(driven.lane.closed(), Some(CloseReason::Policy));
    assert!(driven.out.is_empty());
}

#[test]
fn a_message_split_over_reads_is_decided_once_and_whole() {
    let mut driven = scripted(&[("a", Verdict::Drop)]);
    for byte in [call("a"), call("b")].concat() {
        driven.input(0, &[byte]);
    }
    assert_eq!(driven.out, call("b"));
    assert_eq!(driven.messages().len(), 2);
}

#[test]
fn under_recorded_an_unfinished_line_is_counted_before_it_leaves() {
    let mut driven = Driven::new(Forward::Recorded, 1 << 20, Script(Vec::new()));
    driven.input(0, b"Password? ");
    assert!(driven.out.is_empty());
    assert_eq!(driven.lane.poll_timeout(), Some(Offset(50_000)));
    driven.timeout(50_000);
    assert_eq!(driven.out, b"Password? ");
    assert_eq!(driven.events[0].body, EventBody::Part { bytes: 10 });
    driven.input(60_000, b"yes\n");
    assert_eq!(driven.out, b"Password? yes\n");
    assert_eq!(driven.messages()[0].1, b"Password? yes");
}

#[test]
fn when_the_receiver_is_gone_what_arrived_is_still_told() {
    let mut driven = scripted(&[]);
    driven.lane.space().extend_from_slice(b"{}\nhalf");
    driven.lane.handle_input(Offset(1));
    driven
        .lane
        .handle_close(Offset(2), CloseReason::ReceiverGone);
    driven.drain();
    assert!(driven.out.is_empty());
    assert_eq!(driven.messages().len(), 2);
    let last = &driven.events.last().unwrap().body;
    assert_eq!(last, &EventBody::Closed(CloseReason::ReceiverGone));
}

#[test]
fn the_two_lanes_of_a_conduit_know_their_direction() {
    let settings = support::settings(Forward::AtOnce, 10);
    let mut conduit = Conduit::new(settings, &Script(Vec::new()));
    for dir in [Direction::ToServer, Direction::ToClient] {
        conduit.lane(dir).handle_eof(Offset(0));
        assert_eq!(conduit.lane(dir).poll_event().unwrap().dir, dir);
    }
}

#[test]
fn a_delayed_message_never_lands_inside_another() {
    let mut driven = scripted(&[("slow", held(5_000))]);
    driven.input(0, &call("slow"));
    let large = vec![b'y'; 2 << 20];
    driven.input(1, &large);
    assert_eq!(driven.out.len(), large.len());
    driven.timeout(9_000);
    assert_eq!(driven.out.len(), large.len());
    driven.input(9_001, b"\n");
    assert_eq!(driven.out, [large, b"\n".to_vec(), call("slow")].concat());
}
