//! The tools, prompts and resources that a server offers, compared one by one.

use std::collections::HashMap;

use serde::Serialize;
use tapewright_schemas::redact::Redactor;

use crate::json::lists::{self, LISTS};
use crate::json::{NodeId, Tree};
use crate::verify::judge;

/// A definition that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// `tools`, `prompts`, `resources` or `resourceTemplates`.
    pub list: &'static str,
    /// The name of the tool, prompt or resource.
    pub name: String,
    /// Source text of the earlier definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Source text of the later definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The maximum number of definitions that are reported.
const MOST: usize = 100;

/// The definitions that are not written identically in two answers.
pub(crate) fn of(before: &[u8], after: &[u8], redactor: &mut Redactor) -> Vec<Listed> {
    let before = judge::redacted(before, redactor);
    let after = judge::redacted(after, redactor);
    let (Ok(before), Ok(after)) = (Tree::read(&before), Tree::read(&after)) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (list, key) in LISTS {
        let names = |tree: &Tree<'_>| {
            let place = tree.find(&["result", list])?;
            let found = lists::elements(tree, place, key)?;
            let named = found
                .into_iter()
                .map(|one| (one.name.into_owned(), one.place));
            Some(named.collect::<Vec<(Vec<u8>, NodeId)>>())
        };
        let (Some(ours), Some(theirs)) = (names(&before), names(&after)) else {
            continue;
        };
        let source = |tree: &Tree<'_>, place: NodeId| {
            String::from_utf8_lossy(tree.source(place)).into_owned()
        };
        let mut others: HashMap<Vec<u8>, NodeId> = theirs.iter().cloned().collect();
        for (name, place) in ours {
            let other = others.remove(&name);
            all.push((
                list,
                name,
                Some(source(&before, place)),
                other.map(|one| source(&after, one)),
            ));
        }
        let new = theirs
            .into_iter()
            .filter(|(name, _)| others.contains_key(name));
        all.extend(new.map(|(name, place)| (list, name, None, Some(source(&after, place)))));
    }
    let changed = all.into_iter().filter(|(_, _, one, other)| one != other);
    let told = changed.map(|(list, name, before, after)| Listed {
        list,
        name: String::from_utf8_lossy(&name).into_owned(),
        before,
        after,
    });
    told.take(MOST).collect()
}
