//! The script: selects the next turn and its answer.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::Mutex;

use serde_json::Value;

use super::turns::Ask;

/// A script, and how often each of its turns was requested.
pub(super) struct Script {
    pub(super) key: Option<String>,
    pub(super) models: Vec<String>,
    turns: Vec<Vec<Value>>,
    sides: Vec<Value>,
    embeddings: Vec<Vec<Value>>,
    repeat: bool,
    asked: Mutex<BTreeMap<usize, usize>>,
    embedded: Mutex<BTreeMap<usize, usize>>,
}

/// The answer at one time.
pub(super) struct Moment {
    pub(super) says: Value,
    pub(super) status: Option<u16>,
    pub(super) retry_after: Option<String>,
    /// The time in this many seconds, as dates: now, and then.
    pub(super) retry_date: Option<[String; 2]>,
    pub(super) message: String,
    pub(super) delay_ms: u64,
    pub(super) pause_ms: u64,
    pub(super) hang: bool,
    pub(super) malformed: bool,
    pub(super) cut: Option<usize>,
    pub(super) fails: Option<usize>,
}

impl Script {
    pub(super) fn read(script: &str) -> io::Result<Self> {
        let text = if script.trim_start().starts_with(['{', '[']) {
            script.to_owned()
        } else {
            fs::read_to_string(script)?
        };
        let value: Value = serde_json::from_str(&text)?;
        let turns = if value.is_array() {
            &value
        } else {
            &value["turns"]
        };
        let models = items(&value["models"]);
        let named = models.iter().filter_map(Value::as_str).map(str::to_owned);
        Ok(Self {
            key: value["key"].as_str().map(str::to_owned),
            models: named.collect(),
            turns: by_time(turns),
            sides: items(&value["sides"]),
            embeddings: by_time(&value["embeddings"]),
            repeat: value["repeat"] == true,
            asked: Mutex::default(),
            embedded: Mutex::default(),
        })
    }

    /// The answer to this request.
    pub(super) fn moment(&self, ask: &Ask, text: &str) -> Result<Moment, String> {
        let beside = |side: &&Value| match side["when"].as_str() {
            Some(when) => text.contains(when),
            None => ask.tools.is_empty(),
        };
        if let Some(side) = self.sides.iter().find(beside) {
            return Ok(Moment::new(side));
        }
        let last = self.turns.len().saturating_sub(1);
        let turn = if self.repeat {
            ask.turn.min(last)
        } else {
            ask.turn
        };
        let Some(times) = self.turns.get(turn) else {
            return Err(format!("the script has no turn {turn}"));
        };
        let mut asked = self.asked.lock().expect("nobody fails here");
        let count = asked.entry(turn).or_default();
        let says = times.get(*count).or(times.last());
        *count += 1;
        says.map(Moment::new)
            .ok_or_else(|| format!("turn {turn} is empty"))
    }

    /// The answer to a text to embed, if any.
    pub(super) fn embedding(&self, text: &str) -> Option<Moment> {
        let is_meant = |says: &Value| match says["when"].as_str() {
            Some(when) => text.contains(when),
            None => true,
        };
        let mut entries = self.embeddings.iter().enumerate();
        let (at, times) = entries.find(|(_, times)| times.first().is_some_and(is_meant))?;
        let mut embedded = self.embedded.lock().expect("nobody fails here");
        let count = embedded.entry(at).or_default();
        let says = times.get(*count).or(times.last());
        *count += 1;
        says.map(Moment::new)
    }

    /// Thinking that led to calls must come back with them.
    pub(super) fn thinking_came_back(
        &self,
        ask: &Ask,
        wire: &str,
        text: &str,
    ) -> Result<(), String> {
        if !matches!(wire, "anthropic" | "gemini") || (ask.tools.is_empty() && ask.turn == 0) {
            return Ok(());
        }
        for (turn, times) in self.turns.iter().enumerate().take(ask.turn) {
            let thought = times
                .iter()
                .any(|says| says["thinking"].is_string() && says["tools"].is_array());
            if thought && !text.contains(&signature(turn)) {
                return Err(format!(
                    "the thinking of turn {turn} did not come back before its calls"
                ));
            }
        }
        Ok(())
    }
}

/// Proves that thinking is the provider's own; base64, as some clients check it.
pub(super) fn signature(turn: usize) -> String {
    format!("c2lnbmVkdHVybg{turn:02}")
}

/// Now and this many seconds later, in the date format of HTTP.
fn dates(seconds: i64) -> [String; 2] {
    let now = jiff::Timestamp::now();
    [0, seconds].map(|later| {
        let time = now + jiff::SignedDuration::from_secs(later);
        time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    })
}

impl Moment {
    fn new(says: &Value) -> Self {
        let number = |name: &str| says[name].as_u64();
        let count = |name: &str| number(name).and_then(|count| usize::try_from(count).ok());
        let status = number("status").and_then(|status| u16::try_from(status).ok());
        Self {
            status,
            retry_after: number("retry_after").map(|seconds| seconds.to_string()),
            retry_date: says["retry_date"].as_i64().map(dates),
            message: says["message"]
                .as_str()
                .unwrap_or("the script says so")
                .to_owned(),
            delay_ms: number("delay_ms").unwrap_or(0),
            pause_ms: number("pause_ms").unwrap_or(0),
            hang: says["hang"] == true,
            malformed: says["malformed"] == true,
            cut: count("cut"),
            fails: count("fails"),
            says: says.clone(),
        }
    }
}

fn items(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Each item as a list of answers for the first time, the second time, …
fn by_time(value: &Value) -> Vec<Vec<Value>> {
    let times = |item| match item {
        Value::Array(times) => times,
        once => vec![once],
    };
    items(value).into_iter().map(times).collect()
}
