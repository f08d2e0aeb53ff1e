//! What an agent is to do.

use tapewright_models::Wire;

use crate::Limits;

/// What an agent is to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// The wire of its model.
    pub wire: Wire,
    /// The model.
    pub model: String,
    /// What the model is told beforehand.
    pub system_prompt: Option<String>,
    /// What the user says.
    pub user: User,
    /// The most that it may do.
    pub limits: Limits,
}

/// What the user says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// One prompt.
    Prompt(String),
    /// These, in order.
    Scripted(Vec<String>),
    /// What a model makes up.
    Simulated {
        /// What the user says first, where that is given.
        first: Option<String>,
        /// What the user wants.
        goal: String,
        /// Who the user is.
        persona: Option<String>,
        /// The most turns.
        max_turns: u64,
    },
}

impl User {
    /// Whether a run is told turn by turn.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        !matches!(self, Self::Prompt(_))
    }

    /// What a cassette has as the prompt: the same text for the same suite.
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

    /// What the user says in a turn, from zero on, where that is known beforehand.
    pub(super) fn said(&self, turn: usize) -> Option<&str> {
        match self {
            Self::Prompt(prompt) => (turn == 0).then_some(prompt.as_str()),
            Self::Scripted(turns) => turns.get(turn).map(String::as_str),
            Self::Simulated { first, .. } => first.as_deref().filter(|_| turn == 0),
        }
    }
}
