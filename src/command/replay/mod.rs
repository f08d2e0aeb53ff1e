//! `tapewright replay`: a recording as a server.

pub(crate) mod mapping;
mod models;
pub(crate) mod playing;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Parser};
use tapewright_engine::fault::{Book, FaultPolicy, Reach};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{self, Behind};
use tapewright_proxy::http::listen::Reached;
use tapewright_proxy::record::{Durability, Recorder, Settings, WhenFull};
use tapewright_proxy::stdio;
use tapewright_replay::models::Provider;
use tapewright_replay::{CassetteUpstream, Index, Report, Script, Starts, Tally};
use tapewright_schemas::event;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use crate::command::faults::{self, Control, FaultArguments};
use crate::command::record::listen::ListenArguments;
use crate::command::record::{gateway, target};
use crate::exit::Exit;
use crate::files::agent::AgentTapes;
use crate::files::claims::Claims;
use crate::files::output::{self, Over};
use crate::files::{self, NewFile};
use crate::here;
use crate::log::{self, LogArguments, LogEar};
use crate::report::{self, Mistake, formats};

use self::playing::Playing;

/// Serve a recording as the server that was recorded
///
/// TAPE is a tape, a cassette or a capture. Put this command into the client's
/// configuration in place of the server's. A request that was not recorded gets an error
/// that says why, with what was recorded instead. Calls of models on it are answered as
/// their provider did, so that an agent runs without keys.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording; of an agent, its folder
    #[arg(value_name = "TAPE")]
    tape: PathBuf,
    /// Answer calls of models as the recorded provider did, at the address of `--listen` or
    /// at a free port. With `--listen` alone so, too, where there are any
    #[arg(long)]
    models: bool,
    /// Record the replay as well: a cassette, or just a tape for a name that ends in
    /// `.tape.jsonl`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    playing: Playing,
    #[command(flatten)]
    listening: ListenArguments,
    #[command(flatten)]
    faults: FaultArguments,
    /// Write what was served, missed and never asked for, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// End with status 1 when a request was missed or a recording was never asked for
    #[arg(long)]
    strict: bool,
    /// Say on standard error what is missed, and how it went
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    /// An agent, which is started with the addresses of its providers and without a key; the
    /// MCP servers that it starts through `record` are played from the recording. It ends us
    #[arg(last = true, value_name = "AGENT", requires = "models")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright replay fs.json
  tapewright replay fs.json --listen 4000
  tapewright replay runs/one/ --models --listen 4000
  tapewright replay runs/one/ --models -- claude -p 'What is in this folder?' --mcp-config mcp.json
  tapewright replay fs.tape.jsonl --pace recorded --strict --report replay.report.json
  tapewright replay fs.json --ignore /params/arguments/now --exhausted last";

/// Serves a recording until its client leaves.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    serve(arguments, None)
}

fn serve(arguments: &Arguments, starts: Option<&PlayedStarts>) -> anyhow::Result<Exit> {
    let clock = Clock::start();
    if let Some(file) = arguments.report.as_deref() {
        output::check_ahead(file, Over::Any)?;
    }
    let rules = arguments.playing.rules()?;
    let tapes = AgentTapes::of(&arguments.tape)?;
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
    let reach = listen.map_or(Reach::Stdio, |_| Reach::Any);
    let book = arguments.faults.book(&label, reach, clock)?;
    let control = arguments.faults.control(&book, clock, None)?;
    faults::begin(&book, control.as_ref(), arguments.verbose);
    let (recorder, ear) = recorder(arguments, &label, &book, control.as_ref(), rules, clock)?;
    let exit = match listen {
        Some(listen) => {
            let behind = Behind {
                upstream: Arc::new(upstream),
                policy: faults::policy(&book),
                recorder: Arc::clone(&recorder),
                clock,
            };
            serve_http(arguments, listen, provider.as_ref(), behind)?
        }
        None => serve_stdio(&upstream, &book, &recorder, clock)?,
    };
    let finished = recorder.finish();
    match &arguments.output {
        Some(_) => log::recorded(ear, &finished),
        None => log::served(ear, &recorder),
    }
    let mut report = tally.report(&index);
    report.models = models::report(provider.as_ref());
    conclude(&report, arguments.report.as_deref(), arguments.verbose)?;
    if arguments.verbose {
        faults::end(&book);
    }
    if arguments.strict && !report.is_exact() {
        return Ok(Exit::Fail);
    }
    if !finished.is_whole() {
        return Ok(Exit::Inconclusive);
    }
    Ok(exit)
}

/// What is served as a server, and the session of it that is played, where that is told.
fn loaded(served: &Path, starts: Option<&PlayedStarts>) -> anyhow::Result<(Script, Option<u32>)> {
    match starts {
        Some(starts) => starts.load(),
        None => Ok((load(served)?, None)),
    }
}

/// A replay that nobody typed.
#[derive(Debug, Parser)]
struct Untyped {
    #[command(flatten)]
    arguments: Arguments,
}

/// The tapes of a server of an agent's recording, one for each start of it.
#[derive(Debug)]
pub(crate) struct PlayedStarts {
    /// In the order of the starts.
    pub(crate) tapes: Vec<PathBuf>,
    /// Which of them is played.
    pub(crate) start: usize,
}

