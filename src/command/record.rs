//! `tapewright record`: the recorder between a client and a server.

mod authority;
pub(super) mod config;
mod endpoints;
mod episodes;
pub(crate) mod gateway;
pub(crate) mod http;
mod judging;
pub(crate) mod listen;
mod mode;
mod models;
mod part;
mod scoring;
mod settings;
mod size;
pub(crate) mod target;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tapewright_engine::fault::FaultSet;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Finished, Recorder, Settings, Target};
use tapewright_proxy::system::signals;
use tapewright_schemas::event;

use crate::command::behind::Behind;
use crate::command::faults::{self, Control, FaultArguments};
use crate::command::otlp::OtlpArguments;
use crate::command::page::{PageArguments, PageSources};
use crate::command::redaction::{Redaction, TAPE_NOT_REDACTED};
use crate::command::replay;
use crate::command::replay::mapping::Mapping;
use crate::command::wrap::{self, ClientId};
use crate::exit::Exit;
use crate::files::output::{self, Overwrite};
use crate::log::{self, LogArguments, LogListener};
use crate::report::{self, Mistake};

use self::http::HttpArguments;
use self::judging::JudgingArguments;
use self::mode::{Mode, Plan, Served};
use self::models::ModelsArguments;
use self::part::Part;

use self::endpoints::{End, Endpoints};
pub(crate) use self::models::{shares_terminal, unproxied};
use self::scoring::{Scoring, ScoringArguments, Server};
use self::settings::{DurabilityArgument, WhenFullArgument, settings};

/// Record the traffic between a client and a server
///
/// Put this command into the client's configuration in place of the server's
/// command. The server is started exactly as it would be without the recorder, and
/// every byte is forwarded unchanged. The exit status is that of the server, or 3
/// if the recording has gaps.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES, mut_arg("no_redact", |option| option.help(TAPE_NOT_REDACTED)))]
pub(crate) struct Arguments {
    /// Write the cassette to this file, and the tape next to it
    ///
    /// A name that ends in `.tape.jsonl` keeps only the tape. A name that ends in `/` is a
    /// folder in which every session gets its own files. By default, the tape goes to
    /// `$TAPEWRIGHT_HOME` or the XDG state folder.
    #[arg(short, long, value_name = "FILE|FOLDER/")]
    output: Option<PathBuf>,
    /// Also write a capture, the input of `compliance invariants`
    #[arg(long = "save-capture", value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Same as `--save-capture`; elsewhere `--capture` names a recording to read
    #[arg(
        long = "capture",
        value_name = "FILE",
        hide = true,
        conflicts_with = "capture"
    )]
    deprecated_capture: Option<PathBuf>,
    /// Also write times and durations into the cassette. Without it they are on the tape alone, and
    /// a cassette changes only where the conversation does
    #[arg(long)]
    cassette_times: bool,
    /// Replay, extend or overwrite an existing cassette
    #[arg(long, value_enum, value_name = "MODE", default_value_t)]
    mode: Mode,
    /// Name of the server in captures and reports
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Print on stderr what is recorded and where
    #[arg(short, long)]
    verbose: bool,
    /// Print a client configuration entry for this command, and exit
    #[arg(hide_short_help = true, long)]
    print_config: bool,
    /// Client whose format the entry has; see `wrap --help`
    #[arg(hide_short_help = true, long, value_name = "NAME", requires = "print_config", value_parser = wrap::known)]
    client: Option<ClientId>,
    /// Command that starts the server, with its arguments
    ///
    /// The `--` before it may be omitted.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// How much of the tape survives if the recorder is killed
    #[arg(hide_short_help = true, long, value_enum, default_value_t = DurabilityArgument::Queue)]
    durability: DurabilityArgument,
    /// What to do when the recorder cannot keep up [default: wait; wait-briefly for a
    /// gateway]
    #[arg(hide_short_help = true, long, value_enum)]
    when_full: Option<WhenFullArgument>,
    /// Keep messages up to this size whole
    ///
    /// Longer messages are forwarded all the same.
    #[arg(hide_short_help = true, long, value_name = "SIZE", default_value = "64MiB", value_parser = size::parse)]
    max_message: usize,
    #[command(flatten)]
    models: ModelsArguments,
    #[command(flatten)]
    judging: JudgingArguments,
    #[command(flatten)]
    scoring: ScoringArguments,
    #[command(flatten)]
    http: HttpArguments,
    #[command(flatten)]
    faults: FaultArguments,
    #[command(flatten)]
    page: PageArguments,
    #[command(flatten)]
    otlp: OtlpArguments,
    #[command(flatten)]
    mapping: Mapping,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright record -o fs.json \\
      -- npx -y @modelcontextprotocol/server-filesystem .
  tapewright record --save-capture fs.capture.json --durability written \\
      -- python server.py
  tapewright record -o api.json --listen 4000 \\
      --upstream https://mcp.example.com/mcp
  tapewright record -o fs.json --listen 4000 \\
      -- npx -y @modelcontextprotocol/server-filesystem .
  tapewright record -o api.json --upstream https://mcp.example.com/mcp
  tapewright record -o recordings/ --forward-proxy 4000
  tapewright record -o run/ --models -- claude -p 'What is in this folder?' \\
      --mcp-config mcp.json
  tapewright record -o fs.json --check --hang-after 30s --strict \\
      -- node server.js
  tapewright record -o fs.json --otlp http://localhost:4318 -- node server.js
  tapewright record -o fs.json --suite suite.yaml \\
      --format junit=report.xml -- node server.js";

