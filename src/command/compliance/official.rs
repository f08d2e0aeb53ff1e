//! `--official`: the official conformance suite, next to our rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::Args;
use tapewright_corpus::official::{self, Check, OurRule, Pair};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::stdio::ChildProcess;
use tapewright_proxy::upstream::{ChunkSource, ReadResult, Upstream as _};

use crate::report::{self, Mistake};

/// The official suite, for commands that ask a server on HTTP.
#[derive(Debug, Args)]
pub(crate) struct OfficialArguments {
    /// Also run the official conformance suite and show disagreements
    ///
    /// Needs `--upstream`.
    #[arg(long, requires = "upstream")]
    pub(crate) official: bool,
    /// Command that runs the official suite, without its arguments
    #[arg(hide_short_help = true, long, value_name = "COMMAND", requires = "official", default_value = SUITE)]
    official_cmd: String,
}

/// The suite on npm.
const SUITE: &str = "npx -y @modelcontextprotocol/conformance";
/// The time limit for it.
const TIME: Duration = Duration::from_secs(900);
/// How many bytes are read at once, and how many bytes at the end of its output are shown.
const CHUNK: usize = 64 << 10;
const SHOWN: usize = 600;
/// The longest file of checks to read, in bytes, and how deep to walk its folders.
const LONGEST: u64 = 64 << 20;
const DEPTH: usize = 4;

/// The results of the suite, and where they disagree with ours.
#[derive(Debug)]
pub(crate) struct Official {
    /// Its checks, each once.
    pub(crate) checks: Vec<Check>,
    /// Pairs of results about the same requirement.
    pub(crate) pairs: Vec<Pair>,
}

impl OfficialArguments {
    /// Runs the suite on a server, and compares its results with our rules.
    pub(crate) fn beside(
        &self,
        url: &str,
        revision: &str,
        ours: &[OurRule],
    ) -> anyhow::Result<Official> {
        let words = shell_words::split(&self.official_cmd).unwrap_or_default();
        let Some((program, rest)) = words.split_first() else {
            let what = "`--official-cmd` is not a command";
            return Err(Mistake::new(what, format!("write it like `{SUITE}`")).into());
        };
        let results = Results::create()?;
        let more = ["server", "--url", url, "--requirements", revision, "-o"];
        let mut arguments: Vec<_> = rest.iter().map(Into::into).collect();
        arguments.extend(more.map(Into::into));
        arguments.push(results.0.clone().into_os_string());
        let said = run(&ChildProcess::new(program.into(), arguments))?;
        let mut checks = Vec::new();
        collect(&results.0, DEPTH, &mut checks);
        if checks.is_empty() {
            let what = format!(
                "the official suite wrote no results: {}",
                report::safe(said.trim())
            );
            let hint = "it needs Node 22 or later; set its command with `--official-cmd`";
            return Err(Mistake::new(what, hint).into());
        }
        let checks = official::worst(checks);
        let pairs = official::compare(&official::built_in(), ours, &checks);
        Ok(Official { checks, pairs })
    }
}

/// A temporary folder for the results of the suite.
struct Results(PathBuf);

impl Results {
    fn create() -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tapewright-official-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(|error| {
            let shown = report::safe(&folder.display().to_string());
            let what = format!("cannot create the folder `{shown}`: {error}");
            Mistake::new(what, "set `TMPDIR` to a writable folder")
        })?;
        Ok(Self(folder))
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        // What cannot be removed cannot be reported from here.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Runs the suite, and returns the end of its standard error. Its exit status adds nothing to its
/// checks.
fn run(process: &ChildProcess) -> anyhow::Result<String> {
    let link = process.open().map_err(|error| {
        let what = format!(
            "cannot start the official suite: {}",
            report::causes(&error)
        );
        Mistake::new(what, "set its command with `--official-cmd`")
    })?;
    let clock = Clock::start();
    let (mut output, log, life, ended) = (link.to_client, link.log, link.life, link.ended);
    // Its standard input stays empty.
    drop(link.to_server);
    let said = std::thread::scope(|scope| {
        let log = log.map(|log| scope.spawn(move || last_words(log)));
        let in_time = drain(output.as_mut(), clock);
        if !in_time {
            life.signal(tapewright_proxy::system::Signal::KILL);
        }
        // Its status adds nothing to its checks.
        drop(ended());
        life.finish();
        let said = log.and_then(|log| log.join().ok()).unwrap_or_default();
        if in_time {
            said
        } else {
            format!("it took longer than {} s", TIME.as_secs())
        }
    });
    Ok(said)
}

/// Reads to the end and discards everything. Returns whether it ended in time.
fn drain(source: &mut dyn ChunkSource, clock: Clock) -> bool {
    let mut chunk = Vec::new();
    loop {
        let left = TIME.saturating_sub(clock.elapsed());
        if left.is_zero() {
            return false;
        }
        chunk.clear();
        chunk.reserve(CHUNK);
        if let Ok(ReadResult::End) | Err(_) = source.read(&mut chunk, Some(left)) {
            return true;
        }
    }
}

/// The end of the output.
fn last_words(mut source: Box<dyn ChunkSource>) -> String {
    let (mut kept, mut chunk) = (Vec::new(), Vec::new());
    loop {
        chunk.clear();
        chunk.reserve(CHUNK);
        match source.read(&mut chunk, None) {
            Ok(ReadResult::End) | Err(_) => break,
            Ok(_) => {
                kept.extend_from_slice(&chunk);
                let over = kept.len().saturating_sub(SHOWN);
                kept.drain(..over);
            }
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The checks of every scenario, by the names of their folders. Unreadable files are skipped.
fn collect(folder: &Path, depth: usize, found: &mut Vec<Check>) {
    let (Some(depth), Ok(entries)) = (depth.checked_sub(1), fs::read_dir(folder)) else {
        return;
    };
    let entries = entries
        .filter_map(Result::ok)
        .map(|entry| (entry.file_name(), entry.path()));
    let entries: BTreeMap<_, _> = entries.collect();
    for (name, path) in entries {
        if path.is_dir() {
            collect(&path, depth, found);
        } else if name == "checks.json"
            && fs::metadata(&path).is_ok_and(|data| data.len() < LONGEST)
        {
            let text = fs::read(&path).unwrap_or_default();
            found.extend(official::checks(&text).unwrap_or_default());
        }
    }
}
