//! Translates names between the recording and this session.
//!
//! | what | chosen by | here |
//! |---|---|---|
//! | id of a request, subscription id | client | live id, verbatim and with its type |
//! | progress token | client | live token; without one there is no progress |
//! | id of the server's request | server | the recorded one, once; then a new one |
//! | task that the client runs | client | learned from its reply |
//! | task, cursor, `requestState` | server | the recorded one: the client returns it |

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::json::{self, Span};

use crate::json::{Aliases, Tree};

/// Both sides of every name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every request of the server gets a new id.
    pub(super) mint_all: bool,
    /// From the client's names to the recorded ones.
    pub(super) aliases: Aliases,
    // From recorded names to the client's.
    live: HashMap<Vec<u8>, Vec<u8>>,
    // From the recorded id of a client's request to the live one.
    ids: HashMap<IdKey, Bytes>,
    // From a recorded progress token to the live one, if any.
    tokens: HashMap<IdKey, Option<Bytes>>,
    // From the recorded id of a server's request to the live one.
    server_ids: HashMap<IdKey, Bytes>,
    used: HashSet<IdKey>,
    minted: u64,
}

/// The maximum number of names of one kind: if a recording is played repeatedly, a client may use
/// any number.
const LIMIT: usize = 65_536;

impl Names {
    /// Notes that a live request plays a recorded one.
    pub(super) fn request(
        &mut self,
        recorded: Option<&[u8]>,
        live: &Bytes,
        recorded_token: Option<&[u8]>,
        live_token: Option<Bytes>,
    ) {
        if let Some(recorded) = recorded {
            self.ids.insert(IdKey::exact_of(recorded), live.clone());
        }
        if let Some(recorded) = recorded_token {
            self.tokens.insert(IdKey::exact_of(recorded), live_token);
        }
    }

    /// The live id of a recorded request of the server.
    pub(super) fn ask(&mut self, recorded: &[u8]) -> Bytes {
        let key = IdKey::exact_of(recorded);
        let fresh = !self.mint_all && !self.used.contains(&key);
        let live = if fresh {
            Bytes::copy_from_slice(recorded)
        } else {
            self.mint(recorded)
        };
        if self.used.len() < LIMIT {
            self.used.insert(IdKey::exact_of(&live));
        }
        self.server_ids.insert(key, live.clone());
        live
    }

    fn mint(&mut self, recorded: &[u8]) -> Bytes {
        loop {
            self.minted += 1;
            let number = self.minted;
            let text = match RequestId::of_source(recorded) {
                // Far from the range of servers' counters, and exact in JavaScript.
                RequestId::Number(_) if !self.mint_all => {
                    format!("{}", (1_u64 << 40) + number)
                }
                _ => format!("\"replay-{number}\""),
            };
            if !self.used.contains(&IdKey::exact_of(text.as_bytes())) {
                return text.into();
            }
        }
    }

    /// Learns the name of the client's task from its reply to a request of the server.
    pub(super) fn learn(&mut self, recorded: &[u8], live: &[u8]) {
        const TASK: [&str; 3] = ["result", "task", "taskId"];
        let text = |message| match json::find(message, &TASK)? {
            [b'"', content @ .., b'"'] => {
                let mut meaning = Vec::new();
                json::unescape(content, &mut meaning);
                Some(meaning)
            }
            _ => None,
        };
        if let (Some(recorded), Some(live)) = (text(recorded), text(live))
            && recorded != live
            && self.aliases.len() < LIMIT
        {
            self.live.insert(recorded.clone(), live.clone());
            self.aliases.insert(live, recorded);
        }
    }

    /// The live id of a client's request.
    pub(super) fn live_id(&self, recorded: &[u8]) -> Option<&Bytes> {
        self.ids.get(&IdKey::exact_of(recorded))
    }

    /// A message of the recorded server with the names of this session; `None` if it cannot be
    /// sent: progress without a token, or an orphan answer.
    pub(super) fn translate(&self, message: &Bytes, id: Option<&Bytes>) -> Option<Vec<Bytes>> {
        let tree = Tree::read(message).ok()?;
        let mut edits: Vec<(Span, Bytes)> = Vec::new();
        if let (Some(place), Some(id)) = (tree.find(&["id"]), id) {
            edits.push((tree.span(place), id.clone()));
        }
        let method = tree.find(&["method"]).and_then(|place| tree.string(place));
        match method.as_deref() {
            Some(b"notifications/progress") => {
                let place = tree.find(&["params", "progressToken"]);
                if let Some(place) = place {
                    match self.tokens.get(&IdKey::exact_of(tree.source(place))) {
                        Some(Some(live)) => edits.push((tree.span(place), live.clone())),
                        Some(None) => return None,
                        None => {}
                    }
                }
            }
            Some(b"notifications/cancelled") => {
                if let Some(place) = tree.find(&["params", "requestId"]) {
                    let key = IdKey::exact_of(tree.source(place));
                    let live = self.server_ids.get(&key).or_else(|| self.ids.get(&key));
                    edits.extend(live.map(|live| (tree.span(place), live.clone())));
                }
            }
            _ => {}
        }
        for part in ["params", "result"] {
            self.part(&tree, part, &mut edits);
        }
        Some(splice(message, edits))
    }

    /// Names inside `params` or `result`.
    fn part(&self, tree: &Tree<'_>, part: &str, edits: &mut Vec<(Span, Bytes)>) {
        const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
        const RELATED: &str = "io.modelcontextprotocol/related-task";
        if let Some(place) = tree.find(&[part, "_meta", SUBSCRIPTION]) {
            let live = self.ids.get(&IdKey::exact_of(tree.source(place)));
            edits.extend(live.map(|live| (tree.span(place), live.clone())));
        }
        if self.live.is_empty() {
            return;
        }
        for path in [&[part, "taskId"][..], &[part, "_meta", RELATED, "taskId"]] {
            let Some(place) = tree.find(path) else {
                continue;
            };
            let live = tree.string(place).and_then(|task| self.live.get(&*task));
            if let Some(live) = live {
                let mut text = b"\"".to_vec();
                json::escape(&String::from_utf8_lossy(live), &mut text);
                text.push(b'"');
                edits.push((tree.span(place), text.into()));
            }
        }
    }
}

/// A message with some of its values replaced. The other bytes are shared with it.
pub(crate) fn splice(message: &Bytes, mut edits: Vec<(Span, Bytes)>) -> Vec<Bytes> {
    edits.sort_by_key(|(span, _)| span.start);
    let mut parts = Vec::with_capacity(edits.len() * 2 + 1);
    let mut at = 0;
    for (span, live) in edits {
        if span.start < at || span.end > message.len() {
            continue;
        }
        parts.push(message.slice(at..span.start));
        parts.push(live);
        at = span.end;
    }
    parts.push(message.slice(at..));
    parts
}
