//! Header fields: which belong to one connection, and how they are recorded.

use std::borrow::Cow;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Version};
use tapewright_schemas::event::{Edit, Fields};

use super::edit::heads;
use super::names::Names;
use super::wire;

/// Fields that `Connection` cannot remove: they are meant for the other end, and a sender must not
/// list them there (RFC 9110 §7.6.1). If a sender does, by mistake or to make a proxy hide from the
/// server what it decides by, they are forwarded anyway, as they would be without a proxy.
const TO_THE_END: &[&str] = &[
    "accept",
    "authorization",
    "cookie",
    "host",
    "last-event-id",
    "location",
    "origin",
    "referer",
    "set-cookie",
    "trailer",
    "www-authenticate",
];

/// More of these, by prefix.
const TO_THE_END_BY_PREFIX: &[&str] = &["access-control-", "content-", "mcp-", "sec-fetch-"];

/// Removes the fields of a single connection from a head with these names. The others keep their
/// order.
pub(crate) fn strip(fields: &mut HeaderMap, names: Names) {
    if !names.has(Names::OF_ONE_HOP) {
        return;
    }
    let listed: Vec<HeaderName> = items(fields, &header::CONNECTION)
        // It is removed anyway, and most servers list it.
        .filter(|name| !name.eq_ignore_ascii_case("keep-alive"))
        .filter_map(|name| name.parse().ok())
        .filter(|name: &HeaderName| {
            let name = name.as_str();
            let begins = |prefix: &&str| name.starts_with(prefix);
            !TO_THE_END.contains(&name) && !TO_THE_END_BY_PREFIX.iter().any(begins)
        })
        .collect();
    let trailers = names.has(Names::TE)
        && items(fields, &header::TE).any(|item| item.eq_ignore_ascii_case("trailers"));
    // RFC 9112 §6.3: the coding frames the message, and takes precedence over a length.
    let coded = names.has(Names::TRANSFER_ENCODING);
    remove(fields, |name| {
        is_of_one_hop(name) || listed.contains(name) || (coded && *name == header::CONTENT_LENGTH)
    });
    if trailers {
        fields.insert(header::TE, HeaderValue::from_static("trailers"));
    }
}

/// Removes from trailers the fields that are not allowed there, and returns the edits.
pub(crate) fn strip_trailers(trailers: &mut HeaderMap) -> Vec<Edit> {
    if trailers.keys().all(wire::may_trail) {
        return Vec::new();
    }
    let came = trailers.clone();
    remove(trailers, |name| !wire::may_trail(name));
    heads::fields(&came, trailers)
}

/// Removes fields. The others keep their order.
fn remove(fields: &mut HeaderMap, ends: impl Fn(&HeaderName) -> bool) {
    // The last one takes the place of a removed one. Most heads end with connection-specific
    // fields, so nothing is moved.
    while let Some(last) = fields.keys().last().filter(|name| ends(name)).cloned() {
        fields.remove(last);
    }
    if !fields.keys().any(&ends) {
        return;
    }
    let mut name = None;
    // Add space for `Host`.
    let room = HeaderMap::with_capacity(fields.len() + 1);
    for (next, value) in std::mem::replace(fields, room) {
        name = next.or(name);
        if let Some(name) = name.as_ref().filter(|name| !ends(name)) {
            fields.append(name, value);
        }
    }
}

/// Whether a field belongs to a single connection by its name alone.
pub(crate) fn is_of_one_hop(name: &HeaderName) -> bool {
    Names::named(name.as_str()).has(Names::OF_ONE_HOP)
}

/// Whether a message with these names has no transfer coding but `chunked`, the only one that is
/// supported: transfer codings belong to a single connection, and a proxy must decode them (RFC
/// 9112 §7).
pub(crate) fn is_plainly_coded(fields: &HeaderMap, names: Names) -> bool {
    if !names.has(Names::TRANSFER_ENCODING) {
        return true;
    }
    let mut codings = items(fields, &header::TRANSFER_ENCODING);
    let only = |coding: &str| coding.eq_ignore_ascii_case("chunked");
    codings.next().is_none_or(only) && codings.next().is_none()
}

/// The items of the comma-separated lists under a name.
pub(crate) fn items<'a>(fields: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    fields
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// The name of a method.
pub(crate) fn method_of(method: &Method) -> Cow<'static, str> {
    match *method {
        Method::DELETE => "DELETE".into(),
        Method::GET => "GET".into(),
        Method::POST => "POST".into(),
        _ => method.to_string().into(),
    }
}

/// The name of an HTTP version.
pub(crate) fn version_of(version: Version) -> Cow<'static, str> {
    match version {
        Version::HTTP_10 => "HTTP/1.0".into(),
        Version::HTTP_11 => "HTTP/1.1".into(),
        other => format!("{other:?}").into(),
    }
}

/// The fields in the form of the tape. The encoder redacts them later.
pub(crate) fn to_vocabulary(fields: &HeaderMap) -> Fields {
    Fields::of_head(|| {
        let all = fields.iter();
        all.map(|(name, value)| (name.as_str(), value.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(fields: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, HeaderValue::from_static(value));
        }
        let names = Names::of(&map);
        strip(&mut map, names);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        to_vocabulary(&map).iter().map(owned).collect()
    }

    fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        fields.iter().map(own).collect()
    }

    #[test]
    fn what_stays_keeps_its_order() {
        let fields = [
            ("a", "1"),
            ("connection", "keep-alive, b"),
            ("b", "2"),
            ("c", "3"),
            ("c", "4"),
            ("upgrade", "h2c"),
            ("d", "5"),
        ];
        let rest = [("a", "1"), ("c", "3"), ("c", "4"), ("d", "5")];
        assert_eq!(stripped(&fields), owned(&rest));
    }

    #[test]
    fn what_ends_at_us_goes_from_wherever_it_stands() {
        let rest = [("a", "1"), ("b", "2"), ("b", "3"), ("c", "4")];
        let kept = owned(&rest);
        for place in 0..=rest.len() {
            for hops in [
                &[("connection", "keep-alive")][..],
                &[("connection", "x, close"), ("x", "y"), ("upgrade", "h2c")],
                &[("te", "gzip"), ("te", "br")],
            ] {
                let mut fields = rest.to_vec();
                fields.splice(place..place, hops.iter().copied());
                assert_eq!(stripped(&fields), kept, "{fields:?}");
            }
        }
    }

    #[test]
    fn what_is_meant_for_the_other_end_stays() {
        let fields = [
            ("connection", "Origin, MCP-Session-Id,content-type, x"),
            ("origin", "http://evil"),
            ("mcp-session-id", "1"),
            ("content-type", "a/b"),
            ("x", "y"),
        ];
        assert_eq!(stripped(&fields), owned(&fields[1..4]));
    }

    #[test]
    fn a_coded_message_has_no_length_and_its_trailers_are_still_wanted() {
        let fields = [
            ("content-length", "5"),
            ("transfer-encoding", "chunked"),
            ("te", "gzip;q=0.5, Trailers"),
        ];
        assert_eq!(stripped(&fields), owned(&[("te", "trailers")]));
        assert_eq!(stripped(&[("te", "gzip")]), []);
    }
}
