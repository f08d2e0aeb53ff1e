//! Canonical forms: byte strings that are equal for values with the same meaning.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use super::ignore::{Ignore, PathStack, Step};
use super::placeholder::generic;
use super::tree::{Kind, NodeId, Tree};
use super::volatile::{self, Volatile};
use super::{number, placeholder};
use tapewright_schemas::slices::Part as _;

/// How much of a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Detail {
    /// Everything but notation: the order of members, escapes, `1` and `1.0`.
    Exact,
    /// Like `Exact`, but all placeholders of redacted secrets are equal.
    Hidden,
    /// Like `Hidden`, but all values of one volatile kind are equal.
    Normal,
    /// Names, types and lengths of arrays.
    Shape,
}

/// Maps a live peer's names for things to the names in the recording.
pub(crate) type Aliases = HashMap<Vec<u8>, Vec<u8>>;

/// How the parameters of a request are made canonical.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Canon<'c> {
    pub(crate) detail: Detail,
    pub(crate) ignore: &'c Ignore,
    pub(crate) aliases: Option<&'c Aliases>,
    /// Places whose presence counts but not their value, by the hash of their path.
    pub(crate) masks: Option<&'c [u64]>,
    /// Under [`Detail::Shape`], the member of `params` whose value still counts.
    pub(crate) keep: Option<&'c str>,
}

/// The start of every path in `params`.
const PARAMS: u64 = 0x9e37_79b9_7f4a_7c15;

/// Values deeper than this are compared by their source text: the walk is recursive, and
/// a peer may send thousands of brackets.
const DEPTH_LIMIT: usize = 128;

/// Appends the canonical form of `params`. Absent, `null` and empty parameters are equal, and so
/// are those that only have the members of [`is_incidental`].
pub(crate) fn write_canon(tree: &Tree<'_>, canon: &Canon<'_>, out: &mut Vec<u8>) {
    let root = tree.root();
    let trail = PathStack {
        above: None,
        step: Step::Name(b"params"),
    };
    if tree.kind(root) == Kind::Literal && tree.source(root) == b"null" {
        return;
    }
    if !canon.ignore.is_empty() && canon.ignore.covers(&trail) {
        return;
    }
    let start = out.len();
    let walk = Walk { tree, canon };
    walk.value(root, b"", &trail, PARAMS, 0, out);
    if out.part(start..) == EMPTY_OBJECT {
        out.truncate(start);
    }
}

/// The hash of the place one step below a path.
pub(crate) fn path_below(path: u64, step: Step<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(path);
    match step {
        Step::Element { index, .. } | Step::Index(index) => hasher.write_usize(index),
        Step::Name(name) => hasher.write(name),
    }
    hasher.finish()
}

/// The hashes of the places whose text is a pattern, in order of their values.
pub(crate) fn pattern_places(tree: &Tree<'_>) -> Vec<u64> {
    fn walk(tree: &Tree<'_>, place: NodeId, path: u64, depth: usize, found: &mut Vec<u64>) {
        if depth > DEPTH_LIMIT {
            return;
        }
        match tree.kind(place) {
            Kind::Object => {
                for (name, child) in tree.members(place) {
                    let below = path_below(path, Step::Name(&name));
                    walk(tree, child, below, depth + 1, found);
                }
            }
            Kind::Array => {
                for (index, child) in tree.children(place).enumerate() {
                    let below = path_below(path, Step::Index(index));
                    walk(tree, child, below, depth + 1, found);
                }
            }
            Kind::String(text) => {
                if placeholder::is_pattern(&tree.meaning(text).0) {
                    found.push(path);
                }
            }
            Kind::Literal | Kind::Number => {}
        }
    }
    let mut found = Vec::new();
    walk(tree, tree.root(), PARAMS, 0, &mut found);
    found.sort_unstable();
    found
}

/// Members of `params._meta` that describe the sender and the transport of a request, not the
/// request itself. They differ between sessions and versions of a client.
pub(crate) fn is_incidental(name: &[u8]) -> bool {
    matches!(
        name,
        b"progressToken" | b"traceparent" | b"tracestate" | b"baggage" | b"clientInfo"
    ) || name
        .strip_prefix(b"io.modelcontextprotocol/")
        .is_some_and(|name| {
            matches!(
                name,
                b"protocolVersion" | b"clientInfo" | b"clientCapabilities" | b"logLevel"
            )
        })
}

