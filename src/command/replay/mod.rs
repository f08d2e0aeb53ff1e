//! `tapewright replay`: serves a recording.

mod drift;
pub(crate) mod mapping;
mod models;
pub(crate) mod playing;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Parser};
use tapewright_engine::fault::{FaultPolicy, FaultSet, TransportSupport};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{self, Behind};
use tapewright_proxy::http::listen::ReachableAt;
use tapewright_proxy::record::{Durability, Recorder, Settings, WhenFull};
use tapewright_proxy::stdio;
use tapewright_replay::models::Provider;
use tapewright_replay::{CassetteUpstream, Index, Report, Script, Starts, Tally};
use tapewright_schemas::event;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use crate::command::faults::{self, FaultArguments};
use crate::command::otlp::{Destination, OtlpArguments};
use crate::command::page::{PageArguments, PageSources};
use crate::command::record::listen::ListenArguments;
use crate::command::record::{gateway, target};
use crate::command::redaction::TAPE_NOT_REDACTED;
use crate::command::unrecorded::{Readers, Running, UnrecordedRun};
use crate::exit::Exit;
use crate::files::agent::AgentTapes;
use crate::files::claims::Claims;
use crate::files::output::{self, Overwrite};
use crate::files::{self, NewFile};
use crate::here;
use crate::log::{self, LogArguments};
use crate::report::{self, Mistake, formats};

use self::playing::Playing;

/// Serve a recording as a fake server
///
/// Put this command into the client's configuration in place of the server's
/// command. A request that was not recorded gets an error that says what was
/// recorded instead. Recorded model calls are answered as well, so that an agent
/// runs without keys.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES, mut_arg("no_redact", |option| option.help(TAPE_NOT_REDACTED)))]
pub(crate) struct Arguments {
    /// The recording; for an agent, its folder
    #[arg(value_name = "RECORDING")]
    tape: PathBuf,
    /// Also record the replay
    ///
    /// Writes a cassette, or only a tape if the name ends in `.tape.jsonl`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Answer model calls like the recorded provider
    ///
    /// Listens on `--listen`, or on a free port. Implied by `--listen` if the recording has
    /// model calls.
    #[arg(long)]
    models: bool,
    /// Write what was served, missed and never requested, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Exit with status 1 if a request was missed or never arrived
    #[arg(long)]
    strict: bool,
    /// Print misses, and a summary at the end, on stderr
    #[arg(short, long)]
    verbose: bool,
    /// Command that starts an agent, with its arguments
    ///
    /// The agent gets the addresses of its providers and no key. MCP servers that it starts
    /// through `record` are replayed. The replay ends with the agent.
    #[arg(last = true, value_name = "AGENT", requires = "models")]
    command: Vec<OsString>,
    #[command(flatten)]
    playing: Playing,
    #[command(flatten)]
    listening: ListenArguments,
    #[command(flatten)]
    faults: FaultArguments,
    #[command(flatten)]
    page: PageArguments,
    #[command(flatten)]
    otlp: OtlpArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright replay fs.json
  tapewright replay fs.json --listen 4000
  tapewright replay runs/one/ --models --listen 4000
  tapewright replay runs/one/ --models -- claude \\
      -p 'What is in this folder?' --mcp-config mcp.json
  tapewright replay fs.tape.jsonl --pace recorded --strict \\
      --report replay.report.json
  tapewright replay fs.json --ignore /params/arguments/now --exhausted last";

/// Serves a recording until its client leaves.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    serve(arguments, None)
}

