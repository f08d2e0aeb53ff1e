//! One question to one model.

use std::fmt;

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Model {
    /// The provider, if the suite names one; otherwise the family of the model is used.
    pub provider: Option<String>,
    /// The model, as its provider names it.
    pub id: String,
}

impl Model {
    /// A model whose family follows from its name.
    #[must_use]
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            provider: None,
            id: id.into(),
        }
    }

    /// The model in a suite's string: `MODEL`, or `PROVIDER/MODEL` if one of `providers` has that
    /// name.
    #[must_use]
    pub fn read<'p>(text: &str, providers: impl IntoIterator<Item = &'p str>) -> Self {
        let split = text.split_once('/');
        let known = split.filter(|(name, _)| providers.into_iter().any(|one| one == *name));
        match known {
            Some((provider, id)) => Self {
                provider: Some(provider.to_owned()),
                id: id.to_owned(),
            },
            None => Self::named(text),
        }
    }
}

/// `MODEL`, or `PROVIDER/MODEL`.
impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.provider {
            Some(provider) => write!(out, "{provider}/{}", self.id),
            None => out.write_str(&self.id),
        }
    }
}

/// The type of a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// A text.
    #[default]
    Text,
    /// The transcript of an agent's run.
    Run,
    /// A text whose nearness to another one is measured, by their embeddings.
    Embedded,
    /// An answer that a program grades.
    Scored,
}

impl Subject {
    const ALL: [Self; 4] = [Self::Text, Self::Run, Self::Embedded, Self::Scored];

    /// Its name in a recording.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Run => "run",
            Self::Embedded => "embedded",
            Self::Scored => "scored",
        }
    }

    /// The subject with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// One question to one model: everything that its answer depends on, except for the version of the
/// prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The model that is asked.
    pub model: Model,
    /// The criterion: one narrow question.
    pub question: String,
    /// The type of the candidate.
    pub subject: Subject,
    /// The candidate. It is data, whatever it contains.
    pub candidate: String,
    /// The index of the independent answer that is requested, from 0.
    pub sample: u32,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The text of an answer, which may not be a verdict.
    Said {
        /// The text.
        text: String,
        /// The answer comes from a recording.
        replayed: bool,
    },
    /// No judge can be asked, with the reason: a key is not set, or there is nothing to judge.
    Deferred(String),
    /// The judge failed, and why: its provider, a cap on cost, a recording of something else.
    Failed(String),
}

/// Sends calls to models, or finds their recorded answers.
pub trait Asker {
    /// Sends a call to its model. `earlier` are answers to the same call that were not verdicts.
    fn ask(&mut self, call: &Call, earlier: &[String]) -> Reply;
}
