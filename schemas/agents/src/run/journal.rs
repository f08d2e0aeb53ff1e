//! The trace of a run, while it is made.

use serde_json::Value;
use tapewright_models::agent_cassette::{
    ModelReply, Tokens, ToolCall, ToolOutcome, Trace, Turn, UserTurn,
};
use tapewright_models::conversation::{Response, Usage};

use crate::Offered;
use crate::digest::Digest;

/// The state of the journal.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    pub(super) trace: Trace,
    /// A digest of what the agent knows.
    context: Digest,
    /// What it knew when the model was last asked.
    known: Digest,
    /// The beginning of the user's turn: the user's message, and the number of calls before it.
    turn: Option<(String, usize)>,
    keeps_turns: bool,
}

impl Journal {
    pub(super) fn new(keeps_turns: bool, knows: &[&str]) -> Self {
        let mut context = Digest::new();
        for text in knows {
            context.add(text);
        }
        Self {
            trace: Trace::default(),
            context,
            known: context,
            turn: None,
            keeps_turns,
        }
    }

    /// Adds a message of the user, the assistant or a tool.
    pub(super) fn says(&mut self, role: &str, content: String) {
        self.context.add(role);
        self.context.add(&content);
        let talk = &mut self.trace.conversation;
        talk.message_count += 1;
        talk.turns.push(Turn {
            role: role.to_owned(),
            content,
        });
    }

    /// Begins a turn of the user.
    pub(super) fn begins(&mut self, user: &str) {
        self.ends();
        self.turn = Some((user.to_owned(), self.trace.tool_calls.len()));
        self.trace.final_response.clear();
        self.says("user", user.to_owned());
    }

    /// The model is asked with everything that is known now.
    pub(super) fn asks(&mut self) {
        self.known = self.context;
    }

    /// Adds an answer of the model, with its duration in milliseconds if known.
    pub(super) fn answers(&mut self, response: &Response, latency_ms: Option<u64>) {
        self.trace
            .answers
            .push(ModelReply::of(response, latency_ms));
    }

    /// A tool is called; its place among the calls.
    pub(super) fn calls(&mut self, offered: &Offered, args: &Value) -> usize {
        let index = self.trace.tool_calls.len();
        self.context.add(&offered.tool);
        self.context.add(&args.to_string());
        self.trace.tool_calls.push(ToolCall {
            name: offered.tool.clone(),
            server: offered.server.clone(),
            args: args.clone(),
            caller: None,
            hop_index: index as u64,
            agent_id: None,
            inputs_digest: Some(self.known.text()),
        });
        index
    }

    /// A call has its result.
    pub(super) fn results(&mut self, index: usize, result: Value) {
        let server = self.trace.tool_calls.get(index);
        let server = server.map_or_else(String::new, |call| call.server.clone());
        self.trace.tool_results.push(ToolOutcome {
            call_index: index as u64,
            server,
            is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
            result,
        });
    }

    /// Adds used tokens; returns the total of the run so far.
    pub(super) fn uses(&mut self, usage: &Usage) -> u64 {
        let Tokens {
            prompt,
            completion,
            total,
        } = &mut self.trace.conversation.tokens;
        *prompt = prompt.saturating_add(usage.input.unwrap_or(0));
        *completion = completion.saturating_add(usage.output.unwrap_or(0));
        *total = prompt.saturating_add(*completion);
        *total
    }

    /// The user's turn is over.
    pub(super) fn ends(&mut self) {
        let Some((user, before)) = self.turn.take().filter(|_| self.keeps_turns) else {
            return;
        };
        let trace = &self.trace;
        let tool_calls = trace.tool_calls.iter().skip(before).cloned().collect();
        let first = before as u64;
        let results = trace.tool_results.iter();
        let results = results.filter(|result| result.call_index >= first);
        let local = |result: &ToolOutcome| ToolOutcome {
            call_index: result.call_index - first,
            ..result.clone()
        };
        let turn = UserTurn {
            user,
            tool_calls,
            tool_results: results.map(local).collect(),
            final_response: trace.final_response.clone(),
        };
        self.trace.conversation.per_turn.push(turn);
    }
}
