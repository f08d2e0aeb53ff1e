//! The loop of an agent as a state machine: it neither sends nor waits.

mod journal;
mod simulate;
mod task;
mod wanted;

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use serde_json::{Map, Value};
use tapewright_models::agent_cassette::Trace;
use tapewright_models::conversation::{
    Block, Content, FinishReason, Message, Request, Response, Role,
};
use tapewright_models::result_of_mcp;

use self::journal::Journal;
pub use self::task::{Task, User};
use self::wanted::{Wanted, failed};
use crate::{Catalogue, Faults, Trip, text};

/// One run of an agent with one model.
///
/// [`next`](Self::next) returns what to do; [`answered`](Self::answered) or
/// [`called`](Self::called) takes its result, before `next` is called again.
#[derive(Debug)]
pub struct Run {
    task: Task,
    catalogue: Catalogue,
    faults: Faults,
    messages: Vec<Message>,
    journal: Journal,
    state: State,
    // The user's turns so far, and the model's answers in the last of them.
    turns: usize,
    answers: u64,
    // The tool results for the next request to the model.
    results: Vec<Block>,
    under_way: Option<(Wanted, usize)>,
    hung: u64,
    // The duration of the answer that is handled next.
    took_ms: Option<u64>,
    trip: Option<Trip>,
    warnings: Vec<String>,
}

/// What to do next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Ask the model.
    Ask(Box<Request>),
    /// Ask the model for the user's message.
    Simulate(Box<Request>),
    /// Call a tool.
    Call(Call),
    /// Nothing: the run is over.
    Done,
}

/// A tool that is to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The server.
    pub server: String,
    /// The tool, by its name there.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What happened.
    pub trace: Trace,
    /// The cap that stopped it.
    pub trip: Option<Trip>,
    /// The number of calls that failed because of a fault.
    pub hung: u64,
    /// Warnings about the run.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
enum State {
    /// The user's turn is next.
    User,
    /// The model is next.
    Model,
    /// Tools are to be called.
    Tools(VecDeque<Wanted>),
    Over,
}

impl Run {
    /// Creates a run at its start.
    #[must_use]
    pub fn new(task: Task, catalogue: Catalogue, faults: Faults) -> Self {
        let system = task.system_prompt.as_deref().unwrap_or_default();
        let knows = [system, catalogue.fingerprint()];
        Self {
            journal: Journal::new(task.user.has_turns(), &knows),
            task,
            catalogue,
            faults,
            messages: Vec::new(),
            state: State::User,
            turns: 0,
            answers: 0,
            results: Vec::new(),
            under_way: None,
            hung: 0,
            took_ms: None,
            trip: None,
            warnings: Vec::new(),
        }
    }

