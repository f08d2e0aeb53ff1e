//! The span of a model call.

use tapewright_schemas::conversation::{ModelRow, Outcome};
use tapewright_schemas::listing::Body;

use super::Spans;
use super::event::token;
use super::span::{Span, Status};

impl Spans {
    pub(super) fn model(&mut self, row: &ModelRow, request: &Body) -> Option<Span> {
        let from = row.at_ms?;
        let to = from + row.waited_ms.unwrap_or_default();
        if !self.is_apart(row.session) {
            self.seen(row.session, from, to);
        }
        let mut span = self.span(row.session, row.request_seq, "model", [from, to], None);
        let is_answered = row.outcome == Outcome::Answered;
        // A row has one model: the one that answered; the requested one only without an answer.
        let answered = row.model.as_ref().filter(|_| is_answered);
        let asked = request.text().and_then(asked_for);
        let asked = asked.or_else(|| row.model.clone().filter(|_| !is_answered));
        span.name = asked
            .as_ref()
            .or(answered)
            .map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
        let to_add = &mut span.attributes;
        to_add.text("gen_ai.operation.name", "chat");
        to_add.text(
            "gen_ai.provider.name",
            row.provider.as_deref().unwrap_or(row.wire),
        );
        to_add.text_of("gen_ai.request.model", asked.as_deref());
        to_add.text_of("gen_ai.response.model", answered.map(String::as_str));
        to_add.text_of("gen_ai.response.id", row.id.as_deref());
        to_add.number("gen_ai.usage.input_tokens", row.input_tokens);
        to_add.number("gen_ai.usage.output_tokens", row.output_tokens);
        to_add.number(
            "gen_ai.usage.cache_read.input_tokens",
            row.cache_read_tokens,
        );
        to_add.texts(
            "gen_ai.response.finish_reasons",
            row.finish_word.iter().map(String::as_str),
        );
        to_add.number("http.response.status_code", row.http_status.map(u64::from));
        to_add.number("tapewright.seq", Some(row.request_seq));
        let outcome = token(row.outcome);
        to_add.text("tapewright.outcome", outcome.as_str());
        if !is_answered {
            let status = row.http_status.filter(|status| *status >= 400);
            let error = status.map_or(outcome, |status| status.to_string());
            to_add.text("error.type", &error);
            span.status = Status::ERROR;
        }
        Some(span)
    }
}

/// The model in the body of a request; Gemini's wire has it in the URL.
fn asked_for(request: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Request {
        model: String,
    }
    let request: Request = serde_json::from_slice(request).ok()?;
    Some(request.model).filter(|model| model.len() <= 256)
}
