//! Logs the events of a recording.

use std::fmt;
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::record::{Judging, Listener};
use tracing::{Level, enabled};

use super::LOG;
use super::traffic::{Traffic, finding};

/// Logs the events of a recording on a separate thread.
pub(crate) struct LogListener(Listener<Traffic>);

impl fmt::Debug for LogListener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LogListener").finish_non_exhaustive()
    }
}

impl LogListener {
    /// Logs the rest once the recording is over.
    pub(crate) fn finish(self) {
        if let Some(traffic) = self.0.finish() {
            traffic.finish();
        }
    }
}

/// The judges of a recording, with the log among them. Without a log, no thread is started and
/// there is no cost. `is_taped` says whether there is a tape to refer to.
pub(crate) fn heard(
    judging: Option<Judging>,
    is_taped: bool,
) -> anyhow::Result<(Option<Judging>, Option<LogListener>)> {
    if LOG.get().is_none() {
        return Ok((judging, None));
    }
    let listener = Listener::start(Traffic::new(is_taped));
    let listener = listener.context("cannot start the log")?;
    let mut feed = listener.feed();
    if !wants_messages() {
        feed = feed.without_messages();
    }
    let mut judging = judging
        .unwrap_or_else(Judging::by_nobody)
        .and_heard_by(feed);
    let tell = Arc::clone(&judging.tell);
    judging.tell = Arc::new(move |event, found| {
        let seq = Some(event.seq).filter(|seq| is_taped && *seq > 0);
        finding(found, event.session.0, seq);
        tell(event, found);
    });
    Ok((Some(judging), Some(LogListener(listener))))
}

/// Whether exchanges and messages are logged, or only other events.
fn wants_messages() -> bool {
    enabled!(target: "tapewright::exchange", Level::DEBUG)
        || enabled!(target: "tapewright::http", Level::DEBUG)
}