/// At a terminal, it would look as if nothing happened.
const WAITS: &str = "waiting for a client's messages on standard input, a line of JSON each; \
    to record a client, put this command into its configuration (--print-config), Ctrl-D ends it";

/// Records until the end of the session or the gateway.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    arguments.page.check_command(&arguments.command)?;
    let way = Endpoints::of(&arguments.http, &arguments.models, &arguments.command)?;
    let label = arguments.label.clone().unwrap_or_else(|| way.label());
    if let Some(exit) = ahead(arguments, &way, &label)? {
        return Ok(exit);
    }
    let destination = arguments.otlp.destination(!arguments.redaction.is_off())?;
    let clock = Clock::start();
    let fault_set = arguments.faults.fault_set(&label, way.reach(), clock)?;
    let plan = Plan::of(arguments)?;
    let hang_after = arguments.judging.hang_after();
    let control = arguments.faults.control(&fault_set, clock, hang_after)?;
    faults::begin(&fault_set, control.as_ref(), arguments.verbose);
    let place = Served {
        way: &way,
        fault_set: &fault_set,
        control: control.as_ref(),
    };
    if let Some(exit) = plan.run(arguments, place, clock)? {
        return Ok(exit);
    }
    way.start_ahead();
    if way.serves_one() && std::io::stdin().is_terminal() {
        report::note(WAITS);
    }
    log::flow();
    let part = arguments.part(&label, clock)?;
    let _unused = part.as_ref().and_then(Part::created);
    let target = arguments.target(&label, part.as_ref(), clock)?;
    let server = Server {
        label: &label,
        is_one: way.has_one_server(),
    };
    let scoring = match arguments.scoring.start(&server, clock)? {
        Ok(scoring) => scoring,
        Err(exit) => return Ok(exit),
    };
    let mut settings = settings(arguments, &way, &label, clock, target, scoring.as_ref())?;
    settings.header.part_of = part
        .as_ref()
        .map_or_else(String::new, |part| part.id.clone());
    let log_listener = watch(&mut settings, &fault_set, control.as_ref())?;
    let whole = part.as_ref().filter(|_| arguments.models.models);
    let whole = whole.map(|part| &*part.folder);
    let beside = PageSources::new(&fault_set, control.as_ref(), None);
    let page = &arguments.page;
    let _page = page.of_recorder(&settings, whole, &beside, hang_after)?;
    let sending = arguments.otlp.start(destination)?;
    let behind = Behind::start(sending, arguments.http.has_metrics(), &mut settings, whole)?;
    let wanted = settings.target.tape().clone();
    let start = || start(settings, clock, arguments.verbose.then_some(&*wanted));
    let limit_bytes = arguments.max_message;
    let part = part.as_ref();
    let (end, recorder) = way.run(&arguments.http, limit_bytes, clock, &fault_set, part, start)?;
    let finished = recorder.finish();
    log::recorded(log_listener, &finished);
    told(arguments, behind, &finished, &fault_set);
    conclude(arguments, scoring, &finished, end)
}

/// Ends the exports of a recording, and prints what `-v` requests.
fn told(arguments: &Arguments, behind: Option<Behind>, finished: &Finished, fault_set: &FaultSet) {
    if let Some(behind) = behind {
        behind.finish(arguments.verbose);
    }
    if arguments.verbose {
        tell(finished);
        faults::end(fault_set);
    } else if !arguments.log.is_requested() {
        // An exit status alone does not say what to do, and the session is over. A log says it, too.
        tell_lost(finished);
    }
}

/// The alternatives to a recording: prints an entry, or plays the server if the recording that it
/// belongs to is being replayed.
fn ahead(arguments: &Arguments, way: &Endpoints<'_>, label: &str) -> anyhow::Result<Option<Exit>> {
    if arguments.deprecated_capture.is_some() {
        report::note("`record --capture` is deprecated; use `--save-capture`");
    }
    if arguments.print_config {
        report::out(&config::entry(arguments, way, label)?)?;
        return Ok(Some(Exit::Pass));
    }
    if arguments.models.models || way.listen().is_some() {
        return Ok(None);
    }
    let played = Part::inherited().and_then(|part| part.played_starts(label));
    played.map(|starts| replay::of_server(&starts?)).transpose()
}

/// The variable that makes a recorder play a server of the recording in this folder, with the
/// folder where each start claims its tape.
pub(crate) fn played(folder: &Path, claims: Option<&Path>) -> Option<(OsString, OsString)> {
    let part = Part::played(folder, claims)?;
    Some((part::VARIABLE.into(), part.value()))
}

