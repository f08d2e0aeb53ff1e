//! Signals to the recorder that are meant for the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::thread;

use signal_hook::consts::signal::{
    SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::iterator::Signals;

/// The signals that are forwarded to the server.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Sends each signal that arrives to `notify`, from a separate thread.
///
/// A signal that was ignored at the start (`nohup`) stays ignored, for this process and for the
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
                // Only caught so that a write beyond a file size limit fails like any other.
                if signal != SIGXFSZ && notify.send(wrap(signal)).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

/// A flag that the first SIGINT or SIGTERM sets; the second ends this process with status 130.
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

/// Whether a signal is a normal way to stop a server, rather than a crash.
pub(crate) fn is_ending(signal: i32) -> bool {
    matches!(signal, SIGHUP | SIGINT | SIGQUIT | SIGTERM)
}

/// Ends this process in the same way as its child. Returns only for a signal that cannot be raised,
/// or whose default is a core dump, which would be of this process and not of the child.
pub fn die_by(signal: i32) {
    if matches!(
        signal,
        SIGHUP | SIGINT | SIGTERM | SIGKILL | SIGUSR1 | SIGUSR2
    ) {
        // On failure, the caller returns 128 + signal.
        drop(signal_hook::low_level::emulate_default_handler(signal));
    }
}

/// The signals that this process ignores, one bit each, starting with SIGHUP.
fn ignored_at_start() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}
