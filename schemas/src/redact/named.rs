//! The value under a secret name: which part of it is replaced.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::edits::Rank;
use super::example::{is_example, is_of_fetch, is_reference};
use super::finder::Finder;
use super::placeholders;
use super::rules::Rules;
use super::vocabulary::WORKING_FOLDER_OR_PASSWORD;
use crate::slices::Part as _;

impl Finder {
    /// Notes the value `span` of `text`, whose name implies `kind`.
    ///
    /// White space around it, a scheme word and the names of cookies are kept, and so is a value
    /// that already is a placeholder.
    pub(super) fn named(
        &mut self,
        rules: &Rules,
        text: &[u8],
        span: Range<usize>,
        kind: &'static str,
    ) {
        let value = text.part(span.clone());
        let start = span.start + (value.len() - value.trim_ascii_start().len());
        let value = value.trim_ascii();
        if value.is_empty() || placeholders::is_whole(value) {
            return;
        }
        let kind = match kind {
            WORKING_FOLDER_OR_PASSWORD if is_path(value) => return,
            WORKING_FOLDER_OR_PASSWORD => "password",
            kind => kind,
        };
        if kind == "cookie" && cookie_name(rules, value).is_some() {
            return self.cookies(rules, value, start);
        }
        let (skip, kind) = match scheme(value) {
            Some((_, length)) if length == value.len() => return,
            Some((scheme_kind, length)) => (length, scheme_kind.unwrap_or(kind)),
            None => (0, kind),
        };
        let secret = value.part(skip..);
        let is_none = is_example(secret) || is_reference(secret) || is_of_fetch(kind, secret);
        if !is_none && !placeholders::is_whole(secret) {
            self.secret(rules, secret, start + skip, kind);
        }
    }

    /// Remembers a secret that was recognized by its name, its place or its shape.
    pub(super) fn learn(&mut self, secret: &[u8], kind: &'static str) {
        let Self { learned, edits, .. } = self;
        learned.note(secret, kind, |value| edits.mark(value));
        if kind == BASIC
            && let Some(password) = basic_password(secret)
        {
            learned.note(&password, "password", |value| edits.mark(value));
        }
    }

    fn secret(&mut self, rules: &Rules, secret: &[u8], start: usize, kind: &'static str) {
        let (kind, rank) = match rules.shapes.whole(secret) {
            Some(shape) => (shape, Rank::Shape),
            None => (kind, Rank::Name),
        };
        self.learn(secret, kind);
        self.edits.text(start..start + secret.len(), kind, rank);
    }

    /// `a=b; c=d`: the names are kept, and the attributes of `Set-Cookie`.
    fn cookies(&mut self, rules: &Rules, value: &[u8], start: usize) {
        let mut at = 0;
        for part in value.split(|byte| *byte == b';') {
            let equals = cookie_name(rules, part).unwrap_or_default();
            let (name, secret) = part.split_at(equals);
            let name = name.trim_ascii().strip_suffix(b"=").unwrap_or_default();
            let attribute = COOKIE_ATTRIBUTES
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(name));
            let flag = equals == 0
                && COOKIE_FLAGS
                    .iter()
                    .any(|known| known.as_bytes().eq_ignore_ascii_case(part.trim_ascii()));
            let lead = secret.len() - secret.trim_ascii_start().len();
            let secret = secret.trim_ascii();
            if !(attribute || flag || secret.is_empty() || placeholders::is_whole(secret)) {
                self.secret(rules, secret, start + at + equals + lead, "cookie");
            }
            at += part.len() + 1;
        }
    }
}

/// The start of the value of the cookie at the start of `text`, if it has a name that contains no
/// secret itself.
fn cookie_name(rules: &Rules, text: &[u8]) -> Option<usize> {
    let start = cookie_value(text)?;
    let name = text.part(..start);
    let mut secret = false;
    rules.shapes.find(name, 0..name.len(), |_, _| secret = true);
    (!secret).then_some(start)
}

/// The password in the credentials of `Basic`.
fn basic_password(credentials: &[u8]) -> Option<Vec<u8>> {
    let pair = STANDARD.decode(credentials).ok()?;
    let colon = memchr::memchr(b':', &pair)?;
    Some(pair.part(colon + 1..).to_vec())
}

/// Whether a value is an absolute path of any system.
fn is_path(value: &[u8]) -> bool {
    matches!(
        value,
        [b'/' | b'~', ..] | [b'\\', b'\\', ..] | [b'a'..=b'z' | b'A'..=b'Z', b':', b'/' | b'\\', ..]
    )
}

/// The start of the value of the cookie at the start of `text`, if it has a name.
pub(super) fn cookie_value(text: &[u8]) -> Option<usize> {
    let spaces = text
        .iter()
        .take(LONGEST_COOKIE_NAME)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"!#$%&*+-.^_|~".contains(byte);
    let name = text
        .part(spaces..)
        .iter()
        .take(LONGEST_COOKIE_NAME)
        .take_while(token)
        .count();
    let value = text.part(spaces + name..).strip_prefix(b"=")?;
    // Base64 ends in `=` or `==` without being a name.
    let padding = matches!(value, [] | [b'=' | b'"' | b'\'', ..]);
    (name > 0 && !padding).then_some(spaces + name + 1)
}

/// The scheme word at the start of a credential: the kind it implies, and its length with
/// the space after it.
pub(super) fn scheme(value: &[u8]) -> Option<(Option<&'static str>, usize)> {
    let length = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    let word = value.part(..length);
    let (_, kind) = SCHEMES
        .iter()
        .find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(word))?;
    let rest = value.part(length..);
    if !rest.is_empty() && !rest.starts_with(b" ") {
        return None;
    }
    Some((*kind, length + (rest.len() - rest.trim_ascii_start().len())))
}

/// Whether the scheme word at the start of a credential takes a list of parameters.
pub(super) fn has_parameters(value: &[u8]) -> bool {
    PARAMETERS.iter().any(|known| {
        value
            .get(..known.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Scheme words (RFC 7235 and custom), and the kinds they imply.
const SCHEMES: &[(&str, Option<&str>)] = &[
    ("apikey", Some("api-key")),
    ("aws4-hmac-sha256", None),
    ("basic", Some(BASIC)),
    ("bearer", Some("bearer-token")),
    ("bot", Some("bearer-token")),
    ("digest", None),
    ("dpop", Some("bearer-token")),
    ("hawk", None),
    ("hmac", None),
    ("negotiate", None),
    ("ntlm", None),
    ("oauth", None),
    ("sharedkey", None),
    ("signature", None),
    ("token", Some("bearer-token")),
];

/// Schemes whose credential is a list of parameters.
const PARAMETERS: &[&str] = &[
    "aws4-hmac-sha256",
    "digest",
    "hawk",
    "hmac",
    "oauth",
    "signature",
];

/// The credentials after `Basic` (RFC 7617).
const BASIC: &str = "basic-auth";

const LONGEST_COOKIE_NAME: usize = 256;

/// The attributes of a cookie in `Set-Cookie` (RFC 6265 §4.1).
const COOKIE_ATTRIBUTES: &[&str] = &[
    "domain", "expires", "max-age", "path", "priority", "samesite",
];

/// Attributes without a value.
const COOKIE_FLAGS: &[&str] = &["httponly", "partitioned", "secure"];
