//! Which `tools/call` carried out which tool use of a model.
//!
//! It is certain with frameworks that pass on the id of a tool use, in `_meta` of the request.
//! Otherwise name, arguments, order and time decide: a call comes after the model was asked and
//! before the model gets its result. A link that is not unambiguous is called a guess.

mod done;
mod find;
mod name;
mod rows;

use std::collections::HashMap;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::order::Order as _;

use crate::calls::ModelCall;

pub use self::done::ToolCall;
pub(crate) use self::done::digest;
pub use self::rows::PartLinks;

/// Reads the tapes of one recording, and links tool uses with tool calls.
#[derive(Debug, Default)]
pub struct Linker {
    parts: Vec<Part>,
    uses: Vec<Use>,
    done: Vec<ToolCall>,
    told: ResultTimes,
    passed_over: u64,
}

/// One tape.
#[derive(Debug)]
struct Part {
    label: String,
    // The wall time of its beginning, in microseconds.
    created_us: u64,
}

/// A tool use of a model.
#[derive(Clone, Debug)]
struct Use {
    part: usize,
    call_seq: u64,
    id: Option<String>,
    name: String,
    arguments: Option<u64>,
    // When the model call began.
    from_us: u64,
    // When the model got the result.
    until_us: Option<u64>,
}

/// When models got results, by the id of the use, or by the name of the tool in order.
#[derive(Debug, Default)]
struct ResultTimes {
    by_id: HashMap<String, u64>,
    by_name: HashMap<String, Vec<u64>>,
}

/// A tool use with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedToolUse {
    /// The tape, in the order in which tapes were taken.
    pub part: usize,
    /// The call of the model, by the number of its first event.
    pub call_seq: u64,
    /// The id of the use, if the wire has one.
    pub id: Option<String>,
    /// The name that the model used.
    pub name: String,
    /// How it was carried out.
    pub fate: ToolUseOutcome,
}

/// The outcome of a tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolUseOutcome {
    /// A `tools/call` carried it out.
    Called {
        /// The request.
        by: ToolCall,
        /// How that was determined.
        how: How,
    },
    /// The model got a result, and no `tools/call` in the recording matches: the agent did it
    /// itself, or with a server that was not recorded.
    Elsewhere,
    /// Nothing shows that it was carried out.
    Never,
}

/// How it was determined that a request carried out a tool use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The request contains the id of the use.
    Id,
    /// Name and arguments fit, and those of nothing else do.
    Arguments,
    /// Name and arguments fit several, which are taken in order: a guess.
    Order,
    /// Only the name fits: a guess.
    Name,
}

impl How {
    /// Its token in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Arguments => "arguments",
            Self::Order => "order",
            Self::Name => "name",
        }
    }

    /// Whether it could be another one.
    #[must_use]
    pub fn is_guess(self) -> bool {
        matches!(self, Self::Order | Self::Name)
    }
}

/// The tool uses, and the tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Every tool use of a model, in order.
    pub asked: Vec<LinkedToolUse>,
    /// Every `tools/call` that no model asked for, in order.
    pub unasked: Vec<ToolCall>,
    /// How many more of both there were than the limit.
    pub passed_over: u64,
}

/// The maximum number of tool uses, and of requests, that are examined.
const MOST: usize = 4_096;
/// The maximum difference between the clocks of two tapes: their start times are recorded to the
/// millisecond.
const TOLERANCE_US: u64 = 2_000;

impl Linker {
    /// Begins another tape, with the label of its server and the wall time of its beginning in
    /// microseconds.
    pub fn begin(&mut self, label: &str, created_us: u64) {
        self.parts.push(Part {
            label: label.to_owned(),
            created_us,
        });
    }

    /// Handles the next event of the tape that began last.
    pub fn observe(&mut self, event: &Event) {
        self.observe_message(event, None);
    }

