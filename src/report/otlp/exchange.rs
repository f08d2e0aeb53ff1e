//! The span of an exchange.

use tapewright_schemas::conversation::{ExchangeRow, Outcome};
use tapewright_schemas::listing::Body;

use super::Spans;
use super::content::content;
use super::context::Meta;
use super::event::{fault_names, token};
use super::span::{Attributes, Event, Span, Status};

impl Spans {
    pub(super) fn exchange(
        &mut self,
        row: &ExchangeRow,
        request: &Body,
        answer: &Body,
    ) -> Option<Span> {
        let from = row.at_ms?;
        let to = from + row.waited_ms.unwrap_or_default();
        let meta = request.text().map(Meta::of).unwrap_or_default();
        let revision = if self.is_apart(row.session) {
            meta.revision
        } else {
            let session = self.seen(row.session, from, to);
            if row.method == "initialize" && session.revision.is_none() {
                session.revision = answer.text().and_then(revision);
            }
            session.revision.clone()
        };
        let place = [from, to];
        let mut span = self.span(row.session, row.request_seq, &row.id, place, meta.context);
        let target = row.tool.as_ref().or(row.prompt.as_ref());
        span.name = target.map_or_else(
            || row.method.clone(),
            |target| format!("{} {target}", row.method),
        );
        let to_add = &mut span.attributes;
        to_add.text("mcp.method.name", row.method.as_str());
        to_add.text_of("mcp.protocol.version", revision.as_deref());
        let session = self.sessions.get(row.session);
        if session.is_some_and(|session| session.has_id) {
            to_add.text("mcp.session.id", &self.ids.session(row.session).hex());
        }
        to_add.text_of("mcp.resource.uri", row.resource.as_deref());
        to_add.text_of("gen_ai.tool.name", row.tool.as_deref());
        to_add.text_of("gen_ai.prompt.name", row.prompt.as_deref());
        if row.method == "tools/call" {
            to_add.text("gen_ai.operation.name", "execute_tool");
            if self.content {
                content(request, answer, to_add);
            }
        }
        to_add.text("jsonrpc.request.id", row.id.trim_matches('"'));
        to_add.text_of(
            "rpc.response.status_code",
            row.error_code.map(|code| code.to_string()).as_deref(),
        );
        to_add.number("http.response.status_code", row.http_status.map(u64::from));
        self.network.tell(to_add);
        to_add.text("tapewright.from", row.from);
        to_add.number("tapewright.seq", Some(row.request_seq));
        to_add.number("tapewright.answer_seq", row.answer_seq);
        ending(row, &mut span);
        Some(span)
    }
}

/// Adds how an exchange ended: its error, and as events what happened to it.
fn ending(row: &ExchangeRow, span: &mut Span) {
    let outcome = token(row.outcome);
    let error = match row.outcome {
        Outcome::Answered if row.tool_error => Some("tool_error".to_owned()),
        Outcome::Answered => None,
        Outcome::Error => Some(
            row.error_code
                .map_or_else(|| outcome.clone(), |code| code.to_string()),
        ),
        _ => Some(outcome.clone()),
    };
    span.attributes.text("tapewright.outcome", outcome.as_str());
    if let Some(error) = error {
        span.attributes.text("error.type", &error);
        span.status = Status::ERROR;
    }
    if let Some(fault) = &row.fault {
        let mut attributes = Attributes::default();
        fault_names(fault, &mut attributes);
        span.events.push(Event {
            time_unix_nano: span.start_time_unix_nano,
            name: "tapewright.fault",
            attributes,
        });
    }
    let name = match row.outcome {
        Outcome::Answered | Outcome::Error => return,
        Outcome::Cancelled => "tapewright.cancelled",
        Outcome::Unknown => "tapewright.gap",
        _ => "tapewright.hang",
    };
    let mut attributes = Attributes::default();
    attributes.text("tapewright.outcome", &outcome);
    span.events.push(Event {
        time_unix_nano: span.end_time_unix_nano,
        name,
        attributes,
    });
}

/// The revision in the answer to `initialize`.
fn revision(answer: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer {
        result: Revision,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Revision {
        protocol_version: String,
    }
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    Some(answer.result.protocol_version).filter(|revision| revision.len() <= 32)
}
