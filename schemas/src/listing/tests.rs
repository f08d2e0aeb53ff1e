use super::*;
use crate::event::{Direction, Gap, LineEnd, Offset, SessionKey};
use Direction::{ToClient, ToServer};

/// A conversation fed event by event, one millisecond apart.
struct Talk {
    listing: Listing,
    at: u64,
}

impl Talk {
    fn new(words: &[&str], bodies: bool, kinds: &[LineKind]) -> Self {
        let kinds = kinds.iter().chain(&Wanted::PLAIN).copied().collect();
        let filter = Filter::new(words).unwrap();
        let wanted = Wanted {
            filter,
            kinds,
            bodies,
            timed: true,
        };
        Self {
            listing: Listing::new(wanted),
            at: 0,
        }
    }

    fn plain() -> Self {
        Self::new(&[], false, &[])
    }

    fn event(&mut self, dir: Direction, body: EventBody) {
        self.at += 1_000;
        let mut event = Event::new(Offset(self.at), dir, body);
        event.seq = self.at / 1_000;
        event.session = SessionKey(1);
        self.listing.observe(&event, None);
    }

    fn say(mut self, dir: Direction, text: &str) -> Self {
        let payload = Payload::Whole(text.to_owned().into());
        self.event(dir, EventBody::message(payload, LineEnd::Lf));
        self
    }

    fn ask(self, id: u64) -> Self {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t{id}","_meta":{{"progressToken":{id}}}}}}}"#
        );
        self.say(ToServer, &text)
    }

    fn answer(self, id: u64) -> Self {
        self.say(
            ToClient,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        )
    }

    /// The output so far: the numbers of exchanges, and the kinds of other lines.
    fn lines(&mut self) -> Vec<String> {
        let all = std::iter::from_fn(|| self.listing.poll());
        all.map(|entry| match entry {
            Entry::Exchange { row, .. } => format!("{} {:?}", row.id, row.outcome),
            Entry::Model { row, .. } => format!("model at {}", row.request_seq),
            Entry::Beside(note) => format!("{} at {}", note.kind.name(), note.seq),
        })
        .collect()
    }

    fn end(mut self) -> (Vec<String>, Counts) {
        self.listing.finish();
        (self.lines(), self.listing.counts())
    }
}

#[test]
fn lines_stand_in_the_order_in_which_they_began() {
    let talk = Talk::plain().ask(1).ask(2).ask(3);
    let (lines, counts) = talk.answer(3).answer(1).end();
    assert_eq!(lines, ["1 Answered", "2 StillPending", "3 Answered"]);
    assert_eq!((counts.exchanges, counts.unanswered), (3, 1));
}

#[test]
fn what_is_odd_is_shown_unasked_and_the_rest_where_it_is_asked_for() {
    let play = |mut talk: Talk| {
        talk.event(ToClient, EventBody::Gap(Gap::default()));
        let talk = talk
            .ask(1)
            .say(ToClient, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#)
            .answer(1)
            .answer(1)
            .say(ToClient, "no message");
        talk.end().0
    };
    assert_eq!(
        play(Talk::plain()),
        ["gap at 1", "1 Answered", "late at 5", "noise at 6"]
    );
    assert_eq!(
        play(Talk::new(&["kind:progress"], false, &[])),
        ["progress at 3"]
    );
    let all = play(Talk::new(&["-kind:noise"], false, &[LineKind::Progress]));
    assert_eq!(
        all,
        ["gap at 1", "1 Answered", "progress at 3", "late at 5"]
    );
    assert_eq!(play(Talk::new(&["status:late"], false, &[])), ["late at 5"]);
}

#[test]
fn the_first_lines_come_before_a_request_that_hangs_is_over() {
    let mut talk = Talk::plain().ask(0);
    for id in 1..2_000 {
        talk = talk.ask(id).answer(id);
    }
    let lines = talk.lines();
    assert!(lines.len() > 900, "{}", lines.len());
    assert_eq!(lines.first().map(String::as_str), Some("1 Answered"));
    let (rest, counts) = talk.end();
    assert_eq!(lines.len() + rest.len(), 2_000);
    assert!(rest.contains(&"0 StillPending".to_owned()));
    assert_eq!(counts.shown, 2_000);
}

#[test]
fn members_of_a_batch_keep_their_places() {
    let ask = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let talk = Talk::plain().say(ToServer, &format!("[{},{}]", ask(2), ask(1)));
    let (lines, _) = talk.answer(1).answer(2).end();
    assert_eq!(lines, ["2 Answered", "1 Answered"]);
}

#[test]
fn bodies_are_there_where_they_are_asked_for_and_never_too_many() {
    let big = "x".repeat(40 << 20);
    let ask = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{big}"}}}}"#
        )
    };
    let talk = Talk::new(&["id:2"], true, &[]);
    let mut talk = talk
        .say(ToServer, &ask(1))
        .say(ToServer, &ask(2))
        .answer(2)
        .answer(1)
        .ask(2);
    talk.listing.finish();
    let bodies: Vec<_> = std::iter::from_fn(|| talk.listing.poll())
        .map(|entry| match entry.clone() {
            Entry::Exchange {
                request, answer, ..
            } => (request, answer),
            Entry::Model { .. } | Entry::Beside(_) => panic!("{entry:?}"),
        })
        .collect();
    assert_eq!(bodies[0].0, Body::NoRoom);
    assert_eq!(
        bodies[0].1.text(),
        Some(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#.as_slice())
    );
    assert!(bodies[1].0.text().is_some() && bodies[1].1 == Body::Unwanted);
}

