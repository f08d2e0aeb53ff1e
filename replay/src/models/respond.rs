//! Sends a recorded answer.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tapewright_models::conversation::{ApiError, Response, StreamEnd};
use tapewright_models::recorded::{Answer, Piece};
use tapewright_models::{Call, Ended, Framing, write_array};
use tapewright_proxy::front::non_mcp::OtherResponse;
use tapewright_schemas::event::Offset;

use super::fields::again;
use super::report::Form;
use super::signature;
use crate::options::Options;
use crate::paths::Goal;

/// The requested form of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerForm {
    pub(super) stream: bool,
    pub(super) framing: Framing,
}

/// Sends a recorded answer.
pub(super) struct Responder<'r> {
    pub(super) call: &'r Call,
    pub(super) answer: &'r Answer,
    pub(super) options: &'r Options,
}

/// The length of a piece of a stream made from a whole answer, in characters.
const PIECE: usize = 40;

/// An answer, byte by byte.
pub(super) fn as_it_came(answer: &Answer, options: &Options) -> OtherResponse {
    let parts = answer.pieces.iter().map(|piece| {
        let wait = options.pace.wait(piece.waited.0, false);
        (wait, piece.bytes.clone())
    });
    let parts = parts.collect();
    given(answer, options, None, parts)
}

fn given(
    answer: &Answer,
    options: &Options,
    kind: Option<&str>,
    mut parts: VecDeque<(Duration, Bytes)>,
) -> OtherResponse {
    for (_, bytes) in &mut parts {
        if let Some(served) = signature::in_base64(bytes) {
            *bytes = served;
        }
    }
    OtherResponse {
        wait: options.pace.wait(answer.waited.0, false),
        status: answer.status,
        fields: again(&answer.fields, kind),
        parts,
        breaks_off: !answer.is_whole,
        ours: None,
    }
}

impl Responder<'_> {
    /// The response, with its recorded and its sent form if they differ.
    pub(super) fn respond(&self, asked: AnswerForm) -> (OtherResponse, Option<(Form, Form)>) {
        let recorded = self.form();
        let wanted = match (asked.stream, asked.framing) {
            (false, _) => Form::Whole,
            (true, Framing::Sse) => Form::Events,
            (true, Framing::JsonArray) => Form::List,
        };
        let is_answer = self.answer.status < 300;
        if recorded != wanted
            && is_answer
            && let Some(ended) = self.answer.said(self.call)
        {
            return (self.rewritten(ended, wanted), Some((recorded, wanted)));
        }
        (self.mapped(recorded), None)
    }

    /// The recorded form.
    fn form(&self) -> Form {
        let is_list = self.call.stream == Some(true) && self.call.framing == Framing::JsonArray;
        match self.answer.is_events {
            true => Form::Events,
            false if is_list => Form::List,
            false => Form::Whole,
        }
    }

    fn rewritten(&self, ended: Ended, wanted: Form) -> OtherResponse {
        if let StreamEnd::Failed(error) = &ended.end {
            return self.failed(error);
        }
        let response = self.at_home(ended.response);
        self.written(&response, wanted)
    }

    /// An error in the middle of a stream, for a client that requested the whole answer.
    fn failed(&self, error: &ApiError) -> OtherResponse {
        let body = self.call.wire.write_error(error).to_string();
        let parts = [(Duration::ZERO, Bytes::from(body))].into();
        let status = error.status.unwrap_or_else(|| error.kind.status());
        OtherResponse {
            status,
            ..given(self.answer, self.options, Some(JSON), parts)
        }
    }

    fn written(&self, response: &Response, wanted: Form) -> OtherResponse {
        let wire = self.call.wire;
        let at_once = |bytes: Vec<u8>| (Duration::ZERO, Bytes::from(bytes));
        let (kind, parts) = match wanted {
            Form::Whole => {
                let body = wire.write_response(response).to_string();
                (JSON, [at_once(body.into_bytes())].into())
            }
            Form::List => {
                let body = write_array(&wire.write_stream(response, PIECE));
                (JSON, [at_once(body)].into())
            }
            Form::Events => {
                let frames = wire.write_stream(response, PIECE);
                let frames = frames.iter().map(|frame| {
                    let mut event = Vec::new();
                    frame.write_sse(&mut event);
                    at_once(event)
                });
                (EVENTS, frames.collect())
            }
        };
        given(self.answer, self.options, Some(kind), parts)
    }

    /// A response with the recorder's paths mapped to the paths here.
    fn at_home(&self, response: Response) -> Response {
        let wire = self.call.wire;
        let text = Bytes::from(wire.write_response(&response).to_string());
        let turned = self.options.paths.turn_all(&text, Goal::Here);
        let turned = turned.and_then(|text| wire.read_response(&text).ok());
        turned.unwrap_or(response)
    }

    /// The recorded answer, with its paths mapped.
    fn mapped(&self, form: Form) -> OtherResponse {
        let plain = || as_it_came(self.answer, self.options);
        if self.options.paths.is_empty() {
            return plain();
        }
        if form != Form::Events {
            let Some(body) = self.options.paths.turn_all(&self.answer.body(), Goal::Here) else {
                return plain();
            };
            let wait: u64 = self.answer.pieces.iter().map(|piece| piece.waited.0).sum();
            let wait = self.options.pace.wait(wait, false);
            return given(self.answer, self.options, None, [(wait, body)].into());
        }
        let pieces: Vec<Piece> = self
            .answer
            .pieces
            .iter()
            .map(|one| self.event(one))
            .collect();
        let answer = Answer {
            pieces,
            ..self.answer.clone()
        };
        let turned = Responder {
            answer: &answer,
            ..*self
        };
        // A path that spans several events is not visible in any of them.
        if let Some(ended) = answer.said(self.call)
            && ended.end == StreamEnd::Complete
        {
            let text = self.call.wire.write_response(&ended.response).to_string();
            if self
                .options
                .paths
                .turn_all(&text.into(), Goal::Here)
                .is_some()
            {
                return turned.written(&turned.at_home(ended.response), form);
            }
        }
        as_it_came(&answer, self.options)
    }

    /// An event with its paths mapped.
    fn event(&self, piece: &Piece) -> Piece {
        let mut out = Vec::with_capacity(piece.bytes.len());
        for line in piece.bytes.split_inclusive(|byte| *byte == b'\n') {
            let data = line.strip_prefix(b"data: ");
            let turned = data.and_then(|data| {
                let data = piece.bytes.slice_ref(data.trim_ascii());
                self.options.paths.turn_all(&data, Goal::Here)
            });
            match turned {
                Some(data) => {
                    out.extend_from_slice(b"data: ");
                    out.extend_from_slice(&data);
                    out.push(b'\n');
                }
                None => out.extend_from_slice(line),
            }
        }
        Piece {
            waited: Offset(piece.waited.0),
            bytes: out.into(),
        }
    }
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