/// Members of `params` that mean the same whether they are absent or empty: clients send both.
pub(crate) fn is_optional(name: &[u8]) -> bool {
    matches!(name, b"_meta" | b"arguments")
}

struct Walk<'w, 't> {
    tree: &'w Tree<'t>,
    canon: &'w Canon<'w>,
}

impl Walk<'_, '_> {
    fn value(
        &self,
        place: NodeId,
        key: &[u8],
        trail: &PathStack<'_>,
        path: u64,
        depth: usize,
        out: &mut Vec<u8>,
    ) {
        if self
            .canon
            .masks
            .is_some_and(|masks| masks.binary_search(&path).is_ok())
        {
            out.push(b'M');
            return;
        }
        if depth > DEPTH_LIMIT {
            return write_block(b'!', self.tree.source(place), out);
        }
        match self.tree.kind(place) {
            Kind::Object => self.object(place, trail, path, depth, out),
            Kind::Array => {
                out.push(b'[');
                for (index, child) in self.tree.children(place).enumerate() {
                    let step = Step::Index(index);
                    let below = PathStack {
                        above: Some(trail),
                        step,
                    };
                    if !self.is_ignored(&below) {
                        let path = self.path(path, step);
                        self.value(child, b"", &below, path, depth + 1, out);
                    }
                    out.push(b',');
                }
                out.push(b']');
            }
            Kind::String(text) => {
                let (meaning, lossy) = self.tree.meaning(text);
                if lossy {
                    // Different lone surrogates decode to the same string, but are different
                    // values.
                    return write_block(b'u', self.tree.source(place), out);
                }
                self.string(key, meaning, depth, out);
            }
            Kind::Number => self.number(self.tree.source(place), out),
            Kind::Literal if self.canon.detail == Detail::Shape => {
                let null = self.tree.source(place) == b"null";
                out.push(if null { b'0' } else { b'b' });
            }
            Kind::Literal => out.extend_from_slice(self.tree.source(place)),
        }
    }

    fn object(
        &self,
        place: NodeId,
        trail: &PathStack<'_>,
        path: u64,
        depth: usize,
        out: &mut Vec<u8>,
    ) {
        out.push(b'{');
        let in_meta = depth == 1 && matches!(trail.step, Step::Name(b"_meta"));
        for (name, child) in self.tree.members(place) {
            let step = Step::Name(&name);
            let below = PathStack {
                above: Some(trail),
                step,
            };
            if in_meta && is_incidental(&name) || self.is_ignored(&below) {
                continue;
            }
            let start = out.len();
            write_block(b':', &name, out);
            let path = self.path(path, step);
            let value = out.len();
            self.value(child, &name, &below, path, depth + 1, out);
            if depth == 0 && is_optional(&name) && out.part(value..) == EMPTY_OBJECT {
                out.truncate(start);
            }
        }
        out.push(b'}');
    }

    fn string(&self, key: &[u8], meaning: Cow<'_, [u8]>, depth: usize, out: &mut Vec<u8>) {
        let meaning = match self.canon.aliases.and_then(|known| known.get(&*meaning)) {
            Some(recorded) => Cow::Borrowed(recorded.as_slice()),
            None => meaning,
        };
        match self.canon.detail {
            Detail::Exact => write_block(b'"', &meaning, out),
            Detail::Shape => {
                if depth == 1 && self.canon.keep.is_some_and(|keep| keep.as_bytes() == key) {
                    write_block(b'"', &meaning, out);
                } else {
                    out.push(b's');
                }
            }
            Detail::Hidden => write_block(b'"', &generic(&meaning), out),
            Detail::Normal => {
                if let Some(kind) = Volatile::of_string(key, &meaning) {
                    return write_block(b'v', kind.placeholder().as_bytes(), out);
                }
                let mut masked = Vec::new();
                let shown = if volatile::mask(&meaning, &mut masked) {
                    Cow::Owned(masked)
                } else {
                    meaning
                };
                write_block(b'"', &generic(&shown), out);
            }
        }
    }

    fn number(&self, source: &[u8], out: &mut Vec<u8>) {
        match (self.canon.detail, Volatile::of_number(source)) {
            (Detail::Shape, _) => out.push(b'n'),
            (Detail::Normal, Some(kind)) => {
                write_block(b'v', kind.placeholder().as_bytes(), out);
            }
            _ => {
                out.push(b'#');
                number::write_value(source, out);
                out.push(b';');
            }
        }
    }

