//! Answered exchanges on which a fault may still be reported.
//!
//! On the tape a fault follows the answer that it acted on: at once on standard streams and in an
//! event stream, and otherwise after the whole response. Until then the exchange stays open, so
//! that it can be marked.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, Write};

use super::project::Entries;
use super::record::Rest;
use super::text::push_effect;
use crate::event::{ConduitId, Direction, Effect, Event, EventBody};

/// Answered exchanges on which a fault may still be reported.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    answered: VecDeque<Answered>,
    // The request that was seen last.
    asked: Option<(ConduitId, u64)>,
}

#[derive(Debug)]
struct Answered {
    conduit: ConduitId,
    ordinal: u64,
    http: bool,
    end: Vec<u8>,
    marked: bool,
}

/// The maximum number of HTTP exchanges that wait to be marked.
const LIMIT: usize = 32;

impl Fresh {
    /// A request was opened.
    pub(super) fn asked(&mut self, conduit: ConduitId, ordinal: u64) {
        self.asked = Some((conduit, ordinal));
    }

    /// An exchange has its answer, and all but the text that closes it.
    pub(super) fn answered(&mut self, conduit: ConduitId, ordinal: u64, http: bool, end: Vec<u8>) {
        self.answered.push_back(Answered {
            conduit,
            ordinal,
            http,
            end,
            marked: false,
        });
    }

    /// Like [`answered`](Self::answered), after the HTTP exchange of the answer has ended.
    pub(super) fn over(&mut self, conduit: ConduitId, ordinal: u64, marked: bool, end: Vec<u8>) {
        self.answered.push_back(Answered {
            conduit,
            ordinal,
            http: true,
            end,
            marked,
        });
    }

    /// Whether an HTTP exchange that has ended is waiting here.
    pub(super) fn is_http(&self, conduit: ConduitId) -> bool {
        let mut answered = self.answered.iter();
        answered.any(|one| one.http && one.conduit == conduit)
    }
}

impl<S: Read + Write + Seek> Entries<S> {
    /// Closes the exchanges that can no longer change, given this event.
    pub(super) fn close_fresh(&mut self, event: &Event) -> io::Result<()> {
        let faulted = matches!(event.body, EventBody::Faulted(_));
        if !faulted {
            self.fresh.asked = None;
        }
        while let Some(first) = self.fresh.answered.front() {
            let told = faulted && first.conduit == event.conduit;
            let waits = if first.http {
                self.fresh.answered.len() <= LIMIT
            } else {
                told
            };
            if waits {
                return Ok(());
            }
            self.close_first()?;
        }
        Ok(())
    }

    /// Closes them all.
    pub(super) fn close_all_fresh(&mut self) -> io::Result<()> {
        while !self.fresh.answered.is_empty() {
            self.close_first()?;
        }
        Ok(())
    }

    /// Marks the exchange that a fault acted on.
    pub(super) fn mark_faulted(&mut self, event: &Event, effect: &Effect) -> io::Result<()> {
        let mut text = b",\n      \"fault\": ".to_vec();
        push_effect(effect, &mut text);
        if event.dir == Direction::ToServer {
            let asked = self.fresh.asked.take();
            return match asked.filter(|(conduit, _)| *conduit == event.conduit) {
                Some((_, ordinal)) => self.exchange_order.extra(ordinal, &text),
                None => Ok(()),
            };
        }
        let answered = self.fresh.answered.iter_mut();
        for one in answered.filter(|one| one.conduit == event.conduit && !one.marked) {
            one.marked = true;
            self.exchange_order.extra(one.ordinal, &text)?;
        }
        // Or the answer is an event of a stream that is still open.
        let carried = self.exchanges.get(event.conduit);
        let carried = carried.map(|exchange| exchange.requests.as_slice());
        for request in carried.unwrap_or_default() {
            let open = self.deferred.get_mut(request);
            if let Some(open) = open.filter(|open| !open.faulted) {
                open.faulted = true;
                self.exchange_order.extra(open.ordinal, &text)?;
            }
        }
        Ok(())
    }

    fn close_first(&mut self) -> io::Result<()> {
        let Some(first) = self.fresh.answered.pop_front() else {
            return Ok(());
        };
        let end = &first.end;
        let rest = Rest {
            end,
            ..Rest::default()
        };
        self.exchange_order.close(first.ordinal, rest)?;
        if self.end.capacity() == 0 {
            self.end = first.end;
        }
        Ok(())
    }
}
