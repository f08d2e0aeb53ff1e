//! Calls of models on a recording.

mod open;

use std::collections::HashMap;

use tapewright_schemas::event::{ConduitId, Event, EventBody, Head, Offset};
use tapewright_schemas::slices::Part as _;

use self::open::Open;
use crate::Wire;
use crate::conversation::{ApiError, Finish, StreamEnd, Usage};
use crate::recognise::{Operation, recognise};

/// One call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The number of the event that has the head of its request.
    pub seq: u64,
    /// When it was asked.
    pub at: Offset,
    /// The wire that it travelled on.
    pub wire: Wire,
    /// The model: as it answered, or where it did not, as it was asked for.
    pub model: Option<String>,
    /// The HTTP status; `None` where nothing came back.
    pub status: Option<u16>,
    /// Whether it came as a stream.
    pub is_stream: bool,
    /// The tokens that it took.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: Option<Finish>,
    /// The tools that the model asked for, in order.
    pub tool_uses: Vec<String>,
    /// The same with what tells one from another.
    pub uses: Vec<UseSeen>,
    /// The results of tools that it told the model since the model spoke last: the id of the
    /// use, and the name of the tool, as far as the wire says them.
    pub results: Vec<(Option<String>, Option<String>)>,
    /// From the request until the model said something.
    pub first_token: Option<Offset>,
    /// From the request until the end of the response.
    pub took: Option<Offset>,
    /// What became of it.
    pub end: CallEnd,
}

/// A tool use, and what tells it from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseSeen {
    /// Its id, where the wire has one.
    pub id: Option<String>,
    /// The name that the model used.
    pub name: String,
    /// What is the same for the same arguments; `None` where they are no JSON.
    pub arguments: Option<u64>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The model answered.
    Answered,
    /// The stream broke off, or nothing came.
    CutShort,
    /// The provider reported an error.
    Failed(ApiError),
    /// What came could not be read; why, with its place.
    Unreadable(String),
}

/// Folds events to the calls of models among them.
///
/// HTTP exchanges are told by their address; what is no call of a model costs a look at its
/// request's head. A call stands in the list in the order in which calls ended.
#[derive(Debug, Default)]
pub struct Calls {
    open: HashMap<ConduitId, Open>,
    ended: Vec<ModelCall>,
    passed_over: u64,
}

/// How many calls are kept; the rest is counted.
const MOST: usize = 10_000;

impl Calls {
    /// Takes the next event.
    pub fn observe(&mut self, event: &Event) {
        if let EventBody::Head(head) = &event.body
            && let Head::Request(head) = &**head
        {
            // A conduit is one exchange; what was never answered ends with the recording.
            let field = |name: &str| {
                let mut fields = head.fields.iter();
                fields
                    .find(|(known, _)| known.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value)
            };
            let target = path_of(&head.target);
            let call = recognise(&head.method, target, field, None);
            if let Some(call) = call.filter(|call| call.operation == Operation::Generate) {
                self.open.insert(event.conduit, Open::new(call, event));
            }
            return;
        }
        // What is no HTTP stands on conduits that were never opened here.
        let Some(open) = self.open.get_mut(&event.conduit) else {
            return;
        };
        if open.observe(event)
            && let Some(open) = self.open.remove(&event.conduit)
        {
            self.keep(open);
        }
    }

    /// The calls, and how many more there were.
    #[must_use]
    pub fn finish(mut self) -> (Vec<ModelCall>, u64) {
        let mut open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(Open::seq);
        for call in open {
            self.keep(call);
        }
        (self.ended, self.passed_over)
    }

    fn keep(&mut self, open: Open) {
        let Some(call) = open.into_call() else {
            return;
        };
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
