//! State of the stateless era: requested inputs, and subscriptions.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::id::{Key, hash};
use crate::method::Method;
use crate::value::Value;

/// State of the stateless era.
#[derive(Debug, Default)]
pub(crate) struct Modern {
    inputs: VecDeque<Input>,
    pub(crate) listens: HashMap<Key, Listen>,
    pub(crate) forgotten: bool,
}

/// A result that asks for input.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its position.
    pub(crate) seq: u64,
    pub(crate) method: Method,
    /// The request's parameters without those that a retry changes.
    pub(crate) salient: u64,
    /// The id of the request.
    pub(crate) id: Key,
    /// The hash of the `requestState`, if any.
    pub(crate) state: Option<u64>,
    /// The hashes of the keys of `inputRequests`.
    pub(crate) keys: HashSet<u64>,
}

/// A `subscriptions/listen` request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listen {
    pub(crate) acknowledged: bool,
    pub(crate) wants: SubscriptionFilter,
}

/// The notifications that a subscription requests, or that a server grants.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubscriptionFilter {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) uris: HashSet<u64>,
}

const INPUTS: usize = 1_024;
const LISTENS: usize = 4_096;
const URIS: usize = 4_096;

impl Modern {
    /// The last result that asked for input for such a request.
    pub(crate) fn input(&self, method: Method, salient: u64) -> Option<&Input> {
        let mut newest_first = self.inputs.iter().rev();
        newest_first.find(|one| one.method == method && one.salient == salient)
    }

    /// The result with this `requestState`, if any.
    pub(crate) fn by_state(&self, state: u64) -> Option<&Input> {
        let mut newest_first = self.inputs.iter().rev();
        newest_first.find(|one| one.state == Some(state))
    }

    pub(crate) fn ask(&mut self, input: Input) {
        self.inputs.push_back(input);
        if self.inputs.len() > INPUTS {
            self.inputs.pop_front();
            self.forgotten = true;
        }
    }

    pub(crate) fn listen(&mut self, id: Key, wants: SubscriptionFilter) {
        if self.listens.len() >= LISTENS {
            self.forgotten = true;
            return;
        }
        let listen = Listen {
            acknowledged: false,
            wants,
        };
        self.listens.insert(id, listen);
    }
}

impl SubscriptionFilter {
    /// Reads the member `notifications` of a listen request or an acknowledgement.
    pub(crate) fn read(value: Option<Value<'_>>) -> Self {
        let Some(value) = value else {
            return Self::default();
        };
        let wants = |name: &str| value.get(name).and_then(Value::boolean) == Some(true);
        let mut uris = HashSet::new();
        if let Some(array) = value.get("resourceSubscriptions") {
            array.elements(|uri| {
                if let (Some(uri), true) = (uri.string(), uris.len() < URIS) {
                    uris.insert(hash(uri.as_bytes()));
                }
            });
        }
        Self {
            tools: wants("toolsListChanged"),
            prompts: wants("promptsListChanged"),
            resources: wants("resourcesListChanged"),
            uris,
        }
    }

    /// Whether everything in it is in `other` too.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let flag = |mine: bool, theirs: bool| !mine || theirs;
        flag(self.tools, other.tools)
            && flag(self.prompts, other.prompts)
            && flag(self.resources, other.resources)
            && self.uris.is_subset(&other.uris)
    }
}

/// A hash of parameters without those that a retry changes: `_meta`, `inputResponses`,
/// `requestState`. The order of members does not matter.
pub(crate) fn salient(params: Option<Value<'_>>) -> u64 {
    let mut sum = 0_u64;
    if let Some(params) = params {
        params.members(|name, value| {
            if !matches!(name, b"_meta" | b"inputResponses" | b"requestState") {
                sum = sum.wrapping_add(hash(name).rotate_left(7) ^ hash(value.0));
            }
        });
    }
    sum
}
