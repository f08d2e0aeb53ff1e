//! The end of a server's log.

use std::sync::Arc;
use tapewright_schemas::redact::{LineState, Redactor, Rules};

/// The stored length, in bytes.
const KEPT: usize = 16 << 10;

/// The maximum number of lines that are shown.
const SHOWN: usize = 10;

/// The end of a stream.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    // The beginning was cut off, possibly in the middle of a line.
    cut: bool,
}

impl Tail {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Cut rarely, not with every chunk.
        if self.bytes.len() > 2 * KEPT {
            self.bytes.drain(..self.bytes.len() - KEPT);
            self.cut = true;
        }
    }

    /// The last lines, redacted, without control characters.
    pub(super) fn show(&self, rules: &Arc<Rules>) -> String {
        let mut redactor = Redactor::new(Arc::clone(rules));
        let mut state = LineState::default();
        let mut lines: Vec<String> = self
            .bytes
            .split(|byte| *byte == b'\n')
            // The first half of a secret may have been cut off.
            .skip(usize::from(self.cut))
            .map(|line| {
                let line = redactor.line(&mut state, line);
                let text = String::from_utf8_lossy(&line);
                let plain = |char: &char| !char.is_control() || *char == '\t';
                text.chars().filter(plain).collect::<String>()
            })
            .filter(|line| !line.trim().is_empty())
            .collect();
        let last = lines.split_off(lines.len().saturating_sub(SHOWN));
        last.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::redact::Settings;

    use super::*;

    fn shown(chunks: &[&[u8]]) -> String {
        let mut tail = Tail::default();
        for chunk in chunks {
            tail.push(chunk);
        }
        tail.show(&Arc::new(Rules::new(&Settings::default()).unwrap()))
    }

    #[test]
    fn the_last_lines_are_shown_without_secrets_and_controls() {
        let text = shown(&[
            b"one\ntok",
            b"en=sk-ant-api03-abcdefghijklmnopqrstuvwxyz\n\x1b[31mred\n\n",
        ]);
        assert!(text.starts_with("one\n"), "{text}");
        assert!(!text.contains("abcdefghij"), "{text}");
        assert!(text.ends_with("[31mred"), "{text}");
    }

    #[test]
    fn a_long_stream_is_cut_at_a_line() {
        let line = [b'x'; 100];
        let mut chunks: Vec<&[u8]> = Vec::new();
        for _ in 0..2_000 {
            chunks.extend([line.as_slice(), b"\n"]);
        }
        let text = shown(&chunks);
        assert_eq!(text.lines().count(), SHOWN);
        assert!(text.lines().all(|line| line.len() == 100), "{text}");
    }
}
