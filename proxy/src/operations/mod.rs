//! The durations of the conventions for MCP, as histograms: of operations and of sessions, as the sender and as the receiver sees them.
//!
//! <https://github.com/open-telemetry/semantic-conventions-genai>, `docs/gen-ai/mcp.md` as it stood in August 2026. We stand between the
//! two: to the sender of a request we are its receiver (`server`), and to its receiver the sender (`client`), whichever of the two peers
//! sends it.
//!
//! A recorder counts what it has written, once that is on its tape: what the disk did not take is not counted. The tapes of an agent, which
//! several recorders write, are read for it [behind](crate::behind) their writers.

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

/// Durations, by what they are of.
#[derive(Debug, Default)]
pub struct Operations {
    state: Mutex<State>,
    // How many data points arrived at a collector, where they are sent.
    sent: OnceLock<Arc<Figures>>,
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells with the durations what becomes of them.
    fn tell_of(&self, figures: Arc<Figures>) {
        // There is one collector.
        drop(self.sent.set(figures));
    }

    /// An exchange is over.
    fn add(&self, operation: &Operation<'_>, transport: &'static str) {
        self.lock().add(operation, transport);
    }

    /// A session is over.
    fn add_session(&self, lasted: Offset, transport: &'static str) {
        self.lock().add_session(lasted, transport);
    }
}
