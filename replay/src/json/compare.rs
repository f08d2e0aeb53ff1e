//! The differences between a recorded and a live value, place by place.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::apart::apart;
use super::canon::{Aliases, is_incidental, is_optional};
use super::ignore::{Ignore, PathStack, Step};
use super::lists;
use super::placeholder::{Style, generic};
use super::tree::{Kind, NodeId, Tree};
use super::volatile::{self, Volatile};
use super::{compact, number, placeholder};
use crate::options::MatchMode;

/// One place where two messages differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// JSON path of the place, such as `$.params.arguments.city`.
    pub path: String,
    /// Source text of the recorded value, shortened; `None` if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// Source text of the live value, shortened; `None` if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// The recording holds a placeholder there, so that a redaction rule may be the
    /// cause.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'c> {
    pub(crate) mode: MatchMode,
    pub(crate) ignore: &'c Ignore,
    pub(crate) aliases: Option<&'c Aliases>,
    /// Ignores the members of [`is_incidental`] in `_meta`.
    pub(crate) skip_incidental: bool,
    /// The maximum number of differences.
    pub(crate) limit: usize,
}

/// The maximum depth of the comparison, which is recursive.
const DEPTH_LIMIT: usize = 128;

/// How much of a value is shown.
pub(super) const SHOWN_CHARS: usize = 120;

/// The differences between two values at `root` of their messages. Texts that are not JSON differ
/// as a whole.
pub(crate) fn compare(
    recorded: &[u8],
    live: &[u8],
    root: &str,
    comparison: &Comparison<'_>,
) -> Vec<Difference> {
    let (Ok(recorded), Ok(live)) = (Tree::read(recorded), Tree::read(live)) else {
        return Vec::new();
    };
    let trail = PathStack {
        above: None,
        step: Step::Name(root.as_bytes()),
    };
    let mut walk = Walk {
        recorded: &recorded,
        live: &live,
        comparison,
        found: Vec::new(),
    };
    if !comparison.ignore.covers(&trail) {
        walk.pair(recorded.root(), live.root(), b"", &trail, 0);
    }
    walk.found
}

struct Walk<'w, 't> {
    recorded: &'w Tree<'t>,
    live: &'w Tree<'t>,
    comparison: &'w Comparison<'w>,
    found: Vec<Difference>,
}

impl Walk<'_, '_> {
    fn pair(
        &mut self,
        recorded: NodeId,
        live: NodeId,
        key: &[u8],
        trail: &PathStack<'_>,
        depth: usize,
    ) {
        if self.found.len() >= self.comparison.limit {
            return;
        }
        match (self.recorded.kind(recorded), self.live.kind(live)) {
            (Kind::Object, Kind::Object) if depth < DEPTH_LIMIT => {
                self.objects(recorded, live, trail, depth);
            }
            (Kind::Array, Kind::Array) if depth < DEPTH_LIMIT => {
                self.arrays(recorded, live, trail, depth);
            }
            _ => {
                if !self.is_same(recorded, live, key) {
                    self.note(Some(recorded), Some(live), trail);
                }
            }
        }
    }

    fn objects(&mut self, recorded: NodeId, live: NodeId, trail: &PathStack<'_>, depth: usize) {
        let mut ours = self.recorded.members(recorded).into_iter().peekable();
        let mut theirs = self.live.members(live).into_iter().peekable();
        let in_meta = self.comparison.skip_incidental
            && depth == 1
            && matches!(trail.step, Step::Name(b"_meta"));
        loop {
            let first = match (ours.peek(), theirs.peek()) {
                (Some((one, _)), Some((other, _))) => one.min(other).clone(),
                (Some((one, _)), None) | (None, Some((one, _))) => one.clone(),
                (None, None) => return,
            };
            let one = ours.next_if(|(name, _)| *name == first);
            let other = theirs.next_if(|(name, _)| *name == first);
            let below = PathStack {
                above: Some(trail),
                step: Step::Name(&first),
            };
            if in_meta && is_incidental(&first) || self.is_ignored(&below) {
                continue;
            }
            match (one, other) {
                (Some((_, one)), Some((_, other))) => {
                    self.pair(one, other, &first, &below, depth + 1);
                }
                (one, other) => {
                    let (one, other) = (one.map(|(_, one)| one), other.map(|(_, one)| one));
                    let optional = depth == 0
                        && self.comparison.skip_incidental
                        && is_optional(&first)
                        && self.is_nothing(&first, one, other);
                    if !optional {
                        self.note(one, other, &below);
                    }
                }
            }
        }
    }

