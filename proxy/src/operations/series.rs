//! Histograms by operation and session.

use std::collections::BTreeMap;

use tapewright_schemas::event::Offset;

use super::counting::Operation;
use super::histogram::Histogram;
use super::names::{Name, Names, OTHERS};

/// The maximum number of combinations of names.
const SERIES: usize = 1_000;

/// All counts.
#[derive(Debug, Default)]
pub(crate) struct State {
    methods: Names,
    tools: Names,
    errors: Names,
    places: BTreeMap<Key, usize>,
    operations: Vec<(Key, Both)>,
    sessions: BTreeMap<&'static str, Histogram>,
    // The number of operations with a name beyond the limits.
    overflow: u64,
}

/// What identifies an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    transport: &'static str,
    method: Name,
    tool: Option<Name>,
    error: Option<Name>,
}

/// The durations of operations for their senders, to whom the recorder is the server, and for the
/// recorder as the client of their receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Both {
    pub(crate) server: Histogram,
    pub(crate) client: Histogram,
}

/// The labels of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Labels<'s> {
    pub(crate) transport: &'s str,
    pub(crate) method: &'s str,
    pub(crate) tool: Option<&'s str>,
    pub(crate) error: Option<&'s str>,
}

impl State {
    /// Counts a finished exchange.
    pub(super) fn add(&mut self, operation: &Operation<'_>, transport: &'static str) {
        let key = self.key(operation, transport);
        let place = *self.places.entry(key).or_insert_with(|| {
            self.operations.push((key, Both::default()));
            self.operations.len() - 1
        });
        if let Some((_, both)) = self.operations.get_mut(place) {
            both.server.add(operation.waited);
            both.client.add(operation.theirs);
        }
    }

    /// Counts a finished session.
    pub(super) fn add_session(&mut self, lasted: Offset, transport: &'static str) {
        self.sessions.entry(transport).or_default().add(lasted);
    }

    /// The key of an exchange, within the limit of combinations.
    fn key(&mut self, operation: &Operation<'_>, transport: &'static str) -> Key {
        let (method, is_method) = self.methods.known(operation.method);
        let tool = operation.tool.map(|tool| self.tools.known(tool));
        let error = operation.error.as_deref();
        let error = error.map(|error| self.errors.known(error));
        let mut others = [tool, error].into_iter().flatten();
        let is_all = is_method && others.all(|(_, is_known)| is_known);
        let key = Key {
            transport,
            method,
            tool: tool.map(|(tool, _)| tool),
            error: error.map(|(error, _)| error),
        };
        let is_room = self.operations.len() < SERIES || self.places.contains_key(&key);
        self.overflow += u64::from(!is_all || !is_room);
        if is_room {
            return key;
        }
        Key {
            transport,
            method: OTHERS,
            tool: None,
            error: None,
        }
    }

    /// All operations, by their labels.
    pub(crate) fn operations(&self) -> BTreeMap<Labels<'_>, Both> {
        self.places().collect()
    }

    /// All operations, in the order in which the first of each finished.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Labels<'_>, Both)> {
        self.operations.iter().map(|(key, both)| {
            let labels = Labels {
                transport: key.transport,
                method: self.methods.text(key.method),
                tool: key.tool.map(|tool| self.tools.text(tool)),
                error: key.error.map(|error| self.errors.text(error)),
            };
            (labels, *both)
        })
    }

    /// All sessions, by transport.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        let all = self.sessions.iter();
        all.map(|(transport, histogram)| (*transport, histogram))
    }

    /// The number of operations with a name beyond the limits.
    pub(crate) fn overflow(&self) -> u64 {
        self.overflow
    }
}