#[test]
fn a_text_is_looked_for_in_what_was_said_where_that_is_shown() {
    let play = |bodies| {
        Talk::new(&["progresstoken"], bodies, &[])
            .ask(1)
            .answer(1)
            .end()
            .0
    };
    assert!(play(false).is_empty());
    assert_eq!(play(true), ["1 Answered"]);
}

#[test]
fn calls_of_models_stand_where_they_began() {
    let mut talk = Talk::plain();
    talk.at = 5_000;
    talk.listing.model_began(1);
    talk.listing.model_began(2);
    talk = talk
        .say(ToServer, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .say(ToClient, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let row = ModelRow {
        request_seq: 1,
        ..Default::default()
    };
    talk.listing
        .model_ended(row, Body::Unwanted, Body::Unwanted);
    talk.listing.no_model(2);
    let (lines, counts) = talk.end();
    assert_eq!(lines, ["model at 1", "1 Answered"]);
    assert_eq!((counts.models, counts.models_shown), (1, 1));
}

#[test]
fn a_listing_that_is_followed_tells_what_happens_as_it_happens() {
    let mut talk = Talk::plain();
    talk.listing = talk.listing.followed();
    let mut talk = talk.ask(1).ask(2).answer(2).say(ToClient, "no message");
    let mut told = Vec::new();
    let mut drain = |talk: &mut Talk| {
        while let Some(change) = talk.listing.poll_change() {
            told.push(match change {
                Change::Open(LinePosition(seq, _), row) => {
                    format!("open {seq} {:?}", row.unwrap().outcome)
                }
                Change::Whole(LinePosition(seq, _), Entry::Exchange { row, .. }) => {
                    format!("whole {seq} {:?} {:?}", row.outcome, row.waited_ms)
                }
                Change::Whole(LinePosition(seq, _), _) => format!("beside {seq}"),
                Change::Gone(LinePosition(seq, _)) => format!("gone {seq}"),
            });
        }
    };
    drain(&mut talk);
    talk.listing.finish();
    drain(&mut talk);
    assert_eq!(
        told,
        [
            "open 1 StillPending",
            "open 2 StillPending",
            "open 2 Answered",
            "beside 4",
            "whole 2 Answered Some(1.0)",
            "whole 1 StillPending Some(3.0)",
        ]
    );
    assert!(talk.listing.poll().is_none());
}

#[test]
fn an_answer_behind_which_nothing_comes_has_arrived_after_a_while() {
    let mut talk = Talk::plain();
    talk.listing = talk.listing.followed();
    let mut talk = talk.ask(1).answer(1);
    while talk.listing.poll_change().is_some() {}
    talk.listing.tick(Offset(60_000_000));
    assert!(matches!(
        talk.listing.poll_change(),
        Some(Change::Whole(LinePosition(1, 0), _))
    ));
}
