//! Properties of heads and edits for arbitrary input: called by a fuzz target, and by a test with
//! many inputs.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Uri};
use tapewright_schemas::event::Edit;

use super::edit::{Addresses, EndpointEditor, ResourceEditor, challenge};
use super::fields::{strip, to_vocabulary};
use super::listen::Guard;
use super::names::Names;
use super::origin::{OriginUrl, Scheme};

/// Checks all properties for one input.
///
/// # Panics
///
/// If a property does not hold.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut head = HeaderMap::new();
    for line in text.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let name = name.trim().parse::<HeaderName>();
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value.trim())) {
            head.append(name, value);
        }
        one_line(line);
    }
    stripping(&head);
    let size = usize::from(input.first().copied().unwrap_or(1)).max(1);
    edits(input, size);
}

fn addresses() -> Addresses {
    Addresses {
        theirs: OriginUrl {
            scheme: Scheme::Http,
            host: "up".to_owned(),
            port: 9,
            path: "/mcp".to_owned(),
        },
        ours: "https://us:1".to_owned(),
    }
}

fn stripping(head: &HeaderMap) {
    let guard = Guard::new(([127, 0, 0, 1], 1).into(), &[], &[]);
    if guard
        .check(&Method::GET, &Uri::from_static("/"), head)
        .is_ok()
    {
        let host = head.get(header::HOST).and_then(|host| host.to_str().ok());
        assert!(is_local(host.unwrap_or_default()), "{host:?}");
    }
    let before = to_vocabulary(head);
    let mut stripped = head.clone();
    let names = Names::of(&stripped);
    strip(&mut stripped, names);
    let after = to_vocabulary(&stripped);
    for name in [
        "connection",
        "keep-alive",
        "transfer-encoding",
        "upgrade",
        "proxy-authorization",
    ] {
        assert!(!stripped.contains_key(name));
    }
    assert!(
        stripped
            .get_all(header::TE)
            .iter()
            .all(|value| value == "trailers")
    );
    for name in [
        "host",
        "origin",
        "authorization",
        "mcp-session-id",
        "content-type",
        "cookie",
    ] {
        let all = |head: &HeaderMap| head.get_all(name).iter().cloned().collect::<Vec<_>>();
        assert_eq!(all(head), all(&stripped), "{name}");
    }
    // The remaining fields keep their order.
    let mut rest = before.iter();
    let mut kept = after.iter().filter(|(name, _)| *name != "te");
    assert!(kept.all(|field| rest.any(|known| known == field)));
    let mut again = stripped.clone();
    let names = Names::of(&again);
    strip(&mut again, names);
    assert_eq!(again, stripped);
}

/// Whether a `Host` refers to this machine, decided in another way than by the guard.
fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => host.as_str(),
    };
    let bare = bare.trim_start_matches('[').trim_end_matches(']');
    let address = |text: &str| {
        text.parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
    };
    bare == "localhost" || address(bare) || address(host.trim_matches(['[', ']']))
}

fn one_line(line: &str) {
    let addresses = addresses();
    if let Some(Edit { before, after, .. }) = addresses.location(line) {
        assert_eq!(before, line);
        let path = after
            .strip_prefix("https://us:1")
            .unwrap_or_else(|| panic!("{after}"));
        assert!(line.ends_with(path));
        let origin = line
            .strip_suffix(path)
            .unwrap_or_default()
            .to_ascii_lowercase();
        assert!(origin.ends_with("//up:9"), "{origin}");
    }
    if let Some((changed, edits)) = challenge(line, &addresses) {
        assert!(challenge(&changed, &addresses).is_none());
        assert_eq!(undone(changed.as_bytes(), &edits), line.as_bytes());
    }
}

/// A text with its edits reversed.
fn undone(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    for edit in edits {
        let at =
            memchr::memmem::find(rest, edit.after.as_bytes()).expect("the edit is in the text");
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(edit.before.as_bytes());
        rest = after.get(edit.after.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

fn edits(input: &[u8], size: usize) {
    let endpoint = |size: usize| {
        let mut editor = EndpointEditor::new(addresses());
        let mut out = Vec::new();
        let mut edits = Vec::new();
        for chunk in input.chunks(size) {
            let (bytes, edit) = editor.push(Bytes::copy_from_slice(chunk));
            out.extend_from_slice(&bytes);
            edits.extend(edit);
        }
        out.extend_from_slice(&editor.finish());
        (out, edits)
    };
    let (out, edits) = endpoint(size);
    assert_eq!((&out, &edits), (&endpoint(usize::MAX).0, &endpoint(1).1));
    assert_eq!(undone(&out, &edits), input);

    let mut editor = ResourceEditor::new(addresses());
    let mut out = Vec::new();
    for chunk in input.chunks(size) {
        out.extend_from_slice(&editor.push(Bytes::copy_from_slice(chunk)));
    }
    let (rest, edit) = editor.finish();
    out.extend_from_slice(&rest);
    if edit.is_none() {
        assert_eq!(out, input);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn input() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "host",
            "origin",
            "connection",
            "te",
            "trailers",
            "mcp-session-id",
            "content-length",
            "transfer-encoding",
            "chunked",
            ":",
            ": ",
            ",",
            " ",
            "\n",
            "\n",
            "\r\n",
            "\r",
            "\n\n",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "evil",
            "@",
            "http://up:9",
            "//up:9",
            "HTTP://UP:9",
            "/",
            "/x",
            "?",
            "resource_metadata",
            "resource_metadata=",
            "=",
            "\"",
            "\\",
            "Bearer ",
            "event: endpoint",
            "data: ",
            "data:",
            "event:",
            "id: 1",
            "{\"resource\":\"http://up:9/\"}",
            "{",
            "}",
            "\u{feff}",
            "é",
            "\0",
            "7",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn everything_holds(input in input()) {
            check(&input);
        }
    }
}
