//! Secrets in the parts of HTTP other than messages: heads, URLs, forms.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::edits::Rank;
use super::finder::Finder;
use super::names::{Class, classify};
use super::query::{self, Search, UrlKind};
use super::rules::Rules;
use super::value::{is_opaque, quoted};
use super::{Reading, Redactor, forms, placeholders};
use crate::event::Fields;
use crate::json::Invalid;
use crate::slices::{Front as _, Part as _};

impl Redactor {
    /// Redacts header or trailer fields. The values of fields that carry credentials are replaced
    /// even if redaction is off.
    pub fn fields(&mut self, fields: &Fields) -> Fields {
        let mut all = Fields::with_capacity(fields.len(), fields.bytes());
        self.each_field(fields, |name, value| all.push(name, value));
        all
    }

    /// Calls `each` with the name and the value of every field as [`fields`](Self::fields)
    /// redacts them.
    pub(crate) fn each_field(&mut self, fields: &Fields, mut each: impl FnMut(&str, &str)) {
        for (name, value) in fields.iter() {
            let known = self.known();
            if self.clean.holds(known, name, value) {
                each(name, value);
                continue;
            }
            let word = self.word(name);
            let redacted = self.field(name, value);
            each(&word, &redacted);
            if word == name && redacted == value {
                self.clean.admit(known, name, value);
            }
        }
    }

    /// Like [`url`](Self::url), for the target of a request, which is usually unchanged.
    pub(crate) fn target<'t>(&mut self, target: &'t str) -> Cow<'t, str> {
        // No field has an empty name.
        let known = self.known();
        if self.clean.holds(known, "", target) {
            return Cow::Borrowed(target);
        }
        let redacted = self.url(target);
        if redacted == target {
            self.clean.admit(known, "", target);
        }
        Cow::Owned(redacted)
    }

    /// Redacts a URL, a request's target, or a short text that may hold URLs.
    pub fn url(&mut self, text: &str) -> String {
        self.located(text.as_bytes(), UrlKind::Url)
    }

    /// Redacts the URL that an `endpoint` event announces: the session id in it is a credential
    /// (2024-11-05, basic/transports).
    pub fn endpoint(&mut self, text: &[u8]) -> String {
        self.located(text, UrlKind::Endpoint)
    }

    /// Redacts a body of `application/x-www-form-urlencoded`.
    pub fn form<'t>(&mut self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        finder.form(Search::new(rules, table, text));
        finder.free_text(rules, text, 0);
        finder.edits.settle(text, 0);
        self.settle(text, Reading::Text)
    }

    /// Redacts a body that is not an MCP message: a form, a document of an authorization server, a
    /// page. Its kind is detected from its contents.
    pub fn body<'t>(&mut self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if query::is_oauth_form(text) {
            return self.form(text);
        }
        if self.json_body(text).is_ok() {
            return self.settle(text, Reading::Json);
        }
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        finder.free_text(rules, text, 0);
        finder.urls(Search::new(rules, table, text));
        finder.attributes(rules, text);
        finder.edits.settle(text, 0);
        self.settle(text, Reading::Text)
    }

    /// Like [`head`](Self::head), for a body that is not an MCP message.
    pub fn body_head(&mut self, head: &[u8]) -> Vec<u8> {
        if self.rules.off {
            return head.to_vec();
        }
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        let kept = finder.head(rules, head);
        let search = Search {
            cut: true,
            ..Search::new(rules, table, head)
        };
        if query::is_oauth_form(head) {
            finder.form(search);
        } else {
            finder.urls(search);
            finder.attributes(rules, head);
            finder.oauth_members(head);
        }
        finder.edits.settle(head, 0);
        let kept = kept.min(open_tag(head).unwrap_or(kept));
        finder.edits.cut(kept);
        self.settle(head.front(kept), Reading::Text).into_owned()
    }

    /// Notes the secrets of a JSON body.
    fn json_body(&mut self, text: &[u8]) -> Result<(), Invalid> {
        if !matches!(text.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
            return Err(Invalid::Syntax { at: 0 });
        }
        if let Err(error) = std::str::from_utf8(text) {
            let at = error.valid_up_to();
            return Err(Invalid::Syntax { at });
        }
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        finder.walk(rules, text, 0)?;
        let walked = finder.edits.len();
        // Documents of authorization servers hold URLs that hold codes (RFC 8628 §3.2).
        finder.urls(Search::new(rules, table, text));
        if finder.edits.len() > walked {
            // A value that is already known from elsewhere on the tape was found by its name
            // before.
            finder.edits.settle(text, 0);
        }
        finder.oauth_members(text);
        Ok(())
    }

    fn located(&mut self, text: &[u8], place: UrlKind) -> String {
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        finder.urls(Search {
            place,
            ..Search::new(rules, table, text)
        });
        finder.free_text(rules, text, 0);
        finder.edits.settle(text, 0);
        lossy(self.settle(text, Reading::Text))
    }

    fn field(&mut self, name: &str, value: &str) -> String {
        let text = value.as_bytes();
        let Self {
            finder,
            table,
            rules,
            ..
        } = self;
        finder.begin();
        if let Some((_, kind)) = credential(name) {
            finder.credential(rules, text, kind);
            return lossy(self.replaced(text, Reading::Text));
        }
        let found = classify(name.as_bytes(), &rules.custom);
        let secret = match found.class {
            Class::Secret => true,
            Class::Weak => is_opaque(text),
            Class::Open => false,
        };
        if secret {
            finder.named(rules, text, 0..text.len(), found.kind);
            finder.tokens(rules, text);
        } else {
            if let Some(kind) = finder.known(table, text) {
                finder.edits.text(0..text.len(), kind, Rank::Name);
            }
            if memchr::memchr3(b'?', b'/', b'#', text).is_some() {
                finder.urls(Search::new(rules, table, text));
            }
            finder.free_text(rules, text, 0);
        }
        finder.edits.settle(text, 0);
        if let Some(encoded) = self.encoded(value) {
            return encoded;
        }
        lossy(self.settle(text, Reading::Text))
    }

    /// A value in the encoding that revision 2026-07-28 defines for text that headers cannot
    /// contain (basic/transports): redacted inside, if needed.
    fn encoded(&mut self, value: &str) -> Option<String> {
        let inner = value.strip_prefix("=?base64?")?.strip_suffix("?=")?;
        let bytes = STANDARD.decode(inner).ok()?;
        let redacted = self.text(&bytes);
        (*redacted != *bytes).then(|| format!("=?base64?{}?=", STANDARD.encode(&redacted)))
    }

    /// Redacts a word chosen by a peer: the name of a field, a method.
    pub(crate) fn word<'t>(&mut self, word: &'t str) -> Cow<'t, str> {
        if word.len() < self.rules.shortest_token
            && !self.finder.learned.may_stand_in(word.as_bytes())
        {
            return Cow::Borrowed(word);
        }
        self.finder.place = forms::Within::Word;
        let redacted = self.text(word.as_bytes());
        self.finder.place = forms::Within::Value;
        match redacted {
            Cow::Borrowed(_) => Cow::Borrowed(word),
            owned @ Cow::Owned(_) => Cow::Owned(lossy(owned)),
        }
    }
}

