//! Common parts of all wires: requests and answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::script::{Moment, signature};

/// A parsed request.
pub(super) struct Ask {
    pub(super) model: String,
    pub(super) stream: bool,
    /// Whether events are sent as `text/event-stream`; otherwise as one JSON array.
    pub(super) sse: bool,
    /// The names of the tools that are offered.
    pub(super) tools: Vec<String>,
    /// The number of assistant turns in the request.
    pub(super) turn: usize,
    /// Whether a stream reports its usage.
    pub(super) usage: bool,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// The model's message.
pub(super) struct ModelTurn {
    /// Differs in each answer, as the ids of real providers do.
    pub(super) nonce: String,
    pub(super) model: String,
    pub(super) turn: usize,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: String,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) finish: Finish,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) reasoning: u64,
    pub(super) usage: bool,
}

/// Why the model ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Calls,
    MaxTokens,
    Refusal,
    Filter,
}

static ANSWERS: AtomicUsize = AtomicUsize::new(0);

impl ModelTurn {
    pub(super) fn new(ask: &Ask, moment: &Moment) -> Self {
        let says = &moment.says;
        let text = |name: &str| says[name].as_str().map(str::to_owned);
        let tokens = |name: &str, usual: u64| says["usage"][name].as_u64().unwrap_or(usual);
        let nonce = format!(
            "{:x}n{:x}",
            std::process::id(),
            ANSWERS.fetch_add(1, Ordering::Relaxed)
        );
        let calls = says["tools"].as_array().cloned().unwrap_or_default();
        let calls = calls.iter().enumerate().map(|(at, call)| Call {
            id: call["id"]
                .as_str()
                .map_or_else(|| format!("{nonce}_t{}_{at}", ask.turn), str::to_owned),
            name: offered(call["name"].as_str().unwrap_or_default(), &ask.tools),
            arguments: call
                .get("arguments")
                .cloned()
                .unwrap_or_else(|| serde_json::json!({})),
        });
        let calls: Vec<Call> = calls.collect();
        let finish = match says["finish"].as_str() {
            Some("max_tokens") => Finish::MaxTokens,
            Some("filter") => Finish::Filter,
            _ if says["refusal"].is_string() => Finish::Refusal,
            _ if calls.is_empty() => Finish::Stop,
            _ => Finish::Calls,
        };
        Self {
            nonce,
            model: ask.model.clone(),
            turn: ask.turn,
            text: text("text"),
            thinking: text("thinking"),
            signature: signature(ask.turn),
            refusal: text("refusal"),
            calls,
            finish,
            input: tokens("input", 100),
            output: tokens("output", 20),
            cached: tokens("cached", 0),
            reasoning: tokens("reasoning", 0),
            usage: ask.usage,
        }
    }
}

/// The offered tool that a name in the script refers to; some agents write all names with `_`.
fn offered(name: &str, tools: &[String]) -> String {
    let plain = |text: &str| text.replace('-', "_");
    let wanted = plain(name);
    let ends = |tool: &&String| {
        plain(tool)
            .strip_suffix(&wanted)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '.', '/', ':']))
    };
    let found = tools
        .iter()
        .filter(ends)
        .min_by_key(|tool| tool.len())
        .map_or(name, String::as_str);
    found.to_owned()
}

/// Counts the turns of the assistant, however their parts are laid out.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) count: usize,
    open: bool,
}

impl Turns {
    /// A part of the assistant's message; an id of this provider contains its turn.
    pub(super) fn said(&mut self, id: Option<&str>) {
        match id.and_then(turn_of) {
            Some(turn) => self.count = self.count.max(turn + 1),
            None if !self.open => self.count += 1,
            None => {}
        }
        self.open = true;
    }

    /// A part of another role's message.
    pub(super) fn heard(&mut self) {
        self.open = false;
    }
}

/// The turn in an id of this provider, which ends with `_t<turn>_<call>`.
pub(super) fn turn_of(id: &str) -> Option<usize> {
    let (before, _) = id.rsplit_once('_')?;
    before.rsplit_once("_t")?.1.parse().ok()
}

/// Each call has one result, and each result a call.
#[derive(Default)]
pub(super) struct Open(Vec<String>);

impl Open {
    pub(super) fn call(&mut self, id: &Value) {
        self.0.push(id.as_str().unwrap_or_default().to_owned());
    }

    pub(super) fn result(&mut self, id: &Value) -> Result<(), String> {
        let at = self
            .0
            .iter()
            .position(|open| Some(open.as_str()) == id.as_str());
        match at {
            Some(at) => {
                self.0.remove(at);
                Ok(())
            }
            None => Err(format!("the result for {id} answers no call")),
        }
    }

    /// No call may be pending when another role follows, or at the end.
    pub(super) fn closed(&self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some(id) => Err(format!("the call `{id}` has no result")),
        }
    }
}

/// A text as it comes in a stream, word by word.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Arguments as they come in a stream, in two halves.
pub(super) fn halves(arguments: &Value) -> [String; 2] {
    let text = arguments.to_string();
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at));
    let (first, rest) = text.split_at(middle.unwrap_or(0));
    [first.to_owned(), rest.to_owned()]
}

/// The items of a list, or none.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
