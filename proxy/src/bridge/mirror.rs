//! The parts of a body that the stateless era repeats in header fields (2026-07-28,
//! basic/transports/streamable-http, "Request Metadata").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use tapewright_schemas::era::own_version;
use tapewright_schemas::json;

use super::line::text_of;

/// The revision of the request.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of the request.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The target of the request: a tool, a prompt, a resource, a task.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The prefix of the header field for a mirrored tool argument.
pub(crate) const PARAM_PREFIX: &str = "mcp-param-";

const SENTINEL_START: &str = "=?base64?";
const SENTINEL_END: &str = "?=";

/// A header value for `text`: plain if possible, otherwise, or if it could be mistaken for the
/// base64 form, in the base64 form.
pub(crate) fn encode(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !looks_encoded(text);
    if plain {
        return HeaderValue::from_str(text).ok();
    }
    let encoded = STANDARD.encode(text);
    HeaderValue::from_str(&format!("{SENTINEL_START}{encoded}{SENTINEL_END}")).ok()
}

/// The decoded text of a header value; `None` if it is invalid.
pub(crate) fn decode(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    if !looks_encoded(text) {
        return Some(text.to_owned());
    }
    let encoded = text.strip_prefix(SENTINEL_START)?;
    let bytes = STANDARD.decode(encoded.strip_suffix(SENTINEL_END)?).ok()?;
    String::from_utf8(bytes).ok()
}

fn looks_encoded(text: &str) -> bool {
    text.len() >= SENTINEL_START.len() + SENTINEL_END.len()
        && text.starts_with(SENTINEL_START)
        && text.ends_with(SENTINEL_END)
}

/// The revision in the parameters of a request.
pub(crate) fn version(params: Option<&[u8]>) -> Option<String> {
    Some(text_of(own_version(params?)?)?.into_owned())
}

/// The target of a request, if its method has one.
pub(crate) fn name(method: &str, params: Option<&[u8]>) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        // The tasks extension.
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    Some(text_of(json::find(params?, &[member])?)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_survives_a_header() {
        for text in [
            "echo",
            "",
            "with space",
            " led",
            "trailed ",
            "größe",
            "tab\there",
            "two\r\nlines",
            "=?base64?aGk=?=",
            "=?base64?",
            "file:///a%20b?c=d",
        ] {
            let value = encode(text).unwrap();
            assert!(value.to_str().is_ok(), "{text:?} is visible ASCII");
            assert_eq!(decode(value.as_bytes()).unwrap(), text);
        }
        assert_eq!(encode("echo").unwrap(), "echo");
        assert_eq!(encode("größe").unwrap(), "=?base64?Z3LDtsOfZQ==?=");
        assert_eq!(decode(b"=?base64?###?="), None);
    }

    #[test]
    fn a_name_is_where_its_method_keeps_it() {
        let params = br#"{"name":"t\u0061p","uri":"x:1","taskId":"7"}"#;
        let name = |method| name(method, Some(params.as_slice()));
        assert_eq!(name("tools/call").as_deref(), Some("tap"));
        assert_eq!(name("resources/read").as_deref(), Some("x:1"));
        assert_eq!(name("tasks/get").as_deref(), Some("7"));
        assert_eq!(name("tools/list"), None);
    }
}
