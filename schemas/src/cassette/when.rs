//! When something crossed: its time, or in a cassette without times, what preceded it.

use std::io::{Read, Seek, Write};

use super::note::When;
use super::open::Open;
use super::project::Entries;
use super::text::push_millis;
use crate::conversation::Handle;
use crate::event::Direction::ToClient;
use crate::event::Event;
use crate::json::push_number;

impl<S: Read + Write + Seek> Entries<S> {
    /// Records when a response came: by its time, or by what preceded it.
    pub(super) fn push_timing(&mut self, event: &Event, open: &mut Open) {
        open.answered = true;
        if let Some((counted, asked)) = self.counted.as_mut().zip(open.asked.as_mut()) {
            if let Some(seen) = counted.of(asked, ToClient) {
                self.tail.extend_from_slice(b",\n      \"seen\": ");
                push_number(seen, &mut self.tail);
            }
            return;
        }
        self.tail
            .extend_from_slice(b",\n      \"timing\": {\"sent_ms\": ");
        push_millis(open.at, &mut self.tail);
        self.tail.extend_from_slice(b", \"took_ms\": ");
        push_millis(event.at.since(open.at), &mut self.tail);
        self.tail.push(b'}');
    }

    /// How to record when an entry of a stream came.
    pub(super) fn when(&mut self, event: &Event, home: Handle) -> When {
        let open = self.open.get_mut(home);
        let open = open.or_else(|| self.deferred.get_mut(&home));
        let Some((counted, open)) = self.counted.as_mut().zip(open) else {
            return When::Time;
        };
        When::Seen {
            late: open.answered,
            seen: open
                .asked
                .as_mut()
                .and_then(|asked| counted.of(asked, event.dir)),
        }
    }

    /// How to record when something outside the exchanges came.
    pub(super) fn when_beside(&mut self, event: &Event) -> When {
        let counted = self.counted.as_mut();
        counted.map_or(When::Time, |counted| When::Seen {
            late: false,
            seen: counted.beside(event.dir),
        })
    }
}
