//! Resolves the references that a server sends.

use crate::http::origin::OriginUrl;

/// Resolves a reference against the URL of the document that contains it (RFC 3986, §5), in the
/// forms that HTTP servers use. `None` if it is not an HTTP URL.
pub(crate) fn resolve(base: &OriginUrl, reference: &str) -> Option<OriginUrl> {
    let reference = reference.trim();
    let reference = reference.split('#').next().unwrap_or_default();
    if has_scheme(reference) {
        return OriginUrl::parse(reference).ok();
    }
    if reference.starts_with("//") {
        return OriginUrl::parse(&format!("{}:{reference}", base.scheme.name())).ok();
    }
    let here = base.path.split('?').next().unwrap_or_default();
    let path = if reference.starts_with('/') {
        reference.to_owned()
    } else if reference.is_empty() {
        base.path.clone()
    } else if reference.starts_with('?') {
        format!("{here}{reference}")
    } else {
        let (folder, _) = here.rsplit_once('/')?;
        format!("{folder}/{reference}")
    };
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let path = without_dots(path);
    let mark = if query.is_empty() { "" } else { "?" };
    OriginUrl::parse(&format!("{}{path}{mark}{query}", base.origin())).ok()
}

fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else {
        return false;
    };
    let first = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    first && scheme.bytes().all(word)
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut open = false;
    for part in path.split('/').skip(1) {
        open = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    let end = if open && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_where_a_client_would_go() {
        let base = OriginUrl::parse("http://host:3000/a/sse?x=1").unwrap();
        for (reference, leads) in [
            (
                "/message?sessionId=1",
                "http://host:3000/message?sessionId=1",
            ),
            (
                "/messages/?session_id=a",
                "http://host:3000/messages/?session_id=a",
            ),
            ("message?s=1", "http://host:3000/a/message?s=1"),
            ("../message", "http://host:3000/message"),
            ("./b/../c", "http://host:3000/a/c"),
            ("?y=2", "http://host:3000/a/sse?y=2"),
            ("//other/x", "http://other/x"),
            ("https://other/x#f", "https://other/x"),
            ("", "http://host:3000/a/sse?x=1"),
            ("/a:b", "http://host:3000/a:b"),
            ("..", "http://host:3000/"),
        ] {
            let resolved = resolve(&base, reference).unwrap();
            assert_eq!(resolved.to_string(), leads, "{reference}");
        }
        assert_eq!(resolve(&base, "ftp://host/x"), None);
        assert_eq!(resolve(&base, "javascript:alert"), None);
        assert_eq!(resolve(&base, "/sp ace"), None);
    }
}
