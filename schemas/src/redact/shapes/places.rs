//! Secrets that are identified by their place: the text before and after them.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::super::work;
use super::extent::digit;
use super::finder::starts_token;
use crate::slices::Part as _;

/// The password after `curl … -u user:`, `-uuser:` or `--user=user:`; the user is kept.
pub(super) fn curl_user(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, true) {
        return None;
    }
    let mut at = prefix.end;
    while at < prefix.end + LINE {
        let rest = text.get(at..)?;
        match rest {
            [b' ' | b'\t', ..] => {
                at += 1;
                continue;
            }
            [b'\\', b'\n', ..] => {
                at += 2;
                continue;
            }
            // Another command begins, or another curl.
            [b';' | b'|' | b'\n', ..] | [b'c', b'u', b'r', b'l', b' ', ..] => return None,
            _ => {}
        }
        let word = argument(text, at);
        if let Some(length) = user_option(rest) {
            let user = argument(text, at + length);
            let colon = memchr(b':', text.part(user.clone()));
            let password = user.start + colon.map_or(user.len(), |at| at + 1)..user.end;
            if is_password(text.part(password.clone())) {
                return Some(password);
            }
            at += length + 1;
        } else if matches!(text.part(word.clone()), [.., b';' | b'|']) {
            return None;
        } else {
            // It is closed by what opened it.
            at = (word.end + (word.start - at)).max(at + 1);
        }
    }
    None
}

/// The length of an option that takes a user and a password, up to its value.
fn user_option(text: &[u8]) -> Option<usize> {
    let (length, long) = match text {
        [b'-', b'u' | b'U', ..] => (2, false),
        _ if text.starts_with(b"--user") => (6, true),
        _ if text.starts_with(b"--proxy-user") => (12, true),
        _ => return None,
    };
    match text.get(length)? {
        b' ' => Some(length + 1),
        b'=' if long => Some(length + 1),
        _ => (!long).then_some(length),
    }
}

/// The word at `at`, without its quotes, which may be escaped; up to the next white space if it has
/// none.
fn argument(text: &[u8], at: usize) -> Range<usize> {
    let slashes = run_of(text, at, b'\\');
    let quote = text
        .get(at + slashes)
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let start = at + if quote.is_some() { slashes + 1 } else { 0 };
    let rest = text.part(start..text.len().min(start + LINE));
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
    work::read(length);
    start..start + length.min(rest.len())
}

/// The length of the run of a byte at `at`.
fn run_of(text: &[u8], at: usize, byte: u8) -> usize {
    let rest = text.part(at..);
    rest.iter().take(8).take_while(|one| **one == byte).count()
}

/// The password of a DSN in the form of Go's drivers: `user:password@tcp(host)/db`.
pub(super) fn dsn(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.part(prefix.start.saturating_sub(LINE)..prefix.start);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`');
    let from = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let named = before.part(from..);
    // `DSN=user:…`, and with a colon in the password.
    let colon = memchr(b':', named)?;
    let length = named.len() - colon - 1;
    let password = prefix.start - length..prefix.start;
    let user = named.part(..colon);
    (!user.is_empty() && is_password(text.part(password.clone()))).then_some(password)
}

/// The password of a line of netrc: `machine host login name password word`. Without a login, the
/// host or the password must not be an ordinary word.
pub(super) fn netrc(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, false) {
        return None;
    }
    let mut words = Words {
        text: text.part(..text.len().min(prefix.end + LINE)),
        at: prefix.end,
    };
    let host = text.get(words.next()?)?;
    let mut sure = host.contains(&b'.') || host == b"localhost";
    loop {
        let word = words.next()?;
        let value = words.next()?;
        match text.part(word) {
            b"login" => sure = true,
            b"account" => {}
            b"password" => {
                let password = text.part(value.clone());
                return ((sure || digit(password)) && is_password(password)).then_some(value);
            }
            _ => return None,
        }
    }
}

/// The password of a line of pgpass: `host:5432:database:user:password`.
pub(super) fn pgpass(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.part(prefix.start.saturating_sub(LINE)..prefix.start);
    let of_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b"*.-_/]".contains(byte);
    let host = before.iter().rev().take_while(of_host).count();
    let outside = before.len().checked_sub(host + 1);
    // Resource names of cloud providers have a colon there, too.
    if host == 0 || outside.and_then(|at| before.get(at)) == Some(&b':') {
        return None;
    }
    let line = Some(argument(text, prefix.end)).filter(|line| line.start == prefix.end)?;
    let fields = text.part(line.clone());
    let mut colons = fields.iter().enumerate().filter(|(at, byte)| {
        // A colon in a value is escaped.
        let before = at.checked_sub(1).and_then(|before| fields.get(before));
        **byte == b':' && before != Some(&b'\\')
    });
    let (database, _) = colons.next()?;
    let (user, _) = colons.next()?;
    let password = prefix.end + user + 1..line.end;
    let fits = database > 0 && user > database + 1 && colons.next().is_none();
    (fits && is_password(text.part(password.clone()))).then_some(password)
}

/// The value of `?code=` in a URL of OAuth's answer: it has a `state`, or the issuer, next to it
/// (RFC 6749 §4.1.2, RFC 9207).
pub(super) fn oauth_code(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'\\');
    let rest = text.part(prefix.end..text.len().min(prefix.end + LINE));
    let query = rest.part(..rest.iter().position(ends).unwrap_or(rest.len()));
    let length = memchr(b'&', query).unwrap_or(query.len());
    let before = text.part(prefix.start.saturating_sub(LINE)..prefix.start);
    let url = before.part(before.iter().rposition(ends).map_or(0, |at| at + 1)..);
    let company: [&[u8]; 4] = [
        b"state=",
        b"iss=",
        b"session_state=",
        b"grant_type=authorization_code",
    ];
    let beside = |part: &[u8]| {
        company
            .iter()
            .any(|name| memmem::find(part, name).is_some())
    };
    let code = query.part(..length);
    let fits = (6..=2_048).contains(&length)
        && digit(code)
        && !code.starts_with(b"<")
        && (beside(query) || beside(url) || memmem::find(url, b"callback").is_some());
    fits.then_some(prefix.end..prefix.end + length)
}

/// Whether a text in place of a password is one, and not a variable, a placeholder or a word of
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

/// Words between white space, which may be escaped.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = self.text.part(self.at..);
            self.at += match rest {
                [b'\\', b'n' | b't' | b'r', ..] => 2,
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [] => return None,
                _ => break,
            };
        }
        let word = argument(self.text, self.at);
        self.at = word.end;
        (!word.is_empty()).then_some(word)
    }
}

/// The maximum extent of such a place, in bytes.
const LINE: usize = 512;
