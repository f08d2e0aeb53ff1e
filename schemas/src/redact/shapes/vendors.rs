//! Shapes of single vendors that are more than a prefix and a run of bytes.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use super::extent::{alnum, base64, digit, dotted, hex, mixed, upper, url64};
use super::finder::starts_token;
use crate::slices::Part as _;

/// The number of bytes of an alphabet at `at`, up to one more than `most`.
fn run(text: &[u8], at: usize, alphabet: fn(u8) -> bool, most: usize) -> usize {
    let rest = text.part(at..);
    let fits = |byte: &&u8| alphabet(**byte);
    rest.iter().take(most + 1).take_while(fits).count()
}

/// Whether the part only has letters and digits, and a token can begin with it.
fn begins(text: &[u8], part: Range<usize>) -> bool {
    let start = part.start;
    let plain = text
        .get(part)
        .is_some_and(|part| part.iter().all(u8::is_ascii_alphanumeric));
    plain && starts_token(text, start, false)
}

/// Whether a token may end at `end`.
fn ends(text: &[u8], end: usize) -> bool {
    !text.get(end).is_some_and(u8::is_ascii_alphanumeric)
}

/// Hex digits and `-`.
pub(super) fn hyphened_hex(byte: u8) -> bool {
    hex(byte) || byte == b'-'
}

/// Letters, digits and `-`.
pub(super) fn hyphened_alnum(byte: u8) -> bool {
    alnum(byte) || byte == b'-'
}

/// Letters and digits, including one that is not a hex digit: not a hash.
pub(super) fn beyond_hex(body: &[u8]) -> bool {
    digit(body) && body.iter().any(|byte| !hex(*byte))
}

/// Letters, digits and `_~.-`.
fn client_secret(byte: u8) -> bool {
    dotted(byte) || byte == b'~'
}

/// Three bytes, `7Q~` or `8Q~`, and 31 to 34 more.
pub(super) fn azure_client_secret(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let start = prefix.start.checked_sub(3)?;
    let head = text.part(start..prefix.start);
    let length = run(text, prefix.end, client_secret, 34);
    let fits = head.iter().all(|byte| client_secret(*byte))
        && (31..=34).contains(&length)
        && starts_token(text, start, false)
        && mixed(text.part(prefix.end..prefix.end + length));
    // A full stop may end the sentence.
    let end = prefix.end + length;
    let stop = text.get(end.checked_sub(1)?) == Some(&b'.') && length > 31;
    fits.then_some(start..end - usize::from(stop))
}

/// 76 letters and digits, `AZDO`, and four more.
pub(super) fn azure_devops(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let start = prefix.start.checked_sub(76)?;
    let fits = begins(text, start..prefix.start) && run(text, prefix.end, alnum, 4) == 4;
    fits.then_some(start..prefix.end + 4)
}

/// 14 letters and digits, `.atlasv1.`, and the rest.
pub(super) fn terraform(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let start = prefix.start.checked_sub(14)?;
    let length = run(text, prefix.end, url64, 128);
    let fits = begins(text, start..prefix.start) && (40..=128).contains(&length);
    fits.then_some(start..prefix.end + length)
}

/// `A3-` and groups of upper-case letters and digits: 6, 11 or 6 and 5, 5, 5, 5.
pub(super) fn one_password(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, true) {
        return None;
    }
    let groups: [&[usize]; 2] = [&[6, 11, 5, 5, 5], &[6, 6, 5, 5, 5, 5]];
    groups.into_iter().find_map(|lengths| {
        let mut at = prefix.end;
        for (place, length) in lengths.iter().enumerate() {
            if place > 0 {
                (text.get(at) == Some(&b'-')).then_some(())?;
                at += 1;
            }
            (run(text, at, upper, *length) == *length).then_some(())?;
            at += length;
        }
        let body = text.part(prefix.end..at);
        (digit(body) && ends(text, at)).then_some(prefix.start..at)
    })
}

/// The token after `SSWS `: the scheme of Okta's API tokens.
pub(super) fn ssws(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, prefix.end, url64, 128);
    let token = text.part(prefix.end..prefix.end + length);
    let fits = (20..=128).contains(&length) && digit(token);
    (fits && starts_token(text, prefix.start, false)).then_some(prefix.end..prefix.end + length)
}

