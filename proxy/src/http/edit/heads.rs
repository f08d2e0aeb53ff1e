//! Records what a forward proxy changes in heads: fields of a single connection, the form of the
//! target, and how each leg frames its bodies. Nothing else is changed.

use http::header::{HOST, HeaderMap, HeaderName, TE, TRANSFER_ENCODING};
use http::{Uri, Version};
use tapewright_schemas::event::{Edit, EditTarget};

/// The edits between two heads, field by field, except for the framing of the body: [`framing`]
/// reports it when both legs are known.
pub(crate) fn fields(before: &HeaderMap, after: &HeaderMap) -> Vec<Edit> {
    let mut edits = Vec::new();
    let is_said = |name: &&HeaderName| **name != TRANSFER_ENCODING;
    for name in before.keys().filter(is_said) {
        let (came, goes) = (values(before, name), values(after, name));
        if came == goes {
            continue;
        }
        let what = if goes.is_empty() {
            EditTarget::FieldRemoved
        } else {
            EditTarget::FieldChanged
        };
        edits.push(edit(what, name, came.join(", "), goes.join(", ")));
    }
    let is_new = |name: &&HeaderName| !before.contains_key(*name);
    for name in after.keys().filter(is_said).filter(is_new) {
        let goes = values(after, name).join(", ");
        edits.push(edit(EditTarget::FieldAdded, name, String::new(), goes));
    }
    edits
}

/// Removes a field; returns the edit.
pub(crate) fn remove(head: &mut HeaderMap, name: &HeaderName) -> Edit {
    let before = values(head, name).join(", ");
    head.remove(name);
    edit(EditTarget::FieldRemoved, name, before, String::new())
}

/// The edit of a target: a proxy gets the whole URL, and a server the path and query.
pub(crate) fn target(before: &Uri, after: &Uri) -> Option<Edit> {
    // HTTP/2 has no such forms.
    before.scheme()?;
    Some(Edit {
        what: EditTarget::Target,
        before: before.to_string(),
        after: after.to_string(),
        ..Edit::default()
    })
}

/// How two legs frame the same body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// The version of the incoming leg, and whether the body was chunked there.
    pub(crate) came: (Version, bool),
    /// The version of the outgoing leg.
    pub(crate) goes: Version,
    /// Whether it is sent without a length.
    pub(crate) is_open: bool,
}

impl Framing {
    /// The fields that are added or removed for it: only HTTP/1.1 has chunks (RFC 9112 §7.1).
    pub(crate) fn edit(self) -> Option<Edit> {
        let is_chunked = self.goes == Version::HTTP_11 && self.is_open;
        let was_chunked = self.came.1 && self.came.0 == Version::HTTP_11;
        let chunked = || "chunked".to_owned();
        match (was_chunked, is_chunked) {
            (false, true) => Some(edit(
                EditTarget::FieldAdded,
                &TRANSFER_ENCODING,
                String::new(),
                chunked(),
            )),
            (true, false) => Some(edit(
                EditTarget::FieldRemoved,
                &TRANSFER_ENCODING,
                chunked(),
                String::new(),
            )),
            _ => None,
        }
    }
}

/// The edit that adds a connection-specific field to `Connection` (RFC 9110 §10.1.4), if a request
/// with `head` is sent over HTTP/1.1.
pub(crate) fn te(head: &HeaderMap, goes: Version) -> Option<Edit> {
    let is_named = goes == Version::HTTP_11 && head.contains_key(TE);
    let connection = HeaderName::from_static("connection");
    is_named.then(|| {
        edit(
            EditTarget::FieldAdded,
            &connection,
            String::new(),
            "TE".to_owned(),
        )
    })
}

/// Whether an edit only adapts to the version: `Host` in place of the authority of an HTTP/2
/// request has the same meaning.
pub(crate) fn is_of_version(edit: &Edit, version: Version) -> bool {
    version == Version::HTTP_2 && edit.field == HOST.as_str()
}

fn edit(what: EditTarget, name: &HeaderName, before: String, after: String) -> Edit {
    Edit {
        what,
        field: name.as_str().to_owned(),
        before,
        after,
    }
}

fn values<'a>(head: &'a HeaderMap, name: &HeaderName) -> Vec<std::borrow::Cow<'a, str>> {
    let all = head.get_all(name).iter();
    all.map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut head = HeaderMap::new();
        for (name, value) in fields {
            head.append(*name, value.parse().unwrap());
        }
        head
    }

    fn told(edits: &[Edit]) -> Vec<[&str; 4]> {
        let all = edits.iter();
        all.map(|edit| {
            let (before, after) = (edit.before.as_str(), edit.after.as_str());
            [edit.what.name(), &edit.field, before, after]
        })
        .collect()
    }

    #[test]
    fn each_field_that_differs_is_told_once() {
        let before = head(&[
            ("a", "1"),
            ("connection", "x"),
            ("x", "2"),
            ("x", "3"),
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("transfer-encoding", "chunked"),
        ]);
        let after = head(&[("a", "1"), ("cookie", "a=1; b=2"), ("host", "h")]);
        assert_eq!(
            told(&fields(&before, &after)),
            [
                ["field_removed", "connection", "x", ""],
                ["field_removed", "x", "2, 3", ""],
                ["field_changed", "cookie", "a=1, b=2", "a=1; b=2"],
                ["field_added", "host", "", "h"],
            ]
        );
        assert!(fields(&before, &before).is_empty());
    }

    #[test]
    fn framing_is_told_where_the_legs_differ() {
        let of = |came, was_chunked, goes, is_open| {
            let came = (came, was_chunked);
            let edit = Framing {
                came,
                goes,
                is_open,
            }
            .edit();
            edit.map(|edit| edit.what)
        };
        let (one, two, old) = (Version::HTTP_11, Version::HTTP_2, Version::HTTP_10);
        assert_eq!(of(one, true, one, true), None);
        assert_eq!(of(one, false, one, false), None);
        assert_eq!(of(two, false, one, true), Some(EditTarget::FieldAdded));
        assert_eq!(of(old, false, one, true), Some(EditTarget::FieldAdded));
        assert_eq!(of(one, true, two, true), Some(EditTarget::FieldRemoved));
        assert_eq!(of(one, true, old, true), Some(EditTarget::FieldRemoved));
    }
}
