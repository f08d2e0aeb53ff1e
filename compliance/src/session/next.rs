//! Entering calls and answers of which it is known that they change nothing but which requests are in flight.

use tapewright_schemas::event::{Direction, Seen};

use super::pending_request::PendingRequest;
use super::tools::Listed;
use super::{Moment, Session};
use crate::method::Method;
use crate::revision::Revisions;

impl Session {
    /// Enters a client's call of this id and tool as [`enter`](Self::enter) would, if its id is the next one; returns
    /// whether it is.
    pub(crate) fn enter_next_call(
        &mut self,
        seen: &Seen<'_>,
        id: i64,
        name: &[u8],
        revisions: Revisions,
    ) -> bool {
        let (event, dir) = (seen.event, Direction::ToServer);
        let Some(handle) = self.pairs.ask_next(event.scope(), dir, id) else {
            return false;
        };
        self.begin_message(event);
        let [latest, _] = &mut self.latest;
        latest.push(handle);
        let mut asked =
            PendingRequest::new(moment(seen), event.conduit, Method::ToolsCall, revisions);
        asked.tool = self.tools.look_up_bytes(name);
        self.requests_mut(dir).insert(handle, asked);
        true
    }

    /// Enters a result of this id as [`enter`](Self::enter) would, if it answers a plain call of such a tool; returns
    /// whether it does.
    pub(crate) fn enter_next_answer(&mut self, seen: &Seen<'_>, id: i64, tool: Listed) -> bool {
        let event = seen.event;
        let [requests, _] = &mut self.requests;
        let mut asked = None;
        let answered = self
            .pairs
            .answer_if(event.scope(), event.dir, id, |handle| {
                let known = requests.get(handle);
                let known = known.filter(|known| known.is_plain_call() && known.tool == tool);
                asked = known.map(|known| known.seq);
                known.is_some()
            });
        let (Some(handle), Some(asked)) = (answered, asked) else {
            return false;
        };
        drop(requests.take(handle));
        if requests.is_idle() {
            self.freed = Some(moment(seen));
        }
        let [read, _] = &mut self.read;
        *read = (*read).max(asked);
        if let Some(calls) = self.uses.of(Method::ToolsCall) {
            calls.answered += 1;
        }
        self.begin_message(event);
        true
    }
}

fn moment(seen: &Seen<'_>) -> Moment {
    Moment {
        seq: seen.seq,
        at: seen.event.at,
    }
}
