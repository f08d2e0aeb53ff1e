//! Finds the tests that an exchange may answer without examining all of them.

use std::collections::HashMap;

use tapewright_schemas::redact::hidden;

use super::{Question, near, shown};
use crate::json::Json;
use crate::test::Ask;

/// The numbers of tests by their questions.
#[derive(Debug, Default)]
pub(super) struct Index {
    asked: HashMap<Key, Bucket>,
    /// The same for questions that a recording shows in part, in that form.
    shown: HashMap<Key, Bucket>,
    /// The same for questions with UUIDs or times, masked by [`near`].
    near: HashMap<Key, Bucket>,
}

/// Server, method, and subject.
type Key = (String, String, String);

/// Tests for the same tool, prompt or resource, or the same method.
#[derive(Debug, Default)]
struct Bucket {
    /// With any arguments.
    any: Vec<usize>,
    /// With these arguments, in canonical form.
    given: HashMap<Vec<u8>, Vec<usize>>,
}

impl Bucket {
    fn push(&mut self, number: usize, ask: &Ask) {
        match ask {
            Ask::Tool {
                arguments: Some(arguments),
                ..
            }
            | Ask::Prompt {
                arguments: Some(arguments),
                ..
            } => {
                let given = self.given.entry(arguments.canonical());
                given.or_default().push(number);
            }
            _ => self.any.push(number),
        }
    }

    fn find(&self, params: &Json) -> Vec<usize> {
        let mut numbers = self.any.clone();
        if !self.given.is_empty() {
            let none = || Json::object::<String>([]).canonical();
            let given = params.get("arguments").map_or_else(none, Json::canonical);
            numbers.extend(self.given.get(&given).into_iter().flatten());
        }
        numbers
    }
}

impl Index {
    pub(super) fn new<W>(questions: &[Question<W>]) -> Self {
        let mut index = Self::default();
        for (number, question) in questions.iter().enumerate() {
            let key = |ask: &Ask| {
                (
                    question.test.server.clone(),
                    ask.method().to_owned(),
                    ask.subject().unwrap_or_default().to_owned(),
                )
            };
            let ask = question.ask();
            index.asked.entry(key(ask)).or_default().push(number, ask);
            if let Some(ask) = question.shown.as_ref().map(shown::unnumbered_ask) {
                index.shown.entry(key(&ask)).or_default().push(number, &ask);
            }
            if let Some(ask) = near::masked_ask(question.ask()) {
                index.near.entry(key(&ask)).or_default().push(number, &ask);
            }
        }
        index
    }

    /// The numbers, in the order of the suite.
    pub(super) fn candidates(&self, server: &str, method: &str, params: &Json) -> Vec<usize> {
        let bucket = self.asked.get(&key(server, method, params));
        let mut numbers = bucket.map(|bucket| bucket.find(params)).unwrap_or_default();
        numbers.sort_unstable();
        numbers
    }

    /// Those that differ from a request only in UUIDs and times.
    pub(super) fn near(&self, server: &str, method: &str, params: &Json) -> Vec<usize> {
        if self.near.is_empty() {
            return Vec::new();
        }
        let masked = near::masked(params);
        let bucket = self.near.get(&key(server, method, &masked));
        let mut numbers = bucket.map(|one| one.find(&masked)).unwrap_or_default();
        numbers.sort_unstable();
        numbers
    }

    /// The tests that a request with hidden values may match.
    pub(super) fn hidden(&self, server: &str, method: &str, params: &Json) -> Vec<usize> {
        let unnumbered = shown::unnumbered(params);
        let bucket = self.shown.get(&key(server, method, &unnumbered));
        let found = bucket.map(|bucket| bucket.find(&unnumbered));
        let mut numbers = found.unwrap_or_default();
        // Values that other tools hid may be any text that fits.
        if is_pattern(params)
            && let Some(bucket) = self.asked.get(&key(server, method, params))
        {
            numbers.extend(bucket.given.values().flatten());
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

fn key(server: &str, method: &str, params: &Json) -> Key {
    let member = match method {
        "prompts/get" | "tools/call" => "name",
        "resources/read" => "uri",
        _ => "",
    };
    let subject = params.get(member).and_then(Json::as_str);
    let subject = subject.unwrap_or_default();
    (server.to_owned(), method.to_owned(), subject.to_owned())
}

fn is_pattern(value: &Json) -> bool {
    match value {
        Json::String(text) => hidden::is_pattern(text.as_bytes()),
        Json::Array(elements) => elements.iter().any(is_pattern),
        Json::Object(members) => members.values().any(is_pattern),
        _ => false,
    }
}
