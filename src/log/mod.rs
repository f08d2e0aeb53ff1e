//! The operator's log: what the recorder does. docs/log.md lists its events.
//!
//! Libraries raise `tracing` events, with the name of the event, its subject as target, and its
//! details as fields. No event contains the contents of a message, a header or a query. Logging
//! never blocks: a line goes into a bounded queue, and a thread writes it.

mod arguments;
mod filter;
mod gaps;
mod judged;
mod line;
mod listener;
mod place;
mod queue;
mod recorded;
mod replayed;
mod subscriber;
mod traffic;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tapewright_proxy::clock::Clock;
use tracing::{error, info};

use self::queue::Queue;
use self::subscriber::Subscriber;
use self::writer::Destination;
use crate::exit::Exit;
use crate::report;

pub(crate) use self::arguments::LogArguments;
pub(crate) use self::judged::{judged, suite_written, tested, verified};
pub(crate) use self::listener::{LogListener, heard};
pub(crate) use self::place::place;
pub(crate) use self::recorded::{measured, recorded, served, traced};
pub(crate) use self::replayed::{missed, missed_model, replayed};

/// Everything that we log is below this target; events of other libraries are not for operators,
/// and may contain what we must not reveal.
const ROOT: &str = "tapewright";

/// The log of this process, if there is one.
static LOG: OnceLock<Log> = OnceLock::new();

/// The number of lines that were not written, for the metrics of a gateway even without a log.
static LOST: OnceLock<Arc<AtomicU64>> = OnceLock::new();

#[derive(Debug)]
struct Log {
    queue: Arc<Queue>,
    clock: Clock,
}

/// Where to log, what, and in which format.
#[derive(Debug)]
struct Settings {
    destination: Destination,
    format: line::Format,
    filter: filter::Filter,
}

/// Starts the log that the options or the environment request. Its lines wait until [`flow`] is
/// called: no thread is started before that, since a process with one thread forks its guard
/// faster.
pub(crate) fn start(arguments: &LogArguments, command: &'static str) -> anyhow::Result<()> {
    let Some(settings) = arguments.settings()? else {
        return Ok(());
    };
    let clock = Clock::start();
    let writer = line::Writer {
        format: settings.format,
        clock,
    };
    let queue = Arc::new(Queue::new(lost()));
    let subscriber = Subscriber::new(Arc::clone(&queue), settings.filter, writer);
    queue.keep(settings.destination, writer);
    let log = Log { queue, clock };
    if LOG.set(log).is_err() || tracing::subscriber::set_global_default(subscriber).is_err() {
        anyhow::bail!("the log was started twice");
    }
    info!(
        name: "started",
        target: "tapewright::command",
        command,
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
    );
    Ok(())
}

/// Starts to write the lines.
pub(crate) fn flow() {
    if let Some(log) = LOG.get() {
        log.queue.flow();
    }
}

/// How many lines were lost so far.
pub(crate) fn lost() -> Arc<AtomicU64> {
    Arc::clone(LOST.get_or_init(Arc::default))
}

/// Logs how the command ended, and waits until that is written, unless the reader has stalled.
pub(crate) fn end(result: &anyhow::Result<Exit>) {
    if let Err(error) = result
        && !report::is_broken_pipe(error)
    {
        error!(
            name: "failed",
            target: "tapewright::command",
            error = format!("{error:#}"),
        );
    }
    let status = match result {
        Ok(exit) => exit.status(),
        Err(error) if report::is_broken_pipe(error) => Exit::Pass.status(),
        Err(_) => Exit::Unusable.status(),
    };
    conclude(Some(status), None);
}

/// Like [`end`], for a process that is about to end by the signal that ended the server.
pub(crate) fn end_by(signal: i32) {
    conclude(None, Some(signal));
}

fn conclude(status: Option<i32>, signal: Option<i32>) {
    let Some(log) = LOG.get() else { return };
    let took_ms = u64::try_from(log.clock.elapsed().as_millis()).unwrap_or(u64::MAX);
    info!(name: "ended", target: "tapewright::command", status, signal, took_ms);
    let is_to_be_noted = log.queue.close();
    let lost = lost().load(Ordering::Relaxed);
    if lost > 0 && is_to_be_noted {
        report::note(&format!("{lost} lines of the log were lost"));
    }
}
