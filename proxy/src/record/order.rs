//! Time on a tape.

use tapewright_schemas::event::{Event, Offset};

/// Sees to it that time does not go back on a tape.
///
/// A recording thread reads the clock and then waits for its turn, and what is held until its
/// session is known comes later still: what is second on the tape may have been read first.
/// It gets the time of what stands before it.
#[derive(Debug, Default)]
pub(crate) struct Order {
    latest: Offset,
}

impl Order {
    /// Sets the time that an event has on the tape.
    #[inline]
    pub(crate) fn set(&mut self, event: &mut Event) {
        event.at = self.of(event.at);
    }

    /// The time that something has which is put on the tape now.
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