    fn is_ignored(&self, trail: &PathStack<'_>) -> bool {
        !self.canon.ignore.is_empty() && self.canon.ignore.covers(trail)
    }

    /// Paths are tracked on request only.
    fn path(&self, path: u64, step: Step<'_>) -> u64 {
        if self.canon.masks.is_some() {
            path_below(path, step)
        } else {
            path
        }
    }
}

/// Appends bytes with their length, which makes the form unambiguous.
fn write_block(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

const EMPTY_OBJECT: &[u8] = b"{}";

#[cfg(test)]
mod tests {
    use super::*;

    fn form(detail: Detail, params: &str) -> Vec<u8> {
        let tree = Tree::read(params.as_bytes()).unwrap();
        let ignore = Ignore::default();
        let canon = Canon {
            detail,
            ignore: &ignore,
            aliases: None,
            masks: None,
            keep: Some("name"),
        };
        let mut out = Vec::new();
        write_canon(&tree, &canon, &mut out);
        out
    }

    #[test]
    fn spelling_and_incidentals_do_not_count() {
        for (one, other) in [
            (
                r#"{"a":1,"b":[1.0,"x"]}"#,
                r#"{ "b":[1,"\u0078"], "a":1e0 }"#,
            ),
            (r"{}", "null"),
            (r#"{"_meta":{"progressToken":7}}"#, "{}"),
            (r#"{"name":"x","arguments":{}}"#, r#"{"name":"x"}"#),
            (
                r#"{"a":1,"_meta":{"traceparent":"x","io.modelcontextprotocol/clientInfo":{}}}"#,
                r#"{"a":1}"#,
            ),
        ] {
            assert_eq!(
                form(Detail::Exact, one),
                form(Detail::Exact, other),
                "{one}"
            );
        }
    }

    #[test]
    fn what_counts_differs() {
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"a":"b"}"#, r#"{"ab":""}"#),
            (r#"{"_meta":{"mine":1}}"#, "{}"),
            (r#"{"name":"x","arguments":[]}"#, r#"{"name":"x"}"#),
            (
                r#"{"a":{"name":"x","arguments":{}}}"#,
                r#"{"a":{"name":"x"}}"#,
            ),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ud801"}"#),
            (
                r#"{"a":{"_meta":{"progressToken":1}}}"#,
                r#"{"a":{"_meta":{}}}"#,
            ),
        ] {
            assert_ne!(
                form(Detail::Exact, one),
                form(Detail::Exact, other),
                "{one}"
            );
        }
    }

    #[test]
    fn each_detail_forgets_more() {
        let uuid = r#"{"name":"x","a":"6fa459ea-ee8a-3ca4-894e-db77e160355e","t":1763697600}"#;
        let other = r#"{"name":"x","a":"<UUID>","t":"<EPOCH>"}"#;
        assert_ne!(form(Detail::Hidden, uuid), form(Detail::Hidden, other));
        assert_eq!(form(Detail::Normal, uuid), form(Detail::Normal, other));
        let hidden = r#"{"a":"Bearer <REDACTED:jwt#1>"}"#;
        let again = r#"{"a":"Bearer <REDACTED:token#7>"}"#;
        assert_ne!(form(Detail::Exact, hidden), form(Detail::Exact, again));
        assert_eq!(form(Detail::Hidden, hidden), form(Detail::Hidden, again));
        let shape = r#"{"name":"x","a":[1,"b",null,true]}"#;
        let alike = r#"{"name":"x","a":[2,"c",null,false]}"#;
        assert_eq!(form(Detail::Shape, shape), form(Detail::Shape, alike));
        let unlike = r#"{"name":"y","a":[2,"c",null,false]}"#;
        assert_ne!(form(Detail::Shape, shape), form(Detail::Shape, unlike));
    }

    #[test]
    fn thousands_of_brackets_are_no_danger() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(2_000), "]".repeat(2_000));
        let other = format!("{{\"a\":{}1{}}}", "[".repeat(2_000), "]".repeat(2_000));
        assert_ne!(form(Detail::Normal, &deep), form(Detail::Normal, &other));
    }
}