/// Finishes a recording.
fn conclude(
    arguments: &Arguments,
    scoring: Option<Scoring>,
    finished: &Finished,
    end: End,
) -> anyhow::Result<Exit> {
    let score = scoring.map_or(Ok(Exit::Pass), Scoring::report)?;
    if let Some(exit) = arguments.judging.exit(finished.findings, score) {
        return Ok(exit);
    }
    if !finished.is_whole() {
        return Ok(Exit::Inconclusive);
    }
    Ok(match end {
        // Last of all: if the child was ended by a signal, this ends us by the same signal.
        End::Server(exit) => exit_of(exit),
        End::Ours(exit) => exit,
    })
}

/// Starts the recorder, and with `told` prints where it writes.
fn start(settings: Settings, clock: Clock, told: Option<&Path>) -> anyhow::Result<Arc<Recorder>> {
    let recorder = Recorder::start(settings, clock);
    let recorder = recorder.context("cannot start the recorder")?;
    if let Some(path) = told {
        report::note(&format!("recording to {}", path.display()));
    }
    Ok(Arc::new(recorder))
}

/// Connects the control and the log to the recording, and writes the active faults to the tape.
fn watch(
    settings: &mut Settings,
    fault_set: &FaultSet,
    control: Option<&Control>,
) -> anyhow::Result<Option<LogListener>> {
    faults::note(fault_set, control, &mut settings.header);
    faults::stands_on(control, settings.target.tape());
    let judging = faults::watched(control, settings.judging.take());
    let (judging, log_listener) = log::heard(judging, true)?;
    settings.judging = judging;
    Ok(log_listener)
}

/// The child's exit status, which becomes ours. If a signal ended the child, we end by the same
/// signal.
fn exit_of(exit: Option<event::Exit>) -> Exit {
    let status = match exit {
        Some(event::Exit::Code(code)) => code,
        Some(event::Exit::Signal(signal)) => {
            log::end_by(signal);
            signals::die_by(signal);
            128 + signal
        }
        None => 128 + 9,
    };
    Exit::External(status)
}

impl Arguments {
    /// The agent's recording that this command begins or belongs to.
    fn part(&self, label: &str, clock: Clock) -> anyhow::Result<Option<Part>> {
        if self.models.models {
            return Part::create(self.output.as_deref(), label, clock.created).map(Some);
        }
        Ok(Part::inherited())
    }

    fn capture(&self) -> Option<&Path> {
        let capture = self.capture.as_ref().or(self.deprecated_capture.as_ref());
        capture.map(PathBuf::as_path)
    }

    /// The paths to record to.
    fn target(&self, label: &str, part: Option<&Part>, clock: Clock) -> anyhow::Result<Target> {
        if let Some(part) = part.filter(|_| self.models.models) {
            return Ok(Target::tape_only(&part.folder).within(&part.folder, models::tape()));
        }
        let mut target = match (part, &self.output) {
            (Some(part), None) => Target::tape_only(&part.folder),
            _ => target::of(self.output.as_deref(), label, clock.created)?,
        };
        if let Some(part) = part {
            target = target.within(&part.folder, &target::plain(label));
        }
        target = target.finish_after(self.http.session_idle());
        if self.cassette_times {
            target = target.with_times();
        }
        if let Some(capture) = self.capture() {
            output::check_ahead(capture, Overwrite::Recording)?;
            if self.output.as_deref() == Some(capture) {
                let what = "the cassette and the capture are the same file";
                return Err(Mistake::new(what, "choose another file for `--save-capture`").into());
            }
            target = target.with_capture(capture);
        }
        Ok(target)
    }

    /// Refuses options that make no sense while a cassette is replayed.
    fn fits_play(&self) -> anyhow::Result<()> {
        if self.scoring.is_asked() {
            let what = "`--suite` cannot be used with `--mode`";
            let hint =
                "omit `--mode`, or test the recording with `tapewright run SUITE --capture FILE`";
            return Err(Mistake::new(what, hint).into());
        }
        let given = [
            (self.capture().is_some(), "--save-capture"),
            (self.http.forward_proxy.is_some(), "--forward-proxy"),
        ];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                let what = format!("`{option}` cannot be used with `--mode`");
                Err(Mistake::new(what, format!("omit `{option}`, or use `--mode all`")).into())
            }
            None => Ok(()),
        }
    }
}

fn tell(finished: &Finished) {
    if let Some(tape) = &finished.tape {
        report::note(&format!("{} events on {}", finished.events, tape.display()));
    }
    if !finished.gaps.is_empty() {
        report::note(&format!(
            "missing: {}",
            report::in_place::missing(finished.gaps)
        ));
    }
    for file in finished.cassette.iter().chain(&finished.capture) {
        report::note(&format!("wrote {}", file.display()));
    }
    for session in &finished.sessions {
        for tape in &session.tapes {
            report::note(&format!(
                "session {} is on {}",
                session.session,
                tape.display()
            ));
        }
    }
    for problem in &finished.problems {
        report::note(&problem.to_string());
    }
    tell_lost(finished);
}

/// Says why there is no tape, or only a part of one.
fn tell_lost(finished: &Finished) {
    if let Some((why, detail)) = &finished.lost {
        report::note(&report::in_place::lost(*why, Some(detail)));
    }
}
