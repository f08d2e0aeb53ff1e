//! Counts the operations on a tape while it is written.

use std::collections::VecDeque;
use std::sync::Arc;

use tapewright_schemas::conversation::Gist;
use tapewright_schemas::event::Offset;
use tapewright_schemas::tape::Header;

use crate::operations::{Counting, Operations};

/// Counts the lines of a tape as soon as they are in its file.
#[derive(Debug)]
pub(super) struct Counted(Box<Counting>);

/// How long an event may take until it is on the tape.
const SLACK: Offset = Offset(2_000_000);

impl Counted {
    pub(super) fn new(operations: Arc<Operations>, header: &Header) -> Self {
        Self(Box::new(Counting::new(operations, header)))
    }

    /// Handles a write: encoded events up to this number are in the file, later ones are lost.
    pub(super) fn written(&mut self, gists: &mut VecDeque<Gist>, last: u64) {
        let Self(counting) = self;
        for gist in gists.iter().take_while(|gist| gist.seq() <= last) {
            gist.told(|event, message| counting.observe(event, message));
        }
        gists.clear();
    }

    /// Updates the time.
    pub(super) fn tick(&mut self, now: Offset) {
        self.0.tick(now.since(SLACK));
    }

    /// Ends the tape at this time.
    pub(super) fn finish(mut self, now: Offset) {
        self.0.tick(now);
        self.0.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use tapewright_schemas::event::{
        Added, CloseReason, ConduitId, Direction, Effect, Event, EventBody, Faulted, LineEnd,
        MessageNumber, Origin, Payload, SessionEnd, SessionKey, SessionMark, SessionStart, What,
    };
    use tapewright_schemas::redact::{Redactor, Rules, Settings};
    use tapewright_schemas::tape::VERSION;

    use super::*;
    use crate::operations::tests::{by_tape, text};
    use crate::record::tape_file::TapeWriter;
    use crate::record::{Durability, Recorder, Target, WhenFull};

    fn message(kind: usize, id: u32) -> Option<(Direction, String)> {
        let asks = Direction::ToServer;
        let answers = Direction::ToClient;
        Some(match kind {
            0 => (
                asks,
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t{id}"}}}}"#
                ),
            ),
            1 => (
                asks,
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"x","params":{{"password":"blue-42-heron"}}}}"#
                ),
            ),
            2 => (
                answers,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"isError":true}}}}"#),
            ),
            3 => (
                answers,
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-3260{id},"message":"no"}}}}"#
                ),
            ),
            4 => (
                answers,
                format!(
                    r#"[{{"jsonrpc":"2.0","id":{id},"result":{{}}}},{{"jsonrpc":"2.0","id":9,"method":"ping"}}]"#
                ),
            ),
            5 => (
                asks,
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                ),
            ),
            6 => (answers, "noise".to_owned()),
            7 => (
                answers,
                format!("{{\"jsonrpc\":\"2.0\",\n\"id\":{id},\"result\":{{}}}}"),
            ),
            _ => return None,
        })
    }

    fn event() -> impl Strategy<Value = Event> {
        (0..14_usize, 0..4_u32, 0..3_u32, 1..900_000_u64).prop_map(|(kind, id, session, at)| {
            let number = MessageNumber::new(u64::from(id) + 1);
            let (dir, body) = match (message(kind, id), kind) {
                (Some((dir, text)), _) => {
                    let payload = Payload::Whole(text.into());
                    let origin = Origin {
                        number,
                        ..Origin::default()
                    };
                    let end = LineEnd::Lf;
                    (
                        dir,
                        EventBody::Message {
                            payload,
                            end,
                            origin,
                        },
                    )
                }
                (_, 8) => (
                    Direction::ToClient,
                    EventBody::Closed(CloseReason::EndOfInput),
                ),
                (_, 9) => (
                    Direction::ToServer,
                    EventBody::Session(SessionMark::Began(SessionStart::SessionId)),
                ),
                (_, 10) => (
                    Direction::ToServer,
                    EventBody::Session(SessionMark::Ended(SessionEnd::Deleted)),
                ),
                (_, 11) => (
                    Direction::ToClient,
                    EventBody::Faulted(Box::new(Faulted {
                        message: number,
                        effect: Effect {
                            fault: None,
                            what: What::Dropped { too_many: false },
                        },
                    })),
                ),
                (_, 12) => (
                    Direction::ToClient,
                    EventBody::Added(Added {
                        request_us: 3,
                        response_us: 4,
                    }),
                ),
                _ => (Direction::ToClient, EventBody::Part { bytes: 1 }),
            };
            Event {
                session: SessionKey(session),
                conduit: ConduitId(session),
                ..Event::new(Offset(at), dir, body)
            }
        })
    }

    fn header() -> Header {
        Header {
            tape: VERSION.to_owned(),
            created: "2026-11-21T04:09:32.123Z".to_owned(),
            transport: "http".to_owned(),
            ..Header::default()
        }
    }

    fn rules() -> Arc<Rules> {
        static RULES: OnceLock<Arc<Rules>> = OnceLock::new();
        Arc::clone(RULES.get_or_init(|| Arc::new(Rules::new(&Settings::default()).unwrap())))
    }

    fn tape(path: &Path, operations: &Arc<Operations>) -> TapeWriter {
        let operations = Some(Arc::clone(operations));
        let target = Target::tape_only(path);
        TapeWriter::open(
            target,
            header(),
            Redactor::new(rules()),
            None,
            operations,
            Arc::default(),
        )
    }

    /// The lines of one text that the other does not have.
    fn odd(one: &str, other: &str) -> Vec<String> {
        let pairs = one.lines().zip(other.lines());
        let odd = pairs.filter(|(one, other)| one != other);
        let mut odd: Vec<_> = odd.map(|(one, other)| format!("{one} {other}")).collect();
        let (one, other) = (one.lines().count(), other.lines().count());
        if one != other {
            odd.push(format!("{one} and {other} lines"));
        }
        odd
    }

    /// The metrics of the finished tapes in a folder.
    fn of_tapes(folder: &Path) -> String {
        let operations = Arc::default();
        for file in folder.read_dir().unwrap() {
            let path = file.unwrap().path();
            if path.to_string_lossy().ends_with(".tape.jsonl") {
                by_tape(&std::fs::read(path).unwrap(), &operations);
            }
        }
        text(&operations)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn figures_of_a_recorder_are_those_of_its_finished_tapes(
            mut events in prop::collection::vec(event(), 1..80),
            of_folder in any::<bool>(),
        ) {
            events.sort_by_key(|event| event.at);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("run.tape.jsonl");
            let target = if of_folder { Target::folder(folder.path()) } else { Target::tape_only(&path) };
            let operations = Arc::<Operations>::default();
            let clock = crate::clock::Clock::start();
            let recorder = Recorder::start(crate::record::Settings {
                target,
                durability: Durability::Written,
                when_full: WhenFull::Wait,
                limit_bytes: 1 << 20,
                header: header(),
                command: Vec::new(),
                rules: Box::new(rules),
                judging: None,
                operations: Some(Arc::clone(&operations)),
            }, clock).unwrap();
            for event in &events {
                let mut event = Some(event.clone());
                recorder.record(|| event.take());
            }
            recorder.finish();
            let odd = odd(&text(&operations), &of_tapes(folder.path()));
            prop_assert!(odd.is_empty(), "{:#?}", odd);
        }

        #[test]
        fn what_the_disk_did_not_take_is_not_counted(
            mut events in prop::collection::vec(event(), 1..80),
            batch in 1..20_usize,
            fails in prop::collection::vec(any::<bool>(), 80),
        ) {
            events.sort_by_key(|event| event.at);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("run.tape.jsonl");
            let operations = Arc::default();
            let mut tape = tape(&path, &operations);
            let good = tape.file().unwrap();
            let bad = Arc::new(File::open(&path).unwrap());
            for (batch, fails) in events.chunks(batch).zip(fails) {
                tape.swap_file(Arc::clone(if fails { &bad } else { &good }));
                for event in batch {
                    tape.encode(&mut event.clone());
                }
                tape.flush();
            }
            tape.swap_file(good);
            drop(tape.close(Offset(0)));
            let odd = odd(&text(&operations), &of_tapes(folder.path()));
            prop_assert!(odd.is_empty(), "{:#?}", odd);
        }
    }
}
