//! Reading `expect`: the expectation.

use super::call::headers;
use super::rule::{
    ErrorExpect, MatchMode, NotificationStream, RuleExpect, ServerRequest, TransportObservation,
};
use crate::issue::Code;
use crate::read::Cursor;

/// The keys of `expect` that `call` does not have as well.
pub(super) const KEYS: &[&str] = &[
    "result",
    "match_mode",
    "error",
    "schema",
    "headers_absent",
    "transport_observation",
    "max_duration_ms",
    "stable_keys",
    "notification_stream",
    "server_request",
];

/// Reads an expectation.
pub(super) fn expect(at: &Cursor<'_>) -> RuleExpect {
    let mut fields = at.fields();
    let result = fields.optional("result");
    let mode = fields.optional("match_mode");
    if let (None, Some(mode)) = (&result, &mode) {
        let help = "it says how `result` is compared".to_owned();
        mode.error_at_key(Code::Choice, "`match_mode` without `result`", help);
    }
    let error = fields.optional("error");
    if let (Some(result), Some(_)) = (&result, &error) {
        let help = "an answer has one of them".to_owned();
        result.error_at_key(
            Code::Choice,
            "`result` and `error` cannot be used together",
            help,
        );
    }
    let expect = RuleExpect {
        result: result.map(|at| at.node().to_value()),
        match_mode: match mode.and_then(|at| at.word(&["subset", "exact"])) {
            Some("exact") => MatchMode::Exact,
            _ => MatchMode::Subset,
        },
        error: error.map(|at| error_of(&at)),
        schema: fields.optional("schema").map(|at| at.object().into()),
        headers: fields
            .optional("headers")
            .map(|at| headers(&at))
            .unwrap_or_default(),
        headers_absent: fields.names("headers_absent"),
        transport_observation: fields
            .optional("transport_observation")
            .and_then(|at| observation(&at)),
        max_duration_ms: fields.optional("max_duration_ms").map(|at| at.integer(1)),
        stable_keys: fields.names("stable_keys"),
        notification_stream: fields.optional("notification_stream").map(|at| stream(&at)),
        server_request: fields.optional("server_request").map(|at| request(&at)),
        written: at.node().to_value(),
    };
    fields.finish();
    expect
}

fn error_of(at: &Cursor<'_>) -> ErrorExpect {
    let mut fields = at.fields();
    let error = ErrorExpect {
        code: fields.optional("code").map(|at| at.signed()),
        message: fields.optional_name("message"),
        message_contains: fields.optional_name("message_contains"),
        data: fields.optional("data").map(|at| at.node().to_value()),
        schema: fields.optional("schema").map(|at| at.object().into()),
    };
    fields.finish();
    error
}

fn observation(at: &Cursor<'_>) -> Option<TransportObservation> {
    let word = at.word(&["line_delimited", "content_length_framed", "cancellable"])?;
    Some(match word {
        "line_delimited" => TransportObservation::LineDelimited,
        "content_length_framed" => TransportObservation::ContentLengthFramed,
        _ => TransportObservation::Cancellable,
    })
}

fn stream(at: &Cursor<'_>) -> NotificationStream {
    let mut fields = at.fields();
    let stream = NotificationStream {
        method: fields.name("method"),
        correlate_token: fields.flag("correlate_token"),
        progress_non_decreasing: fields.flag("progress_non_decreasing"),
        absent: fields.flag("absent"),
    };
    fields.finish();
    stream
}

fn request(at: &Cursor<'_>) -> ServerRequest {
    let mut fields = at.fields();
    let request = ServerRequest {
        method: fields.name("method"),
        content_matches_requested_schema: fields.flag("content_matches_requested_schema"),
        schema: fields.optional("schema").map(|at| at.object().into()),
    };
    fields.finish();
    request
}
