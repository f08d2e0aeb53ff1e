//! Interprets a collector's answer, and schedules retries.

use std::time::Duration;

use http::{HeaderMap, StatusCode};

use crate::provider::date_ms;

/// The collector's verdict about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It accepted the request, except for this many spans.
    Taken { rejected: u64 },
    /// It may accept the request later: after this time if specified.
    Later(Option<Duration>),
    /// It will never accept the request.
    Refused,
}

/// The wait before the first retry, unless the collector specifies it; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);
/// The maximum wait, unless the collector specifies it.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The maximum wait that a collector may specify.
const LONGEST_ASKED: Duration = Duration::from_secs(300);

/// Parses an answer (<https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>).
pub(super) fn verdict(status: StatusCode, head: &HeaderMap, body: &[u8]) -> Verdict {
    if status.is_success() {
        return Verdict::Taken {
            rejected: rejected(body),
        };
    }
    match status.as_u16() {
        429 | 502 | 503 | 504 => Verdict::Later(asked(head)),
        _ => Verdict::Refused,
    }
}

/// The number of rejected spans or data points in an accepted request (`partial_success`).
fn rejected(body: &[u8]) -> u64 {
    let answer: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let names = ["rejectedSpans", "rejectedDataPoints"];
    let told = answer.get("partialSuccess");
    let count = told.and_then(|told| names.iter().find_map(|name| told.get(name)));
    // A 64-bit number is a string in protobuf's JSON; some collectors send a number.
    let count = count.and_then(|count| {
        let text = count.as_str().and_then(|text| text.parse().ok());
        count.as_u64().or(text)
    });
    count.unwrap_or_default()
}

/// The wait that the collector specifies: `Retry-After` (RFC 9110 §10.2.3).
fn asked(head: &HeaderMap) -> Option<Duration> {
    let field = |name: &str| head.get(name)?.to_str().ok();
    let text = field("retry-after")?.trim();
    let seconds = text.parse().ok().map(Duration::from_secs);
    let asked = seconds.or_else(|| date_ms(field).map(Duration::from_millis));
    asked.map(|asked| asked.min(LONGEST_ASKED))
}

/// The wait after this many attempts, unless the collector specifies it; `chance` spreads recorders
/// that started together.
pub(crate) fn pause(tries: u32, chance: u8) -> Duration {
    let doubled = PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(10));
    // Between half of it and the whole.
    doubled.min(LONGEST_PAUSE) * (256 + u32::from(chance)) / 512
}

/// A random number. Without a random source, recorders that started together retry together.
pub(crate) fn chance() -> u8 {
    let mut one = [0];
    let drawn = getrandom::fill(&mut one);
    drawn.map_or(128, |()| one.first().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, after: Option<&str>, body: &str) -> Verdict {
        let mut head = HeaderMap::new();
        if let Some(after) = after {
            head.insert("retry-after", after.parse().unwrap());
        }
        verdict(
            StatusCode::from_u16(status).unwrap(),
            &head,
            body.as_bytes(),
        )
    }

    #[test]
    fn only_four_statuses_are_sent_again() {
        for status in 300..600 {
            let later = [429, 502, 503, 504].contains(&status);
            let expected = if later {
                Verdict::Later(None)
            } else {
                Verdict::Refused
            };
            assert_eq!(of(status, None, ""), expected, "{status}");
        }
        assert_eq!(of(400, Some("1"), ""), Verdict::Refused);
    }

    #[test]
    fn a_collector_says_when_to_come_again() {
        let later = |seconds| Verdict::Later(Some(Duration::from_secs(seconds)));
        assert_eq!(of(503, Some("7"), ""), later(7));
        assert_eq!(of(429, Some(" 0 "), ""), later(0));
        assert_eq!(of(429, Some("Wed, 21 Oct 2015 07:28:00 GMT"), ""), later(0));
        assert_eq!(of(503, Some("99999999"), ""), later(300));
        assert_eq!(of(503, Some("soon"), ""), Verdict::Later(None));
    }

    #[test]
    fn a_part_may_be_rejected() {
        let taken = |rejected| Verdict::Taken { rejected };
        for (body, rejected) in [
            ("", 0),
            ("{}", 0),
            (r#"{"partialSuccess":{}}"#, 0),
            (
                r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}"#,
                3,
            ),
            (r#"{"partialSuccess":{"rejectedSpans":4}}"#, 4),
            (r#"{"partialSuccess":{"rejectedDataPoints":"5"}}"#, 5),
            (r#"{"partialSuccess":{"rejectedSpans":"-1"}}"#, 0),
            ("not JSON", 0),
        ] {
            assert_eq!(of(200, None, body), taken(rejected), "{body}");
            assert_eq!(of(202, None, body), taken(rejected), "{body}");
        }
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let pauses: Vec<_> = (1..=9).map(|tries| pause(tries, 255)).collect();
        assert!(pauses.windows(2).all(|two| two[0] <= two[1]));
        assert!(pauses.last().unwrap() <= &LONGEST_PAUSE);
        assert!(pauses.last().unwrap() > &Duration::from_secs(29));
        assert_eq!(pause(1, 0), PAUSE / 2);
        assert!(pause(u32::MAX, 255) <= LONGEST_PAUSE);
    }
}
