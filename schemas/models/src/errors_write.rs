//! Errors as a provider writes them.

use serde_json::{Value, json};

use crate::Wire;
use crate::conversation::{ApiError, ErrorKind};

impl Wire {
    /// The body of an error for this wire, which may differ from the error's own; a missing word is
    /// replaced by that of its kind.
    #[must_use]
    pub fn write_error(self, error: &ApiError) -> Value {
        let word = error
            .word
            .as_deref()
            .unwrap_or_else(|| self.word(error.kind));
        let message = error.message.as_str();
        match self {
            Self::Anthropic => json!({
                "type": "error",
                "error": {"type": word, "message": message},
            }),
            Self::OpenAiChat | Self::OpenAiResponses => json!({
                "error": {"message": message, "type": word, "param": null, "code": null},
            }),
            Self::Gemini => {
                let code = error.status.unwrap_or_else(|| error.kind.status());
                json!({"error": {"code": code, "message": message, "status": word}})
            }
        }
    }

    fn word(self, kind: ErrorKind) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => of_words(kind),
            Self::Gemini => of_google(kind),
        }
    }
}

fn of_words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid_request_error",
        ErrorKind::Auth => "authentication_error",
        ErrorKind::NotFound => "not_found_error",
        ErrorKind::TooLarge => "request_too_large",
        ErrorKind::RateLimit => "rate_limit_error",
        ErrorKind::Quota => "insufficient_quota",
        ErrorKind::Overloaded => "overloaded_error",
        ErrorKind::Timeout => "timeout_error",
        ErrorKind::Server | ErrorKind::Other => "api_error",
    }
}

fn of_google(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid | ErrorKind::TooLarge => "INVALID_ARGUMENT",
        ErrorKind::Auth => "UNAUTHENTICATED",
        ErrorKind::NotFound => "NOT_FOUND",
        ErrorKind::RateLimit | ErrorKind::Quota => "RESOURCE_EXHAUSTED",
        ErrorKind::Overloaded => "UNAVAILABLE",
        ErrorKind::Timeout => "DEADLINE_EXCEEDED",
        ErrorKind::Server | ErrorKind::Other => "INTERNAL",
    }
}

impl ErrorKind {
    /// The HTTP status that providers give to it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Auth => 401,
            Self::NotFound => 404,
            Self::TooLarge => 413,
            Self::RateLimit | Self::Quota => 429,
            Self::Overloaded => 503,
            Self::Timeout => 504,
            Self::Server | Self::Other => 500,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_error;

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let kinds = [
            ErrorKind::Invalid,
            ErrorKind::Auth,
            ErrorKind::NotFound,
            ErrorKind::RateLimit,
            ErrorKind::Overloaded,
            ErrorKind::Timeout,
            ErrorKind::Server,
        ];
        for wire in Wire::ALL {
            for kind in kinds {
                let error = ApiError {
                    wire,
                    status: Some(kind.status()),
                    kind,
                    word: Some(wire.word(kind).to_owned()),
                    message: "nothing".to_owned(),
                    retry_after_ms: None,
                };
                let body = wire.write_error(&error).to_string();
                let read = read_error(wire, kind.status(), |_| None, body.as_bytes());
                assert_eq!(read, error);
            }
        }
    }
}
