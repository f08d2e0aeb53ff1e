//! Commands that rewrite a value: JSON on their standard input, JSON on their standard
//! output.

use std::io;
use std::path::Path;
use std::time::Duration;

use tapewright_assertions::Json;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::{ChunkSource, ReadResult, Upstream as _};
use tapewright_schemas::event::Exit;

/// Where a command is looked for, and how long it may take.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    /// The folder of the suite.
    pub(super) folder: &'a Path,
    pub(super) time: Duration,
}

/// How long a command of a test without a limit may take.
pub(super) const TIME: Duration = Duration::from_secs(30);
/// How much a command may say.
const OUTPUT_BYTES: usize = 64 << 20;
const LOG_BYTES: usize = 2_000;
/// How much is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Runs a command on a value. It is started without a shell, with these variables on top
/// of the environment.
///
/// The error completes "the command …".
pub(super) fn run(
    command: &[String],
    variables: &[(String, String)],
    value: &Json,
    bounds: &Bounds<'_>,
) -> Result<Json, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("is empty".to_owned());
    };
    let beside = bounds.folder.join(program);
    let program = if program.contains('/') && beside.is_file() {
        beside.into_os_string()
    } else {
        program.into()
    };
    let arguments = arguments.iter().map(Into::into).collect();
    let process = ChildProcess::new(program, arguments).with_env(variables.to_vec());
    let link = process.open().map_err(|error| match &error {
        tapewright_proxy::upstream::OpenError::Spawn { source, .. } => {
            format!("could not be started: {source}")
        }
        other => other.to_string(),
    })?;
    let input = value.to_string().into_bytes();
    let clock = Clock::start();
    let (mut to_process, mut from_process) = (link.to_server, link.to_client);
    let (log, life, ended) = (link.log, link.life, link.ended);
    std::thread::scope(|scope| {
        // A command may answer before it has read everything, or instead.
        scope.spawn(move || to_process.write(&input).ok());
        let log = log.map(|log| scope.spawn(move || read_log(log)));
        let output = read_output(from_process.as_mut(), clock, bounds.time);
        if output.is_err() {
            life.signal(rustix::process::Signal::KILL);
        }
        let exit = ended();
        life.finish();
        let log = log.and_then(|log| log.join().ok()).unwrap_or_default();
        let output = output?;
        let log = log.trim();
        let said = if log.is_empty() {
            String::new()
        } else {
            format!(": {log}")
        };
        match exit {
            Ok(Exit::Code(0)) => {}
            Ok(Exit::Code(code)) => return Err(format!("ended with status {code}{said}")),
            Ok(Exit::Signal(signal)) => return Err(format!("was ended by signal {signal}{said}")),
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
        Json::read(&output).map_err(|error| format!("did not write one JSON value: {error}"))
    })
}

fn read_output(
    source: &mut dyn ChunkSource,
    clock: Clock,
    time: Duration,
) -> Result<Vec<u8>, String> {
    let mut output = Vec::new();
    loop {
        let left = time.saturating_sub(clock.elapsed());
        if left.is_zero() {
            return Err(format!("took longer than {} ms", time.as_millis()));
        }
        output.reserve(CHUNK_BYTES);
        match source.read(&mut output, Some(left)) {
            Ok(ReadResult::Bytes(_)) if output.len() > OUTPUT_BYTES => {
                return Err(format!("wrote more than {OUTPUT_BYTES} bytes"));
            }
            Ok(ReadResult::Bytes(_) | ReadResult::TimedOut) => {}
            Ok(ReadResult::End) => return Ok(output),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot be read: {error}")),
        }
    }
}

/// Everything is read, so that the command does not wait, and the beginning is kept.
fn read_log(mut source: Box<dyn ChunkSource>) -> String {
    let mut kept = Vec::new();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        chunk.reserve(CHUNK_BYTES);
        match source.read(&mut chunk, None) {
            Ok(ReadResult::Bytes(_)) => {
                let room = LOG_BYTES.saturating_sub(kept.len()).min(chunk.len());
                kept.extend(chunk.drain(..room));
            }
            Ok(ReadResult::TimedOut) => {}
            Ok(ReadResult::End) | Err(_) => break,
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
