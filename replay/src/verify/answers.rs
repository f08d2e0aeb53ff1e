//! Repeats the recorded client's replies to requests of the server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_proxy::client::{Answer, Answers, ServerRequest};
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::Direction;

use super::request::is_hidden;
use crate::script::{Script, Take};

/// The recorded replies that may be needed next.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded(Arc<Mutex<VecDeque<ServerCall>>>);

/// A request of the server, and its reply.
#[derive(Clone, Debug)]
struct ServerCall {
    key: IdKey,
    method: String,
    answer: Option<Answer>,
}

impl Recorded {
    /// Prepares the replies to requests that the server may send while it handles this take again.
    pub(super) fn expect(&self, script: &Script, take: &Take) {
        let mut waiting: VecDeque<ServerCall> = VecDeque::new();
        for cue in script.cues(take) {
            let words = script.words(&cue.words);
            match (cue.dir, Envelope::parse(&words).kind) {
                (Direction::ToClient, Kind::Request { id, method, .. }) => {
                    waiting.push_back(ServerCall {
                        key: IdKey::exact(&id),
                        method: method.into_owned(),
                        answer: None,
                    });
                }
                (Direction::ToServer, Kind::Response { id, result, error }) => {
                    let key = IdKey::exact(&id);
                    let open = |one: &&mut ServerCall| one.key == key && one.answer.is_none();
                    if let Some(one) = waiting.iter_mut().find(open) {
                        one.answer = Some(answer(result, error));
                    }
                }
                _ => {}
            }
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }
}

fn answer(result: Option<&[u8]>, error: Option<&[u8]>) -> Answer {
    use tapewright_schemas::json::find;

    if is_hidden(result.or(error).unwrap_or_default()) {
        return Answer::Error {
            code: -32_603,
            message: "the recorded answer contains a redacted secret".to_owned(),
        };
    }
    match (result, error) {
        (Some(result), _) => Answer::Result(String::from_utf8_lossy(result).into_owned()),
        (None, error) => {
            let error = error.unwrap_or_default();
            let code = find(error, &["code"]).and_then(|code| std::str::from_utf8(code).ok());
            let message = find(error, &["message"]).unwrap_or_default();
            Answer::Error {
                code: code.and_then(|code| code.parse().ok()).unwrap_or(-32_603),
                message: String::from_utf8_lossy(message)
                    .trim_matches('"')
                    .to_owned(),
            }
        }
    }
}

impl Answers for Recorded {
    fn answer(&mut self, asked: &ServerRequest<'_>) -> Answer {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.iter().position(|one| one.method == asked.method);
        let one = at.and_then(|at| waiting.remove(at));
        match one {
            // Recorded without a reply: the recorded client did not answer either.
            Some(one) => one.answer.unwrap_or(Answer::Silence),
            None => Answer::Default,
        }
    }
}
