//! Lists whose elements have names: the definitions that a server offers.

use std::borrow::Cow;
use std::collections::HashSet;

use super::ignore::{PathStack, Step};
use super::tree::{NodeId, Tree};

/// An element and its name.
#[derive(Debug)]
pub(crate) struct Element<'t> {
    pub(crate) index: usize,
    pub(crate) name: Cow<'t, [u8]>,
    pub(crate) place: NodeId,
}

/// Lists of results, and the member that names their elements (all revisions, server/tools,
/// prompts and resources).
pub(crate) const LISTS: [(&str, &str); 4] = [
    ("tools", "name"),
    ("prompts", "name"),
    ("resources", "uri"),
    ("resourceTemplates", "uriTemplate"),
];

/// The member that names the elements of the list at this place, if any.
pub(super) fn key(trail: &PathStack<'_>) -> Option<&'static str> {
    let Step::Name(list) = trail.step else {
        return None;
    };
    let above = trail.above?;
    let in_result = above.above.is_none() && matches!(above.step, Step::Name(b"result"));
    let known = LISTS.iter().find(|(name, _)| name.as_bytes() == list);
    known.filter(|_| in_result).map(|(_, key)| *key)
}

/// The elements of a list by name; `None` if an element has no name or shares one.
pub(crate) fn elements<'t>(tree: &Tree<'t>, list: NodeId, key: &str) -> Option<Vec<Element<'t>>> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (index, place) in tree.children(list).enumerate() {
        let name = tree.string(tree.member(place, key)?)?;
        if !seen.insert(name.clone()) {
            return None;
        }
        all.push(Element { index, name, place });
    }
    Some(all)
}
