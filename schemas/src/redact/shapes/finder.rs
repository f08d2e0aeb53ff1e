//! Searches for the beginnings of all shapes at once.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

use super::super::work;
use super::marks::{self, Marks};
use super::table::shapes;
use super::{Body, Extent, Shape};
use crate::slices::{Front as _, Part as _};

/// Finds tokens of every shape.
#[derive(Debug)]
pub(in crate::redact) struct ShapeFinder {
    // For beginnings that have a mark, and for all others.
    marks: Marks,
    searchers: Vec<Searcher>,
}

/// The common beginning of some prefixes, and their shapes. The fewer there are, the fewer
/// searches.
#[derive(Debug)]
struct Anchor {
    text: &'static str,
    shapes: Vec<Begin>,
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
    /// For processors without vector support.
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
        let all =
            shapes().flat_map(|shape| shape.prefixes.iter().map(move |prefix| (*prefix, shape)));
        let (marked, mut prefixes): (Vec<_>, Vec<_>) =
            all.partition(|(prefix, _)| marks::place(prefix).is_some());
        prefixes.sort_by_key(|(prefix, _)| *prefix);
        let mut anchors: Vec<Anchor> = Vec::new();
        for (prefix, shape) in prefixes {
            let last = anchors.last_mut();
            let last = last.and_then(|last| Some((common(last.text, prefix)?, last)));
            match last {
                Some((common, anchor)) => {
                    anchor.text = common;
                    anchor.shapes.push((prefix, shape));
                }
                None => anchors.push(Anchor {
                    text: prefix,
                    shapes: vec![(prefix, shape)],
                }),
            }
        }
        for anchor in &mut anchors {
            longest_first(&mut anchor.shapes);
        }
        let mut searchers = Vec::new();
        while !anchors.is_empty() {
            let rest = anchors.split_off(anchors.len().min(MOST_PACKED));
            searchers.push(Searcher {
                engine: Engine::new(&anchors),
                anchors,
            });
            anchors = rest;
        }
        Self {
            marks: Marks::of(marked),
            searchers,
        }
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
        self.marks.find(text, region.clone(), &mut found);
        for searcher in &self.searchers {
            let mut rest = region.clone();
            while let Some((anchor, at)) = searcher.next(text, rest.clone()) {
                // Text that is not a token may contain the beginning of one: ` api_…`.
                rest.start = at + 1;
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

    /// The kind of a token that is the whole `text`.
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
        token(&self.shapes, text, at)
    }
}

/// A prefix, and the shape that it begins.
pub(super) type Begin = (&'static str, &'static Shape);

/// The token of the first shape that matches at `at`.
pub(super) fn token(
    shapes: &[Begin],
    text: &[u8],
    at: usize,
) -> Option<(&'static str, Range<usize>)> {
    let rest = text.part(at..);
    let mut shapes = shapes
        .iter()
        .filter(|(prefix, _)| rest.starts_with(prefix.as_bytes()));
    shapes.find_map(|(prefix, shape)| Some((shape.kind, shape.token(text, at..at + prefix.len())?)))
}

/// The most specific shape comes first.
pub(super) fn longest_first(shapes: &mut [Begin]) {
    shapes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
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
        let rest = text.part(prefix.end..);
        let rest = rest.front(self.max + 1);
        let length = rest
            .iter()
            .position(|byte| !(self.alphabet)(*byte))
            .unwrap_or(rest.len());
        work::read(length);
        // A full stop or an equals sign may end a sentence, but no token ends in a stop.
        let body = rest.part(..length);
        let body = body.strip_suffix(b".").unwrap_or(body);
        let ends = !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
        if body.len() < self.min || body.len() > self.max || !ends || !(self.check)(body) {
            return None;
        }
        Some(prefix.start..prefix.end + body.len())
    }
}

/// The common beginning of two prefixes, if it is long enough to search for.
fn common(one: &'static str, other: &str) -> Option<&'static str> {
    let pairs = one.bytes().zip(other.bytes());
    let length = pairs.take_while(|(a, b)| a == b).count();
    (length >= SHORTEST_ANCHOR).then(|| one.part(..length))
}

/// Shorter beginnings would be met in every word.
const SHORTEST_ANCHOR: usize = 3;

/// Whether a token can start at `at`: not inside a word, as in `task-force`.
///
/// The letter of an escape that was not decoded, as in `\nghp_…` or `%3Dghp_…`, is not a part of a
/// word.
pub(super) fn starts_token(text: &[u8], at: usize, loose: bool) -> bool {
    let before = text.part(at.saturating_sub(6)..at);
    match before {
        [] | [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [b'\\', b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => true,
        [.., b'_' | b'-'] => loose,
        [.., byte] => !byte.is_ascii_alphanumeric(),
    }
}

/// The maximum number of anchors of one search. It could take 64; but the more there are, the more
/// often text matches the beginning of one by chance: four searches for 24 are faster than two for
/// 64.
const MOST_PACKED: usize = 24;

/// No token is shorter.
const SHORTEST: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_searches_find_what_has_no_mark() {
        let finder = ShapeFinder::shared();
        let anchors: usize = finder.searchers.iter().map(|one| one.anchors.len()).sum();
        // Each search costs half as much as that for all marks.
        assert!(anchors <= 5 * MOST_PACKED, "{anchors}");
    }
}
