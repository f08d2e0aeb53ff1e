//! Texts in base64 under the name `blob`, as resources carry their content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::edits::Rank;
use super::finder::Finder;
use super::rules::Rules;
use crate::slices::Part as _;

impl Finder {
    /// Notes a blob as a whole if its text contains a secret, and returns whether it does.
    ///
    /// If a part of a blob were replaced, no client could read the rest.
    pub(super) fn blob(&mut self, rules: &Rules, blob: &[u8], depth: usize) -> bool {
        let Some(text) = text_of(blob) else {
            return false;
        };
        let from = self.edits.len();
        self.free_text(rules, &text, depth);
        let found = self.edits.len() > from;
        self.edits.truncate(from);
        if found {
            self.edits.text(0..blob.len(), "blob", Rank::Shape);
            self.edits.settle(blob, from);
        }
        found
    }
}

/// The text in a blob, when it holds one.
fn text_of(blob: &[u8]) -> Option<Vec<u8>> {
    let blob = blob.trim_ascii();
    let body = blob.strip_suffix(b"=").unwrap_or(blob);
    let body = body.strip_suffix(b"=").unwrap_or(body);
    // The beginning identifies most images and archives.
    let begin = body.part(..body.len().min(BEGIN) / 4 * 4);
    STANDARD_NO_PAD
        .decode(begin)
        .ok()
        .filter(|begin| is_text(begin))?;
    let text = STANDARD_NO_PAD.decode(body).ok()?;
    (is_text(&text) && std::str::from_utf8(&text).is_ok()).then_some(text)
}

fn is_text(bytes: &[u8]) -> bool {
    let plain = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace() || *byte == 0x1b;
    bytes.iter().all(plain)
}

/// How much of a blob is examined first, in bytes.
const BEGIN: usize = 64;
