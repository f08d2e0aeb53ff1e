//! A cassette or a capture, a few exchanges at a time.
//!
//! Both are one JSON object whose long members are lists. The text between elements is glue, the
//! elements come in runs of some hundred kilobytes, and the concatenation of all pieces is the
//! document: reading one exchange at a time only needs memory for a few of them.

mod objects;

use std::io::{self, Read};

use crate::json::{Invalid, Scanner, Token};
use crate::slices::Part as _;
pub(crate) use objects::Objects;

/// Cuts a document into pieces.
#[derive(Debug)]
pub struct Pieces<R> {
    input: R,
    buffer: Vec<u8>,
    // Where the next piece begins in the buffer.
    at: usize,
    // There is nothing left to read.
    ended: bool,
    lists: &'static [&'static str],
    place: Within,
    next: Next,
}

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'b> {
    /// Its type.
    pub part: Part,
    /// Its source text.
    pub text: &'b [u8],
}

/// The type of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Space, commas, brackets, and names of lists.
    #[default]
    Glue,
    /// Members of the document, with the commas between them.
    Members,
    /// Elements of a list, with the commas between them.
    Elements {
        /// The name of the list.
        list: &'static str,
        /// The number of elements before them.
        first: usize,
    },
}

/// Why a document has no further pieces.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoPieces {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a JSON object. A reader of the whole text can find out what is wrong.
    #[error("not a JSON object")]
    NoObject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Start,
    Document,
    List { name: &'static str, count: usize },
    End,
}

/// What may come next in an object or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    ItemOrEnd,
    CommaOrEnd,
    Item,
}

/// A piece: its length, its type, and what follows.
struct Step {
    length: usize,
    part: Part,
    place: Within,
    next: Next,
}

/// Why there is no step.
enum Stop {
    /// The buffer ends too early.
    Short,
    NoObject,
}

/// The target size of a run of elements, in bytes. Tests have runs in short texts.
const RUN: usize = if cfg!(test) { 256 } else { 1 << 18 };
/// The number of bytes that are read at once.
const READ: usize = 1 << 20;

