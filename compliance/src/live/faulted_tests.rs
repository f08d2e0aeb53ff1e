//! No peer hangs because of a fault.

use tapewright_schemas::event::{
    Effect, FaultKind, FaultRef, LineEnd, MessageNumber, Origin, Payload, Peer, Release,
    Replacement, Until, What,
};

use super::*;
use crate::finding::Side;

/// Events of one conduit, and the hangs among them: how each is told and who is blamed.
struct Talk {
    live: Live,
    seq: u64,
    at: u64,
    numbers: [u64; 2],
}

impl Talk {
    fn new() -> Self {
        let watch = Watch {
            selection: None,
            hang_after: Some(Offset(30_000_000)),
        };
        Self {
            live: Live::new(Facts::live(), &watch),
            seq: 0,
            at: 0,
            numbers: [0, 0],
        }
    }

    fn event(&mut self, dir: Direction, body: EventBody) {
        self.seq += 1;
        let mut event = Event::new(Offset(self.at * 1_000_000), dir, body);
        event.seq = self.seq;
        self.live.observe(&event, None);
    }

    fn say(&mut self, dir: Direction, text: &str) {
        let number = &mut self.numbers[dir as usize];
        *number += 1;
        let body = EventBody::Message {
            payload: Payload::Whole(text.to_owned().into()),
            end: LineEnd::Lf,
            origin: Origin::line(MessageNumber::new(*number)),
        };
        self.event(dir, body);
    }

    /// A request of the client, with this id.
    fn ask(&mut self, id: u32) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#);
        self.say(Direction::ToServer, &text);
    }

    /// A fault does something to this message of a direction.
    fn fault(&mut self, dir: Direction, number: u64, what: What) {
        let fault = Some(FaultRef {
            name: "f".to_owned(),
            kind: FaultKind::known("hang"),
        });
        let effect = Effect { fault, what };
        let body = EventBody::Faulted(effect.about(MessageNumber::new(number)));
        self.event(dir, body);
    }

    /// What is told until this second.
    fn until(&mut self, at: u64) -> Vec<(FindingStatus, Side)> {
        self.at = at;
        self.live.tick(Offset(at * 1_000_000));
        let told = std::iter::from_fn(|| self.live.poll());
        told.filter_map(|event| match event.body {
            EventBody::Finding(found) => Some((found.status, found.side)),
            _ => None,
        })
        .collect()
    }
}

const HELD: What = What::Held {
    until: Until::Removed,
};

fn released(all: bool) -> What {
    What::Released {
        after: Offset(1),
        why: Release::Removed,
        all,
    }
}

const OPEN: (FindingStatus, Side) = (FindingStatus::Open, Side::Server);

#[test]
fn a_server_owes_nothing_for_what_it_did_not_get() {
    let replaced = What::Replaced {
        by: Replacement::Truncated,
        code: None,
    };
    for what in [
        What::Behind { holder: None },
        What::Changed,
        What::Dropped { too_many: false },
        What::Ended,
        HELD,
        What::HeldAll { cut_after: None },
        What::HeldAmid,
        What::Preceded,
        What::Repeated { times: 1 },
        replaced,
        What::Stalled { time: None },
    ] {
        let mut talk = Talk::new();
        talk.ask(1);
        talk.fault(Direction::ToServer, 1, what.clone());
        assert_eq!(talk.until(900), [], "{what:?}");
        // The next request is its own.
        talk.ask(2);
        assert_eq!(talk.until(1_000), [OPEN], "{what:?}");
    }
}

#[test]
fn the_time_counts_from_when_the_server_got_it() {
    let by = Offset(100_000_000);
    for (what, got) in [
        (What::Delayed { by }, 100),
        (
            What::Sliced {
                pieces: 2,
                by: Some(by),
            },
            100,
        ),
        (What::Logged, 0),
    ] {
        let mut talk = Talk::new();
        talk.ask(1);
        talk.fault(Direction::ToServer, 1, what.clone());
        assert_eq!(talk.until(got + 29), [], "{what:?}");
        assert_eq!(talk.until(got + 31), [OPEN], "{what:?}");
        talk.say(
            Direction::ToClient,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        );
        let closed = (FindingStatus::Closed, Side::Server);
        assert_eq!(talk.until(got + 32), [closed], "{what:?}");
    }
}

#[test]
fn a_request_whose_client_left_before_it_was_passed_on_is_waited_for_by_nobody() {
    let mut talk = Talk::new();
    talk.ask(1);
    let by = Offset(100_000_000);
    talk.fault(Direction::ToServer, 1, What::Delayed { by });
    let after = Offset(1);
    talk.fault(Direction::ToServer, 1, What::Left { after });
    assert_eq!(talk.until(900), []);
}

#[test]
fn what_is_released_counts_from_then_on() {
    let mut talk = Talk::new();
    for (id, what) in [
        (1, What::HeldAll { cut_after: None }),
        (2, What::Behind { holder: None }),
        (3, HELD),
    ] {
        talk.ask(id);
        talk.fault(Direction::ToServer, id.into(), what);
    }
    assert_eq!(talk.until(500), []);
    talk.fault(Direction::ToServer, 3, released(false));
    assert_eq!(talk.until(529), []);
    assert_eq!(talk.until(531), [OPEN]);
    talk.fault(Direction::ToServer, 1, released(true));
    assert_eq!(talk.until(560), []);
    assert_eq!(talk.until(562), [OPEN, OPEN]);
}

#[test]
fn a_response_that_waits_before_its_first_message_is_ours() {
    let mut talk = Talk::new();
    let opened = EventBody::Opened(Peer::Client {
        address: "127.0.0.1:1".to_owned(),
        connection: 1,
    });
    talk.event(Direction::ToServer, opened);
    talk.ask(1);
    talk.fault(Direction::ToClient, 0, What::Behind { holder: None });
    assert_eq!(talk.until(900), []);
    talk.fault(Direction::ToClient, 0, released(true));
    assert_eq!(talk.until(931), [OPEN]);
}

#[test]
fn a_server_that_lacks_another_message_is_not_blamed() {
    let mut talk = Talk::new();
    talk.ask(1);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    talk.say(Direction::ToServer, initialized);
    talk.fault(Direction::ToServer, 2, HELD);
    assert_eq!(talk.until(40), [(FindingStatus::Open, Side::Recorder)]);
    talk.fault(Direction::ToServer, 2, released(false));
    talk.ask(2);
    assert_eq!(talk.until(80), [OPEN]);
    talk.say(Direction::ToServer, initialized);
    talk.fault(Direction::ToServer, 4, What::Dropped { too_many: false });
    talk.ask(3);
    // A cancellation that is kept back changes nothing.
    let kept = What::CancellationKept;
    talk.fault(Direction::ToServer, 5, kept);
    assert_eq!(talk.until(120), [(FindingStatus::Open, Side::Recorder)]);
}

#[test]
fn the_other_side_is_blamed_as_before() {
    let mut talk = Talk::new();
    talk.ask(1);
    talk.say(
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
    );
    talk.fault(Direction::ToClient, 1, What::Dropped { too_many: false });
    assert_eq!(talk.until(40), [OPEN]);
}
