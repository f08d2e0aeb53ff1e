//! The order of times on a tape.

use tapewright_schemas::event::{Event, Offset};

/// Ensures that times on a tape never decrease.
///
/// A recording thread reads the clock and then waits for its turn, and events that are held until
/// their session is known arrive even later: the second event on the tape may have an earlier time.
/// It gets the time of the event before it.
#[derive(Debug, Default)]
pub(crate) struct Order {
    latest: Offset,
}

impl Order {
    /// Sets the time of an event on the tape.
    #[inline]
    pub(crate) fn set(&mut self, event: &mut Event) {
        event.at = self.of(event.at);
    }

    /// The time for something that is written to the tape now.
    #[inline]
    pub(crate) fn of(&mut self, at: Offset) -> Offset {
        self.latest = self.latest.max(at);
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let mut order = Order::default();
        let times = [5, 9, 7, 12].map(|at| order.of(Offset(at)).0);
        assert_eq!(times, [5, 9, 9, 12]);
    }
}
