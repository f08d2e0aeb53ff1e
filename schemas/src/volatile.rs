//! Values that are new in every session: UUIDs, times, entity tags, trace ids.
//!
//! Two values of one kind count as equal if no exact match was found. The placeholders are those of
//! other tools for the cassette format, which write them into recordings.

use crate::slices::Part as _;

/// A kind of value that differs from session to session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatile {
    /// Seconds, milliseconds, microseconds or nanoseconds since 1970.
    Epoch,
    /// An HTTP entity tag.
    Etag,
    /// An ISO 8601 date with a time.
    Timestamp,
    /// Any value under the name of a trace or request id.
    Trace,
    /// A UUID of any version.
    Uuid,
}

impl Volatile {
    const ALL: [Self; 5] = [
        Self::Epoch,
        Self::Etag,
        Self::Timestamp,
        Self::Trace,
        Self::Uuid,
    ];

    /// The placeholder for a value of this kind.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Epoch => "<EPOCH>",
            Self::Etag => "<ETAG>",
            Self::Timestamp => "<TIMESTAMP>",
            Self::Trace => "<TRACE-ID>",
            Self::Uuid => "<UUID>",
        }
    }

    /// The kind whose placeholder this is.
    #[must_use]
    pub fn of_placeholder(text: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.placeholder().as_bytes() == text)
    }

    /// The kind of a whole string, which may be a placeholder; `key` is the name of its member.
    #[must_use]
    pub fn of_string(key: &[u8], text: &[u8]) -> Option<Self> {
        if text.first() == Some(&b'<')
            && let Some(kind) = Self::of_placeholder(text)
        {
            return Some(kind);
        }
        if text.is_empty() || text.len() > LONGEST && !is_etag_name(key) {
            return None;
        }
        if is_trace_name(key) {
            return Some(Self::Trace);
        }
        if is_etag_name(key) && is_etag(text) {
            return Some(Self::Etag);
        }
        if uuid(text) == Some(text.len()) {
            return Some(Self::Uuid);
        }
        if timestamp(text) == Some(text.len()) {
            return Some(Self::Timestamp);
        }
        if text.iter().all(u8::is_ascii_digit) && is_epoch(text) {
            return Some(Self::Epoch);
        }
        None
    }

    /// The kind of a number.
    #[must_use]
    pub fn of_number(source: &[u8]) -> Option<Self> {
        let whole = source.split(|byte| *byte == b'.').next()?;
        let digits = source
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
        (digits && is_epoch(whole)).then_some(Self::Epoch)
    }
}

/// Appends `text` with the UUIDs and timestamps inside it replaced; whether there were
/// any.
pub fn mask(text: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut done = 0;
    let mut found = false;
    for hyphen in memchr::memchr_iter(b'-', text) {
        let candidates = [(8, Volatile::Uuid), (4, Volatile::Timestamp)];
        for (before, kind) in candidates {
            let Some(begin) = hyphen.checked_sub(before).filter(|begin| *begin >= done) else {
                continue;
            };
            let rest = text.part(begin..);
            let length = match kind {
                Volatile::Uuid => uuid(rest),
                _ => timestamp(rest),
            };
            let Some(length) = length else { continue };
            let edge = |byte: Option<&u8>| !byte.is_some_and(u8::is_ascii_alphanumeric);
            let left = begin.checked_sub(1).and_then(|at| text.get(at));
            if !edge(left) || !edge(rest.get(length)) {
                continue;
            }
            out.extend_from_slice(text.part(done..begin));
            out.extend_from_slice(kind.placeholder().as_bytes());
            done = begin + length;
            found = true;
            break;
        }
    }
    if !found {
        out.truncate(start);
    }
    out.extend_from_slice(text.part(done..));
    found
}

/// Length of the UUID, of any version and case, at the start of a text.
fn uuid(text: &[u8]) -> Option<usize> {
    const LENGTH: usize = 36;
    let text = text.get(..LENGTH)?;
    let fits = text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    fits.then_some(LENGTH)
}

