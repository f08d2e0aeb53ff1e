//! The elicitations that a server has requested in URL mode.

use std::collections::HashSet;

use crate::id::hash;
use crate::value::Value;

/// The elicitations that a server has requested in URL mode, by the hash of their id.
#[derive(Debug, Default)]
pub(crate) struct Elicitations {
    all: HashSet<u64>,
    forgotten: bool,
}

/// Whether a server has issued an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdState {
    Yes,
    /// It may have been forgotten.
    Perhaps,
    No,
}

const ELICITATIONS: usize = 16_384;

impl Elicitations {
    pub(crate) fn find(&self, id: &str) -> IdState {
        if self.all.contains(&hash(id.as_bytes())) {
            IdState::Yes
        } else if self.forgotten {
            IdState::Perhaps
        } else {
            IdState::No
        }
    }

    /// Adds the elicitation in a request or in an element of an error's list.
    pub(crate) fn give(&mut self, elicitation: Value<'_>) {
        let Some(id) = elicitation.get("elicitationId").and_then(Value::string) else {
            return;
        };
        if self.all.len() >= ELICITATIONS {
            self.forgotten = true;
            return;
        }
        self.all.insert(hash(id.as_bytes()));
    }
}
