//! Time on a tape.

use std::borrow::Cow;

use tapewright_schemas::event::{ConduitId, Event, Offset, SessionKey};

/// Sees to it that time does not go back in a stdio session.
///
/// Its directions read the clock apart and then wait for their turn: the one that comes
/// second may have read it first. Exchanges of HTTP run side by side, each with times of its
/// own, and are left alone.
#[derive(Debug, Default)]
pub(crate) struct Order {
    latest: Offset,
}

impl Order {
    /// The event as it is to stand on the tape.
    #[inline]
    pub(crate) fn of<'e>(&mut self, event: &'e Event) -> Cow<'e, Event> {
        if event.session != SessionKey(0) || event.conduit != ConduitId(0) {
            return Cow::Borrowed(event);
        }
        if event.at < self.latest {
            let at = self.latest;
            return Cow::Owned(Event {
                at,
                ..event.clone()
            });
        }
        self.latest = event.at;
        Cow::Borrowed(event)
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::{CloseReason, Direction, EventBody};

    use super::*;

    fn times(conduit: u32) -> Vec<u64> {
        let mut order = Order::default();
        let at = |at| {
            let body = EventBody::Closed(CloseReason::EndOfInput);
            let mut event = Event::new(Offset(at), Direction::ToServer, body);
            event.conduit = ConduitId(conduit);
            order.of(&event).at.0
        };
        [5, 9, 7, 12].map(at).to_vec()
    }

    #[test]
    fn time_does_not_go_back_in_a_stdio_session() {
        assert_eq!(times(0), [5, 9, 9, 12]);
        assert_eq!(times(1), [5, 9, 7, 12]);
    }
}
