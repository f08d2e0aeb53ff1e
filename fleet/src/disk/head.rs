//! Reads the first line of a tape.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use tapewright_schemas::tape::Header;

use crate::entry::About;
use crate::hash;
use crate::names::TapeId;

/// The facts in the first line of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The name of the tape, which is derived from the line.
    pub id: TapeId,
    /// The recorded session or sessions.
    pub about: About,
}

/// The longest first line to read, in bytes.
const LIMIT: usize = 1 << 20;
/// How many bytes are read at once.
const CHUNK: usize = 16 << 10;

/// The kind of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tape.
    Tape(Box<Head>),
    /// A tape without a complete first line.
    Unfinished,
    /// Not a tape.
    Other,
}

impl Head {
    /// Reads the first line.
    pub fn read(file: &File) -> io::Result<Kind> {
        let mut line = Vec::new();
        loop {
            let mut chunk = [0; CHUNK];
            let read = file.read_at(&mut chunk, line.len() as u64)?;
            let chunk = chunk.get(..read).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', chunk) {
                line.extend_from_slice(chunk.get(..=end).unwrap_or_default());
                return Ok(Self::of(&line));
            }
            line.extend_from_slice(chunk);
            if read == 0 || line.len() > LIMIT {
                let is_long = line.len() > LIMIT;
                return Ok(if is_long {
                    Kind::Other
                } else {
                    Kind::Unfinished
                });
            }
        }
    }

    fn of(line: &[u8]) -> Kind {
        match serde_json::from_slice::<Header>(line) {
            Ok(header) if !header.tape.is_empty() => Kind::Tape(Box::new(Self {
                id: TapeId::new(&header.created, &hash::of(line)),
                about: About::of(&header),
            })),
            _ => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Kind {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        Head::read(&file).unwrap()
    }

    fn head(text: &str) -> Head {
        match kind(text) {
            Kind::Tape(head) => *head,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tape_is_known_by_its_first_line_alone() {
        let line = r#"{"tape":"2.4","created":"2026-11-26T03:15:00.5Z","label":"fs","pid":7}"#;
        let first = head(&format!("{line}\n"));
        assert_eq!(first, head(&format!("{line}\n{{\"seq\":1}}\n")));
        assert_ne!(first.id, head(&format!("{line} \n")).id);
        assert_eq!(first.about.label, "fs");
        assert!(first.id.to_string().starts_with("20261126T031500Z-"));
    }

    #[test]
    fn a_long_header_is_read_whole_and_an_endless_one_is_none() {
        let command = "x".repeat(100_000);
        let line = format!("{{\"tape\":\"2.4\",\"command\":[\"{command}\"]}}\n");
        assert!(matches!(kind(&line), Kind::Tape(_)));
        assert_eq!(kind(&"x".repeat(LIMIT + CHUNK)), Kind::Other);
    }

    #[test]
    fn what_is_none_or_not_there_yet_is_told_apart() {
        for text in ["", "{\"tape\":\"2.4\""] {
            assert_eq!(kind(text), Kind::Unfinished, "{text}");
        }
        for text in ["\n", "{}\n", "{\"tape\":\"\"}\n", "x\n"] {
            assert_eq!(kind(text), Kind::Other, "{text}");
        }
    }
}
