//! Windows: console events, named pipes. There are no modes.

use std::fs::File;
use std::io::{self, Read as _};
use std::net::TcpStream;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output};

use winsafe::HPROCESS;
use winsafe::co::PROCESS;

/// `CREATE_NO_WINDOW`
const OWN_CONSOLE: u32 = 0x0800_0000;

/// Gives a recorder a console of its own, so that [`signal`] reaches it and its server, and nothing else.
pub(crate) fn prepare(recorder: &mut Command) {
    recorder.creation_flags(OWN_CONSOLE);
}

/// `ERROR_INTERNAL_ERROR`
const NOT_STARTED: i32 = 1359;

/// Starts a process. Under load one in some thousands does not start under Wine.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    until_started(|| command.spawn())
}

/// Runs a process to its end.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    until_started(|| command.output())
}

fn until_started<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..4 {
        match start() {
            Err(error) if error.raw_os_error() == Some(NOT_STARTED) => {}
            other => return other,
        }
    }
    start()
}

/// Keeps an accepted connection from the processes that other tests start. On Windows they would hold it open after
/// this one has closed it; a copy is not inherited.
pub(crate) fn uninherited(accepted: TcpStream) -> io::Result<TcpStream> {
    let copy = accepted.try_clone();
    drop(accepted);
    copy
}

/// `DETACHED_PROCESS`
const NO_CONSOLE: u32 = 8;

/// Starts a recorder without a console, so that [`signal`] cannot reach it, and its end of a pipe is closed when it
/// closes it: the process of a console of Wine has a copy of it until the recorder ends.
pub(crate) fn without_console(recorder: &mut Command) {
    recorder.creation_flags(NO_CONSOLE);
}

/// The variable with the user's home folder.
pub(crate) const HOME: &str = "USERPROFILE";

/// The variable with the folder for data of this user and machine.
pub(crate) const STATE: &str = "LOCALAPPDATA";

/// How long a server that answers may take, in seconds: Wine takes seconds to start a process beside other tests.
pub(crate) const ANSWER_LIMIT: &str = "15";

/// How many recorders each test of `kill` kills: fewer than on Unix, since Wine takes half a second to start and kill one.
pub(crate) const KILLS: u64 = 40;

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

/// Whether this is no Wine, as the workflow for it says.
fn is_windows() -> bool {
    std::env::var_os("TAPEWRIGHT_ON_WINDOWS").is_some()
}

/// The most memory that a recorder had, without its program: Wine reads the whole of it into memory.
pub(crate) fn peak_memory_kib(pid: u32) -> u64 {
    let process = opened(pid, PROCESS::QUERY_INFORMATION | PROCESS::VM_READ);
    let counters = process.GetProcessMemoryInfo().expect("figures");
    let peak = u64::try_from(counters.PeakWorkingSetSize).expect("a size");
    let program = if is_windows() { 0 } else { program_size() };
    peak.saturating_sub(program) / 1024
}

/// The size of the recorder's program in memory, as its header tells it.
fn program_size() -> u64 {
    let mut header = Vec::new();
    let program = File::open(env!("CARGO_BIN_EXE_tapewright")).expect("a program");
    program
        .take(4096)
        .read_to_end(&mut header)
        .expect("a header");
    let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    // Where the part begins that is not for DOS, and the size in it.
    let start = usize::try_from(number(0x3c)).expect("a place");
    number(start + 0x50).into()
}

/// Does nothing: who may read a file is tested where access lists are written.
pub(crate) fn assert_mode(_path: &Path, _mode: u32) {}

/// Does nothing: see [`assert_mode`].
pub(crate) fn set_mode(_path: &Path, _mode: u32) {}

/// Makes a script a program: a batch file next to it runs it, as npm does for its programs.
pub(crate) fn make_executable(path: &Path) {
    let mut batch = path.as_os_str().to_owned();
    batch.push(".cmd");
    std::fs::write(batch, "@sh \"%~dpn0\" %*\r\n").expect("a file");
}

/// Does nothing: that a tape is open for writing is the mark.
pub(crate) fn mark_written(_tape: &File) {}