impl Finder {
    /// A field that carries credentials: of its value only a scheme word, the names of cookies and
    /// their lifetimes are kept.
    fn credential(&mut self, rules: &Rules, text: &[u8], kind: &'static str) {
        match kind {
            COOKIE | SET_COOKIE => self.cookies_of(text, kind == SET_COOKIE),
            _ => self.named(rules, text, 0..text.len(), kind),
        }
        self.tokens(rules, text);
        self.edits.settle(text, 0);
    }

    fn cookies_of(&mut self, text: &[u8], set: bool) {
        let mut start = 0;
        for (place, part) in text.split(|byte| *byte == b';').enumerate() {
            let from = start;
            start += part.len() + 1;
            let equals = memchr::memchr(b'=', part);
            let name = part.part(..equals.unwrap_or(part.len()));
            let name = name.trim_ascii();
            let among = |list: &[&str]| {
                list.iter()
                    .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
            };
            let says = set && place > 0;
            if says && (equals.is_none() && among(COOKIE_FLAGS) || among(COOKIE_ATTRIBUTES)) {
                continue;
            }
            let value = equals.map_or(0, |equals| equals + 1);
            let secret = part.part(value..);
            let lead = secret.len() - secret.trim_ascii_start().len();
            let secret = secret.trim_ascii();
            if !secret.is_empty() && !placeholders::is_whole(secret) {
                let from = from + value + lead;
                self.learn(secret, COOKIE);
                self.edits
                    .text(from..from + secret.len(), COOKIE, Rank::Name);
            }
        }
    }

