//! Signals that reach the recorder and are meant for the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::thread;

use signal_hook::consts::signal::{
    SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::iterator::Signals;

/// What is passed on to the server.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Sends each signal that arrives to `notify`, from a thread of its own.
///
/// A signal that was ignored when we started (`nohup`) stays ignored, for us and for the
/// server, which inherits that.
pub(crate) fn forward<T: Send + 'static>(
    notify: SyncSender<T>,
    wrap: fn(i32) -> T,
) -> io::Result<()> {
    let ignored = ignored_at_start();
    let wanted = PASSED_ON
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let mut signals = Signals::new(wanted.chain([SIGXFSZ]))?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                // Caught only so that a write beyond a file size limit fails like any other.
                if signal != SIGXFSZ && notify.send(wrap(signal)).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

/// Is set by the first SIGINT or SIGTERM; the second ends this process with status 130.
pub fn interruption() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let ignored = ignored_at_start();
    for signal in [SIGINT, SIGTERM] {
        if ignored & (1 << (signal - 1)) == 0 {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
    }
    Ok(flag)
}

/// The name of a signal, such as `SIGTERM`.
pub(crate) fn name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal)
        .map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Whether dying by this signal is how a server is stopped, rather than how it fails.
pub(crate) fn is_ending(signal: i32) -> bool {
    matches!(signal, SIGHUP | SIGINT | SIGQUIT | SIGTERM)
}

/// Ends this process the way its child ended. Returns only for a signal that cannot be
/// raised, or whose default is to leave a core file, which would be ours and not the
/// child's.
pub fn die_by(signal: i32) {
    if matches!(
        signal,
        SIGHUP | SIGINT | SIGTERM | SIGKILL | SIGUSR1 | SIGUSR2
    ) {
        // Nothing is left to be done if it fails: the caller returns 128 + signal.
        drop(signal_hook::low_level::emulate_default_handler(signal));
    }
}

/// The signals that this process ignores, one bit each from SIGHUP on.
fn ignored_at_start() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}