impl<R: Read> Pieces<R> {
    /// The pieces of a document; members with these names are lists.
    pub fn new(input: R, lists: &'static [&'static str]) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            ended: false,
            lists,
            place: Within::Start,
            next: Next::ItemOrEnd,
        }
    }

    /// The next piece; `None` after the last one.
    pub fn next_piece(&mut self) -> Result<Option<Piece<'_>>, NoPieces> {
        self.piece(None)
    }

    /// Like [`next_piece`](Self::next_piece), and notes its elements and their members, which costs
    /// nothing more than reading over them.
    pub(crate) fn next_objects(
        &mut self,
        objects: &mut Objects,
    ) -> Result<Option<Piece<'_>>, NoPieces> {
        self.piece(Some(objects))
    }

    fn piece(&mut self, mut objects: Option<&mut Objects>) -> Result<Option<Piece<'_>>, NoPieces> {
        let mut wanted = 1;
        let step = loop {
            self.fill(wanted)?;
            let rest = self.buffer.part(self.at..);
            if self.ended && rest.is_empty() && self.place == Within::End {
                return Ok(None);
            }
            if let Some(objects) = &mut objects {
                objects.clear();
            }
            match self.step(rest, objects.as_deref_mut()) {
                Ok(step) => break step,
                Err(Stop::Short) if !self.ended => wanted = rest.len() * 2,
                Err(_) => return Err(NoPieces::NoObject),
            }
        };
        let start = self.at;
        self.at += step.length;
        (self.place, self.next) = (step.place, step.next);
        Ok(Some(Piece {
            part: step.part,
            text: self.buffer.part(start..self.at),
        }))
    }

    /// Reads until this many bytes are available that belong to no piece yet, or to the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let rest = self.buffer.len() - self.at;
        if self.ended || rest >= wanted.max(RUN) {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let more = (wanted.saturating_sub(rest)).max(READ);
        let read = (&mut self.input)
            .take(more as u64)
            .read_to_end(&mut self.buffer)?;
        self.ended = read < more;
        Ok(())
    }

    fn step(&self, text: &[u8], objects: Option<&mut Objects>) -> Result<Step, Stop> {
        let glue = |length, place, next| {
            let part = Part::Glue;
            Ok(Step {
                length,
                part,
                place,
                next,
            })
        };
        let start = space(text, 0);
        let byte = text.get(start).copied();
        match self.place {
            Within::End if byte.is_none() => return glue(start, Within::End, self.next),
            Within::End => return Err(Stop::NoObject),
            _ => {}
        }
        match (byte.ok_or(Stop::Short)?, self.place, self.next) {
            (b'{', Within::Start, _) => glue(start + 1, Within::Document, Next::ItemOrEnd),
            (b'}', Within::Document, Next::ItemOrEnd | Next::CommaOrEnd) => {
                glue(start + 1, Within::End, self.next)
            }
            (b']', Within::List { .. }, Next::ItemOrEnd | Next::CommaOrEnd) => {
                glue(start + 1, Within::Document, Next::CommaOrEnd)
            }
            (b',', place, Next::CommaOrEnd) => glue(start + 1, place, Next::Item),
            (_, Within::Start, _) | (_, _, Next::CommaOrEnd) => Err(Stop::NoObject),
            (_, place, _) if start > 0 => glue(start, place, Next::Item),
            (_, Within::List { name, count }, _) => self.elements(text, name, count, objects),
            (_, Within::Document | Within::End, _) => self.members(text),
        }
    }

    /// A run of elements.
    fn elements(
        &self,
        text: &[u8],
        list: &'static str,
        first: usize,
        mut objects: Option<&mut Objects>,
    ) -> Result<Step, Stop> {
        let mut count = first;
        let length = run(text, |text, at| {
            let end = match &mut objects {
                Some(objects) => objects.read(text, at, || self.value(text, at))?,
                None => self.value(text, at)?,
            };
            count += 1;
            Ok(Some(end))
        })?;
        Ok(Step {
            length,
            part: Part::Elements { list, first },
            place: Within::List { name: list, count },
            next: Next::CommaOrEnd,
        })
    }

    /// A run of members that are not lists, or the beginning of a list.
    fn members(&self, text: &[u8]) -> Result<Step, Stop> {
        if let Name::List(name, length) = self.name(text, 0)? {
            return Ok(Step {
                length,
                part: Part::Glue,
                place: Within::List { name, count: 0 },
                next: Next::ItemOrEnd,
            });
        }
        let length = run(text, |text, at| match self.name(text, at)? {
            Name::List(..) => Ok(None),
            Name::Other(value) => self.value(text, value).map(Some),
        })?;
        Ok(Step {
            length,
            part: Part::Members,
            place: Within::Document,
            next: Next::CommaOrEnd,
        })
    }

    /// The name of a member, and where its value or first element begins.
    fn name(&self, text: &[u8], at: usize) -> Result<Name, Stop> {
        let rest = text.part(at..);
        let mut scanner = Scanner::new(rest);
        let name = match scanner.next_token().map_err(stop)? {
            Some(Token::String(name)) => name.span.of(rest),
            _ => return Err(Stop::NoObject),
        };
        let colon = space(rest, scanner.offset());
        match rest.get(colon) {
            Some(b':') => {}
            Some(_) => return Err(Stop::NoObject),
            None => return Err(Stop::Short),
        }
        let value = space(rest, colon + 1);
        let list = self.lists.iter().find(|list| list.as_bytes() == name);
        match (list, rest.get(value)) {
            (_, None) => Err(Stop::Short),
            (Some(list), Some(b'[')) => Ok(Name::List(list, at + value + 1)),
            _ => Ok(Name::Other(at + value)),
        }
    }

    /// The end of the value that begins here.
    fn value(&self, text: &[u8], at: usize) -> Result<usize, Stop> {
        let span = Scanner::new(text.part(at..)).skip_value().map_err(stop)?;
        let end = at + span.end;
        // A number may continue.
        if end == text.len() && !self.ended {
            return Err(Stop::Short);
        }
        Ok(end)
    }
}

