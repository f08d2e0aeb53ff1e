//! Compositions are directed graphs without cycles, and nodes only use the nodes that they wait
//! for.

use std::collections::{HashMap, HashSet};

use super::Check;
use crate::issue::Code;
use crate::near::suggestion;
use crate::suite::composition::{Composition, CompositionNode};

pub(super) fn check(check: &Check<'_>) {
    for composition in &check.suite.compositions {
        one(check, composition);
    }
}

fn one(check: &Check<'_>, composition: &Composition) {
    let mut ids: Vec<_> = composition
        .nodes
        .iter()
        .map(|node| node.id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let nodes = composition
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), &node.place));
    check.unique("node", nodes, "/id");
    for node in &composition.nodes {
        server(check, node);
        for (index, need) in node.needs.iter().enumerate() {
            check.is_one_of(&node.place, &format!("/needs/{index}"), need, "node", &ids);
        }
        references(check, node, &ids);
    }
    if let Some(output) = &composition.output {
        check.is_one_of(&composition.place, "/output", output, "node", &ids);
    }
    cycle(check, composition);
}

fn server(check: &Check<'_>, node: &CompositionNode) {
    match &node.server {
        Some(server) => check.server(&node.place, "/server", server),
        None if check.suite.servers.len() > 1 => {
            let names: Vec<_> = check
                .suite
                .servers
                .iter()
                .map(|server| server.name.as_str())
                .collect();
            let message = format!("the node `{}` does not say which server it calls", node.id);
            let help = format!("add `server:` with one of {}", crate::near::listed(&names));
            check.error(&node.place, "/id", Code::Reference, message, help);
        }
        None => {}
    }
}

/// A reference only waits for its node if it is in `needs`.
fn references(check: &Check<'_>, node: &CompositionNode, ids: &[&str]) {
    let mut noted: Vec<String> = Vec::new();
    node.args.references(&mut |pointer, reference| {
        let id = &reference.id;
        if node.needs.contains(id) || noted.contains(id) {
            return;
        }
        noted.push(id.clone());
        let (message, help) = if *id == node.id {
            (
                format!("`${{{id}…}}` is the output of the node itself"),
                "refer to a node before it".to_owned(),
            )
        } else if ids.contains(&id.as_str()) {
            (
                format!("`{id}` is not in `needs`"),
                format!("add it: `needs: [{id}]`"),
            )
        } else {
            (format!("unknown node `{id}`"), suggestion(id, "nodes", ids))
        };
        check.error(
            &node.place,
            &format!("/args{pointer}"),
            Code::Graph,
            message,
            help,
        );
    });
}

fn cycle(check: &Check<'_>, composition: &Composition) {
    let nodes: HashMap<&str, &CompositionNode> = composition
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let waiting = never_free(&nodes);
    let first = composition
        .nodes
        .iter()
        .find(|node| waiting.contains(node.id.as_str()));
    let Some(first) = first else { return };
    // Each of the remaining nodes waits for another one, so following them leads to a cycle.
    let mut chain: Vec<&str> = Vec::new();
    let mut here = first.id.as_str();
    while !chain.contains(&here) {
        chain.push(here);
        let next = nodes.get(here).and_then(|node| {
            node.needs
                .iter()
                .find(|need| waiting.contains(need.as_str()))
        });
        let Some(next) = next else { break };
        here = next;
    }
    let from = chain.iter().position(|id| *id == here).unwrap_or(0);
    let around: Vec<_> = chain
        .iter()
        .skip(from)
        .chain([&here])
        .map(|id| format!("`{id}`"))
        .collect();
    let place = nodes.get(here).map_or(&first.place, |node| &node.place);
    let message = "the nodes depend on each other in a cycle".to_owned();
    check.error(
        place,
        "/needs",
        Code::Graph,
        message,
        around.join(" needs "),
    );
}

/// The nodes that transitively wait for themselves: repeatedly removes those that wait for nothing.
fn never_free<'a>(nodes: &HashMap<&'a str, &'a CompositionNode>) -> HashSet<&'a str> {
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    let mut below: HashMap<&str, Vec<&str>> = HashMap::new();
    for node in nodes.values() {
        let needs = node
            .needs
            .iter()
            .filter(|need| nodes.contains_key(need.as_str()));
        waiting.insert(&node.id, needs.clone().count());
        needs.for_each(|need| below.entry(need).or_default().push(&node.id));
    }
    let mut free: Vec<&str> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    while let Some(id) = free.pop() {
        waiting.remove(id);
        for next in below.get(id).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    waiting.into_keys().collect()
}
