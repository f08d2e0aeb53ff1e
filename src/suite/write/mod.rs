//! Suites that are written from what was asked and answered.
//!
//! [`call`] collects the questions of a recording, each once with every answer to it;
//! [`expect`] says what the answers have in common; [`yaml`] writes as a person would.
//! `init` gives it the calls of a server that it asks itself, `export` those of a file.

pub(crate) mod agent;
pub(crate) mod call;
mod expect;
mod name;
pub(crate) mod server;
mod shape;
mod text;
mod volatile;
mod yaml;

use serde_json::{Map, Value, json};

use self::call::{Asks, Call};
use self::name::Names;
use self::server::Server;

/// A suite about to be written.
#[derive(Debug)]
pub(crate) struct Draft {
    /// What it was made of and how it is run: lines of a comment.
    pub(crate) about: Vec<String>,
    pub(crate) server: Server,
    /// The calls, in order.
    pub(crate) calls: Vec<Call>,
    /// Tests that somebody has to complete, and why: they are written as comments.
    pub(crate) stubs: Vec<Stub>,
}

/// A test that could not be written whole.
#[derive(Debug)]
pub(crate) struct Stub {
    pub(crate) call: Call,
    pub(crate) why: String,
}

impl Draft {
    /// The text of the suite.
    pub(crate) fn write(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            comment(line, 0, &mut out);
        }
        out.push('\n');
        server::write_all(std::slice::from_ref(&self.server), &mut out);
        let mut names = Names::default();
        for asks in [Asks::Tool, Asks::Resource, Asks::Prompt] {
            let block = asks.block();
            let calls: Vec<&Call> = self.calls.iter().filter(|one| one.asks == asks).collect();
            let stubs: Vec<&Stub> = self
                .stubs
                .iter()
                .filter(|one| one.call.asks == asks)
                .collect();
            if calls.is_empty() && stubs.is_empty() {
                continue;
            }
            out.push('\n');
            if calls.is_empty() {
                out.push_str("# ");
            }
            out.push_str(block);
            out.push_str(":\n");
            for (place, call) in calls.iter().enumerate() {
                if place > 0 {
                    out.push('\n');
                }
                yaml::item(&yaml::literal(&self.test(call, &mut names)), 1, &mut out);
            }
            for stub in stubs {
                out.push('\n');
                comment(&stub.why, 1, &mut out);
                let mut text = String::new();
                yaml::item(
                    &yaml::literal(&self.test(&stub.call, &mut names)),
                    0,
                    &mut text,
                );
                for line in text.lines() {
                    comment(line, 1, &mut out);
                }
            }
        }
        out
    }

    /// The tests alone, each an item of a list.
    pub(crate) fn steps(&self) -> String {
        let (mut out, mut names) = (String::new(), Names::default());
        for call in &self.calls {
            yaml::item(&yaml::literal(&self.test(call, &mut names)), 0, &mut out);
        }
        out
    }

    fn test(&self, call: &Call, names: &mut Names) -> Value {
        let mut test = Map::new();
        test.insert("name".to_owned(), json!(names.of(call)));
        test.insert("server".to_owned(), json!(self.server.name));
        if let Some(why) = skipped(call) {
            test.insert("skip".to_owned(), json!(why));
        }
        let asked = match call.asks {
            Asks::Tool => "tool",
            Asks::Resource => "uri",
            Asks::Prompt => "prompt",
        };
        test.insert(asked.to_owned(), json!(call.name));
        let arguments = call.arguments.as_ref().and_then(Value::as_object);
        if let Some(arguments) = arguments.filter(|all| !all.is_empty()) {
            test.insert("args".to_owned(), Value::Object(arguments.clone()));
        }
        let assertion = |one: expect::Held| {
            let mut assertion = Map::new();
            if !one.target.is_empty() {
                assertion.insert("target".to_owned(), json!(one.target));
            }
            assertion.insert("matcher".to_owned(), one.matcher);
            Value::Object(assertion)
        };
        let held = expect::held(call.asks, &call.answers);
        let held: Vec<Value> = held.into_iter().map(assertion).collect();
        test.insert("expect".to_owned(), Value::Array(held));
        Value::Object(test)
    }
}

/// Why a call cannot be made again.
fn skipped(call: &Call) -> Option<&'static str> {
    let arguments = call.arguments.as_ref().map(Value::to_string);
    let hidden = |text: &str| text.contains(PLACEHOLDER);
    (hidden(&call.name) || arguments.as_deref().is_some_and(hidden))
        .then_some("a secret was redacted in the arguments; use a variable instead")
}

/// What stands where a secret was.
const PLACEHOLDER: &str = "<REDACTED";

/// Appends a comment, which is one line whatever it says.
fn comment(text: &str, depth: usize, out: &mut String) {
    for line in text.split(['\n', '\r']) {
        out.push_str(&"  ".repeat(depth));
        out.push('#');
        if !line.is_empty() {
            out.push(' ');
        }
        let clean = |char: char| if char.is_control() { '\u{fffd}' } else { char };
        out.extend(line.chars().map(clean));
        out.push('\n');
    }
}

#[cfg(test)]
mod holds;
#[cfg(test)]
mod tests;
