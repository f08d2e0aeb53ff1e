//! Secrets in URLs, in their queries, and in forms.
//!
//! Here the syntax separates names from values, so `code` and `state` can be judged by their
//! context: in OAuth they are secrets (RFC 6749 §4.1, RFC 7636, RFC 8628), and in the query of a
//! shop they are data.

use std::borrow::Cow;
use std::ops::Range;

use super::edits::Rank;
use super::finder::Finder;
use super::names::{Class, classify};
use super::placeholders::{self, Table};
use super::rules::Rules;
use super::value::is_opaque;
use super::vocabulary::TOLD;
use crate::slices::{Front as _, Part as _};

/// The type of a text with pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlKind {
    /// The URL of the `endpoint` event (2024-11-05, basic/transports): it authorizes its holder to
    /// send messages in the session.
    Endpoint,
    /// Any other URL, or text with URLs in it.
    Url,
}

/// A text to search, with its context.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) rules: &'a Rules,
    pub(super) table: &'a Table,
    pub(super) text: &'a [u8],
    pub(super) place: UrlKind,
    /// The number of URLs around this one.
    pub(super) depth: usize,
    /// The text is truncated: parameters that may be missing count as a sign of OAuth.
    pub(super) cut: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(rules: &'a Rules, table: &'a Table, text: &'a [u8]) -> Self {
        Self {
            rules,
            table,
            text,
            place: UrlKind::Url,
            depth: 0,
            cut: false,
        }
    }

    fn part(&self, span: Range<usize>) -> &'a [u8] {
        self.text.get(span).unwrap_or_default()
    }
}

/// One `name=value` of a query or a form.
#[derive(Clone, Debug)]
struct Pair {
    name: Range<usize>,
    value: Range<usize>,
}

impl Finder {
    /// Finds secrets in the URLs of a text, in addition to those in free text.
    pub(super) fn urls(&mut self, search: Search<'_>) {
        let text = search.text;
        let known = placeholders::spans(text);
        let covered = |at: usize| {
            let next = known.partition_point(|span| span.end <= at);
            known.get(next).is_some_and(|span| span.start <= at)
        };
        let after = |from: usize, ends: fn(u8) -> bool| {
            let mut rest = (from..).zip(search.part(from..text.len()));
            let found = rest.find(|(at, byte)| ends(**byte) && !covered(*at));
            found.map_or(text.len(), |(at, _)| at)
        };
        let mut at = 0;
        loop {
            let mark = after(at, |byte| matches!(byte, b'?' | b'#'));
            self.segments(search, at..mark);
            if mark >= text.len() {
                break;
            }
            let end = after(mark + 1, ends_query);
            let before = search.part(mark.saturating_sub(64)..mark);
            let oauth = speaks_oauth(before) || search.cut && end == text.len();
            self.pairs(search, mark + 1..end, oauth);
            at = end;
        }
    }

    /// Finds secrets in the pairs of a form.
    pub(super) fn form(&mut self, search: Search<'_>) {
        self.pairs(search, 0..search.text.len(), false);
    }

    fn pairs(&mut self, search: Search<'_>, range: Range<usize>, oauth: bool) {
        let named = |pair: &Pair| decoded(plain_name(search.part(pair.name.clone())));
        let oauth = oauth
            || pairs(search.text, range.clone()).any(|pair| {
                let name = named(&pair);
                OAUTH_MARKS.iter().any(|mark| mark.as_bytes() == &*name)
            })
            || is_callback(search, range.clone());
        for pair in pairs(search.text, range) {
            let raw = search.part(pair.value.clone());
            if raw.is_empty() || placeholders::length(raw).is_some() {
                continue;
            }
            let value = decoded(raw);
            let kind = kind_of(search, &named(&pair), &value, oauth)
                .or_else(|| self.known(search.table, &value))
                .or_else(|| self.hidden(search, raw, &value))
                .or_else(|| self.told_in(search, &named(&pair), &value));
            let Some(kind) = kind else { continue };
            let (kind, rank) = match search.rules.shapes.whole(&value) {
                Some(shape) => (shape, Rank::Shape),
                None => (kind, Rank::Name),
            };
            self.learn(&value, kind);
            let mark = self.edits.mark(&value);
            self.edits.valued(pair.value, kind, rank, mark);
        }
    }