    /// What to do next, at this time since the start.
    pub fn next(&mut self, elapsed: Duration) -> Step {
        loop {
            if let Some(limit) = self.late(elapsed) {
                self.stop(Trip::Time(limit));
            }
            let step = match &mut self.state {
                State::Over => Some(Step::Done),
                State::User => self.user(),
                State::Model => Some(self.model()),
                State::Tools(waiting) => {
                    let wanted = waiting.pop_front();
                    self.tool_or_tell(wanted)
                }
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn late(&self, elapsed: Duration) -> Option<Duration> {
        let limit = self.task.limits.time_budget?;
        let is_under_way = !matches!(self.state, State::Over);
        (is_under_way && elapsed >= limit).then_some(limit)
    }

    fn user(&mut self) -> Option<Step> {
        if let Some(text) = self.task.user.said(self.turns) {
            let text = text.to_owned();
            self.begin(&text);
            return None;
        }
        if let User::Simulated { max_turns, .. } = self.task.user
            && (self.turns as u64) < max_turns
        {
            let request = simulate::request(&self.task, &self.messages);
            return Some(Step::Simulate(Box::new(request)));
        }
        self.state = State::Over;
        None
    }

    fn begin(&mut self, text: &str) {
        self.turns += 1;
        self.answers = 0;
        self.journal.begins(text);
        self.push(Role::User, vec![Block::text(text)]);
        self.state = State::Model;
    }

    fn model(&mut self) -> Step {
        if self.answers >= self.task.limits.max_turns {
            self.stop(Trip::Turns(self.task.limits.max_turns));
            return Step::Done;
        }
        self.answers += 1;
        self.journal.asks();
        let mut request = Request::new(self.task.wire, &self.task.model);
        let system = self.task.system_prompt.iter();
        request.system = system.map(Block::text).collect();
        request.messages.clone_from(&self.messages);
        request.tools = self.catalogue.specs().to_vec();
        request.sampling.max_tokens = Some(self.task.limits.max_tokens);
        Step::Ask(Box::new(request))
    }

    fn tool_or_tell(&mut self, wanted: Option<Wanted>) -> Option<Step> {
        let Some(wanted) = wanted else {
            self.tell();
            return None;
        };
        let calls = self.journal.trace.tool_calls.len() as u64;
        if let Some(most) = self.task.limits.max_tool_calls
            && calls >= most
        {
            self.stop(Trip::ToolCalls(most));
            return None;
        }
        let index = self.journal.calls(&wanted.offered, &wanted.args);
        if let Some(why) = &wanted.refused {
            let result = failed(why);
            self.settle(&wanted, index, result);
            return None;
        }
        let (server, tool) = (&wanted.offered.server, &wanted.offered.tool);
        if self.faults.hangs(server, tool) {
            self.hung += 1;
            let result = self.faults.result(tool);
            self.settle(&wanted, index, result);
            return None;
        }
        let call = Call {
            server: server.clone(),
            tool: tool.clone(),
            arguments: wanted.arguments(),
        };
        self.under_way = Some((wanted, index));
        Some(Step::Call(call))
    }

    /// Like [`Self::answered`], with the time that the answer took.
    pub fn answered_after(&mut self, response: &Response, took: Duration) {
        self.took_ms = u64::try_from(took.as_millis()).ok();
        self.answered(response);
    }

    /// Handles an answer of the model, or of the model that simulates the user.
    pub fn answered(&mut self, response: &Response) {
        match &response.usage {
            Some(usage) => {
                let used = self.journal.uses(usage);
                if let Some(limit) = self.task.limits.token_budget
                    && used > limit
                {
                    self.take(response);
                    self.stop(Trip::Tokens { limit, used });
                    return;
                }
            }
            None => self.warn("the provider did not count its tokens"),
        }
        self.take(response);
    }

    fn take(&mut self, response: &Response) {
        if matches!(self.state, State::User) {
            let text = response.text();
            let text = text.trim();
            let is_over = text.is_empty() || text.trim_end_matches('.') == simulate::DONE;
            if is_over {
                self.state = State::Over;
            } else {
                self.begin(text);
            }
            return;
        }
        let said = text::of_blocks(response.blocks());
        self.journal.answers(response, self.took_ms.take());
        self.journal.says("assistant", said.clone());
        self.push(Role::Assistant, response.blocks().to_vec());
        let uses = response.tool_uses();
        let waiting: VecDeque<_> = uses.map(|one| Wanted::new(one, &self.catalogue)).collect();
        self.note_end(response);
        self.state = if !waiting.is_empty() {
            State::Tools(waiting)
        } else if response.finish().map(|end| end.reason) == Some(FinishReason::Paused) {
            State::Model
        } else {
            self.journal.trace.final_response = said;
            State::User
        };
    }

    /// Records an end that a reader should know about.
    fn note_end(&mut self, response: &Response) {
        let Some(end) = response.finish() else { return };
        let why = match end.reason {
            FinishReason::MaxTokens => "an answer was cut off at `max_tokens`",
            FinishReason::Refusal => "the model refused to answer",
            FinishReason::Filtered => "the provider withheld an answer",
            FinishReason::MalformedToolUse => "the model's tool call cannot be parsed",
            FinishReason::Failed => "the provider failed in an answer",
            _ => return,
        };
        self.warn(why);
    }

    fn warn(&mut self, why: &str) {
        if self.warnings.iter().all(|one| one != why) {
            self.warnings.push(why.to_owned());
        }
    }

    /// Handles the result of the last [`Step::Call`], or the reason why it failed.
    pub fn called(&mut self, result: Result<Value, String>) {
        let Some((wanted, index)) = self.under_way.take() else {
            return;
        };
        let result = result.unwrap_or_else(|why| failed(&why));
        self.settle(&wanted, index, result);
    }

    fn settle(&mut self, wanted: &Wanted, index: usize, result: Value) {
        let told = result_of_mcp(wanted.id.clone(), &wanted.name, &result);
        self.journal.says("tool", text::of_blocks(&told.content));
        self.journal.results(index, result);
        self.results.push(Block::new(Content::ToolResult(told)));
    }

    /// Gives the model all results of its last answer at once, as every wire requires.
    fn tell(&mut self) {
        let results = mem::take(&mut self.results);
        self.push(Role::User, results);
        self.state = State::Model;
    }

    fn push(&mut self, role: Role, blocks: Vec<Block>) {
        self.messages.push(Message::new(role, blocks));
    }

    /// The run is stopped by a cap.
    pub fn stop(&mut self, trip: Trip) {
        // Text before further tool uses is not the reply.
        if !matches!(self.state, State::User | State::Over) {
            self.journal.trace.final_response.clear();
        }
        self.state = State::Over;
        self.trip.get_or_insert(trip);
    }

    /// Ends the run at this time since its start.
    #[must_use]
    pub fn finish(mut self, elapsed: Duration) -> Finished {
        self.journal.ends();
        let mut trace = self.journal.trace;
        let talk = &mut trace.conversation;
        talk.duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        talk.stop_reason = self.trip.as_ref().map(Trip::reason).unwrap_or_default();
        Finished {
            trace,
            trip: self.trip,
            hung: self.hung,
            warnings: self.warnings,
        }
    }
}