impl PlayedStarts {
    /// The one that is played.
    fn tape(&self) -> &Path {
        self.tapes
            .get(self.start)
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// All of them as one recording, and the session of the one that is played: what it has
    /// not is found in the others.
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

/// Serves the tape of a start of a server to the client that would have started it.
pub(crate) fn of_server(starts: &PlayedStarts) -> anyhow::Result<Exit> {
    let words = [OsStr::new("replay"), starts.tape().as_os_str()];
    let untyped = Untyped::try_parse_from(words)?;
    serve(&untyped.arguments, Some(starts))
}

fn serve_stdio(
    upstream: &CassetteUpstream,
    book: &Arc<Book>,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let outcome = stdio::run(upstream, &faults::policy(book), recorder, clock)
        .inspect_err(|_| recorder.abandon())
        .context("nothing was served")?;
    // A recording ends with 0; a fault may say otherwise.
    Ok(ended(outcome.exit))
}

/// Our exit, which is that of a server or of an agent.
fn ended(exit: Option<event::Exit>) -> Exit {
    match exit {
        // As one ends that a signal ends.
        Some(event::Exit::Signal(signal)) => {
            Exit::External(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
        Some(event::Exit::Code(status)) if status != 0 => {
            Exit::External(u8::try_from(status & 0xff).unwrap_or(u8::MAX))
        }
        Some(event::Exit::Code(_)) | None => Exit::Pass,
    }
}

impl Arguments {
    /// The tape that is served as an MCP server. An agent starts its servers itself.
    fn served<'a>(&'a self, tapes: &'a AgentTapes) -> &'a Path {
        let tape = if self.command.is_empty() {
            tapes.server()
        } else {
            tapes.of_models()
        };
        tape.map_or(&self.tape, PathBuf::as_path)
    }

    /// Where clients on HTTP are served, if they are.
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
            .context("the starts of the agent's servers cannot be told apart")?;
        let agent = |reached: &Reached| models::agent(arguments, reached, &claims);
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
    gateway::conclude(served, &recorder, "nothing was served")
}

/// Reads a recording for replay.
pub(crate) fn load(named: &Path) -> anyhow::Result<Script> {
    let (path, file) = files::opened(named)?;
    let spool = || files::spool().map_err(std::io::Error::other);
    Script::open(file, &spool).map_err(|error| unloadable(&path, error))
}

/// What is said of a file that cannot be served.
pub(crate) fn unloadable(path: &Path, error: tapewright_replay::LoadError) -> anyhow::Error {
    match error {
        tapewright_replay::LoadError::Io(error) => files::unreadable(
            path,
            &error.to_string(),
            "name a file that this user may read",
        ),
        tapewright_replay::LoadError::Document(error) => {
            files::unreadable(path, &error.to_string(), error.hint())
        }
        tapewright_replay::LoadError::Tape(error) => files::tape_error(path, &error),
        other => anyhow::Error::new(other).context(files::unreadable(
            path,
            "it cannot be served",
            "see whether the file is whole: `tapewright inspect FILE`",
        )),
    }
}

/// A tally that logs what is missed, and says it when it is asked to talk.
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
    if let Some(why) = script.incomplete() {
        report::note(&format!("it is not whole: {}", report::safe(why)));
    }
}

/// Says and writes how a replay went.
pub(crate) fn conclude(report: &Report, file: Option<&Path>, verbose: bool) -> anyhow::Result<()> {
    log::replayed(report);
    if verbose {
        report::replay::end(report);
    }
    if let Some(path) = file {
        use std::io::Write as _;

        let mut file = NewFile::create(path)?;
        let text = formats::json::text(report)?;
        file.writer().write_all(text.as_bytes())?;
        file.commit(None)?;
    }
    Ok(())
}

fn recorder(
    arguments: &Arguments,
    label: &str,
    book: &Book,
    control: Option<&Control>,
    rules: Arc<Rules>,
    clock: Clock,
) -> anyhow::Result<(Arc<Recorder>, Option<LogEar>)> {
    let Some(output) = &arguments.output else {
        return faults::unrecorded(control, LONGEST_MESSAGE, || Ok(rules), clock);
    };
    if files::same_file(&arguments.tape, output) {
        let path = report::safe(&output.display().to_string());
        let what = format!("`{path}` is the recording that is served");
        return Err(Mistake::new(what, "record to another file: `-o FILE`").into());
    }
    let (judging, ear) = log::heard(faults::watched(control, None), true)?;
    let mut settings = Settings {
        target: target::of(Some(output), label, clock.created)?,
        durability: Durability::Queue,
        when_full: WhenFull::Wait,
        limit_bytes: LONGEST_MESSAGE,
        header: Header {
            tape: VERSION.to_owned(),
            created: target::timestamp(clock.created),
            by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
            transport: match arguments.listen() {
                Some(_) => "http".to_owned(),
                None => "stdio".to_owned(),
            },
            label: label.to_owned(),
            made_in: here::made_in(),
            pid: std::process::id(),
            durability: Durability::Queue.name().to_owned(),
            when_full: WhenFull::Wait.name().to_owned(),
            max_message_bytes: LONGEST_MESSAGE as u64,
            redacted: !arguments.playing.redaction.is_off(),
            ..Header::default()
        },
        command: Vec::new(),
        rules: Box::new(move || rules),
        judging,
    };
    faults::note(book, control, &mut settings.header);
    let recorder = Recorder::start(settings, clock);
    let recorder = recorder.context("the recorder could not be started")?;
    Ok((Arc::new(recorder), ear))
}

/// What the recorded server is called.
fn label(arguments: &Arguments, script: &Script) -> String {
    let stem = arguments.tape.file_stem().unwrap_or_default();
    script
        .meta("label")
        .map_or_else(|| stem.to_string_lossy().into_owned(), str::to_owned)
}

/// The longest message that is recorded whole, in bytes; as `record` has it.
const LONGEST_MESSAGE: usize = 64 << 20;
