//! Passwords in URLs.

use std::borrow::Cow;

use super::edits::Rank;
use super::finder::Finder;
use super::query;
use crate::slices::{Front as _, Part as _};

impl Finder {
    /// `scheme://user:PASSWORD@host`; returns where the password ends.
    pub(super) fn url(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let before = text.part(..at);
        let scheme = before
            .iter()
            .rev()
            .take(32)
            .take_while(|byte| is_scheme_byte(**byte))
            .count();
        let scheme = before.part(at - scheme..);
        if scheme.is_empty() {
            return None;
        }
        let start = at + 3;
        let rest = text.part(start..);
        let rest = rest.front(LONGEST_AUTHORITY);
        let space =
            |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
        let word = rest.part(..rest.iter().position(space).unwrap_or(rest.len()));
        let authority = word
            .iter()
            .position(|byte| b"/?#".contains(byte))
            .unwrap_or(word.len());
        let colon = memchr::memchr(b':', word.part(..authority))?;
        // A password may hold `/` unescaped, but then this must not be a port and a path.
        let web = matches!(scheme, b"http" | b"https" | b"ws" | b"wss" | b"file");
        let reach = if memchr::memrchr(b'@', word.part(..authority)).is_none() && !web {
            word
        } else {
            word.part(..authority)
        };
        let host = memchr::memrchr(b'@', reach)?;
        // The colon may be that of a port, after a name without a password.
        let password = reach.get(colon + 1..host)?;
        let template =
            password.starts_with(b"$") || password.starts_with(b"{") || password.starts_with(b"%s");
        if password.is_empty() || template || password.iter().all(|byte| *byte == b'*') {
            return None;
        }
        self.learn(password, "url-password");
        if let Cow::Owned(meaning) = query::percent_decoded(password) {
            self.learn(&meaning, "url-password");
        }
        self.edits
            .text(start + colon + 1..start + host, "url-password", Rank::Shape);
        Some(start + host)
    }
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-')
}

/// Bounds how far a URL is read for its `@`.
const LONGEST_AUTHORITY: usize = 512;
