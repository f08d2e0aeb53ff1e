//! Secrets that are known by their place: what stands before and behind them.

use std::ops::Range;

use base64::Engine as _;
use memchr::{memchr, memmem};

use super::super::names::{Class, classify};
use super::extent::{LENIENT, base64, digit, url64};
use super::finder::starts_token;
use crate::json;

/// The password after `curl … -u user:` or `--user user:`; the user stays.
pub(super) fn curl_user(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(prefix.start.saturating_sub(LINE)..prefix.start)?;
    let since = before.get(memmem::rfind(before, b"curl")?..)?;
    // Another command has begun.
    if since.iter().any(|byte| matches!(byte, b';' | b'|' | b'\n')) {
        return None;
    }
    let mut start = prefix.end;
    let mut quote = None;
    while let Some(byte @ (b'"' | b'\'' | b'\\')) = text.get(start) {
        quote = Some(*byte);
        start += 1;
    }
    let argument = text.get(start..text.len().min(start + LINE))?;
    let end = argument.iter().position(|byte| match quote {
        Some(quote) => *byte == quote || matches!(byte, b'\\' | b'\n'),
        None => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\'),
    });
    let argument = argument.get(..end.unwrap_or(argument.len()))?;
    let colon = memchr(b':', argument)?;
    let password = start + colon + 1..start + argument.len();
    is_password(text.get(password.clone())?).then_some(password)
}

/// The password of a DSN in the form of Go's drivers: `user:password@tcp(host)/db`.
pub(super) fn dsn(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(prefix.start.saturating_sub(LINE)..prefix.start)?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'=' | b'`');
    let from = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let named = before.get(from..)?;
    let colon = memchr(b':', named)?;
    let length = named.len() - colon - 1;
    let password = prefix.start - length..prefix.start;
    let user = named.get(..colon)?;
    (!user.is_empty() && is_password(text.get(password.clone())?)).then_some(password)
}

/// The password of a line of netrc: `machine host login name password word`.
pub(super) fn netrc(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, false) {
        return None;
    }
    let mut words = Words {
        text: text.get(..text.len().min(prefix.end + LINE))?,
        at: prefix.end,
    };
    words.next()?;
    let mut has_login = false;
    loop {
        let word = words.next()?;
        let value = words.next()?;
        match text.get(word)? {
            b"login" => has_login = true,
            b"account" => {}
            b"password" if has_login => {
                return is_password(text.get(value.clone())?).then_some(value);
            }
            _ => return None,
        }
    }
}

/// The password of a line of pgpass: `host:5432:database:user:password`.
pub(super) fn pgpass(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let host = text.get(..prefix.start)?.last()?;
    if !(host.is_ascii_alphanumeric() || *host == b'*') {
        return None;
    }
    let line = text.get(prefix.end..text.len().min(prefix.end + LINE))?;
    let end = line
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\' | b'\''));
    let line = line.get(..end.unwrap_or(line.len()))?;
    let mut colons = line.iter().enumerate().filter(|(_, byte)| **byte == b':');
    let (database, _) = colons.next()?;
    let (user, _) = colons.next()?;
    let password = prefix.end + user + 1..prefix.end + line.len();
    let fits = database > 0 && user > database + 1 && colons.next().is_none();
    (fits && is_password(text.get(password.clone())?)).then_some(password)
}

/// The value of `?code=` in a URL of OAuth's answer: beside it stands its `state`, or who issued
/// it (RFC 6749 §4.1.2, RFC 9207).
pub(super) fn oauth_code(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'\\');
    let rest = text.get(prefix.end..text.len().min(prefix.end + LINE))?;
    let query = rest.get(..rest.iter().position(ends).unwrap_or(rest.len()))?;
    let length = memchr(b'&', query).unwrap_or(query.len());
    let before = text.get(prefix.start.saturating_sub(LINE)..prefix.start)?;
    let url = before.get(before.iter().rposition(ends).map_or(0, |at| at + 1)..)?;
    let company: [&[u8]; 3] = [b"state=", b"iss=", b"session_state="];
    let beside = |part: &[u8]| {
        company
            .iter()
            .any(|name| memmem::find(part, name).is_some())
    };
    let code = query.get(..length)?;
    let fits = (6..=2_048).contains(&length)
        && digit(code)
        && !code.starts_with(b"<")
        && (beside(query) || beside(url) || memmem::find(url, b"callback").is_some());
    fits.then_some(prefix.end..prefix.end + length)
}

/// `eyJ…` that is no JWT with three parts: an encrypted one of five (RFC 7516), or JSON in base64
/// in which a member with a secret name stands.
pub(super) fn encoded(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !starts_token(text, start, false) {
        return None;
    }
    let rest = text.get(start..)?;
    let run = |at: usize, alphabet: fn(u8) -> bool| {
        let part = rest.get(at..).unwrap_or_default();
        part.iter()
            .take(LONGEST)
            .take_while(|byte| alphabet(**byte))
            .count()
    };
    let head = run(0, url64);
    if rest.get(head) == Some(&b'.') {
        let header = LENIENT_URL.decode(rest.get(..head)?).ok()?;
        memmem::find(&header, b"\"enc\"")?;
        let mut end = head;
        for _ in 0..4 {
            (rest.get(end) == Some(&b'.')).then_some(())?;
            end += 1 + run(end + 1, url64);
        }
        return Some(start..start + end);
    }
    let length = run(0, base64);
    let body = rest.get(..length)?;
    let decoded = LENIENT
        .decode(body)
        .or_else(|_| LENIENT_URL.decode(body))
        .ok()?;
    has_secret(&decoded, 0).then_some(start..start + length)
}

/// Whether a member of an object, or of one inside it, has a secret name and a value.
fn has_secret(text: &[u8], depth: usize) -> bool {
    let mut found = false;
    let read = json::members(text, |name, value| {
        let value = value.trim_ascii();
        found |= match value.first() {
            Some(b'"') => value.len() > 2 && classify(name, &[]).class == Class::Secret,
            Some(b'{') => depth < 4 && has_secret(value, depth + 1),
            _ => false,
        };
    });
    read.is_some() && found
}

/// Whether a text in the place of a password is one, and no variable or placeholder.
fn is_password(text: &[u8]) -> bool {
    let is_variable = text.starts_with(b"$")
        || text.starts_with(b"<")
        || text.starts_with(b"{")
        || text.starts_with(b"%")
        || text.starts_with(b"[")
        || text.starts_with(b"*")
        || text.contains(&b'(');
    let words: [&[u8]; 4] = [b"pass", b"password", b"PASSWORD", b"xxx"];
    text.len() >= 3 && !is_variable && !words.contains(&text)
}

/// Words between white space, also where that is escaped.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.text.get(self.at..)?;
            self.at += match rest {
                [b'\\', b'n' | b't' | b'r', ..] => 2,
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [] => return None,
                _ => break,
            };
        }
        let rest = self.text.get(self.at..)?;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"');
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let word = self.at..self.at + length;
        self.at = word.end;
        (length > 0).then_some(word)
    }
}

/// How far such a place reaches, in bytes.
const LINE: usize = 512;

/// How much of an encoded text is read, in bytes.
const LONGEST: usize = 16_384;

const LENIENT_URL: base64::engine::general_purpose::GeneralPurpose =
    base64::engine::general_purpose::GeneralPurpose::new(
        &base64::alphabet::URL_SAFE,
        base64::engine::general_purpose::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
