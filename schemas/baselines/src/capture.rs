//! Extracts exchanges from the trace of an agent's run.

use serde_json::{Value, json};
use tapewright_models::agent_cassette::{Ended, StopReason, ToolCall as Called, Trace};

use crate::file::{Answer, Exchange, Members, ToolCall, UNKNOWN};

/// The exchanges of a run, with the ids `<file>::<test>::step-1` and so on.
///
/// If the trace has no answers of the model, as in cassettes of other tools, they are reconstructed
/// from the messages and from what the agent knew when it asked for a tool.
#[must_use]
pub fn exchanges(file: &str, test: &str, trace: &Trace) -> Vec<Exchange> {
    let answers = if trace.answers.is_empty() {
        guessed(trace)
    } else {
        kept(trace)
    };
    let answers = answers.into_iter().enumerate();
    let named = answers.map(|(at, answer)| {
        let id = format!("{file}::{test}::step-{}", at + 1);
        Exchange::new(id, answer)
    });
    named.collect()
}

/// The model's name in the provider's answers of several runs; several names are listed.
#[must_use]
pub fn model_version<'t>(traces: impl Iterator<Item = &'t Trace>) -> String {
    let answers = traces.flat_map(|trace| &trace.answers);
    let mut names: Vec<&str> = answers.filter_map(|said| said.model.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return UNKNOWN.to_owned();
    }
    names.join(", ")
}

/// The answers that the trace has.
fn kept(trace: &Trace) -> Vec<Answer> {
    let mut calls = trace.tool_calls.iter();
    let answers = trace.answers.iter().map(|said| {
        let count = usize::try_from(said.tool_calls).unwrap_or(usize::MAX);
        let own = calls.by_ref().take(count);
        Answer {
            content: said.content.clone(),
            tool_calls: own.map(call).collect(),
            finish_reason: said.ended,
            latency_ms: said.latency_ms,
        }
    });
    answers.collect()
}

fn call(called: &Called) -> ToolCall {
    ToolCall {
        name: called.name.clone(),
        arguments: called.args.clone(),
        raw_arguments: Some(called.args.to_string()),
        more: Members::new(),
    }
}

/// The answers, as far as they can be reconstructed from the messages.
fn guessed(trace: &Trace) -> Vec<Answer> {
    let mut steps = Steps::default();
    let mut calls = trace.tool_calls.iter();
    for turn in &trace.conversation.turns {
        match turn.role.as_str() {
            "assistant" => steps.says(&turn.content),
            "tool" => calls.by_ref().take(1).for_each(|one| steps.calls(one)),
            _ => steps.end(),
        }
    }
    calls.for_each(|one| steps.calls(one));
    let said_it = trace
        .conversation
        .turns
        .iter()
        .any(|turn| turn.role == "assistant");
    if !said_it && !trace.final_response.is_empty() {
        steps.says(&trace.final_response);
    }
    steps.end();
    let mut all = steps.done;
    let was_stopped = trace.conversation.stop_reason != StopReason::Completed;
    if let Some(last) = all
        .last_mut()
        .filter(|last| was_stopped && last.tool_calls.is_empty())
    {
        last.finish_reason = Ended::Other;
    }
    all
}

/// Answers while they are put together.
#[derive(Default)]
struct Steps {
    done: Vec<Answer>,
    open: Option<Answer>,
    // What the agent knew when it last asked for a tool.
    known: Option<String>,
}

impl Steps {
    fn says(&mut self, text: &str) {
        self.end();
        let content: Vec<Value> = match text {
            "" => Vec::new(),
            text => vec![json!({"type": "text", "text": text})],
        };
        self.open = Some(Answer {
            content,
            tool_calls: Vec::new(),
            finish_reason: Ended::Stop,
            latency_ms: None,
        });
    }

    fn calls(&mut self, called: &Called) {
        let is_new = self.known.is_some() && self.known != called.inputs_digest;
        let has_calls = self
            .open
            .as_ref()
            .is_some_and(|open| !open.tool_calls.is_empty());
        if self.open.is_none() || has_calls && is_new {
            self.says("");
        }
        self.known.clone_from(&called.inputs_digest);
        if let Some(open) = &mut self.open {
            open.tool_calls.push(call(called));
            open.finish_reason = Ended::ToolUse;
        }
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}
