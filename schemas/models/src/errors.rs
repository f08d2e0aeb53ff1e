//! Errors that providers report, in any format.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use tapewright_schemas::redact::{Redactor, Rules, Settings};

use crate::Wire;
use crate::conversation::{ApiError, ErrorKind};

static RULES: LazyLock<Option<Arc<Rules>>> =
    LazyLock::new(|| Rules::new(&Settings::default()).ok().map(Arc::new));

/// The maximum length of a recorded message, in characters.
const LONGEST: usize = 2_000;

/// Reads the body of a response with an error status. Any body yields an error: a page of a proxy,
/// half a document, nothing. `head` returns the value of a header.
pub fn read<'h>(
    wire: Wire,
    status: u16,
    head: impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
) -> ApiError {
    let mut error = match serde_json::from_slice::<Value>(body) {
        Ok(value) => of_value(wire, Some(status), &value),
        Err(_) => plain(wire, status, &String::from_utf8_lossy(body)),
    };
    if let Some(told) = retry_after_ms(head) {
        error.retry_after_ms = Some(told);
    }
    error
}

/// How long to wait before a retry: `retry-after-ms`, or `retry-after` in seconds. A date in it is
/// left to callers with a clock.
pub fn retry_after_ms<'h>(head: impl Fn(&str) -> Option<&'h str>) -> Option<u64> {
    let exact = head("retry-after-ms").and_then(|text| milliseconds(text, 1.0));
    exact.or_else(|| head("retry-after").and_then(|text| milliseconds(text, 1_000.0)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between zero and a year"
)]
fn milliseconds(text: &str, unit: f64) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    let time = (number * unit).ceil();
    (0.0..=31_536_000_000.0)
        .contains(&time)
        .then_some(time as u64)
}

fn plain(wire: Wire, status: u16, text: &str) -> ApiError {
    let text = text.trim();
    let message = if text.is_empty() {
        "no message".to_owned()
    } else {
        harmless(text)
    };
    ApiError {
        wire,
        status: Some(status),
        kind: of_status(status),
        word: None,
        message,
        retry_after_ms: None,
    }
}

/// Reads an error that is JSON: `{"error": {…}}`, `{"error": "…"}`, `[{"error": …}]`, or the
/// members by themselves.
pub(crate) fn of_value(wire: Wire, status: Option<u16>, value: &Value) -> ApiError {
    let value = value.get(0).unwrap_or(value);
    let inner = value.get("error").filter(|inner| !inner.is_null());
    let inner = inner.unwrap_or(value);
    let text = |name: &str| inner.get(name).and_then(Value::as_str);
    // An integer there repeats the status.
    let code = text("code").filter(|code| !code.bytes().all(|byte| byte.is_ascii_digit()));
    let kind = text("type").filter(|kind| *kind != "error");
    let word = text("status").or(code).or(kind);
    let status = status.or_else(|| {
        let code = inner.get("code")?.as_u64()?;
        u16::try_from(code).ok()
    });
    let message = inner.get("message").or_else(|| inner.get("detail"));
    let message = match message {
        Some(Value::String(message)) => harmless(message),
        Some(other) => harmless(&other.to_string()),
        None => match inner {
            Value::String(message) => harmless(message),
            other => harmless(&other.to_string()),
        },
    };
    ApiError {
        wire,
        status,
        kind: classify(status, [word, code, kind], &message),
        word: word.map(harmless),
        message,
        retry_after_ms: retry_info(inner),
    }
}

fn classify(status: Option<u16>, words: [Option<&str>; 3], message: &str) -> ErrorKind {
    for word in words.into_iter().flatten() {
        let kind = match word {
            "insufficient_quota" | "billing_error" | "billing_hard_limit_reached" => {
                ErrorKind::Quota
            }
            "authentication_error"
            | "permission_error"
            | "invalid_api_key"
            | "UNAUTHENTICATED"
            | "PERMISSION_DENIED" => ErrorKind::Auth,
            "not_found_error" | "model_not_found" | "NOT_FOUND" => ErrorKind::NotFound,
            "request_too_large" | "context_length_exceeded" => ErrorKind::TooLarge,
            "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => {
                ErrorKind::RateLimit
            }
            "overloaded_error" | "UNAVAILABLE" | "server_overloaded" => ErrorKind::Overloaded,
            "timeout_error" | "DEADLINE_EXCEEDED" => ErrorKind::Timeout,
            "api_error" | "server_error" | "INTERNAL" => ErrorKind::Server,
            // Gemini also uses it for a key.
            "INVALID_ARGUMENT" if message.contains("API key") => ErrorKind::Auth,
            _ => continue,
        };
        return kind;
    }
    status.map_or(ErrorKind::Other, of_status)
}

