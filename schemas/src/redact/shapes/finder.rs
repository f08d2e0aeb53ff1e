//! Looks for the beginnings of all shapes at once.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

use super::table::SHAPES;
use super::{Body, Extent, Shape};

/// Finds tokens of every shape.
#[derive(Debug)]
pub(in crate::redact) struct ShapeFinder {
    searchers: Vec<Searcher>,
}

/// A prefix that is no longer form of another one, and the shapes that start with it.
#[derive(Debug)]
struct Anchor {
    text: &'static str,
    shapes: Vec<(&'static str, &'static Shape)>,
}

#[derive(Debug)]
struct Searcher {
    anchors: Vec<Anchor>,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    /// Vector code.
    Packed(packed::Searcher),
    /// For processors that have none.
    Plain(AhoCorasick),
    /// Nothing can be found.
    Empty,
}

static SHARED: LazyLock<ShapeFinder> = LazyLock::new(ShapeFinder::new);

impl ShapeFinder {
    /// The finder for the whole table; it is built once.
    pub(in crate::redact) fn shared() -> &'static Self {
        &SHARED
    }

    fn new() -> Self {
        let mut prefixes: Vec<(&'static str, &'static Shape)> = SHAPES
            .iter()
            .flat_map(|shape| shape.prefixes.iter().map(move |prefix| (*prefix, shape)))
            .collect();
        // Short ones first, so that an anchor stands before all that it begins.
        prefixes.sort_by_key(|(prefix, _)| prefix.len());
        let mut anchors: Vec<Anchor> = Vec::new();
        for (prefix, shape) in prefixes {
            match anchors
                .iter_mut()
                .find(|anchor| prefix.starts_with(anchor.text))
            {
                // The longest is asked first.
                Some(anchor) => anchor.shapes.insert(0, (prefix, shape)),
                None => anchors.push(Anchor {
                    text: prefix,
                    shapes: vec![(prefix, shape)],
                }),
            }
        }
        anchors.sort_by_key(|anchor| anchor.text);
        let mut searchers = Vec::new();
        while !anchors.is_empty() {
            let rest = anchors.split_off(anchors.len().min(MOST_PACKED));
            searchers.push(Searcher {
                engine: Engine::new(&anchors),
                anchors,
            });
            anchors = rest;
        }
        Self { searchers }
    }

    /// Calls `found` for every token that starts with a prefix inside `region`.
    #[inline]
    pub(in crate::redact) fn find(
        &self,
        text: &[u8],
        region: Range<usize>,
        mut found: impl FnMut(&'static str, Range<usize>),
    ) {
        if region.end - region.start < SHORTEST {
            return;
        }
        for searcher in &self.searchers {
            let mut rest = region.clone();
            while let Some((anchor, at)) = searcher.next(text, rest.clone()) {
                rest.start = at + anchor.text.len();
                if let Some((kind, span)) = anchor.token(text, at) {
                    rest.start = span.end.max(rest.start);
                    found(kind, span);
                }
                if rest.start >= region.end {
                    break;
                }
            }
        }
    }

    /// The kind of a token that is the whole of `text`.
    pub(in crate::redact) fn whole(&self, text: &[u8]) -> Option<&'static str> {
        let mut whole = None;
        self.find(text, 0..text.len(), |kind, span| {
            if span == (0..text.len()) {
                whole = Some(kind);
            }
        });
        whole
    }
}

impl Searcher {
    #[inline]
    fn next(&self, text: &[u8], region: Range<usize>) -> Option<(&Anchor, usize)> {
        let (id, start) = match &self.engine {
            Engine::Packed(engine) => {
                let hit = engine.find_in(text, Span::from(region))?;
                (hit.pattern(), hit.start())
            }
            Engine::Plain(engine) => {
                let hit = engine.find(Input::new(text).range(region))?;
                (hit.pattern(), hit.start())
            }
            Engine::Empty => return None,
        };
        Some((self.anchors.get(id.as_usize())?, start))
    }
}

impl Engine {
    fn new(anchors: &[Anchor]) -> Self {
        let texts = || anchors.iter().map(|anchor| anchor.text);
        if let Some(engine) = packed::Config::new().builder().extend(texts()).build() {
            return Self::Packed(engine);
        }
        let plain = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(texts());
        plain.map_or(Self::Empty, Self::Plain)
    }
}

impl Anchor {
    fn token(&self, text: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
        let rest = text.get(at..)?;
        let shapes = self
            .shapes
            .iter()
            .filter(|(prefix, _)| rest.starts_with(prefix.as_bytes()));
        let mut shapes = shapes;
        shapes.find_map(|(prefix, shape)| {
            Some((shape.kind, shape.token(text, at..at + prefix.len())?))
        })
    }
}

impl Shape {
    fn token(&self, text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
        match &self.extent {
            Extent::Body(body) => body.token(text, prefix),
            Extent::Special(extent) => extent(text, prefix),
        }
    }
}

impl Body {
    fn token(&self, text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
        if !starts_token(text, prefix.start, self.loose) {
            return None;
        }
        let rest = text.get(prefix.end..)?;
        let rest = rest.get(..self.max + 1).unwrap_or(rest);
        let length = rest
            .iter()
            .position(|byte| !(self.alphabet)(*byte))
            .unwrap_or(rest.len());
        // A full stop or an equals sign may end a sentence, but no token ends in a stop.
        let body = rest.get(..length)?;
        let body = body.strip_suffix(b".").unwrap_or(body);
        let ends = !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
        if body.len() < self.min || body.len() > self.max || !ends || !(self.check)(body) {
            return None;
        }
        Some(prefix.start..prefix.end + body.len())
    }
}

/// Whether a token can start at `at`: not inside a word, as in `task-force`.
///
/// The letter of an escape that was not decoded, as in `\nghp_…` or `%3Dghp_…`, is no
/// part of a word.
pub(super) fn starts_token(text: &[u8], at: usize, loose: bool) -> bool {
    let before = text.get(at.saturating_sub(6)..at).unwrap_or_default();
    match before {
        [] | [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [b'\\', b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => true,
        [.., b'_' | b'-'] => loose,
        [.., byte] => !byte.is_ascii_alphanumeric(),
    }
}

/// What the packed searcher takes before it falls back to slower code.
const MOST_PACKED: usize = 64;

/// No token is shorter.
const SHORTEST: usize = 14;
