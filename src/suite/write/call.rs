//! The calls of a recording, each with every answer to it.

use std::collections::HashMap;

use serde_json::Value;
use tapewright_schemas::conversation::{Conversation, Does, PerExchange};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Direction, Event};
use tapewright_schemas::order::Order as _;

/// The kinds of calls that a test can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Asks {
    /// `tools/call`.
    Tool,
    /// `resources/read`.
    Resource,
    /// `prompts/get`.
    Prompt,
}

impl Asks {
    /// The block of a suite that contains its tests.
    pub(crate) fn block(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Resource => "resources",
            Self::Prompt => "prompts",
        }
    }
}

/// One call, and its answers.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) asks: Asks,
    /// The tool or the prompt, or the URI of the resource.
    pub(crate) name: String,
    pub(crate) arguments: Option<Value>,
    /// Whole envelopes, in order.
    pub(crate) answers: Vec<Value>,
}

/// The calls of a recording, in order, equal ones combined.
#[derive(Debug)]
pub(crate) struct Calls {
    conversation: Conversation<()>,
    // The calls that are still unanswered.
    open: PerExchange<RecordedCall>,
    known: HashMap<String, usize>,
    pub(crate) all: Vec<Call>,
    bytes: usize,
    /// How many answers were dropped for lack of room.
    pub(crate) left_out: u64,
    /// How many requests were never answered.
    pub(crate) unanswered: u64,
}

/// How many calls a suite may have.
const CALLS: usize = 1_000;
/// How many answers to one call are compared.
const ANSWERS: usize = 8;
/// How many bytes of answers are kept.
const BYTES: usize = 64 << 20;

#[derive(Debug)]
struct RecordedCall {
    asks: Asks,
    name: String,
    arguments: Option<Value>,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_handles(),
            open: PerExchange::default(),
            known: HashMap::new(),
            all: Vec::new(),
            bytes: 0,
            left_out: 0,
            unanswered: 0,
        }
    }
}

impl Calls {
    /// Takes the next event, with its parsed message if available.
    pub(crate) fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let open = &mut self.open;
        let mut answered = Vec::new();
        self.conversation
            .observe(event, message, |step| match (step.what, step.handle) {
                (Does::Asks, Some(handle)) if event.dir == Direction::ToServer => {
                    if let Kind::Request { method, params, .. } = &step.envelope.kind
                        && let Some(asked) = asked(method, *params)
                    {
                        self.unanswered += u64::from(open.insert(handle, asked).is_some());
                    }
                }
                (Does::Answers | Does::Late, Some(handle)) => {
                    if let Some(asked) = open.remove(handle) {
                        answered.push((asked, serde_json::from_slice(step.text), step.text.len()));
                    }
                }
                _ => {}
            });
        for (asked, envelope, bytes) in answered {
            match envelope {
                Ok(envelope) => self.answered(asked, envelope, bytes),
                Err(_) => self.left_out += 1,
            }
        }
    }

    /// Ends the recording; another one may follow.
    pub(crate) fn finish(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.unanswered += open.len() as u64;
        self.conversation = Conversation::of_handles();
    }

    fn answered(&mut self, asked: RecordedCall, envelope: Value, bytes: usize) {
        let RecordedCall {
            asks,
            name,
            arguments,
        } = asked;
        let call = Call {
            asks,
            name,
            arguments,
            answers: Vec::new(),
        };
        self.add(call, envelope, bytes);
    }

    /// Adds an answer to a call.
    pub(crate) fn add(&mut self, call: Call, answer: Value, bytes: usize) {
        let key = call.key();
        let place = match self.known.get(&key) {
            Some(place) => *place,
            None if self.all.len() < CALLS => {
                self.known.insert(key, self.all.len());
                self.all.push(call);
                self.all.len() - 1
            }
            None => {
                self.left_out += 1;
                return;
            }
        };
        if let Some(call) = self.all.get_mut(place) {
            // More answers to one call add little, but the first one is required.
            let room = call.answers.is_empty() || call.answers.len() < ANSWERS;
            if room && self.bytes + bytes <= BYTES {
                self.bytes += bytes;
                call.answers.push(answer);
            } else {
                self.left_out += 1;
            }
        }
    }
}

impl Call {
    /// Equal for equal calls.
    fn key(&self) -> String {
        let arguments = self.arguments.as_ref().map(sorted);
        let arguments = arguments.unwrap_or(Value::Object(serde_json::Map::new()));
        format!("{:?} {} {arguments}", self.asks, self.name)
    }
}

/// The value with the members of its objects sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut all: Vec<_> = members
                .iter()
                .map(|(name, one)| (name.clone(), sorted(one)))
                .collect();
            all.order_by(|(one, _), (other, _)| one.cmp(other));
            all.into_iter().collect()
        }
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn asked(method: &str, params: Option<&[u8]>) -> Option<RecordedCall> {
    let (asks, named) = match method {
        "tools/call" => (Asks::Tool, "name"),
        "resources/read" => (Asks::Resource, "uri"),
        "prompts/get" => (Asks::Prompt, "name"),
        _ => return None,
    };
    let mut params: Value = serde_json::from_slice(params?).ok()?;
    let name = params.get(named)?.as_str()?.to_owned();
    let arguments = params.get_mut("arguments").map(Value::take);
    let arguments = arguments.filter(Value::is_object);
    Some(RecordedCall {
        asks,
        name,
        arguments,
    })
}
