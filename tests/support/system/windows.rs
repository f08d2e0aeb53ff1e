//! Windows: console events, named pipes. There are no modes.

use std::fs::File;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use winsafe::HPROCESS;
use winsafe::co::PROCESS;

/// `CREATE_NO_WINDOW`
const OWN_CONSOLE: u32 = 0x0800_0000;

/// Gives a recorder a console of its own, so that [`signal`] reaches it and its server, and nothing else.
pub(crate) fn prepare(recorder: &mut Command) {
    recorder.creation_flags(OWN_CONSOLE);
}

/// The status of a recorder that [`signal`] `TERM` has stopped.
pub(crate) const STOPPED: i32 = 130;

/// What comes closest to a signal: Ctrl-C for `INT` and `TERM`, the end for `KILL`.
///
/// A process can only send a Ctrl-C to its own console, so that a small program, `tests/system/interrupt.c`, goes there; it must be in `PATH`.
pub(crate) fn signal(pid: u32, name: &str) {
    match name {
        "INT" | "TERM" => {
            let done = Command::new("interrupt.exe").arg(pid.to_string()).status();
            assert!(done.expect("interrupt.exe can be run").success());
        }
        "KILL" => opened(pid, PROCESS::TERMINATE)
            .TerminateProcess(1)
            .expect("it can be ended"),
        _ => panic!("Windows has nothing like {name}"),
    }
}

fn opened(pid: u32, access: PROCESS) -> winsafe::guard::CloseHandleGuard<HPROCESS> {
    HPROCESS::OpenProcess(access, false, pid).expect("a process")
}

/// The most memory that a process had.
pub(crate) fn peak_memory_kib(pid: u32) -> u64 {
    let process = opened(pid, PROCESS::QUERY_INFORMATION | PROCESS::VM_READ);
    let counters = process.GetProcessMemoryInfo().expect("figures");
    u64::try_from(counters.PeakWorkingSetSize).expect("a size") / 1024
}

/// Does nothing: who may read a file is tested where access lists are written.
pub(crate) fn assert_mode(_path: &Path, _mode: u32) {}

/// Does nothing: see [`assert_mode`].
pub(crate) fn set_mode(_path: &Path, _mode: u32) {}

/// Does nothing: that a tape is open for writing is the mark.
pub(crate) fn mark_written(_tape: &File) {}