    /// A sentence about an error that contains a secret is replaced as a whole.
    fn told_in(&mut self, search: Search<'_>, name: &[u8], value: &[u8]) -> Option<&'static str> {
        let is_told = TOLD.iter().any(|known| known.as_bytes() == name);
        is_told.then(|| self.kind_told(search.rules, value))?
    }

    /// A value that was a secret elsewhere on the tape.
    pub(super) fn known(&self, table: &Table, value: &[u8]) -> Option<&'static str> {
        // A short word that was once under a secret name is not a secret everywhere.
        let telling = value.len() >= 20 || value.len() >= 8 && is_opaque(value);
        if !telling {
            return None;
        }
        table.kind(self.edits.mark(value))
    }

    /// A percent-encoded secret: the whole value is replaced.
    fn hidden(&mut self, search: Search<'_>, raw: &[u8], value: &[u8]) -> Option<&'static str> {
        if raw == value || search.depth >= MAX_DEPTH {
            return None;
        }
        let from = self.edits.len();
        self.free_text(search.rules, value, search.depth);
        self.urls(Search {
            text: value,
            place: UrlKind::Url,
            depth: search.depth + 1,
            cut: false,
            ..search
        });
        let kind = self.edits.as_slice().get(from).map(|edit| edit.kind);
        self.edits.truncate(from);
        kind
    }

    /// Segments of a path that are known secrets, or that identify a session.
    fn segments(&mut self, search: Search<'_>, range: Range<usize>) {
        let mut start = range.start;
        let path = search.part(range);
        for segment in path.split(|byte| *byte == b'/' || ends_query(*byte)) {
            let span = start..start + segment.len();
            start = span.end + 1;
            let session = search.place == UrlKind::Endpoint && names_session(segment);
            let kind = self.known(search.table, segment);
            if let Some(kind) = kind.or(session.then_some(SESSION)) {
                let mark = self.edits.mark(segment);
                self.edits.valued(span, kind, Rank::Name, mark);
                continue;
            }
            // `https://TOKEN@host`: one with a colon is found as free text.
            let user = segment.iter().position(|byte| *byte == b'@');
            let user = segment.part(..user.unwrap_or(0));
            if user.len() >= 16 && !user.contains(&b':') && is_opaque(user) {
                let mark = self.edits.mark(user);
                let span = span.start..span.start + user.len();
                self.edits.valued(span, "url-password", Rank::Name, mark);
            }
        }
    }
}

/// Why a value is secret by its name.
fn kind_of(search: Search<'_>, name: &[u8], value: &[u8], oauth: bool) -> Option<&'static str> {
    let found = classify(name, &search.rules.custom);
    match found.class {
        Class::Secret => return Some(found.kind),
        Class::Weak if is_opaque(value) => return Some(found.kind),
        _ => {}
    }
    if let Some(kind) = oauth_kind(name) {
        let opaque = name == b"code" && value.len() >= 16 && is_opaque(value);
        if oauth || opaque {
            return Some(kind);
        }
    }
    if search.place == UrlKind::Endpoint
        && (value.len() >= 8 && is_opaque(value) || value.len() >= 20)
    {
        return Some(SESSION);
    }
    ALWAYS
        .iter()
        .any(|known| known.as_bytes() == name)
        .then_some("token")
}

/// The kind of an OAuth parameter's value, if it is a secret and its name does not imply that.
pub(super) fn oauth_kind(name: &[u8]) -> Option<&'static str> {
    let mut list = OAUTH_SECRETS.iter();
    let (_, kind) = list.find(|(known, _)| known.as_bytes() == name)?;
    Some(kind)
}

/// Whether pairs are those of a form: only pairs, one of them OAuth's.
pub(super) fn is_oauth_form(text: &[u8]) -> bool {
    let window = text.front(LONGEST_SNIFF);
    let plain = window
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%+&=*!'();:@/?,[]$".contains(byte));
    plain
        && pairs(window, 0..window.len()).any(|pair| {
            let name = window.get(pair.name).unwrap_or_default();
            OAUTH_MARKS.iter().any(|mark| mark.as_bytes() == name)
                || classify(name, &[]).class == Class::Secret
        })
}

/// Whether a query has both a `code` and a `state`, and the code is not a word.
fn is_callback(search: Search<'_>, range: Range<usize>) -> bool {
    let value = |wanted: &[u8]| {
        pairs(search.text, range.clone())
            .find(|pair| plain_name(search.part(pair.name.clone())) == wanted)
            .map(|pair| search.part(pair.value))
    };
    let random = |code: &[u8]| code.len() >= 6 && code.iter().any(u8::is_ascii_digit);
    value(b"code").is_some_and(random) && value(b"state").is_some()
}

/// Whether JSON text may be a request or an answer of an authorization server.
pub(super) fn is_oauth_json(text: &[u8]) -> bool {
    [
        "\"grant_type\"",
        "\"device_code\"",
        "\"code_verifier\"",
        "\"redirect_uri\"",
    ]
    .iter()
    .any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}

/// The ends of the names of OAuth secrets in JSON text, and their kinds.
pub(super) fn oauth_names(text: &[u8]) -> impl Iterator<Item = (usize, &'static str)> {
    OAUTH_SECRETS.iter().flat_map(move |(name, kind)| {
        memchr::memmem::find_iter(text, *name)
            .map(|at| at.saturating_sub(1)..at + name.len() + 1)
            .filter(|span| {
                let quoted = text.get(span.clone());
                matches!(quoted, Some([b'"', inner @ .., b'"']) if inner == name.as_bytes())
            })
            .map(|span| (span.end, *kind))
    })
}

/// The pairs of a query; parts without `=` are skipped.
fn pairs(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Pair> {
    let mut start = range.start;
    let query = text.get(range).unwrap_or_default();
    query.split(|byte| *byte == b'&').filter_map(move |part| {
        let from = start;
        start += part.len() + 1;
        let equals = memchr::memchr(b'=', part)?;
        Some(Pair {
            name: from..from + equals,
            value: from + equals + 1..from + part.len(),
        })
    })
}

/// A name without an escaped ampersand before it in a page.
fn plain_name(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"amp;").unwrap_or(name)
}

/// The decoded part of a query (WHATWG URL, application/x-www-form-urlencoded).
fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'+', text).is_none() {
        return percent_decoded(text);
    }
    let spaced: Vec<u8> = text
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    Cow::Owned(percent_decoded(&spaced).into_owned())
}