fn of_status(status: u16) -> ErrorKind {
    match status {
        401 | 403 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        404 => ErrorKind::NotFound,
        408 | 504 => ErrorKind::Timeout,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        400..=499 => ErrorKind::Invalid,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Other,
    }
}

/// `google.rpc.RetryInfo` in the details of a Gemini error: `"retryDelay": "34.07s"`.
fn retry_info(error: &Value) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?;
    milliseconds(delay.as_str()?.strip_suffix('s')?, 1_000.0)
}

/// Without keys, and with limited length.
fn harmless(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    // Only patterns of users can be invalid, and there are none here.
    let Some(rules) = RULES.clone() else {
        return String::new();
    };
    let mut redactor = Redactor::new(rules);
    String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, body: &str) -> ApiError {
        read(Wire::OpenAiChat, status, |_| None, body.as_bytes())
    }

    #[test]
    fn every_shape_of_an_error_is_told() {
        for (status, body, kind, word, message) in [
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                ErrorKind::Overloaded,
                Some("overloaded_error"),
                "Overloaded",
            ),
            (
                429,
                r#"{"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota","param":null}}"#,
                ErrorKind::Quota,
                Some("insufficient_quota"),
                "no money",
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]"#,
                ErrorKind::RateLimit,
                Some("RESOURCE_EXHAUSTED"),
                "slow",
            ),
            (
                400,
                r#"{"object":"error","message":"bad","type":"invalid_request_invalid_args","code":"3051"}"#,
                ErrorKind::Invalid,
                Some("invalid_request_invalid_args"),
                "bad",
            ),
            (
                422,
                r#"{"detail":[{"msg":"field"}]}"#,
                ErrorKind::Invalid,
                None,
                r#"[{"msg":"field"}]"#,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#,
                ErrorKind::Auth,
                Some("INVALID_ARGUMENT"),
                "API key not valid.",
            ),
            (
                502,
                "<html>Bad gateway</html>",
                ErrorKind::Server,
                None,
                "<html>Bad gateway</html>",
            ),
            (500, "", ErrorKind::Server, None, "no message"),
            (
                404,
                r#"{"error":"model not found"}"#,
                ErrorKind::NotFound,
                None,
                "model not found",
            ),
        ] {
            let error = told(status, body);
            assert_eq!(
                (error.kind, error.word.as_deref(), error.message.as_str()),
                (kind, word, message),
                "{body}"
            );
            assert_eq!(error.status, Some(status));
        }
    }

    #[test]
    fn the_time_to_wait_is_read_from_heads_and_details() {
        let wait = |name: &'static str, value: &'static str| {
            retry_after_ms(move |asked: &str| (asked == name).then_some(value))
        };
        assert_eq!(wait("retry-after", "12"), Some(12_000));
        assert_eq!(wait("retry-after-ms", "250"), Some(250));
        assert_eq!(wait("retry-after", "-1"), None);
        assert_eq!(wait("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(wait("retry-after", "1e99"), None);
        let body = r#"{"error":{"code":429,"message":"m","details":[{"retryDelay":"34.07s"}]}}"#;
        assert_eq!(told(429, body).retry_after_ms, Some(34_070));
    }

    #[test]
    fn keys_and_floods_are_not_repeated() {
        let key = ["sk-ant-", "api03-A1b2C3d4E5f6G7h8I9j0"].concat();
        let body = format!(r#"{{"error":{{"message":"wrong key {key}"}}}}"#);
        let error = told(401, &body);
        assert!(!error.message.contains("A1b2C3d4"), "{error}");
        let error = told(500, &"x".repeat(1_000_000));
        assert_eq!(error.message.len(), LONGEST);
    }

    #[test]
    fn an_error_says_provider_status_and_word() {
        let error = told(
            429,
            r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
        );
        assert_eq!(
            error.to_string(),
            "OpenAI answered 429 (rate_limit_error): slow down"
        );
        assert!(error.kind.is_retryable() && !ErrorKind::Quota.is_retryable());
    }
}
