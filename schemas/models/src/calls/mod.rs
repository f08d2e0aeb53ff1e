//! Calls of models on a recording.

mod open;

use std::collections::HashMap;

use tapewright_schemas::event::{ConduitId, Event, EventBody, Head, Offset};
use tapewright_schemas::listing::Body;
use tapewright_schemas::slices::Part as _;

use self::open::Open;
use crate::Wire;
use crate::conversation::{ApiError, Finish, StreamEnd, Usage};
use crate::recognise::{Operation, recognise};

/// A model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The number of the event that has the head of its request.
    pub seq: u64,
    /// The session that it belongs to; 0 for none.
    pub session: u32,
    /// The HTTP exchange.
    pub conduit: u32,
    /// When it was requested.
    pub at: Offset,
    /// The name before its path, by which a recorder of several providers identified it.
    pub provider: Option<String>,
    /// The id that the provider gave the answer.
    pub id: Option<String>,
    /// The wire that it travelled on.
    pub wire: Wire,
    /// The model according to the answer, or else according to the request.
    pub model: Option<String>,
    /// The HTTP status; `None` if there was no response.
    pub status: Option<u16>,
    /// Whether the response was a stream.
    pub is_stream: bool,
    /// The tokens that it took.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: Option<Finish>,
    /// The tool uses of the model, in order.
    pub tool_uses: Vec<String>,
    /// The tool uses with what identifies them.
    pub uses: Vec<UseSeen>,
    /// The tool results since the model's last message: the id of the use, and the name of the
    /// tool, as far as the wire has them.
    pub results: Vec<(Option<String>, Option<String>)>,
    /// The time from the request to the first content of the model.
    pub first_token: Option<Offset>,
    /// The time from the request to the end of the response.
    pub took: Option<Offset>,
    /// How it ended.
    pub end: CallEnd,
}

/// A tool use, and what identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseSeen {
    /// Its id, if the wire has one.
    pub id: Option<String>,
    /// The name that the model used.
    pub name: String,
    /// A hash that is equal for equal arguments; `None` if they are not JSON.
    pub arguments: Option<u64>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The model answered.
    Answered,
    /// The stream broke off, or there was no response.
    CutShort,
    /// The provider reported an error.
    Failed(ApiError),
    /// The response could not be read; with the reason and its position.
    Unreadable(String),
}

/// Collects the model calls among events.
///
/// HTTP exchanges are recognized by their address; for one that is not a model call, only its
/// request's head is examined. Calls are listed in the order in which they ended.
#[derive(Debug, Default)]
pub struct Calls {
    open: HashMap<ConduitId, Open>,
    // Whether message contents are kept, and how many bytes of them are.
    bodies: bool,
    held: usize,
    ended: Vec<ModelCall>,
    passed_over: u64,
}

/// The effect of an event on model calls.
#[derive(Debug)]
pub enum CallStep {
    /// Nothing.
    Nothing,
    /// One begins with this event.
    Began(u64),
    /// The exchange that began with this event is not a model call.
    WasNone(u64),
    /// A call ended.
    Ended(Box<ModelCall>, CallBodies),
}

/// The bodies of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallBodies {
    /// The body of the request.
    pub request: Body,
    /// The body of the response; for a stream, the combined response.
    pub answer: Body,
}

/// The maximum number of calls that are kept; the rest is counted.
const MOST: usize = 10_000;
/// The maximum number of request bytes that are kept for calls that are not over.
const MOST_BYTES: usize = 64 << 20;

impl Calls {
    /// Also keeps message contents, for [`follow`](Self::follow).
    #[must_use]
    pub fn with_bodies(mut self) -> Self {
        self.bodies = true;
        self
    }

    /// Handles the next event, and keeps the call that it ends.
    pub fn observe(&mut self, event: &Event) {
        if let CallStep::Ended(call, _) = self.follow(event) {
            self.keep(*call);
        }
    }

    /// Handles the next event, and returns the call that it ends.
    pub fn follow(&mut self, event: &Event) -> CallStep {
        if let EventBody::Head(head) = &event.body
            && let Head::Request(head) = &**head
        {
            // A conduit is one exchange; one that was never answered ends with the recording.
            let field = |name: &str| head.fields.get(name);
            let target = path_of(&head.target);
            let call = recognise(&head.method, target, field, None);
            let call = call.filter(|call| call.operation == Operation::Generate);
            let Some(call) = call else {
                return CallStep::Nothing;
            };
            let open = Open::new(call, event, self.bodies);
            self.open.insert(event.conduit, open);
            return CallStep::Began(event.seq);
        }
        // Events other than HTTP are on conduits that were never opened here.
        let Some(open) = self.open.get_mut(&event.conduit) else {
            return CallStep::Nothing;
        };
        let before = open.held();
        let is_over = open.observe(event, self.held < MOST_BYTES);
        self.held = (self.held + open.held()).saturating_sub(before);
        if !is_over {
            return CallStep::Nothing;
        }
        match self.open.remove(&event.conduit) {
            Some(open) => self.ended(open),
            None => CallStep::Nothing,
        }
    }

    /// At the end of the events: ends a call that is not over; `None` if there is none left.
    pub fn end_one(&mut self) -> Option<CallStep> {
        let first = self.open.iter().min_by_key(|(_, open)| open.seq());
        let conduit = *first?.0;
        let open = self.open.remove(&conduit)?;
        Some(self.ended(open))
    }

    /// The calls, and how many more there were.
    #[must_use]
    pub fn finish(mut self) -> (Vec<ModelCall>, u64) {
        while let Some(step) = self.end_one() {
            if let CallStep::Ended(call, _) = step {
                self.keep(*call);
            }
        }
        (self.ended, self.passed_over)
    }

    fn ended(&mut self, open: Open) -> CallStep {
        self.held = self.held.saturating_sub(open.held());
        let seq = open.seq();
        match open.into_call() {
            Some((call, said)) => CallStep::Ended(Box::new(call), said),
            None => CallStep::WasNone(seq),
        }
    }

    fn keep(&mut self, call: ModelCall) {
        if self.ended.len() < MOST {
            self.ended.push(call);
        } else {
            self.passed_over += 1;
        }
    }
}

/// The path and query of a target, which may be a whole URL.
pub(crate) fn path_of(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://") else {
        return target;
    };
    rest.find('/').map_or("/", |at| rest.part(at..))
}

impl CallEnd {
    /// Its token in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::CutShort => "cut_short",
            Self::Failed(_) => "failed",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// What went wrong, if known.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Answered | Self::CutShort => None,
            Self::Failed(error) => Some(error.to_string()),
            Self::Unreadable(why) => Some(why.clone()),
        }
    }
}

impl From<StreamEnd> for CallEnd {
    fn from(end: StreamEnd) -> Self {
        match end {
            StreamEnd::Complete => Self::Answered,
            StreamEnd::Truncated => Self::CutShort,
            StreamEnd::Failed(error) => Self::Failed(error),
        }
    }
}

#[cfg(test)]
mod tests;
