//! Unix: signals, `/proc`, modes.

use std::fs::{self, File, Permissions};
use std::io;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

static HEARD: Once = Once::new();

/// Makes signals reach a recorder.
///
/// If the tests run in the background of a script, or under `nohup`, SIGINT or SIGHUP is ignored,
/// also by the processes that they start. A signal that is handled here has its default action
/// there.
pub(crate) fn prepare(_recorder: &mut Command) {
    HEARD.call_once(|| {
        let always = Arc::new(AtomicBool::new(true));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let always = Arc::clone(&always);
            register_conditional_shutdown(signal, 128 + signal, always).expect("a handler");
        }
    });
}

/// Starts a process.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Runs a process to its end.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    command.output()
}

/// Returns an accepted connection: no other process inherits it.
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Windows")]
pub(crate) fn uninherited(accepted: TcpStream) -> io::Result<TcpStream> {
    Ok(accepted)
}

/// Does nothing: a recorder shares the terminal of the tests, if there is one.
pub(crate) fn without_console(_recorder: &mut Command) {}

/// The variable with the user's home folder.
pub(crate) const HOME: &str = "HOME";

/// The variable with the folder for data of this user and machine.
pub(crate) const STATE: &str = "XDG_STATE_HOME";

/// How long a server that answers may take, in seconds.
pub(crate) const ANSWER_LIMIT: &str = "3";

/// How many recorders each test of `kill` kills.
pub(crate) const KILLS: u64 = 200;

/// The status of a recorder that [`signal`] `TERM` has stopped.
pub(crate) const STOPPED: i32 = 0;

/// Sends a signal as a client would.
pub(crate) fn signal(pid: u32, name: &str) {
    let done = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(pid.to_string())
        .status();
    assert!(done.expect("kill can be run").success());
}

/// Processes that carry this mark in their environment. Guards count too.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("a process list").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ
            .windows(mark.len())
            .any(|part| part == mark.as_bytes())
            && !is_zombie(pid)
        {
            found.push(pid);
        }
    }
    found
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

/// The most memory that a process had.
pub(crate) fn peak_memory_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    number.expect("a figure")
}

/// Checks who may do what with a file or folder.
pub(crate) fn assert_mode(path: &Path, mode: u32) {
    let found = fs::metadata(path).expect("a file").permissions().mode() & 0o7777;
    assert_eq!(found, mode, "{}: {found:o}", path.display());
}

/// Determines who may do what with a file or folder.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Makes a script a program.
pub(crate) fn make_executable(path: &Path) {
    set_mode(path, 0o755);
}

/// Marks a tape as being written, like its recorder.
pub(crate) fn mark_written(tape: &File) {
    tape.try_lock().expect("nobody else writes it");
}
