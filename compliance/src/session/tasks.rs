//! Tasks, as revision 2025-11-25 has them.

use std::collections::HashMap;

/// The tasks of a session, by the hash of their id.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: HashMap<u64, Task>,
    pub(crate) forgotten: bool,
}

/// One task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) state: State,
    /// The position of the last message about it.
    pub(crate) seq: u64,
    /// The result that creates it has come; earlier messages may have mentioned it.
    pub(crate) created: bool,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

const TASKS: usize = 16_384;

impl State {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "working" => Self::Working,
            "input_required" => Self::InputRequired,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl Tasks {
    pub(crate) fn find(&self, id: u64) -> Option<Task> {
        self.all.get(&id).copied()
    }

    pub(crate) fn set(&mut self, id: u64, state: State, seq: u64, created: bool) {
        if self.all.len() >= TASKS && !self.all.contains_key(&id) {
            self.forgotten = true;
            return;
        }
        let created = created || self.find(id).is_some_and(|before| before.created);
        let task = Task {
            state,
            seq,
            created,
        };
        self.all.insert(id, task);
    }
}
