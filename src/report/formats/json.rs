//! JSON, for programs. Each subject defines its own contents.

use std::io::{self, Write};

use serde::Serialize;

use crate::report::safe_json;

/// A document as indented text, with a line end.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(document)?;
    Ok(safe_json(&text).into_owned() + "\n")
}

/// Writes a document that may be long, in the form of [`text`].
pub(crate) fn write(document: &impl Serialize, out: impl Write) -> anyhow::Result<()> {
    let mut out = Safe(io::BufWriter::new(out));
    serde_json::to_writer_pretty(&mut out, document)?;
    let Safe(mut out) = out;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Escapes unsafe characters piece by piece, without cutting any character.
struct Safe<W: Write>(W);

impl<W: Write> Write for Safe<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(piece).map_err(io::Error::other)?;
        self.0.write_all(safe_json(text).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_is_written_as_the_text_of_a_short_one() {
        let document = serde_json::json!({
            "a\u{202e}b": ["\u{1b}[2J", "::add-mask::é", "##[x]", "\u{9b}\n\u{7f}"],
            "n": [1.5, null, true, {}],
        });
        let mut out = Vec::new();
        write(&document, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text(&document).unwrap());
    }
}