    /// Like [`observe`](Self::observe), with the event's message if it is already parsed: messages
    /// that are not tool calls, and calls beyond the limit, are then skipped cheaply.
    pub fn observe_message(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let Some(part) = self.parts.last() else {
            return;
        };
        match message.and_then(|message| done::is_call(event, message)) {
            Some(false) => return,
            Some(true) if self.done.len() >= MOST => {
                self.passed_over += 1;
                return;
            }
            _ => {}
        }
        let number = self.parts.len() - 1;
        let at_us = part.created_us.saturating_add(event.at.0);
        for mut call in done::calls(event) {
            if self.done.len() >= MOST {
                self.passed_over += 1;
                continue;
            }
            call.part = number;
            call.at_us = at_us;
            part.label.clone_into(&mut call.server);
            self.done.push(call);
        }
    }

    /// Takes the calls of models that were on that tape, in the order of their requests.
    pub fn models(&mut self, calls: &[ModelCall]) {
        let Some(part) = self.parts.last() else {
            return;
        };
        let number = self.parts.len() - 1;
        let when = |at: Offset| part.created_us.saturating_add(at.0);
        let mut calls: Vec<&ModelCall> = calls.iter().collect();
        calls.order_by_key(|call| call.seq);
        for call in calls {
            for (id, name) in &call.results {
                self.told
                    .note(id.as_deref(), name.as_deref(), when(call.at));
            }
            for one in &call.uses {
                if self.uses.len() >= MOST {
                    self.passed_over += 1;
                    continue;
                }
                self.uses.push(Use {
                    part: number,
                    call_seq: call.seq,
                    id: one.id.clone(),
                    name: one.name.clone(),
                    arguments: one.arguments,
                    from_us: when(call.at),
                    until_us: None,
                });
            }
        }
    }

    /// Links everything.
    #[must_use]
    pub fn finish(mut self) -> Links {
        self.told.settle(&mut self.uses);
        self.done
            .order_by_key(|call| (call.at_us, call.part, call.seq));
        let found = find::all(&self.uses, &self.done);
        let mut is_linked = vec![false; self.done.len()];
        let mut asked = Vec::with_capacity(self.uses.len());
        for (one, found) in self.uses.into_iter().zip(found) {
            let called = found.and_then(|(at, how)| {
                if let Some(linked) = is_linked.get_mut(at) {
                    *linked = true;
                }
                let by = self.done.get(at)?.clone();
                Some(ToolUseOutcome::Called { by, how })
            });
            let fate = called.unwrap_or(match one.until_us {
                Some(_) => ToolUseOutcome::Elsewhere,
                None => ToolUseOutcome::Never,
            });
            asked.push(LinkedToolUse {
                part: one.part,
                call_seq: one.call_seq,
                id: one.id,
                name: one.name,
                fate,
            });
        }
        let unasked = self.done.into_iter().zip(is_linked);
        Links {
            asked,
            unasked: unasked
                .filter(|(_, linked)| !linked)
                .map(|(call, _)| call)
                .collect(),
            passed_over: self.passed_over,
        }
    }
}

impl ResultTimes {
    fn note(&mut self, id: Option<&str>, name: Option<&str>, at_us: u64) {
        if let Some(id) = id {
            self.by_id.entry(id.to_owned()).or_insert(at_us);
        } else if let Some(name) = name {
            let times = self.by_name.entry(name.to_owned()).or_default();
            if times.len() < MOST {
                times.push(at_us);
            }
        }
    }

    /// Sets for each use when its result was passed to the model.
    fn settle(self, uses: &mut [Use]) {
        let mut by_name: HashMap<String, std::vec::IntoIter<u64>> = HashMap::new();
        for (name, times) in self.by_name {
            by_name.insert(name, times.into_iter());
        }
        for one in uses {
            let by_id = one.id.as_ref().and_then(|id| self.by_id.get(id).copied());
            one.until_us = by_id.or_else(|| {
                let times = by_name.get_mut(&one.name)?;
                times.find(|at| *at >= one.from_us)
            });
        }
    }
}

#[cfg(test)]
mod tests;
