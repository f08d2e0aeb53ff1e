//! Groups the servers of a suite that are used together.

use std::collections::HashSet;

use crate::suite::plan::Plan;
use tapewright_schemas::order::Order as _;

/// Servers that are used together, and their cases by number.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) servers: Vec<String>,
    pub(super) cases: Vec<usize>,
}

/// The groups of the selected cases, each case in one of them. Cases without a server form a
/// separate group.
pub(super) fn groups(plan: &Plan, chosen: &[usize]) -> Vec<Group> {
    let cases = || {
        chosen
            .iter()
            .filter_map(|number| Some((*number, plan.cases.get(*number)?)))
    };
    let mut groups: Vec<Group> = Vec::new();
    // A suite has few servers and many cases, so distinct sets of servers are merged first.
    let mut seen: HashSet<Vec<&str>> = HashSet::new();
    for (_, case) in cases() {
        let needed = case.servers();
        if !seen.insert(needed.clone()) {
            continue;
        }
        let alone = |group: &Group| needed.is_empty() && group.servers.is_empty();
        let shares = |group: &Group| needed.iter().any(|name| group.has(name));
        let (mut same, mut others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| alone(group) || shares(group));
        let mut joined = Group::default();
        for group in &mut same {
            joined.servers.append(&mut group.servers);
        }
        for name in &needed {
            if !joined.has(name) {
                joined.servers.push((*name).to_owned());
            }
        }
        others.push(joined);
        groups = others;
    }
    for (number, case) in cases() {
        let needed = case.servers();
        let of = |group: &&mut Group| match needed.first() {
            Some(name) => group.has(name),
            None => group.servers.is_empty(),
        };
        if let Some(group) = groups.iter_mut().find(of) {
            group.cases.push(number);
        }
    }
    groups.order_by_key(|group| group.cases.first().copied());
    groups
}

impl Group {
    fn has(&self, server: &str) -> bool {
        self.servers.iter().any(|one| one == server)
    }
}
