//! The recorded head of a message that was cut at an arbitrary byte.

use super::finder::Finder;
use super::rules::Rules;

use crate::slices::Part as _;

impl Finder {
    /// Notes the secrets of a head and returns how much of it may be recorded.
    pub(super) fn head(&mut self, rules: &Rules, head: &[u8]) -> usize {
        let from = self.edits.len();
        let mut read = 0;
        let first = head.trim_ascii_start().first();
        if matches!(first, Some(b'{' | b'[')) {
            read = self.walk_front(rules, head, 0);
        }
        if read < head.len() {
            self.elements(rules, head, read..head.len());
            self.loose(rules, head, read..head.len());
        }
        self.edits.settle(head, from);
        kept(head)
    }
}

/// The length of a head without what may be the first half of a secret.
fn kept(head: &[u8]) -> usize {
    let mut end = whole_chars(head);
    let head = head.part(..end);
    let run = head
        .iter()
        .rev()
        .take_while(|byte| is_token_byte(**byte))
        .count();
    let start = end - run;
    let begins = |prefix: &[u8]| head.part(start..).starts_with(prefix);
    end -= if begins(b"eyJ") {
        run
    } else {
        run.min(LONGEST_RUN)
    };
    end.min(url_password(head).unwrap_or(end))
}

/// The length without a character that was split.
fn whole_chars(head: &[u8]) -> usize {
    let tail = head.len().saturating_sub(3);
    let start = head
        .iter()
        .rposition(|byte| byte & 0xc0 != 0x80)
        .unwrap_or(head.len());
    let width = match head.get(start) {
        Some(0xf0..=0xf7) => 4,
        Some(0xe0..=0xef) => 3,
        Some(0xc0..=0xdf) => 2,
        _ => 1,
    };
    if start >= tail && head.len() - start < width {
        start
    } else {
        head.len()
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~' | b'%' | b'\\'
        )
}

/// The start of the password in a URL without its `@`, if the head ends inside it.
fn url_password(head: &[u8]) -> Option<usize> {
    let window = head.len().saturating_sub(LONGEST_URL);
    let tail = head.part(window..);
    let space = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>');
    let start = tail.iter().rposition(space).map_or(0, |space| space + 1);
    let url = tail.part(start..);
    let authority = memchr::memmem::find(url, b"://")? + 3;
    let rest = url.part(authority..);
    let colon = memchr::memchr(b':', rest)?;
    (!rest.contains(&b'@')).then_some(window + start + authority + colon + 1)
}

/// More of a run is recorded: it is data, or found by the shape of its beginning.
const LONGEST_RUN: usize = 4_096;

const LONGEST_URL: usize = 4_096;
