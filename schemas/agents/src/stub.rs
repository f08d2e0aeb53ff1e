//! What stands in for a model whose key is not there.

use tapewright_models::Wire;
use tapewright_models::agent_cassette::Trace;
use tapewright_models::conversation::{Answer, Block, Finish, FinishReason, Response, Usage};

/// The stub: it says always the same, calls no tool and takes no tokens. A run of it shows
/// that servers can be connected, and nothing about a model.
#[derive(Clone, Copy, Debug)]
pub struct Stub;

/// What it says, by which its cassettes are known.
const TEXT: &str = "[stub] no model was called: its key is not set";

impl Stub {
    /// What it answers.
    #[must_use]
    pub fn answer(wire: Wire) -> Response {
        Self::says(wire, TEXT)
    }

    /// What it says as a user: it greets, and has no more to say.
    #[must_use]
    pub fn user(wire: Wire, is_first: bool) -> Response {
        Self::says(wire, if is_first { "[stub] hello" } else { "DONE" })
    }

    /// Whether a trace is of a run of it.
    #[must_use]
    pub fn made(trace: &Trace) -> bool {
        trace.final_response == TEXT
    }

    fn says(wire: Wire, text: &str) -> Response {
        let mut response = Response::new(wire);
        response.answers.push(Answer {
            blocks: vec![Block::text(text)],
            finish: Some(Finish {
                reason: FinishReason::Stop,
                word: "stop".to_owned(),
                sequence: None,
            }),
            ..Answer::default()
        });
        response.usage = Some(Usage {
            input: Some(0),
            output: Some(0),
            ..Usage::default()
        });
        response
    }
}