fn serve(arguments: &Arguments, starts: Option<&PlayedStarts>) -> anyhow::Result<Exit> {
    let clock = Clock::start();
    if let Some(file) = arguments.report.as_deref() {
        output::not_among(file, [arguments.tape.as_path()])?;
        output::check_ahead(file, Overwrite::Report)?;
    }
    let destination = arguments.otlp.destination(arguments.is_redacted())?;
    let rules = arguments.playing.rules(arguments.otlp.secrets()?)?;
    let tapes = arguments.tapes()?;
    let served = arguments.served(&tapes);
    let (script, session) = loaded(served, starts)?;
    let script = Arc::new(script);
    if arguments.verbose {
        announce(&script, served);
    }
    let mut options = arguments.playing.options(Arc::clone(&rules), &script)?;
    options.session = session;
    let side = models::side(arguments, &tapes, &mut options)?;
    let options = Arc::new(options);
    let provider = models::provider(arguments, side, &options)?;
    let index = Arc::new(Index::new(Arc::clone(&script), options));
    let tally = Arc::new(tally(arguments.verbose));
    let upstream = CassetteUpstream::new(Arc::clone(&index), Arc::clone(&tally), clock);
    let label = label(arguments, &script);
    let listen = arguments.listen();
    let reach = listen.map_or(TransportSupport::Stdio, |_| TransportSupport::Any);
    let fault_set = arguments.faults.fault_set(&label, reach, clock)?;
    let control = arguments.faults.control(&fault_set, clock, None)?;
    faults::begin(&fault_set, control.as_ref(), arguments.verbose);
    let drift = drift::so_far(&tally, &index);
    let beside = PageSources::new(&fault_set, control.as_ref(), Some(drift));
    let running = start(arguments, &label, destination, &beside, rules, clock)?;
    let exit = match listen {
        Some(listen) => {
            let behind = Behind {
                upstream: Arc::new(upstream),
                policy: faults::policy(&fault_set),
                recorder: Arc::clone(&running.recorder),
                clock,
            };
            serve_http(arguments, listen, provider.as_ref(), behind)?
        }
        None => serve_stdio(&upstream, &fault_set, &running.recorder, clock)?,
    };
    let finished = running.end(arguments.verbose);
    let mut report = tally.report(&index);
    report.models = models::report(provider.as_ref());
    conclude(&report, arguments.report.as_deref(), arguments.verbose)?;
    if arguments.verbose {
        faults::end(&fault_set);
    }
    Ok(match exit {
        _ if arguments.strict && !report.is_exact() => Exit::Fail,
        _ if !finished.is_whole() => Exit::Inconclusive,
        exit => exit,
    })
}

/// The recording to serve, and the session to play, if only one is.
fn loaded(served: &Path, starts: Option<&PlayedStarts>) -> anyhow::Result<(Script, Option<u32>)> {
    match starts {
        Some(starts) => starts.load(),
        None => Ok((load(served)?, None)),
    }
}

/// A replay that another command starts.
#[derive(Debug, Parser)]
struct ImpliedReplay {
    #[command(flatten)]
    arguments: Arguments,
}

/// The tapes of a server of an agent's recording, one for each start of it.
#[derive(Debug)]
pub(crate) struct PlayedStarts {
    /// In the order of the starts.
    pub(crate) tapes: Vec<PathBuf>,
    /// The index of the one to play.
    pub(crate) start: usize,
}

