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
    let argument = argument(text, prefix.end)?;
    let colon = memchr(b':', text.get(argument.clone())?)?;
    let password = argument.start + colon + 1..argument.end;
    is_password(text.get(password.clone())?).then_some(password)
}

/// The word at `at`, without its quotes, which may be escaped; up to the white space behind it
/// where it has none.
fn argument(text: &[u8], at: usize) -> Option<Range<usize>> {
    let slashes = run_of(text, at, b'\\');
    let quote = text
        .get(at + slashes)
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let start = at + if quote.is_some() { slashes + 1 } else { 0 };
    let rest = text.get(start..text.len().min(start + LINE))?;
    let mut length = 0;
    while let Some(byte) = rest.get(length) {
        let escaped = run_of(rest, length, b'\\');
        match (quote, rest.get(length + escaped)) {
            // The quote that closes it is escaped as the first one was.
            (Some(quote), Some(byte)) if byte == quote && escaped <= slashes => break,
            (None, Some(b'"' | b'\'')) if escaped == 0 => break,
            (None, Some(b'n' | b'r' | b't')) if escaped == 1 => break,
            (None, _) if byte.is_ascii_whitespace() => break,
            (Some(_), _) if *byte == b'\n' => break,
            _ => length += escaped.max(1),
        }
    }
    Some(start..start + length.min(rest.len()))
}

/// How often a byte stands at `at` in a row.
fn run_of(text: &[u8], at: usize, byte: u8) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(8).take_while(|one| **one == byte).count()
}

/// The password of a DSN in the form of Go's drivers: `user:password@tcp(host)/db`.
pub(super) fn dsn(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.get(prefix.start.saturating_sub(LINE)..prefix.start)?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`');
    let from = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let named = before.get(from..)?;
    // `DSN=user:…`, and with a colon in the password.
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
    let line = argument(text, prefix.end).filter(|line| line.start == prefix.end)?;
    let fields = text.get(line.clone())?;
    let mut colons = fields.iter().enumerate().filter(|(at, byte)| {
        // A colon of a value is escaped.
        let before = at.checked_sub(1).and_then(|before| fields.get(before));
        **byte == b':' && before != Some(&b'\\')
    });
    let (database, _) = colons.next()?;
    let (user, _) = colons.next()?;
    let password = prefix.end + user + 1..line.end;
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
    // Runs must not overlap: every one is read to its end.
    if matches!(text.get(start.wrapping_sub(1)), Some(b'+' | b'/')) {
        return None;
    }
    let unpadded = run(0, |byte| byte != b'=' && base64(byte));
    let padding = rest.get(unpadded..).unwrap_or_default().iter();
    let padding = padding.take(2).take_while(|byte| **byte == b'=').count();
    let length = unpadded + padding;
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

/// Whether a text in the place of a password is one, and no variable, placeholder or word of
/// documentation.
fn is_password(text: &[u8]) -> bool {
    let name = |part: &[u8]| {
        let plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ');
        !part.is_empty() && part.iter().all(plain)
    };
    let between = |open: &[u8], close: &[u8]| {
        let inner = text
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(name)
    };
    let variable = text.strip_prefix(b"$").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
    });
    let is_placeholder = variable
        || [
            (&b"<"[..], &b">"[..]),
            (b"${", b"}"),
            (b"$(", b")"),
            (b"{{", b"}}"),
            (b"{", b"}"),
            (b"[", b"]"),
            (b"%", b"%"),
        ]
        .into_iter()
        .any(|(open, close)| between(open, close))
        || text.starts_with(b"<REDACTED")
        || text.iter().all(|byte| *byte == b'*');
    let words: [&[u8]; 4] = [b"pass", b"password", b"PASSWORD", b"xxx"];
    text.len() >= 3 && !is_placeholder && !words.contains(&text)
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
        let word = argument(self.text, self.at)?;
        self.at = word.end;
        (!word.is_empty()).then_some(word)
    }
}

/// How far such a place reaches, in bytes.
const LINE: usize = 512;

/// How much of an encoded text is read, in bytes.
const LONGEST: usize = 1 << 18;

const LENIENT_URL: base64::engine::general_purpose::GeneralPurpose =
    base64::engine::general_purpose::GeneralPurpose::new(
        &base64::alphabet::URL_SAFE,
        base64::engine::general_purpose::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