/// `pat`, 14 letters and digits, a full stop, 64 hex digits.
pub(super) fn airtable(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let dot = prefix.end + 14;
    if text.get(dot) != Some(&b'.') || !starts_token(text, prefix.start, true) {
        return None;
    }
    let fits = run(text, prefix.end, alnum, 14) == 14 && run(text, dot + 1, hex, 64) == 64;
    fits.then_some(prefix.start..dot + 65)
}

/// `1/`, a number of 14 digits and more, perhaps another one, `:`, 32 hex digits.
pub(super) fn asana(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let slash = prefix.start + 1;
    let mut at = slash;
    let mut numbers = 0;
    while text.get(at) == Some(&b'/') && numbers < 2 {
        let length = run(text, at + 1, |byte| byte.is_ascii_digit(), 20);
        (14..=20).contains(&length).then_some(())?;
        at += 1 + length;
        numbers += 1;
    }
    let fits = numbers > 0
        && text.get(at) == Some(&b':')
        && run(text, at + 1, hex, 32) == 32
        && starts_token(text, prefix.start, false);
    fits.then_some(prefix.start..at + 33)
}

/// The token after `Bot `: three parts.
pub(super) fn discord_bot(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let mut at = prefix.end;
    for (place, (least, most)) in [(20, 30), (6, 7), (25, 45)].into_iter().enumerate() {
        if place > 0 {
            (text.get(at) == Some(&b'.')).then_some(())?;
            at += 1;
        }
        let length = run(text, at, url64, most);
        (least..=most).contains(&length).then_some(())?;
        at += length;
    }
    starts_token(text, prefix.start, false).then_some(prefix.end..at)
}

/// `access_token$production$`, a part, `$`, 32 hex digits.
pub(super) fn braintree(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let part = run(text, prefix.end, alnum, 32);
    let dollar = prefix.end + part;
    let fits = (8..=32).contains(&part)
        && text.get(dollar) == Some(&b'$')
        && run(text, dollar + 1, hex, 32) == 32
        && starts_token(text, prefix.start, true);
    fits.then_some(prefix.start..dollar + 33)
}

/// `pat.` or `sat.`, and three parts of 22, 24 and 20.
pub(super) fn harness(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let (account, key) = (prefix.end, prefix.end + 23);
    let secret = key + 25;
    let stops = |at: usize| text.get(at - 1) == Some(&b'.');
    let fits = run(text, account, url64, 22) == 22
        && stops(key)
        && run(text, key, alnum, 24) == 24
        && stops(secret)
        && run(text, secret, alnum, 20) == 20
        && starts_token(text, prefix.start, true);
    fits.then_some(prefix.start..secret + 20)
}

/// `sc_` and the like, two parts, `acc-` or `acc_` with a part, and the key.
pub(super) fn authress(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let begins: [&[u8]; 4] = [b"sc_", b"ext_", b"scauth_", b"authress_"];
    let from = prefix.start.saturating_sub(48);
    let before = text.part(from..prefix.start);
    let mut starts = begins
        .iter()
        .filter_map(|begin| memmem::rfind(before, begin));
    let start = from + starts.find(|at| starts_token(text, from + at, false))?;
    let client = text.part(start..prefix.start);
    let account = run(text, prefix.end, hyphened_alnum, 32);
    let key = prefix.end + account + 1;
    (text.get(key - 1) == Some(&b'.')).then_some(())?;
    let length = run(text, key, base64, 120);
    let fits = client.iter().all(|byte| dotted(*byte))
        && memchr_iter(b'.', client).count() == 1
        && (10..=32).contains(&account)
        && (30..=120).contains(&length)
        && starts_token(text, start, false);
    fits.then_some(start..key + length)
}

/// The path of a Teams webhook; the host before it is kept.
pub(super) fn teams_webhook(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let path = |byte: u8| url64(byte) || matches!(byte, b'@' | b'/');
    let length = run(text, prefix.end, path, 256);
    (length >= 64).then_some(prefix.end..prefix.end + length)
}
