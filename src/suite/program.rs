//! Programs of a suite, which read standard input and write standard output.
//!
//! They are started without a shell, in a process group with a guard. No process of the group is
//! left when the answer is complete, the time is over, or we end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tapewright_proxy::clock::Clock;
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::system::{Signal, process};
use tapewright_proxy::upstream::{ChunkSource, Link, OpenError, ReadResult, Upstream as _};
use tapewright_schemas::event::{Exit, Peer};

/// A program, its folder, and its time limit.
#[derive(Debug)]
pub(super) struct Program<'a> {
    /// The program and its arguments.
    pub(super) command: &'a [String],
    /// Variables on top of the environment.
    pub(super) variables: Vec<(String, String)>,
    /// The folder of the suite: a program with a `/` in its name is looked up there first.
    pub(super) beside: &'a Path,
    /// The folder that it runs in; the working folder if `None`.
    pub(super) folder: Option<PathBuf>,
    pub(super) time: Duration,
    /// The size limit of its output, in bytes.
    pub(super) most: usize,
    /// Set when we are asked to end.
    pub(super) stop: Option<&'a AtomicBool>,
}

/// The default time limit of a program.
pub(super) const TIME: Duration = Duration::from_secs(30);
const LOG_BYTES: usize = 2_000;
/// How many bytes are read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How often its state is checked.
const LOOK: Duration = Duration::from_millis(50);

impl Program<'_> {
    /// Runs it with this input, which it need not read.
    ///
    /// The error completes "the command …".
    pub(super) fn run(&self, input: Vec<u8>) -> Result<Vec<u8>, String> {
        self.finish(self.open()?, input)
    }

    /// Runs it, started by [`open`](Self::open).
    pub(super) fn finish(&self, link: Link, input: Vec<u8>) -> Result<Vec<u8>, String> {
        let Link {
            peer,
            mut to_server,
            mut to_client,
            log,
            ended,
            life,
            ..
        } = link;
        let clock = Clock::start();
        // Not waited for: a process that left the group may hold the pipe for as long as it lives.
        thread::spawn(move || to_server.write(&input).ok());
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let log = log.map(|log| scope.spawn(|| read_log(log, &is_over)));
            let (tell, told) = mpsc::sync_channel(1);
            scope.spawn(move || tell.send(ended()).ok());
            let output = self.output(to_client.as_mut(), clock);
            let exit = output.and_then(|output| Ok((output, self.exit(&told, clock)?)));
            if exit.is_err() {
                life.signal(Signal::KILL);
                // It may have left the group; its number cannot be reused until it was waited for.
                if matches!(told.try_recv(), Err(mpsc::TryRecvError::Empty)) {
                    kill(&peer);
                }
            }
            life.finish();
            is_over.store(true, Ordering::Relaxed);
            let log = log.and_then(|log| log.join().ok()).unwrap_or_default();
            let (output, exit) = exit?;
            judged(exit, log.trim())?;
            Ok(output)
        })
    }

    /// Starts it.
    pub(super) fn open(&self) -> Result<Link, String> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err("is empty".to_owned());
        };
        let beside = self.beside.join(program);
        let program = if program.contains(std::path::is_separator) && beside.is_file() {
            // It may be started in another folder than ours.
            std::path::absolute(&beside).unwrap_or(beside).into()
        } else {
            program.into()
        };
        let arguments = arguments.iter().map(Into::into).collect();
        let process = ChildProcess::new(program, arguments)
            .with_env(self.variables.clone())
            .with_folder(self.folder.clone());
        process.open().map_err(|error| match &error {
            OpenError::Spawn { source, .. } => format!("failed to start: {source}"),
            other => other.to_string(),
        })
    }

    /// The remaining time, at most until the next check.
    fn left(&self, clock: Clock) -> Result<Duration, String> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err("was interrupted".to_owned());
        }
        let left = self.time.saturating_sub(clock.elapsed());
        if left.is_zero() {
            return Err(format!("took longer than {} ms", self.time.as_millis()));
        }
        Ok(left.min(LOOK))
    }

    fn output(&self, source: &mut dyn ChunkSource, clock: Clock) -> Result<Vec<u8>, String> {
        let mut output = Vec::new();
        loop {
            let left = self.left(clock)?;
            output.reserve(CHUNK_BYTES);
            match source.read(&mut output, Some(left)) {
                Ok(ReadResult::Bytes(_)) if output.len() > self.most => {
                    return Err(format!("wrote more than {} bytes", self.most));
                }
                Ok(ReadResult::Bytes(_) | ReadResult::TimedOut) => {}
                Ok(ReadResult::End) => return Ok(output),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("cannot be read: {error}")),
            }
        }
    }

    /// Its exit status. It may have closed its output and still be running.
    fn exit(&self, told: &mpsc::Receiver<io::Result<Exit>>, clock: Clock) -> Result<Exit, String> {
        loop {
            match told.recv_timeout(self.left(clock)?) {
                Ok(exit) => return exit.map_err(|error| format!("cannot be waited for: {error}")),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err("cannot be waited for".to_owned());
                }
            }
        }
    }
}

fn kill(peer: &Peer) {
    if let Peer::Process { pid } = peer {
        process::kill(*pid);
    }
}

fn judged(exit: Exit, log: &str) -> Result<(), String> {
    let said = if log.is_empty() {
        String::new()
    } else {
        format!(": {log}")
    };
    match exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(format!("ended with status {code}{said}")),
        Exit::Signal(signal) => Err(format!("was ended by signal {signal}{said}")),
    }
}

/// Reads everything, so that the program does not block, and keeps the beginning.
fn read_log(mut source: Box<dyn ChunkSource>, is_over: &AtomicBool) -> String {
    let mut kept = Vec::new();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        chunk.reserve(CHUNK_BYTES);
        let was_over = is_over.load(Ordering::Relaxed);
        match source.read(&mut chunk, Some(LOOK)) {
            Ok(ReadResult::Bytes(_)) => {
                let room = LOG_BYTES.saturating_sub(kept.len()).min(chunk.len());
                kept.extend(chunk.drain(..room));
            }
            Ok(ReadResult::TimedOut) if !was_over => {}
            Ok(ReadResult::TimedOut | ReadResult::End) | Err(_) => break,
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
