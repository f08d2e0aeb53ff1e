//! Writes a suite with one agent test that holds for a recorded run.

use serde_json::{Map, Value, json};
use tapewright_models::agent_cassette::{AgentCassette, Trace};

use super::server::{Server, write_all};
use super::{comment, yaml};

/// A suite to write.
#[derive(Debug)]
pub(crate) struct AgentDraft<'d> {
    /// Its origin and how to run it: lines of a comment.
    pub(crate) about: Vec<String>,
    pub(crate) servers: Vec<Server>,
    pub(crate) cassette: &'d AgentCassette,
}

/// The longest text that is expected as a whole, in characters.
const WHOLE: usize = 2_000;

impl AgentDraft<'_> {
    /// The text of the suite.
    pub(crate) fn write(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            comment(line, 0, &mut out);
        }
        out.push('\n');
        write_all(self.servers.iter(), &mut out);
        out.push_str("\nagents:\n");
        yaml::item(&yaml::literal(&self.test()), 1, &mut out);
        out
    }

    fn test(&self) -> Value {
        let cassette = self.cassette;
        let servers: Vec<&str> = self.servers.iter().map(|one| one.name.as_str()).collect();
        let mut test = Map::new();
        test.insert("name".to_owned(), json!(cassette.agent_name));
        test.insert("model".to_owned(), json!(cassette.model));
        test.insert("servers".to_owned(), json!(servers));
        let turns = &cassette.trace.conversation.per_turn;
        if turns.is_empty() {
            test.insert("prompt".to_owned(), json!(cassette.user_prompt));
        } else {
            let said: Vec<Value> = turns
                .iter()
                .map(|turn| json!({"user": turn.user}))
                .collect();
            test.insert("prompt".to_owned(), json!(cassette.user_prompt));
            test.insert("turns".to_owned(), Value::Array(said));
        }
        if let Some(system) = &cassette.system_prompt {
            test.insert("system_prompt".to_owned(), json!(system));
        }
        if let Some(max_tokens) = cassette.max_tokens.filter(|most| *most > 0) {
            test.insert("max_tokens".to_owned(), json!(max_tokens));
        }
        test.insert("expect".to_owned(), expect(&cassette.trace));
        Value::Object(test)
    }
}

/// The expectations that hold for the run: the tool calls with their arguments, and the last reply.
fn expect(trace: &Trace) -> Value {
    let exact = |target: &str, value: Value| json!({"target": target, "matcher": {"exact": value}});
    let names: Vec<&str> = trace
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect();
    let mut all = vec![exact("tool_names", json!(names))];
    for (at, call) in trace.tool_calls.iter().enumerate().take(MOST) {
        let is_plain = !call.args.to_string().contains(super::PLACEHOLDER);
        if is_plain {
            all.push(exact(&format!("tool_calls[{at}].args"), call.args.clone()));
        }
    }
    let said = &trace.final_response;
    if !said.is_empty() && said.chars().count() <= WHOLE {
        all.push(exact("final_response", json!(said)));
    }
    let stop = trace.conversation.stop_reason.name();
    all.push(exact("conversation.stop_reason", json!(stop)));
    Value::Array(all)
}

/// For how many tool calls arguments are expected.
const MOST: usize = 20;
