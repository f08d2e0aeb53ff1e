//! Files, places in them, and the lines that a message shows.

use std::path::{Path, PathBuf};
use tapewright_schemas::slices::Part as _;

/// A file that was read, by its index among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u16);

/// A byte range of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpot {
    /// The file.
    pub file: FileId,
    /// JSON pointer from the root of that file.
    pub pointer: String,
    /// Its text.
    pub span: Span,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path, as it was named or as an import leads to it.
    pub path: PathBuf,
    /// Its contents, without a byte order mark.
    pub text: String,
    /// The first byte of every line.
    lines: Vec<u32>,
}

/// All files that were read for one suite, the suite itself first.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// A line and its marked part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The first marked character, from 1.
    pub column: usize,
    /// The number of marked characters, at least one.
    pub width: usize,
    /// The whole line.
    pub text: &'a str,
}

impl Source {
    /// Finds the lines of a text.
    #[must_use]
    pub fn new(path: PathBuf, text: String) -> Self {
        let breaks = text.bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n');
        let lines = std::iter::once(0)
            .chain(breaks.map(|(_, next)| next))
            .collect();
        Self { path, text, lines }
    }

    /// The line of a span and the part of it that the span covers.
    #[must_use]
    pub fn excerpt(&self, span: Span) -> Excerpt<'_> {
        let line = self
            .lines
            .partition_point(|start| *start <= span.start)
            .max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0) as usize;
        let rest = self.text.part(start..);
        let text = rest.split('\n').next().unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        let within = |offset: u32| {
            let offset = (offset as usize).saturating_sub(start).min(text.len());
            text.get(..offset).map_or(0, |text| text.chars().count())
        };
        let (from, to) = (within(span.start), within(span.end));
        Excerpt {
            line,
            column: from + 1,
            width: to.saturating_sub(from).max(1),
            text,
        }
    }
}

impl Sources {
    /// Takes a file in.
    pub(crate) fn add(&mut self, source: Source) -> Option<FileId> {
        let id = u16::try_from(self.files.len()).ok()?;
        self.files.push(source);
        Some(FileId(id))
    }

    /// A file.
    #[must_use]
    pub fn file(&self, id: FileId) -> Option<&Source> {
        self.files.get(usize::from(id.0))
    }

    /// Every file, the suite itself first.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// The path of a file; empty if there is none.
    #[must_use]
    pub fn path(&self, id: FileId) -> &Path {
        self.file(id).map_or(Path::new(""), |source| &source.path)
    }

    /// The line of a position, with the position marked.
    #[must_use]
    pub fn excerpt(&self, place: &SourceSpot) -> Option<Excerpt<'_>> {
        Some(self.file(place.file)?.excerpt(place.span))
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, Span};

    #[test]
    fn a_span_is_shown_on_its_first_line_in_characters() {
        let source = Source::new("x".into(), "é: 1\r\nkey: [a,\n  b]\n".to_owned());
        let at = |start, end| {
            let found = source.excerpt(Span { start, end });
            (found.line, found.column, found.width, found.text)
        };
        assert_eq!(at(4, 5), (1, 4, 1, "é: 1"));
        assert_eq!(at(12, 21), (2, 6, 3, "key: [a,"));
        assert_eq!(at(21, 21), (4, 1, 1, ""));
        assert_eq!(at(900, 901), (4, 1, 1, ""));
    }
}
