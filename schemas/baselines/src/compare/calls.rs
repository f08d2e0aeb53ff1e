//! The called tools.

use std::collections::{BTreeMap, HashMap};

use super::arguments;
use super::entry::Change;
use crate::file::ToolCall;

/// Compares the tools of two answers, and their arguments: the n-th call of a tool with the other
/// n-th call. If a tool is called more often or less often, its calls cannot be matched, and only
/// the count is reported.
pub(super) fn compare(before: &[ToolCall], after: &[ToolCall], changes: &mut Vec<Change>) {
    let names = |calls: &[ToolCall]| -> Vec<String> {
        calls.iter().map(|call| call.name.clone()).collect()
    };
    let same_order = before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(one, other)| one.name == other.name);
    let (old, new) = (counts(before), counts(after));
    if old != new {
        presence(&old, &new, before, after, changes);
    } else if !same_order {
        changes.push(Change::Order {
            before: names(before),
            after: names(after),
        });
    }
    let mut later = nth(after);
    for ((name, at), call) in nth_in_order(before) {
        let is_known = old.get(name) == new.get(name);
        if let Some(other) = later.remove(&(name, at)).filter(|_| is_known) {
            changes.extend(arguments::compare(at, call, other));
        }
    }
}

type Counts<'c> = BTreeMap<&'c str, usize>;

fn counts(calls: &[ToolCall]) -> Counts<'_> {
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.name.as_str()).or_default() += 1;
    }
    counts
}

/// Tools that one side does not call at all, for each call of them, and the counts of those that
/// both call.
fn presence(
    old: &Counts<'_>,
    new: &Counts<'_>,
    before: &[ToolCall],
    after: &[ToolCall],
    changes: &mut Vec<Change>,
) {
    let only = |calls: &[ToolCall], others: &Counts<'_>| -> Vec<String> {
        let calls = calls.iter().map(|call| call.name.as_str());
        let only = calls.filter(|name| !others.contains_key(name));
        only.map(str::to_owned).collect()
    };
    changes.extend(only(before, new).into_iter().map(Change::MissingTool));
    changes.extend(only(after, old).into_iter().map(Change::UnexpectedTool));
    for (tool, before) in old {
        if let Some(after) = new.get(tool).filter(|after| *after != before) {
            changes.push(Change::Count {
                tool: (*tool).to_owned(),
                before: *before,
                after: *after,
            });
        }
    }
}

type Nth<'c> = (&'c str, usize);

/// Each call with the name of its tool, and its index among the calls of that tool.
fn nth_in_order(calls: &[ToolCall]) -> Vec<(Nth<'_>, &ToolCall)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let numbered = calls.iter().map(|call| {
        let next = seen.entry(call.name.as_str()).or_default();
        *next += 1;
        ((call.name.as_str(), *next - 1), call)
    });
    numbered.collect()
}

fn nth(calls: &[ToolCall]) -> HashMap<Nth<'_>, &ToolCall> {
    nth_in_order(calls).into_iter().collect()
}