/// The decoded part of a URL (WHATWG URL, percent-decoding).
pub(super) fn percent_decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', text).is_none() {
        return Cow::Borrowed(text);
    }
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        let pair = digit(at).zip(digit(at + 1)).filter(|_| *byte == b'%');
        if let Some((high, low)) = pair {
            out.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 2;
        } else {
            out.push(*byte);
        }
    }
    Cow::Owned(out)
}

/// A byte that does not occur in URLs, or that ends a query.
fn ends_query(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'#' | b'\\')
}

/// Whether the text before a query shows that it is one of OAuth.
fn speaks_oauth(before: &[u8]) -> bool {
    ["callback", "oauth", "authorize"]
        .iter()
        .any(|word| memchr::memmem::find(before, word.as_bytes()).is_some())
}

/// Whether a segment of an endpoint's path is long and random enough to identify a session.
fn names_session(segment: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let digits = segment.iter().filter(|byte| byte.is_ascii_digit()).count();
    segment.len() >= 16 && digits >= 3 && segment.iter().all(plain)
}

/// The kind of a session identifier.
pub(super) const SESSION: &str = "session-id";

/// Parameters that identify a query or a form as OAuth (RFC 6749, 7636, 8628, 8693, 9126, 9207).
const OAUTH_MARKS: &[&str] = &[
    "access_token",
    "client_assertion",
    "client_id",
    "code_challenge",
    "code_verifier",
    "device_code",
    "grant_type",
    "id_token",
    "iss",
    "redirect_uri",
    "response_type",
    "subject_token",
    "token_type",
    "user_code",
];

/// Parameters of OAuth that hold a secret under a name that elsewhere means nothing.
const OAUTH_SECRETS: &[(&str, &str)] = &[
    ("assertion", "token"),
    ("code", "authorization-code"),
    ("device_code", "otp"),
    ("id_token_hint", "token"),
    ("request", "token"),
    ("state", "oauth-state"),
    ("user_code", "otp"),
];

/// Parameters that contain a secret in any URL.
const ALWAYS: &[&str] = &["RelayState", "SAMLRequest", "SAMLResponse", "saml_response"];

/// The maximum depth of URLs inside URLs.
const MAX_DEPTH: usize = 3;
/// How much of a body is examined to detect its kind.
const LONGEST_SNIFF: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_and_plus_signs_are_undone() {
        for (text, meaning) in [
            ("a%20b+c", "a b c"),
            ("1%2F%2fx", "1//x"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("plain", "plain"),
        ] {
            assert_eq!(&*decoded(text.as_bytes()), meaning.as_bytes(), "{text}");
        }
    }

    #[test]
    fn a_form_is_known_by_its_parameters() {
        for form in [
            "grant_type=refresh_token&refresh_token=x",
            "client_secret=x&a=b",
        ] {
            assert!(is_oauth_form(form.as_bytes()), "{form}");
        }
        for other in ["a=b&c=d", "", "client_id is = what", "{\"client_id\":1}"] {
            assert!(!is_oauth_form(other.as_bytes()), "{other}");
        }
    }
}
