//! Embeddings on both wires that have them: `…/embeddings` and `…:embedContent`.

use serde_json::{Value, json};

use super::http::{Answer, ProviderRequest};
use super::script::{Moment, Script};
use super::turns::list;
use super::{Wire, chat, gemini};

/// The embeddings API of a path, if it is one.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    OpenAi,
    Gemini,
}

impl Kind {
    pub(super) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/embeddings") {
            Some(Self::OpenAi)
        } else if path.ends_with(":embedContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-embeddings",
            Self::Gemini => "gemini-embeddings",
        }
    }

    /// The wire whose keys and errors it uses.
    pub(super) fn wire(self) -> &'static dyn Wire {
        match self {
            Self::OpenAi => &chat::Chat,
            Self::Gemini => &gemini::Gemini,
        }
    }

    pub(super) fn answer(self, asked: &ProviderRequest, body: &Value, script: &Script) -> Answer {
        let texts = match self.texts(asked, body) {
            Ok(texts) => texts,
            Err(message) => return Answer::json(400, &self.wire().error(400, &message)),
        };
        let mut vectors = Vec::new();
        for text in &texts {
            let Some(moment) = script.embedding(text) else {
                vectors.push(usual(text));
                continue;
            };
            std::thread::sleep(std::time::Duration::from_millis(moment.delay_ms));
            if let Some(answer) = self.instead(&moment) {
                return answer;
            }
            vectors.push(moment.says["vector"].clone());
        }
        match self {
            Self::OpenAi => Answer::json(200, &openai(&vectors, &body["model"])),
            Self::Gemini => Answer::json(200, &json!({"embedding": {"values": vectors[0]}})),
        }
    }

    /// The response in place of a vector.
    fn instead(self, moment: &Moment) -> Option<Answer> {
        if moment.hang {
            return Some(Answer::never());
        }
        if moment.malformed {
            return Some(Answer::text("application/json", "{\"half\": ".to_owned()));
        }
        let status = moment.status?;
        let mut answer = Answer::json(status, &self.wire().error(status, &moment.message));
        let after = moment.retry_after.clone();
        answer
            .fields
            .extend(after.map(|seconds| ("retry-after", seconds)));
        Some(answer)
    }

    /// The texts that a request brings, as its API documents it.
    fn texts(self, asked: &ProviderRequest, body: &Value) -> Result<Vec<String>, String> {
        let texts: Vec<&Value> = match self {
            Self::OpenAi => {
                body["model"]
                    .as_str()
                    .ok_or("you must provide a model parameter")?;
                match &body["input"] {
                    Value::Array(_) => list(&body["input"]).collect(),
                    one => vec![one],
                }
            }
            Self::Gemini => {
                let (before, _) = asked.path.rsplit_once(':').ok_or("no method")?;
                let named = body["model"].as_str().unwrap_or_default();
                if !before.ends_with(named) {
                    return Err(format!("the model in the body is {named}"));
                }
                list(&body["content"]["parts"])
                    .map(|part| &part["text"])
                    .take(1)
                    .collect()
            }
        };
        let texts = texts
            .into_iter()
            .map(|text| text.as_str().map(str::to_owned));
        let texts: Option<Vec<_>> = texts.collect();
        texts
            .filter(|texts| !texts.is_empty())
            .ok_or("'$.input' is invalid".to_owned())
    }
}

/// The vector of a text that is not in the script: its length, and its first byte.
fn usual(text: &str) -> Value {
    json!([text.len(), text.bytes().next().unwrap_or(0)])
}

fn openai(vectors: &[Value], model: &Value) -> Value {
    let one = |(at, vector)| json!({"object": "embedding", "index": at, "embedding": vector});
    let data: Vec<_> = vectors.iter().enumerate().map(one).collect();
    json!({
        "object": "list", "data": data, "model": model,
        "usage": {"prompt_tokens": vectors.len(), "total_tokens": vectors.len()},
    })
}
