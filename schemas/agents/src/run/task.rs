//! The task of an agent.

use tapewright_models::Wire;

use crate::Limits;

/// The task of an agent.
#[derive(Clone, Debug)]
pub struct Task {
    /// The wire of its model.
    pub wire: Wire,
    /// The model.
    pub model: String,
    /// The model's instructions.
    pub system_prompt: Option<String>,
    /// The user's messages.
    pub user: User,
    /// The most that it may do.
    pub limits: Limits,
}

/// The source of the user's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// One prompt.
    Prompt(String),
    /// These, in order.
    Scripted(Vec<String>),
    /// Messages that a model makes up.
    Simulated {
        /// The user's first message, if given.
        first: Option<String>,
        /// The user's goal.
        goal: String,
        /// The user's persona.
        persona: Option<String>,
        /// The most turns.
        max_turns: u64,
    },
}

impl User {
    /// Whether a run is recorded turn by turn.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        !matches!(self, Self::Prompt(_))
    }

    /// The prompt for a cassette: the same text for the same suite.
    #[must_use]
    pub fn prompt(&self) -> String {
        match self {
            Self::Prompt(prompt) => prompt.clone(),
            Self::Scripted(turns) => turns.join("\n\n"),
            Self::Simulated {
                first,
                goal,
                persona,
                max_turns,
            } => {
                let mut lines: Vec<String> = first.iter().cloned().collect();
                lines.push(format!("goal: {goal}"));
                lines.extend(persona.iter().map(|one| format!("persona: {one}")));
                lines.push(format!("max_turns: {max_turns}"));
                lines.join("\n")
            }
        }
    }

    /// The user's message in a turn, counted from zero, if it is known beforehand.
    pub(super) fn said(&self, turn: usize) -> Option<&str> {
        match self {
            Self::Prompt(prompt) => (turn == 0).then_some(prompt.as_str()),
            Self::Scripted(turns) => turns.get(turn).map(String::as_str),
            Self::Simulated { first, .. } => first.as_deref().filter(|_| turn == 0),
        }
    }
}
