//! Hears what is recorded, for the log.

use std::fmt;

use anyhow::Context as _;
use tapewright_proxy::record::{Judging, Listener};
use tracing::{Level, enabled};

use super::LOG;
use super::traffic::Traffic;

/// Hears what is recorded, and logs it on a thread of its own.
pub(crate) struct LogEar(Listener<Traffic>);

impl fmt::Debug for LogEar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LogEar").finish_non_exhaustive()
    }
}

impl LogEar {
    /// Logs what is left once the recording is over.
    pub(crate) fn finish(self) {
        if let Some(traffic) = self.0.finish() {
            traffic.finish();
        }
    }
}

/// Who judges a recording, when the log wants to hear it as well. Without a log nothing is
/// started, and nothing costs anything. `is_taped` says whether there is a tape to point to.
pub(crate) fn heard(
    judging: Option<Judging>,
    is_taped: bool,
) -> anyhow::Result<(Option<Judging>, Option<LogEar>)> {
    if LOG.get().is_none() {
        return Ok((judging, None));
    }
    let listener = Listener::start(Traffic::new(is_taped));
    let listener = listener.context("the log could not be started")?;
    let mut ear = listener.ear();
    if !wants_messages() {
        ear = ear.without_messages();
    }
    let judging = judging.unwrap_or_else(Judging::by_nobody).and_heard_by(ear);
    Ok((Some(judging), Some(LogEar(listener))))
}

/// Whether exchanges and messages are logged, or only what happens beside them.
fn wants_messages() -> bool {
    enabled!(target: "tapewright::exchange", Level::DEBUG)
        || enabled!(target: "tapewright::http", Level::DEBUG)
}
