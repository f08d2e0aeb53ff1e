//! The lossless law: recording a replay yields the replayed recording.

use std::fmt::Write as _;
use std::io::Cursor;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use tapewright_schemas::cassette::Projector;
use tapewright_schemas::event::Direction::{self, ToClient, ToServer};
use tapewright_schemas::event::{Event, EventBody, LineEnd, Offset, Payload};
use tapewright_schemas::tape::{Ending, Footer, Header};

use super::stage::Stage;

/// A message between a request and its answer.
#[derive(Clone, Debug)]
enum Between {
    Progress(u32),
    Log(String),
    Ask { text: bool },
    Cancel,
}

/// One request of a recording.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
struct Call {
    text_id: bool,
    method: u8,
    params: Option<String>,
    token: bool,
    result: String,
    error: bool,
    between: Vec<Between>,
    answered: bool,
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-0.50e3".to_owned()),
        Just("123456789012345678901".to_owned()),
        "[a-z<>\\\\é漢]{0,8}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just("\"6fa459ea-ee8a-3ca4-894e-db77e160355e\"".to_owned()),
        Just("1763697600".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..3)
            .prop_map(|all| format!("[{}]", all.join(",")));
        let object = prop::collection::vec(("[a-c]", inner), 0..3).prop_map(|all| {
            let member = |(at, (name, value)): (usize, &(String, String))| {
                format!("\"{name}{at}\": {value}")
            };
            let members: Vec<String> = all.iter().enumerate().map(member).collect();
            format!("{{{}}}", members.join(", "))
        });
        prop_oneof![array, object]
    })
}

fn between() -> impl Strategy<Value = Between> {
    prop_oneof![
        (1..9_u32).prop_map(Between::Progress),
        "[a-z]{0,4}".prop_map(Between::Log),
        any::<bool>().prop_map(|text| Between::Ask { text }),
        Just(Between::Cancel),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let ids = (any::<bool>(), 0..3_u8, any::<bool>(), any::<bool>());
    let texts = (prop::option::of(json()), json());
    let rest = (
        prop::collection::vec(between(), 0..4),
        prop::bool::weighted(0.9),
    );
    (ids, texts, rest).prop_map(
        |((text_id, method, token, error), (params, result), (between, answered))| Call {
            text_id,
            method,
            params,
            token,
            result,
            error,
            between,
            answered,
        },
    )
}

impl Call {
    /// The messages of this request.
    fn messages(&self, number: usize, all: &mut Vec<(Direction, String)>) {
        let quoted = |id: usize, text: bool| {
            if text {
                format!("\"{id}\"")
            } else {
                id.to_string()
            }
        };
        let id = quoted(number, self.text_id);
        let mut members = String::new();
        if let Some(params) = &self.params {
            write!(members, "\"p\":{params},").unwrap();
        }
        if self.token {
            write!(members, "\"_meta\":{{\"progressToken\":{number}}},").unwrap();
        }
        let members = members.trim_end_matches(',');
        let method = self.method;
        all.push((
            ToServer,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m{method}","params":{{{members}}}}}"#),
        ));
        let mut cancelled = false;
        for (place, one) in self.between.iter().enumerate() {
            match one {
                Between::Progress(step) if self.token => all.push((
                    ToClient,
                    format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{number},"progress":{step}}}}}"#
                    ),
                )),
                Between::Log(text) => all.push((
                    ToClient,
                    format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{text}"}}}}"#
                    ),
                )),
                Between::Ask { text } => {
                    let id = quoted(number * 100 + place, *text);
                    all.push((
                        ToClient,
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#),
                    ));
                    all.push((
                        ToServer,
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#),
                    ));
                }
                Between::Cancel if !cancelled => {
                    cancelled = true;
                    all.push((
                        ToServer,
                        format!(
                            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                        ),
                    ));
                }
                Between::Cancel | Between::Progress(_) => {}
            }
        }
        let result = &self.result;
        let answer = if self.error {
            format!(r#""error":{{"code":-1,"message":"no","data":{result}}}"#)
        } else {
            format!(r#""result":{result}"#)
        };
        if self.answered {
            all.push((
                ToClient,
                format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#),
            ));
        }
    }
}

