//! Reading recorded judgements.

use serde_json::{Map, Value};

use super::{Answer, FORMAT, Key, Record, Recorded};
use crate::call::{Model, Subject};

/// Why a file of judgements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is not JSON.
    #[error("invalid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("unsupported version {0}; expected {FORMAT}")]
    Version(Value),
    /// A member is missing or has the wrong type.
    #[error("`{0}` is missing or has the wrong type")]
    Member(String),
}

impl Record {
    /// Reads a file. Unknown members are ignored.
    pub fn read(text: &[u8]) -> Result<Self, RecordError> {
        let value: Value = serde_json::from_slice(text)?;
        let version = value.get("judgements").cloned().unwrap_or_default();
        if version != FORMAT {
            return Err(RecordError::Version(version));
        }
        let calls = value.get("calls").and_then(Value::as_array);
        let calls = calls.ok_or_else(|| RecordError::Member("/calls".to_owned()))?;
        let calls = calls.iter().enumerate().map(|(at, call)| {
            let at = format!("/calls/{at}");
            let map = call
                .as_object()
                .ok_or_else(|| RecordError::Member(at.clone()))?;
            Members { map, at }.recorded()
        });
        let name = value.get("test").and_then(Value::as_str);
        Ok(Self {
            test: name.unwrap_or_default().to_owned(),
            calls: calls.collect::<Result<_, _>>()?,
        })
    }
}

impl Key {
    /// Reads a key from an object that may hold more.
    pub fn read(value: &Value) -> Result<Self, RecordError> {
        let map = value.as_object();
        let map = map.ok_or_else(|| RecordError::Member("/".to_owned()))?;
        let at = String::new();
        Members { map, at }.key()
    }
}

/// The members of an object, and its position.
struct Members<'m> {
    map: &'m Map<String, Value>,
    at: String,
}

impl Members<'_> {
    fn recorded(&self) -> Result<Recorded, RecordError> {
        let answers = self.map.get("answers").and_then(Value::as_array);
        let answers = answers.filter(|list| !list.is_empty());
        let answers = answers.ok_or_else(|| self.wrong("answers"))?;
        let answers = answers.iter().map(|one| {
            let text = one.get("text").and_then(Value::as_str);
            let text = text.ok_or_else(|| self.wrong("answers"))?.to_owned();
            let tokens = |name: &str| one.get("usage")?.get(name)?.as_u64();
            let (input, output) = (tokens("input"), tokens("output"));
            Ok(Answer {
                text,
                input,
                output,
            })
        });
        let answers = answers.collect::<Result<_, RecordError>>()?;
        Ok(Recorded {
            key: self.key()?,
            answers,
            recorded_at: self.text("recorded_at").unwrap_or_default(),
        })
    }

    fn key(&self) -> Result<Key, RecordError> {
        Ok(Key {
            prompt: self.number("prompt")?,
            model: Model {
                provider: self.text("provider").ok(),
                id: self.text("model")?,
            },
            sample: self.number("sample")?,
            question: self.text("question")?,
            subject: Subject::of_name(&self.text("subject")?)
                .ok_or_else(|| self.wrong("subject"))?,
            candidate: self.text("candidate")?,
        })
    }

    fn text(&self, name: &str) -> Result<String, RecordError> {
        let text = self.map.get(name).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| self.wrong(name))
    }

    fn number(&self, name: &str) -> Result<u32, RecordError> {
        let number = self.map.get(name).and_then(Value::as_u64);
        let number = number.and_then(|number| number.try_into().ok());
        number.ok_or_else(|| self.wrong(name))
    }

    fn wrong(&self, name: &str) -> RecordError {
        RecordError::Member(format!("{}/{name}", self.at))
    }
}
