//! The context of a trace in a request: `params._meta.traceparent` and `tracestate` (SEP-414).

use std::borrow::Cow;

use serde::Deserialize;

use super::span::Id;

/// How long a `tracestate` may be; a longer one is left out (<https://www.w3.org/TR/trace-context/#tracestate-limits>).
const STATE_BYTES: usize = 512;

/// Where a request stands in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) trace: Id<16>,
    pub(super) parent: Id<8>,
    pub(super) state: String,
}

#[derive(Deserialize)]
struct Request<'r> {
    #[serde(borrow)]
    params: Option<Params<'r>>,
}

#[derive(Deserialize)]
struct Params<'r> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'r>>,
}

#[derive(Deserialize)]
struct Meta<'r> {
    #[serde(borrow)]
    traceparent: Option<Cow<'r, str>>,
    #[serde(borrow)]
    tracestate: Option<Cow<'r, str>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<Cow<'r, str>>,
}

/// The revision that a request of the stateless revisions names.
pub(super) fn revision(request: &[u8]) -> Option<String> {
    let request: Request<'_> = serde_json::from_slice(request).ok()?;
    let revision = request.params?.meta?.revision?;
    Some(revision.into_owned()).filter(|revision| revision.len() <= 32)
}

impl Context {
    /// The context that a request carries; `None` where it carries none that is valid.
    pub(super) fn of(request: &[u8]) -> Option<Self> {
        let request: Request<'_> = serde_json::from_slice(request).ok()?;
        let meta = request.params?.meta?;
        let mut context = Self::parse(&meta.traceparent?)?;
        context.state = meta
            .tracestate
            .filter(|state| state.len() <= STATE_BYTES)
            .unwrap_or_default()
            .into_owned();
        Some(context)
    }

    /// Reads a `traceparent` (<https://www.w3.org/TR/trace-context/#traceparent-header>).
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, parent, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let [version] = bytes(version)?;
        let [_flags] = bytes(flags)?;
        // A later version may have more parts, and the first none.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace, parent) = (bytes::<16>(trace)?, bytes::<8>(parent)?);
        (trace != [0; 16] && parent != [0; 8]).then_some(Self {
            trace: Id(trace),
            parent: Id(parent),
            state: String::new(),
        })
    }
}

/// Bytes in lower-case hexadecimal.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut read = [0; N];
    if text.len() != 2 * N
        || !text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    {
        return None;
    }
    for (byte, digits) in read.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_request_tells_its_parent() {
        let request = format!(
            r#"{{"id":1,"params":{{"_meta":{{"traceparent":"{GOOD}","tracestate":"a=b"}}}}}}"#
        );
        let context = Context::of(request.as_bytes()).expect("a context");
        assert_eq!(context.state, "a=b");
        assert_eq!(context.trace.0[..2], [0x0a, 0xf7]);
        assert_eq!(context.parent.0[6..], [0x33, 0x31]);
    }

    #[test]
    fn what_the_recommendation_calls_invalid_is_no_context() {
        let bad = [
            "",
            "00",
            &GOOD.replace("00-0", "ff-0"),
            &GOOD.to_uppercase(),
            &format!("{GOOD}-more"),
            &GOOD.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &GOOD.replace("b7ad6b7169203331", &"0".repeat(16)),
            &GOOD.replace("b7ad6b7169203331", "b7ad6b716920333"),
        ];
        for text in bad {
            assert_eq!(Context::parse(text), None, "{text}");
        }
        assert!(Context::parse(&format!("{}-more", GOOD.replace("00-0", "01-0"))).is_some());
    }

    #[test]
    fn a_traceparent_elsewhere_is_only_text() {
        let request = format!(r#"{{"id":1,"params":{{"arguments":{{"traceparent":"{GOOD}"}}}}}}"#);
        assert_eq!(Context::of(request.as_bytes()), None);
        let odd = br#"{"params":{"_meta":{"traceparent":7}}}"#;
        assert_eq!(Context::of(odd), None);
    }
}