enum Name {
    List(&'static str, usize),
    Other(usize),
}

/// The end of a run of items at the start of `text`. `item` returns where one ends, and `None` for
/// one that does not belong to the run. At least one must be complete.
fn run(
    text: &[u8],
    mut item: impl FnMut(&[u8], usize) -> Result<Option<usize>, Stop>,
) -> Result<usize, Stop> {
    let mut end = item(text, 0)?.ok_or(Stop::NoObject)?;
    while end < RUN {
        let comma = space(text, end);
        let start = space(text, comma + 1);
        if text.get(comma) != Some(&b',') || start >= text.len() {
            break;
        }
        match item(text, start) {
            Ok(Some(next)) => end = next,
            Ok(None) | Err(Stop::Short) => break,
            Err(Stop::NoObject) => return Err(Stop::NoObject),
        }
    }
    Ok(end)
}

fn stop(invalid: Invalid) -> Stop {
    match invalid {
        Invalid::Cut => Stop::Short,
        _ => Stop::NoObject,
    }
}

/// The offset of the next byte that is not white space.
fn space(text: &[u8], at: usize) -> usize {
    // A comma or a colon may be the last that has come so far, or still be missing.
    if at >= text.len() {
        return at;
    }
    let rest = text.part(at..);
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at + rest.iter().take_while(space).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &[&str] = &["exchanges", "messages"];

    /// Reads a few bytes at a time.
    struct Slow<'t>(&'t [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = out.len().min(3);
            self.0.read(&mut out[..count])
        }
    }

    fn pieces(text: &str) -> Option<Vec<(Part, String)>> {
        let mut pieces = Pieces::new(Slow(text.as_bytes()), LISTS);
        let mut all = Vec::new();
        while let Some(piece) = pieces.next_piece().ok()? {
            let text = String::from_utf8(piece.text.to_vec()).unwrap();
            all.push((piece.part, text));
        }
        Some(all)
    }

    #[test]
    fn all_pieces_in_a_row_are_the_document() {
        let text = " { \"version\" : \"1\" , \"n\":1, \"exchanges\" : [ {\"a\":[1]} , 2,\"x\" ], \"messages\":[],\"meta\":{} } \n";
        let all = pieces(text).unwrap();
        let joined: String = all.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(joined, text);
        let told: Vec<_> = all.iter().filter(|(part, _)| *part != Part::Glue).collect();
        let elements = Part::Elements {
            list: "exchanges",
            first: 0,
        };
        let expected = [
            (Part::Members, "\"version\" : \"1\" , \"n\":1".to_owned()),
            (elements, "{\"a\":[1]} , 2,\"x\"".to_owned()),
            (Part::Members, "\"meta\":{}".to_owned()),
        ];
        assert_eq!(told, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn elements_are_counted_across_runs() {
        let pad = "x".repeat(RUN / 3);
        let elements: Vec<_> = (0..40)
            .map(|at| format!("{{\"{at}\":\"{pad}\"}}"))
            .collect();
        let text = format!("{{\"exchanges\":[{}]}}", elements.join(" ,\n"));
        let all = pieces(&text).unwrap();
        let mut seen = 0;
        for (part, text) in &all {
            assert!(text.len() < 2 * RUN);
            if let Part::Elements { first, .. } = part {
                assert_eq!(*first, seen);
                seen += text.matches(&pad).count();
            }
        }
        assert_eq!(seen, 40);
        let joined: String = all.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(joined, text);
    }

    #[test]
    fn what_is_no_document_has_an_end_of_its_pieces() {
        for text in [
            "",
            " ",
            "[]",
            "{",
            "{} x",
            "{,}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{\"a\"}",
            "{\"exchanges\":[1,]}",
            "{\"exchanges\":[1",
            "{\"exchanges\":[1 2]}",
            "{\"exchanges\":[,1]}",
            "{\"exchanges\":[{]}",
            "\u{feff}{}",
        ] {
            assert_eq!(pieces(text), None, "{text}");
        }
    }
}
