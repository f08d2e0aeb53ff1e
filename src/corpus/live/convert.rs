//! Converts what a client receives to observations.

use serde_json::{Map, Value};
use tapewright_corpus::observation::{Answer, Framing, Reply, Sent, SideMessage};
use tapewright_proxy::client::{Passed, Reply as Heard};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Direction, Offset};

/// An answer in the form that is judged.
pub(super) fn answer(heard: &Heard) -> Answer {
    Answer {
        reply: reply(&heard.message),
        took: Some(heard.took()),
        ..Answer::default()
    }
}

/// A message of the server that answers something.
pub(super) fn reply(message: &[u8]) -> Reply {
    match Envelope::parse(message).kind {
        Kind::Response { result, error, .. } => Reply::read(result, error),
        _ => Reply::None,
    }
}

/// The messages between a request and its answer.
pub(super) fn between(passed: &[Passed], since: Offset) -> Vec<SideMessage> {
    let later = passed.iter().filter(|one| one.at >= since);
    let beside = |one: &Passed| {
        let message = serde_json::from_slice(&one.message).ok()?;
        Some(SideMessage {
            dir: one.dir,
            message,
        })
    };
    later.filter_map(beside).collect()
}

/// Counts the messages that a server wrote.
pub(super) fn frame(framing: &mut Framing, passed: &[Passed], answers: usize) {
    for _ in 0..answers {
        framing.message();
    }
    let came = passed.iter().filter(|one| one.dir == Direction::ToClient);
    for one in came {
        match Envelope::parse(&one.message).kind {
            Kind::Malformed(_) => framing.noise(&one.message),
            _ => framing.message(),
        }
    }
}

/// The request that was sent.
pub(super) fn sent(method: &str, params: Option<&Map<String, Value>>) -> Sent {
    Sent {
        method: Some(method.to_owned()),
        params: params.cloned(),
    }
}

/// Parameters as source text.
pub(super) fn text(params: Option<&Map<String, Value>>) -> Option<String> {
    params.map(|params| serde_json::to_string(params).unwrap_or_default())
}