impl PlayedStarts {
    /// The tape to play.
    fn tape(&self) -> &Path {
        self.tapes
            .get(self.start)
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// All of them as one recording, and the session of the one to play: requests that it does not
    /// have are looked up in the others.
    fn load(&self) -> anyhow::Result<(Script, Option<u32>)> {
        if self.tapes.len() < 2 {
            return Ok((load(self.tape())?, None));
        }
        let files = self.tapes.iter().map(|path| Ok(files::opened(path)?.1));
        let files = files.collect::<anyhow::Result<Vec<_>>>()?;
        let spool = || files::spool().map_err(std::io::Error::other);
        let starts = Starts::open(files, &spool);
        let starts = starts.map_err(|error| unloadable(self.tape(), error))?;
        let session = starts.sessions.get(self.start).copied();
        Ok((starts.script, session))
    }
}

/// Serves the tape of a server's start to the client that would have started the server.
pub(crate) fn of_server(starts: &PlayedStarts) -> anyhow::Result<Exit> {
    let words = [OsStr::new("replay"), starts.tape().as_os_str()];
    let implied = ImpliedReplay::try_parse_from(words)?;
    serve(&implied.arguments, Some(starts))
}

fn serve_stdio(
    upstream: &CassetteUpstream,
    fault_set: &Arc<FaultSet>,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let outcome = stdio::run(upstream, &faults::policy(fault_set), recorder, clock)
        .inspect_err(|_| recorder.abandon())
        .context("cannot serve")?;
    // The end of a recording has status 0; a fault may have another.
    Ok(ended(outcome.exit))
}

/// Our exit status, which is that of the server or agent.
fn ended(exit: Option<event::Exit>) -> Exit {
    match exit {
        // Like a process that was ended by a signal.
        Some(event::Exit::Signal(signal)) => Exit::External(128 + signal),
        Some(event::Exit::Code(status)) if status != 0 => Exit::External(status),
        Some(event::Exit::Code(_)) | None => Exit::Pass,
    }
}

impl Arguments {
    /// The recordings to replay: for clients, that of one server.
    fn tapes(&self) -> anyhow::Result<AgentTapes> {
        let tapes = AgentTapes::of(&self.tape)?;
        if self.command.is_empty() && !self.models {
            tapes.check_one_server(&self.tape)?;
        }
        Ok(tapes)
    }

    /// The tape that is served as an MCP server. An agent starts its servers itself.
    fn served<'a>(&'a self, tapes: &'a AgentTapes) -> &'a Path {
        let tape = if self.command.is_empty() {
            tapes.server()
        } else {
            tapes.of_models()
        };
        tape.map_or(&self.tape, PathBuf::as_path)
    }

    /// Whether the recording is without secrets.
    fn is_redacted(&self) -> bool {
        !self.playing.redaction.is_off()
    }