/// Length of the ISO 8601 date with a time at the start of a text; a zone may be missing.
fn timestamp(text: &[u8]) -> Option<usize> {
    let digits = |from: usize, count: usize| {
        text.get(from..from + count)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
    let day = digits(0, 4) && is(4, b"-") && digits(5, 2) && is(7, b"-") && digits(8, 2);
    if !(day && is(10, b"Tt ") && digits(11, 2) && is(13, b":") && digits(14, 2)) {
        return None;
    }
    let mut end = 16;
    if is(end, b":") && digits(end + 1, 2) {
        end += 3;
        if is(end, b".,") && digits(end + 1, 1) {
            end += 1;
            while digits(end, 1) {
                end += 1;
            }
        }
    }
    if is(end, b"Zz") {
        return Some(end + 1);
    }
    if is(end, b"+-") && digits(end + 1, 2) {
        if is(end + 3, b":") && digits(end + 4, 2) {
            return Some(end + 6);
        }
        if digits(end + 3, 2) {
            return Some(end + 5);
        }
    }
    Some(end)
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, from 2023 to 2033.
fn is_epoch(digits: &[u8]) -> bool {
    matches!(digits.len(), 10 | 13 | 16 | 19) && matches!(digits, [b'1', b'7'..=b'9', ..])
}

fn is_etag(text: &[u8]) -> bool {
    let quoted = text.strip_prefix(b"W/").unwrap_or(text);
    matches!(quoted, [b'"', inner @ .., b'"'] if !inner.is_empty() && !inner.contains(&b'"'))
}

fn is_trace_name(name: &[u8]) -> bool {
    is_name(
        name,
        &[
            "traceid",
            "requestid",
            "correlationid",
            "spanid",
            "parentspanid",
            "xrequestid",
            "traceparent",
        ],
    )
}

fn is_etag_name(name: &[u8]) -> bool {
    is_name(name, &["etag", "ifnonematch"])
}

/// Whether a member name is one of these, in any naming style.
fn is_name(name: &[u8], wanted: &[&str]) -> bool {
    const LONGEST_NAME: usize = 24;
    if name.is_empty() || name.len() > LONGEST_NAME {
        return false;
    }
    let letters = || {
        name.iter()
            .filter(|byte| !matches!(byte, b'_' | b'-'))
            .map(u8::to_ascii_lowercase)
    };
    wanted.iter().any(|one| letters().eq(one.bytes()))
}

/// Whole values of these kinds are never longer.
const LONGEST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known() {
        let cases = [
            (
                "",
                "0190d5a2-7c1e-7b3a-9f00-AB12cd34ef56",
                Some(Volatile::Uuid),
            ),
            (
                "",
                "00000000-0000-0000-0000-000000000000",
                Some(Volatile::Uuid),
            ),
            ("", "2026-11-21T04:09:32Z", Some(Volatile::Timestamp)),
            (
                "",
                "2026-11-21T04:09:32.123456+02:00",
                Some(Volatile::Timestamp),
            ),
            ("", "2026-11-21 04:09", Some(Volatile::Timestamp)),
            ("", "2026-11-21", None),
            ("", "1763697600", Some(Volatile::Epoch)),
            ("", "1763697600123", Some(Volatile::Epoch)),
            ("", "0763697600", None),
            ("Trace_Id", "anything", Some(Volatile::Trace)),
            ("x-request-id", "7", Some(Volatile::Trace)),
            ("id", "anything", None),
            ("ETag", "W/\"abc\"", Some(Volatile::Etag)),
            ("ETag", "abc", None),
            ("", "<UUID>", Some(Volatile::Uuid)),
            ("", "<UUID", None),
        ];
        for (key, text, kind) in cases {
            let found = Volatile::of_string(key.as_bytes(), text.as_bytes());
            assert_eq!(found, kind, "{key} {text}");
        }
        assert_eq!(Volatile::of_number(b"1763697600.25"), Some(Volatile::Epoch));
        assert_eq!(Volatile::of_number(b"-1763697600"), None);
        assert_eq!(Volatile::of_number(b"1763697600e1"), None);
    }

    #[test]
    fn volatile_parts_of_a_text_are_masked() {
        let masked = |text: &str| {
            let mut out = Vec::new();
            let found = mask(text.as_bytes(), &mut out);
            (found, String::from_utf8(out).unwrap())
        };
        assert_eq!(
            masked("file:///tmp/0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56/a-b at 2026-11-21T04:09:32Z."),
            (true, "file:///tmp/<UUID>/a-b at <TIMESTAMP>.".to_owned())
        );
        assert_eq!(
            masked("x0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56"),
            (false, "x0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56".to_owned())
        );
        assert_eq!(masked("a-b-c"), (false, "a-b-c".to_owned()));
    }
}
