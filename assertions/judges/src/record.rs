//! Recorded judgements: the calls of one test, and their answers.

mod read;

use std::fmt;

use serde_json::{Map, Value, json};
use tapewright_models::conversation::Usage;
use tapewright_models::slices::Part as _;

pub use self::read::RecordError;
use crate::call::{Call, Model, Subject};
use crate::prompt;

/// The version of the format.
pub(crate) const FORMAT: &str = "1";

/// The recorded judgements of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The name of the test.
    pub test: String,
    /// The calls in the order in which they were first made.
    pub calls: Vec<Recorded>,
}

/// A call that led to a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The call.
    pub key: Key,
    /// The answers: the last one is a verdict, those before it were not.
    pub answers: Vec<Answer>,
    /// When, as `YYYY-MM-DDTHH:MM:SSZ`.
    pub recorded_at: String,
}

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The tokens that the model read, if reported.
    pub input: Option<u64>,
    /// The tokens that it made.
    pub output: Option<u64>,
}

/// The identity of a recorded call: everything that its answer depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The version of the prompt.
    pub prompt: u32,
    /// The model that was asked.
    pub model: Model,
    /// The index of the independent answer.
    pub sample: u32,
    /// The criterion.
    pub question: String,
    /// The type of the candidate.
    pub subject: Subject,
    /// The candidate.
    pub candidate: String,
}

/// Why nothing that is recorded answers a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Nothing like it is recorded.
    Nothing,
    /// Recorded with another version of the prompt.
    Prompt(u32),
    /// Recorded with another judge.
    Model(String),
    /// Recorded with another rubric.
    Question(String),
    /// Recorded for another candidate.
    Candidate(String),
    /// Fewer opinions about it.
    Sample,
    /// It is older than verdicts are to be.
    Age,
}

impl Key {
    /// The key of a call.
    #[must_use]
    pub fn of(call: &Call) -> Self {
        Self {
            prompt: prompt::VERSION,
            model: call.model.clone(),
            sample: call.sample,
            question: call.question.clone(),
            subject: call.subject,
            candidate: call.candidate.clone(),
        }
    }

    /// Its value in a file.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(self.members())
    }

    fn members(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("prompt".into(), self.prompt.into());
        if let Some(provider) = &self.model.provider {
            members.insert("provider".into(), provider.as_str().into());
        }
        members.insert("model".into(), self.model.id.as_str().into());
        members.insert("sample".into(), self.sample.into());
        members.insert("question".into(), self.question.as_str().into());
        members.insert("subject".into(), self.subject.name().into());
        members.insert("candidate".into(), self.candidate.as_str().into());
        members
    }

    /// The number of parts that another key shares, the most important first; and the main
    /// difference.
    fn likeness(&self, recorded: &Self) -> (u32, Miss) {
        let question = self.question == recorded.question;
        let candidate = self.candidate == recorded.candidate && self.subject == recorded.subject;
        let (model, prompt) = (self.model == recorded.model, self.prompt == recorded.prompt);
        let points = [(question, 8), (candidate, 8), (model, 2), (prompt, 1)];
        let points = points
            .iter()
            .filter(|(same, _)| *same)
            .map(|(_, points)| points);
        let miss = if !question && !candidate {
            Miss::Nothing
        } else if !question {
            Miss::Question(recorded.question.clone())
        } else if !candidate {
            Miss::Candidate(recorded.candidate.clone())
        } else if !model {
            Miss::Model(recorded.model.to_string())
        } else if !prompt {
            Miss::Prompt(recorded.prompt)
        } else {
            Miss::Sample
        };
        (points.sum(), miss)
    }
}

impl Answer {
    /// An answer with its token usage.
    #[must_use]
    pub fn new(text: String, usage: Option<&Usage>) -> Self {
        Self {
            text,
            input: usage.and_then(|usage| usage.input),
            output: usage.and_then(|usage| usage.output),
        }
    }

    fn to_value(&self) -> Value {
        match (self.input, self.output) {
            (Some(input), Some(output)) => {
                json!({"text": self.text, "usage": {"input": input, "output": output}})
            }
            _ => json!({"text": self.text}),
        }
    }
}

impl Record {
    /// The recorded call with a key, or the difference of the most similar one.
    pub fn find(&self, key: &Key) -> Result<&Recorded, Miss> {
        let mut nearest = (0, Miss::Nothing);
        for one in &self.calls {
            if one.key == *key {
                return Ok(one);
            }
            let likeness = key.likeness(&one.key);
            if likeness.0 > nearest.0 {
                nearest = likeness;
            }
        }
        Err(nearest.1)
    }

    /// Adds a call, replacing the same one.
    pub fn put(&mut self, recorded: Recorded) {
        match self.calls.iter_mut().find(|one| one.key == recorded.key) {
            Some(known) => *known = recorded,
            None => self.calls.push(recorded),
        }
    }

    /// The only recorded model, if there is just one.
    #[must_use]
    pub fn model(&self) -> Option<&Model> {
        let first = &self.calls.first()?.key.model;
        let same = self.calls.iter().all(|one| one.key.model == *first);
        same.then_some(first)
    }

    /// The file.
    #[must_use]
    pub fn write(&self) -> String {
        let calls: Vec<Value> = self.calls.iter().map(Recorded::to_value).collect();
        let document = json!({"judgements": FORMAT, "test": self.test, "calls": calls});
        format!("{document:#}\n")
    }
}

impl Recorded {
    fn to_value(&self) -> Value {
        let mut members = self.key.members();
        let answers = self.answers.iter().map(Answer::to_value).collect();
        members.insert("answers".into(), answers);
        members.insert("recorded_at".into(), self.recorded_at.as_str().into());
        Value::Object(members)
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match line.char_indices().nth(80) {
                Some((at, _)) => format!("{}…", line.part(..at)),
                None => line,
            }
        };
        match self {
            Self::Nothing => write!(
                out,
                "both the rubric and the candidate are others than were recorded"
            ),
            Self::Prompt(version) => write!(
                out,
                "the prompt of the judge changed: version {version} was recorded, and now it is {}",
                prompt::VERSION
            ),
            Self::Model(model) => write!(out, "the judge changed: `{model}` was recorded"),
            Self::Question(text) => write!(out, "the rubric changed: `{}` was recorded", cut(text)),
            Self::Candidate(text) => {
                write!(out, "the candidate changed: `{}` was recorded", cut(text))
            }
            Self::Age => write!(out, "the recorded verdict is too old"),
            Self::Sample => write!(out, "fewer opinions about it were recorded"),
        }
    }
}