    /// The address for clients on HTTP, if there is one.
    fn listen(&self) -> Option<&str> {
        let listen = self.listening.listen.as_deref();
        listen.or(self.models.then_some("127.0.0.1:0"))
    }
}

fn serve_http(
    arguments: &Arguments,
    listen: &str,
    provider: Option<&Arc<Provider>>,
    behind: Behind<FaultPolicy>,
) -> anyhow::Result<Exit> {
    let mut settings = arguments.listening.front(LONGEST_MESSAGE)?;
    settings.beside = models::beside(provider);
    let (place, tls) = arguments.listening.place(listen)?;
    let path = settings.path.clone();
    let recorder = Arc::clone(&behind.recorder);
    if !arguments.command.is_empty() {
        let claims = Claims::create(behind.clock.created)
            .context("cannot tell the agent's servers apart")?;
        let agent = |reached: &ReachableAt| models::agent(arguments, reached, &claims);
        let served = front::run_beside(settings, place, tls, behind, agent);
        let exit = served
            .inspect_err(|_| recorder.abandon())
            .map_err(|error| {
                let hint = "check the command after `--`; it is started without a shell";
                anyhow::Error::new(error).context(Mistake::new("no agent was served", hint))
            })?;
        return Ok(ended(exit));
    }
    let served = front::run(settings, place, tls, behind, |reached| {
        let bases = provider.map(|_| models::variables(reached));
        gateway::announce_with(reached, &path, None, bases.into_iter().flatten());
    });
    gateway::conclude(served, &recorder, "cannot serve")
}

/// Reads a recording for replay.
pub(crate) fn load(named: &Path) -> anyhow::Result<Script> {
    let (path, file) = files::opened(named)?;
    let spool = || files::spool().map_err(std::io::Error::other);
    Script::open(file, &spool).map_err(|error| unloadable(&path, error))
}

/// The error for a file that cannot be served.
pub(crate) fn unloadable(path: &Path, error: tapewright_replay::LoadError) -> anyhow::Error {
    match error {
        tapewright_replay::LoadError::Io(error) => files::unreadable(
            path,
            &error.to_string(),
            "check the path and its permissions",
        ),
        tapewright_replay::LoadError::Document(error) => files::no_recording(path, &error),
        tapewright_replay::LoadError::Tape(error) => files::tape_error(path, &error),
        other => anyhow::Error::new(other).context(files::unreadable(
            path,
            "it cannot be served",
            "check the file with `tapewright inspect FILE`",
        )),
    }
}

/// A tally that logs misses, and with `verbose` prints them.
pub(crate) fn tally(verbose: bool) -> Tally {
    let tell = move |miss: &tapewright_replay::Miss| {
        log::missed(miss);
        if verbose {
            report::replay::miss(miss);
        }
    };
    Tally::new(Some(Box::new(tell)))
}

fn announce(script: &Script, path: &Path) {
    report::note(&format!(
        "serving {} requests of the {} {}",
        script.requests(),
        script.kind().name(),
        report::safe(&path.display().to_string())
    ));
    if let Some(lacks) = script.incomplete() {
        report::note(&format!(
            "it is not whole: {}",
            report::in_place::lacks(lacks)
        ));
    }
}

/// Prints and writes the report of a replay.
pub(crate) fn conclude(report: &Report, file: Option<&Path>, verbose: bool) -> anyhow::Result<()> {
    log::replayed(report);
    if verbose {
        report::replay::end(report);
    }
    if let Some(path) = file {
        let mut file = NewFile::create(path)?;
        formats::json::write(report, file.writer())?;
        file.commit(None)?;
    }
    Ok(())
}

/// Starts the recorder of the replay, and the readers of its tape.
fn start(
    arguments: &Arguments,
    label: &str,
    destination: Destination,
    beside: &PageSources<'_>,
    rules: Arc<Rules>,
    clock: Clock,
) -> anyhow::Result<Running> {
    let readers = Readers {
        page: &arguments.page,
        otlp: &arguments.otlp,
        destination,
        beside,
    };
    let transport = arguments.listen().map_or("stdio", |_| "http");
    let Some(output) = &arguments.output else {
        let run = UnrecordedRun {
            label,
            transport,
            redacted: arguments.is_redacted(),
            limit_bytes: LONGEST_MESSAGE,
            rules: Box::new(|| Ok(rules)),
        };
        return readers.start_unrecorded(run, clock);
    };
    output::not_among(output, [arguments.tape.as_path()])?;
    let (judging, log_listener) = log::heard(faults::watched(beside.control, None), true)?;
    let mut settings = Settings {
        target: target::of(Some(output), label, clock.created)?,
        durability: Durability::Queue,
        when_full: WhenFull::Wait,
        limit_bytes: LONGEST_MESSAGE,
        header: header(arguments, label, transport, clock),
        command: Vec::new(),
        rules: Box::new(move || rules),
        judging,
        operations: None,
    };
    faults::note(beside.fault_set, beside.control, &mut settings.header);
    faults::stands_on(beside.control, settings.target.tape());
    readers.start(settings, log_listener, clock)
}

/// The header of a replay's tape.
fn header(arguments: &Arguments, label: &str, transport: &str, clock: Clock) -> Header {
    Header {
        tape: VERSION.to_owned(),
        created: target::timestamp(clock.created),
        by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
        transport: transport.to_owned(),
        label: label.to_owned(),
        made_in: here::made_in(),
        pid: std::process::id(),
        durability: Durability::Queue.name().to_owned(),
        when_full: WhenFull::Wait.name().to_owned(),
        max_message_bytes: LONGEST_MESSAGE as u64,
        redacted: arguments.is_redacted(),
        ..Header::default()
    }
}

/// The name of the recorded server.
fn label(arguments: &Arguments, script: &Script) -> String {
    let stem = arguments.tape.file_stem().unwrap_or_default();
    script
        .meta("label")
        .map_or_else(|| stem.to_string_lossy().into_owned(), str::to_owned)
}

/// The longest message that is recorded whole, in bytes; the same as for `record`.
const LONGEST_MESSAGE: usize = 64 << 20;
