//! The trace context of a request: `params._meta.traceparent` and `tracestate` (SEP-414).

use std::sync::LazyLock;

use memchr::memmem::Finder;
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::json::valid_member;

use super::span::Id;

/// The longest `tracestate`, in bytes; a longer one is left out
/// (<https://www.w3.org/TR/trace-context/#tracestate-limits>).
const STATE_BYTES: usize = 512;

/// The place of a request in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) trace: Id<16>,
    pub(super) parent: Id<8>,
    pub(super) state: String,
}

/// The members of `params._meta` that matter for traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    /// The trace context, if it is valid.
    pub(super) context: Option<Context>,
    /// The revision that a request of the stateless revisions declares.
    pub(super) revision: Option<String>,
}

/// Made once: making it costs more than using it on a small message.
static META_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"_meta\""));

impl Meta {
    /// Reads it from a request in JSON.
    pub(super) fn of(request: &[u8]) -> Self {
        // Spares most requests a walk. Names may be written with escapes.
        let may_say =
            META_FINDER.find(request).is_some() || memchr::memchr(b'\\', request).is_some();
        let params = may_say.then(|| valid_member(request, "params")).flatten();
        let meta = params.and_then(|params| valid_member(params, "_meta"));
        meta.map(Self::of_meta).unwrap_or_default()
    }

    fn of_meta(meta: &[u8]) -> Self {
        let text = |name: &str| match RequestId::of_source(valid_member(meta, name)?) {
            RequestId::Text(text) => Some(text.into_owned()),
            _ => None,
        };
        let context = text("traceparent").and_then(|parent| Context::parse(&parent));
        let state = || text("tracestate").filter(|state| state.len() <= STATE_BYTES);
        let revision = text("io.modelcontextprotocol/protocolVersion");
        Self {
            context: context.map(|context| Context {
                state: state().unwrap_or_default(),
                ..context
            }),
            revision: revision.filter(|revision| revision.len() <= 32),
        }
    }
}

impl Context {
    /// Reads a `traceparent` (<https://www.w3.org/TR/trace-context/#traceparent-header>).
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, parent, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let [version] = bytes(version)?;
        let [_flags] = bytes(flags)?;
        // A later version may have more parts, but version 0 must not.
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

/// Parses lower-case hexadecimal.
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
        let context = Meta::of(request.as_bytes()).context.expect("a context");
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
        assert_eq!(Meta::of(request.as_bytes()), Meta::default());
        let odd = br#"{"params":{"_meta":{"traceparent":7}}}"#;
        assert_eq!(Meta::of(odd), Meta::default());
    }

    #[test]
    fn names_and_values_may_be_written_with_escapes() {
        let request = format!(
            r#"{{"id":1,"p\u0061rams":{{"\u005fmeta":{{"tracep\u0061rent":"{}","io.modelcontextprotocol\/protocolVersion":"2026\u002d07-28"}}}}}}"#,
            GOOD.replace("00-", r"\u0030\u0030-"),
        );
        let meta = Meta::of(request.as_bytes());
        assert_eq!(meta.context.expect("a context").parent.0[6..], [0x33, 0x31]);
        assert_eq!(meta.revision.as_deref(), Some("2026-07-28"));
        for not_json in [
            "",
            "{\"params\":{\"_meta\"",
            "\"_meta\"",
            "[\\",
            "{\"params\":\"_meta\"}",
        ] {
            assert_eq!(Meta::of(not_json.as_bytes()), Meta::default(), "{not_json}");
        }
    }
}
