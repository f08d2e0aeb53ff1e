//! Secrets that span the lines of a stream.

use std::ops::Range;

use memchr::memmem;

use super::shapes::pem_header;
use crate::slices::Part as _;

/// The state that a stream of lines needs from line to line.
#[derive(Clone, Debug, Default)]
pub struct LineState {
    /// The private key that is being printed.
    key: Option<PrivateKey>,
}

#[derive(Clone, Debug)]
struct PrivateKey {
    /// All its lines have one placeholder.
    mark: u128,
    /// The length of a logger's prefix before each line.
    prefix: usize,
    lines: usize,
}

impl LineState {
    /// The part of `line` that belongs to a private key that spans lines. `fresh` creates the mark
    /// of a new one.
    pub(super) fn part_of_key(
        &mut self,
        line: &[u8],
        fresh: impl FnOnce() -> u128,
    ) -> Option<(Range<usize>, u128)> {
        let content = line.trim_ascii_end().len();
        if let Some(mut key) = self.key.take() {
            if let Some(last) = memmem::find(line, b"-----END ") {
                let close = memmem::find(line.part(last + 9..), b"-----");
                return Some((
                    indent(line)..close.map_or(content, |close| last + 9 + close + 5),
                    key.mark,
                ));
            }
            key.lines += 1;
            if key.lines < MOST_LINES && is_body(line.part(..content), key.prefix) {
                let mark = key.mark;
                self.key = Some(key);
                return Some((indent(line).min(content)..content, mark));
            }
        }
        let start = memmem::rfind(line, b"-----BEGIN ")?;
        pem_header(line.part(start..))?;
        if memmem::find(line.part(start..), b"-----END ").is_some() {
            // The whole key is on this line, and is found by its shape.
            return None;
        }
        let mark = fresh();
        self.key = Some(PrivateKey {
            mark,
            prefix: start,
            lines: 0,
        });
        Some((start..content, mark))
    }
}

fn indent(line: &[u8]) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Whether a line can be inside a PEM block (RFC 7468, and the headers of RFC 1421).
fn is_body(line: &[u8], prefix: usize) -> bool {
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let long = line.split(|byte| !base64(byte)).any(|run| run.len() >= 40);
    let is_whole = |text: &[u8]| {
        let text = text.trim_ascii();
        let header = [
            b"Proc-Type:".as_slice(),
            b"DEK-Info:",
            b"Comment:",
            b"Version:",
        ];
        text.iter().all(base64) || header.iter().any(|header| text.starts_with(header))
    };
    long || is_whole(line) || line.get(prefix..).is_some_and(is_whole)
}

/// No private key is longer.
const MOST_LINES: usize = 1_000;
