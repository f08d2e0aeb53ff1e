//! HTTP heads in a line, written without a copy: one passes with every message.

use super::line::push_text;
use super::seen::SeenFields;
use crate::event::{RequestHead, ResponseHead};
use crate::json::{escape, push_number};
use crate::redact::Redactor;

/// Appends a member that holds a request's head without its secrets.
pub(super) fn push_request(
    redactor: &mut Redactor,
    seen: &mut SeenFields,
    head: &RequestHead,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b",\"request\":{\"method\":\"");
    escape(&redactor.word(&head.method), out);
    out.push(b'"');
    push_text("target", &redactor.target(&head.target), out);
    push_text("version", &redactor.word(&head.version), out);
    seen.push(redactor, &head.fields, out);
    out.push(b'}');
}

/// Appends a member of this name that holds a response's head without its secrets.
pub(super) fn push_response(
    redactor: &mut Redactor,
    seen: &mut SeenFields,
    name: &str,
    head: &ResponseHead,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":{\"status\":");
    push_number(head.status.into(), out);
    push_text("version", &redactor.word(&head.version), out);
    seen.push(redactor, &head.fields, out);
    if let Some(why) = head.ours {
        push_text("ours", why.name(), out);
    }
    if let Some(cause) = head.ours_cause {
        push_text("ours_cause", cause.name(), out);
    }
    if let Some(about) = &head.ours_about {
        push_text("ours_about", &redactor.url(about), out);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{redacted_request, redacted_response};
    use super::*;
    use crate::event::{Fields, InPlace, InPlaceCause};
    use crate::redact::{Rules, Settings};

    #[test]
    fn a_head_is_written_as_serde_writes_it() {
        let rules = Rules::new(&Settings::default()).unwrap();
        let mut redactor = Redactor::new(Arc::new(rules));
        let mut seen = SeenFields::default();
        let fields: Fields = [
            ("Accept", "a/b, \"c\\d\""),
            ("authorization", "Bearer what-nobody-may-know-4711"),
            ("x-é", "ü\t"),
        ]
        .into_iter()
        .collect();
        let request = RequestHead {
            method: "POST".into(),
            target: "/mcp?token=what-nobody-may-know-0815".to_owned(),
            version: "HTTP/1.1".into(),
            fields: fields.clone(),
        };
        let mut out = Vec::new();
        push_request(&mut redactor, &mut seen, &request, &mut out);
        let plain = serde_json::to_string(&redacted_request(&mut redactor, &request)).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!(",\"request\":{plain}")
        );
        assert!(!plain.contains("nobody"), "{plain}");
        for (ours, ours_cause, ours_about) in [
            (None, None, None),
            (
                Some(InPlace::Unreachable),
                Some(InPlaceCause::TlsRefused),
                Some("no \"server\"".to_owned()),
            ),
        ] {
            let response = ResponseHead {
                status: 502,
                version: "HTTP/2.0".into(),
                fields: Fields::default(),
                ours,
                ours_cause,
                ours_about,
            };
            let mut out = Vec::new();
            push_response(&mut redactor, &mut seen, "response", &response, &mut out);
            let plain = serde_json::to_string(&redacted_response(&mut redactor, &response));
            let wanted = format!(",\"response\":{}", plain.unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }
}