    fn arrays(&mut self, recorded: NodeId, live: NodeId, trail: &PathStack<'_>, depth: usize) {
        if self.comparison.mode != MatchMode::Strict
            && let Some(key) = lists::key(trail)
            && let Some(ours) = lists::elements(self.recorded, recorded, key)
            && let Some(theirs) = lists::elements(self.live, live, key)
        {
            return self.named(&ours, &theirs, key, trail, depth);
        }
        let ours: Vec<NodeId> = self.recorded.children(recorded).collect();
        let theirs: Vec<NodeId> = self.live.children(live).collect();
        for index in 0..ours.len().max(theirs.len()) {
            let below = PathStack {
                above: Some(trail),
                step: Step::Index(index),
            };
            if self.is_ignored(&below) {
                continue;
            }
            match (ours.get(index), theirs.get(index)) {
                (Some(one), Some(other)) => self.pair(*one, *other, b"", &below, depth + 1),
                (one, other) => self.note(one.copied(), other.copied(), &below),
            }
        }
    }

    /// Compares lists whose elements have names: an inserted element does not shift the others.
    fn named(
        &mut self,
        ours: &[lists::Element<'_>],
        theirs: &[lists::Element<'_>],
        key: &'static str,
        trail: &PathStack<'_>,
        depth: usize,
    ) {
        let mut others: HashMap<&[u8], NodeId> = HashMap::new();
        others.extend(theirs.iter().map(|one| (one.name.as_ref(), one.place)));
        let known: HashSet<&[u8]> = ours.iter().map(|one| one.name.as_ref()).collect();
        let gone_or_kept = ours.iter().map(|one| {
            let other = others.get(one.name.as_ref()).copied();
            (one, Some(one.place), other)
        });
        let new = theirs
            .iter()
            .filter(|one| !known.contains(one.name.as_ref()));
        let new = new.map(|one| (one, None, Some(one.place)));
        for (one, recorded, live) in gone_or_kept.chain(new) {
            let step = Step::Element {
                index: one.index,
                key,
                name: &one.name,
            };
            let below = PathStack {
                above: Some(trail),
                step,
            };
            if self.is_ignored(&below) {
                continue;
            }
            match (recorded, live) {
                (Some(one), Some(other)) => self.pair(one, other, b"", &below, depth + 1),
                (one, other) => self.note(one, other, &below),
            }
        }
    }

    fn is_same(&self, recorded: NodeId, live: NodeId, key: &[u8]) -> bool {
        let mode = self.comparison.mode;
        let (one, other) = (self.recorded.source(recorded), self.live.source(live));
        match (self.recorded.kind(recorded), self.live.kind(live)) {
            (Kind::String(ours), Kind::String(theirs)) => {
                let (ours, theirs) = (self.recorded.meaning(ours).0, self.live.meaning(theirs).0);
                mode == MatchMode::Structural || self.is_same_text(&ours, &theirs, key)
            }
            (Kind::Number, Kind::Number) => {
                mode == MatchMode::Structural
                    || number::is_same(one, other)
                    || mode == MatchMode::Semantic
                        && Volatile::of_number(one).is_some()
                        && Volatile::of_number(other).is_some()
            }
            (Kind::Literal, Kind::Literal) => {
                one == other
                    || mode == MatchMode::Structural && (one == b"null") == (other == b"null")
            }
            // A number in place of another tool's placeholder.
            (Kind::String(ours), Kind::Number) if mode != MatchMode::Strict => {
                let ours = self.recorded.meaning(ours).0;
                Volatile::of_placeholder(&ours) == Some(Volatile::Epoch)
                    && Volatile::of_number(other).is_some()
            }
            (one_kind, other_kind) => one_kind == other_kind && one == other,
        }
    }

    fn is_same_text(&self, recorded: &[u8], live: &[u8], key: &[u8]) -> bool {
        let alias = self
            .comparison
            .aliases
            .and_then(|known| known.get(live))
            .map(Vec::as_slice);
        let live = alias.unwrap_or(live);
        if recorded == live || generic(recorded) == generic(live) {
            return true;
        }
        if self.comparison.mode == MatchMode::Strict {
            return false;
        }
        if placeholder::is_pattern(recorded) && placeholder::fits(recorded, live) {
            return true;
        }
        let kind = Volatile::of_string(key, recorded);
        if kind.is_some() && kind == Volatile::of_string(key, live) {
            return true;
        }
        let masked = |text: &[u8]| {
            let mut out = Vec::new();
            volatile::mask(text, &mut out);
            generic(&out).into_owned()
        };
        masked(recorded) == masked(live)
    }

    /// Whether a member that only one side has is optional and empty.
    fn is_nothing(&self, name: &[u8], recorded: Option<NodeId>, live: Option<NodeId>) -> bool {
        let in_meta = name == b"_meta";
        let only = |tree: &Tree<'_>, place: Option<NodeId>| {
            place.is_none_or(|place| {
                let mut members = tree.members(place).into_iter();
                tree.kind(place) == Kind::Object
                    && members.all(|(name, _)| in_meta && is_incidental(&name))
            })
        };
        only(self.recorded, recorded) && only(self.live, live)
    }

    fn is_ignored(&self, trail: &PathStack<'_>) -> bool {
        !self.comparison.ignore.is_empty() && self.comparison.ignore.covers(trail)
    }

    fn note(&mut self, recorded: Option<NodeId>, live: Option<NodeId>, trail: &PathStack<'_>) {
        if self.found.len() >= self.comparison.limit {
            return;
        }
        let recorded = recorded.map(|place| self.recorded.source(place));
        let live = live.map(|place| self.live.source(place));
        let texts = match (recorded, live) {
            (Some(recorded), Some(live)) => {
                let (recorded, live) = apart(recorded, live);
                (Some(recorded), Some(live))
            }
            (recorded, live) => (recorded.map(shown), live.map(shown)),
        };
        self.found.push(Difference {
            path: path(trail),
            redacted: recorded
                .zip(live)
                .is_some_and(|(recorded, live)| hid(recorded, live) && !hid(live, recorded)),
            recorded: texts.0,
            live: texts.1,
        });
    }
}

/// Whether a rule redacted in one value what may be the other one. If the text around the
/// placeholder differs, or the placeholder describes its value, then the values differ; likewise if
/// only the live value was redacted, since both sides are redacted by the same rules.
fn hid(one: &[u8], other: &[u8]) -> bool {
    let found = if placeholder::is_likely(one) {
        placeholder::find(one)
    } else {
        Vec::new()
    };
    let whole = |found: &placeholder::Found| {
        found.style == Style::Ours && found.range == (1..one.len().saturating_sub(1))
    };
    let (inner, text) = (unquoted(one), unquoted(other));
    found.iter().any(whole) || !found.is_empty() && placeholder::fits(inner, text)
}

/// The content of a string; any other value verbatim.
fn unquoted(source: &[u8]) -> &[u8] {
    let content = source
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    content.unwrap_or(source)
}

/// The JSON path of a place.
fn path(trail: &PathStack<'_>) -> String {
    let mut steps = Vec::new();
    let mut here = Some(trail);
    while let Some(trail) = here {
        steps.push(match trail.step {
            Step::Element { key, name, .. } => {
                let name = String::from_utf8_lossy(name);
                format!("[?@.{key}=='{}']", quoted(&name))
            }
            Step::Index(index) => format!("[{index}]"),
            Step::Name(name) => {
                let name = String::from_utf8_lossy(name);
                let plain = !name.is_empty()
                    && !name.starts_with(|char: char| char.is_ascii_digit())
                    && name
                        .chars()
                        .all(|char| char.is_ascii_alphanumeric() || char == '_');
                if plain {
                    format!(".{name}")
                } else {
                    format!("['{}']", quoted(&name))
                }
            }
        });
        here = trail.above;
    }
    steps.push("$".to_owned());
    steps.reverse();
    steps.concat()
}

/// A text within single quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A value for display.
pub(crate) fn shown(source: &[u8]) -> String {
    let text: Cow<'_, [u8]> = compact(source);
    let text = String::from_utf8_lossy(&text);
    if text.chars().count() <= SHOWN_CHARS {
        return text.into_owned();
    }
    let cut: String = text.chars().take(SHOWN_CHARS - 1).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(mode: MatchMode, recorded: &str, live: &str) -> Vec<String> {
        let ignore = Ignore::new(&["/params/skip"], &["params"]).unwrap();
        let comparison = Comparison {
            mode,
            ignore: &ignore,
            aliases: None,
            skip_incidental: true,
            limit: 10,
        };
        compare(recorded.as_bytes(), live.as_bytes(), "params", &comparison)
            .into_iter()
            .map(|one| {
                let text = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
                format!("{} {} {}", one.path, text(one.recorded), text(one.live))
            })
            .collect()
    }

    #[test]
    fn each_place_is_named() {
        let found = differences(
            MatchMode::Semantic,
            r#"{"a":{"b c":[1,2]},"d":"x","e":1,"skip":1}"#,
            r#"{"a":{"b c":[1,3,4]},"d":"y","f":null,"_meta":{"progressToken":1},"arguments":{}}"#,
        );
        assert_eq!(
            found,
            [
                "$.params.a['b c'][1] 2 3",
                "$.params.a['b c'][2] nothing 4",
                "$.params.d \"x\" \"y\"",
                "$.params.e 1 nothing",
                "$.params.f nothing null",
            ]
        );
    }

    #[test]
    fn modes_differ_in_what_they_pass_over() {
        let recorded = r#"{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","n":1,"s":"<EPOCH>"}"#;
        let live = r#"{"id":"0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56","n":1.0,"s":1763697600}"#;
        assert!(differences(MatchMode::Semantic, recorded, live).is_empty());
        assert_eq!(differences(MatchMode::Strict, recorded, live).len(), 2);
        let other = r#"{"id":"x","n":2,"s":"y"}"#;
        assert!(differences(MatchMode::Structural, recorded, other).is_empty());
        assert_eq!(differences(MatchMode::Structural, recorded, "{}").len(), 3);
    }

    #[test]
    fn other_tools_placeholders_are_patterns() {
        let recorded = r#"{"key":"[REDACTED:length=5]"}"#;
        assert!(differences(MatchMode::Semantic, recorded, r#"{"key":"abcde"}"#).is_empty());
        assert_eq!(
            differences(MatchMode::Semantic, recorded, r#"{"key":"abc"}"#).len(),
            1
        );
    }
}
