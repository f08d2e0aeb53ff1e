//! The code of a guard.

use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpgrp, getpid, kill_process, kill_process_group};
use signal_hook::consts::signal::{
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
};

use super::ARGUMENT;

/// How long the group has between SIGTERM and SIGKILL after the recorder is gone.
const LAST_WORDS: Duration = Duration::from_millis(700);

/// Signals that are meant for the group and must not stop its guard.
const IGNORED: [i32; 8] = [
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
];

/// Runs the guard if this process was started as one; returns `None` otherwise.
///
/// Must be called first in `main`.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let asked = arguments.next().is_some_and(|first| first == ARGUMENT);
    (asked && arguments.next().is_none()).then(|| watch(io::stdin()))
}

/// Waits until the recorder is gone, which closes `pipe`, and ends the group.
pub(super) fn watch(mut pipe: impl Read) -> ExitCode {
    // Only the leader of a group may signal it.
    if getpgrp() != getpid() {
        return ExitCode::FAILURE;
    }
    let unheard = Arc::new(AtomicBool::new(false));
    for signal in IGNORED {
        // A signal that cannot be caught cannot be ignored either.
        drop(signal_hook::flag::register(signal, Arc::clone(&unheard)));
    }
    let mut byte = [0];
    loop {
        match pipe.read(&mut byte) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    let group = getpgrp();
    kill_process_group(group, Signal::TERM).ok();
    thread::sleep(LAST_WORDS);
    kill_process_group(group, Signal::KILL).ok();
    // Only reached if the group could not be signalled.
    kill_process(getpid(), Signal::KILL).ok();
    ExitCode::FAILURE
}
