//! Problems that only occur when several servers are used by one client.

use std::collections::{BTreeMap, BTreeSet};

use tapewright_schemas::capture::Capture;
use tapewright_schemas::event::SessionKey;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Front as _;

/// A hazard between servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// `tool-namespace-overlap` or `shared-transport-id-collision`.
    pub kind: &'static str,
    /// The problem, in words.
    pub detail: String,
    /// The servers, by their labels, in order.
    pub servers: Vec<String>,
}

/// Collects what each server offers and each session uses.
#[derive(Debug, Default)]
pub struct Composition {
    // The labels of the servers that offer a tool.
    tools: BTreeMap<String, BTreeSet<String>>,
    // The ids of each session that shares a transport, in order.
    ids: Vec<(String, Vec<String>)>,
    /// There were more tools or ids than are remembered.
    pub cut: bool,
}

/// The maximum number of tools and of ids that are remembered.
const TOOLS: usize = 100_000;
const IDS: usize = 4_000_000;
/// The maximum number of ids that one hazard lists.
const NAMED: usize = 20;

impl Composition {
    /// A server offers a tool.
    pub fn offer(&mut self, label: &str, tool: &str) {
        if self.tools.len() >= TOOLS && !self.tools.contains_key(tool) {
            self.cut = true;
            return;
        }
        let labels = self.tools.entry(tool.to_owned()).or_default();
        labels.insert(label.to_owned());
    }

    /// A session on a shared transport uses an id, given as its source text.
    pub fn shared_ids(&mut self, label: &str, ids: impl Iterator<Item = String>) {
        let known: usize = self.ids.iter().map(|(_, ids)| ids.len()).sum();
        let mut mine: Vec<String> = Vec::new();
        for id in ids {
            if known + mine.len() >= IDS {
                self.cut = true;
                break;
            }
            mine.push(id);
        }
        self.ids.push((label.to_owned(), mine));
    }

    /// Adds the ids of every session of a capture that shares a transport.
    pub fn shared_capture(&mut self, capture: &Capture) {
        for session in &capture.sessions {
            let ids = session.exchanges.iter().filter_map(|one| {
                let id = tapewright_schemas::json::find(&one.request, &["id"])?;
                Some(comparable(id))
            });
            self.shared_ids(&session.label, ids);
        }
    }

    /// The hazards: overlaps by the name of the tool, then collisions by pairs.
    #[must_use]
    pub fn hazards(&self) -> Vec<Hazard> {
        let overlaps = self.tools.iter().filter(|(_, labels)| labels.len() > 1);
        let mut found: Vec<Hazard> = overlaps
            .map(|(tool, labels)| {
                let servers: Vec<String> = labels.iter().cloned().collect();
                let detail = format!(
                    "{} servers ({}) offer a tool named `{tool}`: a client that does not call it <server>__{tool} cannot tell them apart",
                    servers.len(),
                    servers.join(", "),
                );
                Hazard {
                    kind: "tool-namespace-overlap",
                    detail,
                    servers,
                }
            })
            .collect();
        for (at, (label, ids)) in self.ids.iter().enumerate() {
            let mine: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
            for (other, theirs) in self.ids.iter().skip(at + 1) {
                found.extend(collision(label, &mine, other, theirs));
            }
        }
        found
    }
}

fn collision(label: &str, mine: &BTreeSet<&str>, other: &str, theirs: &[String]) -> Option<Hazard> {
    let both: Vec<&str> = theirs
        .iter()
        .map(String::as_str)
        .filter(|id| mine.contains(id))
        .collect();
    if both.is_empty() {
        return None;
    }
    let mut servers = vec![label.to_owned(), other.to_owned()];
    servers.order();
    let mut shown = both.front(NAMED).join(", ");
    if both.len() > NAMED {
        shown = format!("{shown} and {} more", both.len() - NAMED);
    }
    let detail = format!(
        "the sessions of {} both use the request ids {shown}: on one transport their responses cannot be told apart",
        servers.join(" and "),
    );
    Some(Hazard {
        kind: "shared-transport-id-collision",
        detail,
        servers,
    })
}

/// The comparable form of an id: `1` and `"1"` are equal.
fn comparable(source: &[u8]) -> String {
    let value = crate::value::Value(source);
    match value.string() {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(source).into_owned(),
    }
}

/// The sessions of one recording and the labels of their servers.
pub type Labels = BTreeMap<SessionKey, String>;
