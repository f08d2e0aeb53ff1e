//! The durations of the conventions for MCP, as histograms: of operations and of sessions, as the
//! sender and as the receiver sees them.
//!
//! <https://github.com/open-telemetry/semantic-conventions-genai>, `docs/gen-ai/mcp.md`, as of
//! August 2026. The recorder is between the two: for the sender of a request it is the receiver
//! (`server`), and for the receiver the sender (`client`), whichever peer sends it.
//!
//! A recorder counts what it has written to its tape: events that the disk did not take are not
//! counted. The tapes of an agent, which several recorders write, are read for it [while they are
//! written](crate::behind).

mod counting;
mod export;
mod histogram;
mod names;
mod points;
mod prometheus;
mod series;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tapewright_schemas::event::Offset;

pub use self::counting::{Counting, Reading};
pub use self::export::{Exports, Settings};
pub use self::points::Temporality;

use self::counting::Operation;
use self::series::State;
use crate::traces::Figures;

/// Durations, by operation and session.
#[derive(Debug, Default)]
pub struct Operations {
    state: Mutex<State>,
    // The counters of exported data points, if there is an export.
    sent: OnceLock<Arc<Figures>>,
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the counters of an export.
    fn tell_of(&self, figures: Arc<Figures>) {
        // There is only one collector.
        drop(self.sent.set(figures));
    }

    /// Counts a finished exchange.
    fn add(&self, operation: &Operation<'_>, transport: &'static str) {
        self.lock().add(operation, transport);
    }

    /// Counts a finished session.
    fn add_session(&self, lasted: Offset, transport: &'static str) {
        self.lock().add_session(lasted, transport);
    }
}