    /// `name="code" value="…"` in the tags of a page: a form that a browser submits.
    fn attributes(&mut self, rules: &Rules, text: &[u8]) {
        for start in memchr::memmem::find_iter(text, INPUT) {
            let rest = text.part(start..);
            let rest = rest.front(LONGEST_TAG);
            let tag = rest.part(..memchr::memchr(b'>', rest).unwrap_or(rest.len()));
            let Some(name) = attribute(tag, b"name").and_then(|span| tag.get(span)) else {
                continue;
            };
            let named = classify(name, &rules.custom);
            let kind = (named.class == Class::Secret).then_some(named.kind);
            let kind = kind.or_else(|| query::oauth_kind(name));
            if let (Some(kind), Some(span)) = (kind, attribute(tag, b"value"))
                && !span.is_empty()
            {
                self.learn(tag.get(span.clone()).unwrap_or_default(), kind);
                self.edits
                    .text(start + span.start..start + span.end, kind, Rank::Name);
            }
        }
    }

    /// Members of an OAuth document that are secret although their name does not imply it. The text
    /// may be cut at any byte.
    fn oauth_members(&mut self, text: &[u8]) {
        if !query::is_oauth_json(text) {
            return;
        }
        let from = self.edits.len();
        for (at, kind) in query::oauth_names(text) {
            let rest = text.part(at..).trim_ascii_start();
            let rest = rest.strip_prefix(b":").unwrap_or_default();
            let Some(content) = rest.trim_ascii_start().strip_prefix(b"\"") else {
                continue;
            };
            // `content` extends to the end, except for white space.
            let start = (content.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            let span = quoted(text, start - 1).map_or(start..text.len(), |(span, _)| span);
            let value = text.get(span.clone()).unwrap_or_default();
            if !value.is_empty() && !placeholders::is_whole(value) {
                self.learn(value, kind);
                self.edits.text(span, kind, Rank::Name);
            }
        }
        if self.edits.len() > from {
            self.edits.settle(text, 0);
        }
    }
}

/// The start of a form's tag that is not closed: the name of its value may be cut off.
fn open_tag(text: &[u8]) -> Option<usize> {
    let start = memchr::memmem::rfind(text, INPUT)?;
    let closed = memchr::memchr(b'>', text.part(start..));
    closed.is_none().then_some(start)
}

/// The position of an attribute's value in a tag.
fn attribute(tag: &[u8], name: &[u8]) -> Option<Range<usize>> {
    memchr::memmem::find_iter(tag, name).find_map(|at| {
        let before = at.checked_sub(1).and_then(|before| tag.get(before))?;
        let rest = tag.part(at + name.len()..).strip_prefix(b"=")?;
        if !before.is_ascii_whitespace() {
            return None;
        }
        let start = at + name.len() + 1;
        if let quote @ (b'"' | b'\'') = rest.first()? {
            let end = memchr::memchr(*quote, rest.part(1..))?;
            return Some(start + 1..start + 1 + end);
        }
        let end = rest.iter().position(u8::is_ascii_whitespace);
        Some(start..start + end.unwrap_or(rest.len()))
    })
}

/// The kind of a field that carries credentials.
fn credential(name: &str) -> Option<(&'static str, &'static str)> {
    let mut list = CREDENTIALS.iter();
    list.find(|(known, _)| known.eq_ignore_ascii_case(name))
        .copied()
}

fn lossy(text: Cow<'_, [u8]>) -> String {
    match text {
        Cow::Borrowed(text) => String::from_utf8_lossy(text).into_owned(),
        Cow::Owned(text) => String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

const COOKIE: &str = "cookie";
const SET_COOKIE: &str = "set-cookie";

/// Fields whose values are never written, regardless of the settings (RFC 9110 §11, RFC 6265, RFC
/// 9449, RFC 7615; 2025-11-25, basic/transports for the session).
const CREDENTIALS: &[(&str, &str)] = &[
    ("authentication-info", "authorization"),
    ("authorization", "authorization"),
    ("cookie", COOKIE),
    ("dpop", "dpop-proof"),
    ("mcp-session-id", query::SESSION),
    ("proxy-authentication-info", "authorization"),
    ("proxy-authorization", "authorization"),
    ("set-cookie", SET_COOKIE),
    ("x-api-key", "api-key"),
];

/// The attributes of a cookie in `Set-Cookie` (RFC 6265 §4.1).
const COOKIE_ATTRIBUTES: &[&str] = &[
    "domain", "expires", "max-age", "path", "priority", "samesite",
];
const COOKIE_FLAGS: &[&str] = &["httponly", "partitioned", "secure"];

const INPUT: &[u8] = b"<input";
/// Longer tags of a form are not examined.
const LONGEST_TAG: usize = 16 << 10;
