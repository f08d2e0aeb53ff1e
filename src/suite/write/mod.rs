//! Writes suites from calls and their answers.
//!
//! [`call`] collects the calls of a recording, each once with every answer to it; [`expect`] finds
//! what the answers have in common; [`yaml`] writes it as a person would. `init` uses it for the
//! calls that it sends to a server, `export` for those of a file.

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

/// A suite to write.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Its origin and how to run it: lines of a comment.
    pub(crate) about: Vec<String>,
    /// The servers, each with its tests.
    pub(crate) servers: Vec<ServerDraft>,
}

/// A server of a suite to write.
#[derive(Debug)]
pub(crate) struct ServerDraft {
    pub(crate) server: Server,
    /// The calls, in order.
    pub(crate) calls: Vec<Call>,
    /// Tests that the user must complete, with the reasons: they are written as comments.
    pub(crate) stubs: Vec<Stub>,
}

/// A test that could not be written completely.
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
        server::write_all(self.servers.iter().map(|one| &one.server), &mut out);
        let mut names = Names::default();
        for asks in [Asks::Tool, Asks::Resource, Asks::Prompt] {
            self.write_block(asks, &mut names, &mut out);
        }
        out
    }

    /// Appends one block of tests, if it has any.
    fn write_block(&self, asks: Asks, names: &mut Names, out: &mut String) {
        let has_calls = self.servers.iter().any(|one| one.calls(asks).count() > 0);
        if !has_calls && self.servers.iter().all(|one| one.stubs(asks).count() == 0) {
            return;
        }
        out.push('\n');
        if !has_calls {
            out.push_str("# ");
        }
        out.push_str(asks.block());
        out.push_str(":\n");
        let mut is_first = true;
        for server in &self.servers {
            for call in server.calls(asks) {
                if !is_first {
                    out.push('\n');
                }
                is_first = false;
                yaml::item(&yaml::literal(&server.test(call, names)), 1, out);
            }
        }
        for server in &self.servers {
            for stub in server.stubs(asks) {
                out.push('\n');
                server.write_stub(stub, names, out);
            }
        }
    }

    /// The tests alone, as the items of a list.
    pub(crate) fn steps(&self) -> String {
        let (mut out, mut names) = (String::new(), Names::default());
        for server in &self.servers {
            for call in &server.calls {
                yaml::item(&yaml::literal(&server.test(call, &mut names)), 0, &mut out);
            }
        }
        out
    }

    /// The number of tests, and of those that the user must complete.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let calls = self.servers.iter().map(|one| one.calls.len());
        let stubs = self.servers.iter().map(|one| one.stubs.len());
        (calls.sum(), stubs.sum())
    }
}

impl ServerDraft {
    fn calls(&self, asks: Asks) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |one| one.asks == asks)
    }

    fn stubs(&self, asks: Asks) -> impl Iterator<Item = &Stub> {
        self.stubs.iter().filter(move |one| one.call.asks == asks)
    }

    fn write_stub(&self, stub: &Stub, names: &mut Names, out: &mut String) {
        comment(&stub.why, 1, out);
        let mut text = String::new();
        yaml::item(&yaml::literal(&self.test(&stub.call, names)), 0, &mut text);
        for line in text.lines() {
            comment(line, 1, out);
        }
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
        let assertion = |one: expect::Expectation| {
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

/// Why a call cannot be repeated.
fn skipped(call: &Call) -> Option<&'static str> {
    let arguments = call.arguments.as_ref().map(Value::to_string);
    let hidden = |text: &str| text.contains(PLACEHOLDER);
    (hidden(&call.name) || arguments.as_deref().is_some_and(hidden))
        .then_some("a secret was redacted in the arguments; use a variable instead")
}

/// The beginning of a redaction placeholder.
const PLACEHOLDER: &str = "<REDACTED";

/// Appends a comment, always as one line.
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
