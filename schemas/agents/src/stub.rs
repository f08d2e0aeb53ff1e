//! Replaces a model whose key is not set.

use tapewright_models::Wire;
use tapewright_models::agent_cassette::Trace;
use tapewright_models::conversation::{Answer, Block, Finish, FinishReason, Response, Usage};

/// The stub: its messages are always the same, it calls no tool and uses no tokens. A run with it
/// shows that servers can be connected, and nothing about a model.
#[derive(Clone, Copy, Debug)]
pub struct Stub;

/// Its text, which identifies its cassettes.
const TEXT: &str = "[stub] no model was called: its key is not set";

impl Stub {
    /// Its answer.
    #[must_use]
    pub fn answer(wire: Wire) -> Response {
        Self::says(wire, TEXT)
    }

    /// Its messages as a user: a greeting, then the end.
    #[must_use]
    pub fn user(wire: Wire, is_first: bool) -> Response {
        Self::says(wire, if is_first { "[stub] hello" } else { "DONE" })
    }

    /// Whether a trace comes from a run with it.
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