/// The cassette of these messages, a millisecond apart.
fn project(messages: &[(Direction, String)]) -> String {
    let timed = |(place, (dir, text)): (u64, &(Direction, String))| (place, *dir, text.clone());
    project_at(&(0..).zip(messages).map(timed).collect::<Vec<_>>())
}

/// The cassette of these messages, each with its time in milliseconds.
pub(crate) fn project_at(messages: &[(u64, Direction, String)]) -> String {
    projected(messages, |projector| projector)
}

/// The cassette of these messages, without times.
fn project_untimed(messages: &[(Direction, String)]) -> String {
    let timed = |(dir, text): &(Direction, String)| (0, *dir, text.clone());
    let messages: Vec<_> = messages.iter().map(timed).collect();
    projected(&messages, Projector::without_times)
}

type ToMemory = Projector<Cursor<Vec<u8>>>;

fn projected(messages: &[(u64, Direction, String)], how: impl Fn(ToMemory) -> ToMemory) -> String {
    let spool = || Cursor::new(Vec::new());
    let mut projector = how(Projector::new(&Header::default(), spool(), spool()));
    for (millis, dir, text) in messages {
        let body = EventBody::message(Payload::Whole(text.clone().into()), LineEnd::Lf);
        let at = Offset(millis * 1_000);
        projector.observe(&Event::new(at, *dir, body)).unwrap();
    }
    let footer = Footer {
        complete: true,
        ..Footer::default()
    };
    let mut text = Vec::new();
    projector
        .finish(&Ending::Footer(footer), &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

/// Plays a recording to a client that sends the recorded messages, each after it has received
/// everything that the recorded client had received before.
fn replay(recording: &str, script: &[(Direction, String)]) -> Vec<(Direction, String)> {
    let mut stage = Stage::new(recording);
    let mut crossed: Vec<(Direction, String)> = Vec::new();
    let mut expected: Vec<&String> = Vec::new();
    for (dir, text) in script {
        let said = if *dir == ToServer {
            crossed.push((ToServer, text.clone()));
            stage.send(text)
        } else {
            expected.push(text);
            let heard = |line: &String| crossed.iter().filter(|(_, text)| text == line).count();
            let wanted = expected.iter().filter(|line| **line == text).count();
            if heard(text) >= wanted {
                continue;
            }
            stage.now += Duration::from_millis(5);
            stage.said()
        };
        crossed.extend(said.into_iter().map(|line| (ToClient, line)));
    }
    crossed
}

/// The content of a cassette, without its times.
fn content(cassette: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for name in ["timing", "at_ms", "sent_ms", "meta"] {
                    members.remove(name);
                }
                members.values_mut().for_each(strip);
            }
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(cassette).unwrap();
    strip(&mut value);
    value
}

fn script(calls: &[Call]) -> Vec<(Direction, String)> {
    let mut script = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        call.messages(number, &mut script);
    }
    script
}

/// The text of every message. Two independent messages may change places: a late answer to a
/// cancelled request, and a log message.
fn sorted(messages: &[(Direction, String)]) -> Vec<(Direction, String)> {
    let mut messages = messages.to_vec();
    messages.sort();
    messages
}

proptest! {
    #[test]
    fn a_replay_recorded_again_is_the_recording(calls in prop::collection::vec(call(), 1..8)) {
        let script = script(&calls);
        let recording = project(&script);
        let crossed = replay(&recording, &script);
        prop_assert_eq!(sorted(&crossed), sorted(&script), "{}", recording);
        prop_assert_eq!(content(&project(&crossed)), content(&recording));
    }

    #[test]
    fn without_times_it_is_as_well(calls in prop::collection::vec(call(), 1..8)) {
        let script = script(&calls);
        let recording = project_untimed(&script);
        let crossed = replay(&recording, &script);
        prop_assert_eq!(sorted(&crossed), sorted(&script), "{}", recording);
        prop_assert_eq!(content(&project(&crossed)), content(&project(&script)), "{}", recording);
    }
}
