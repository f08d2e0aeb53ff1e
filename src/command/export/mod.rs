//! `tapewright export`: one recording in another format.

pub(crate) mod agent;
mod folder;
mod har;
mod html;
mod otlp;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tapewright_proxy::record::{ToCapture, ToCassette};
use tapewright_schemas::recording::{Document, FileKind};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending};
use tapewright_schemas::{capture, cassette};

use crate::exit::Exit;
use crate::files::output::{self, Overwrite};
use crate::files::{Contents, Frame, NewFile, Recording, spool};
use crate::report::{self, Mistake};

use crate::command::init::recorded;

/// Convert a recording to another format
///
/// If a cassette was never finished, the tape next to it is read instead. For a
/// folder, every recording in it is written to the folder `-o`; a suite, the page
/// of an agent's recording and an agent cassette are one file.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
    #[arg(value_name = "RECORDING")]
    tape: PathBuf,
    /// Format to write
    #[arg(long = "as", value_name = "FORMAT")]
    format: Format,
    /// Also write times and durations into a cassette
    #[arg(long)]
    cassette_times: bool,
    /// Also write arguments and results of tool calls into spans, as they are in the recording
    #[arg(long)]
    otlp_content: bool,
    /// File to write, or folder for those of a folder [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Exchanges for replay
    Cassette,
    /// Exchanges for `compliance invariants`
    Capture,
    /// The journal itself
    Tape,
    /// A self-contained HTML page that works offline
    Html,
    /// An HTTP archive (HAR 1.2), as browsers and their tools open it
    Har,
    /// Spans of OpenTelemetry: a request of OTLP in JSON on each line
    Otlp,
    /// A YAML suite with a test for each call; for an agent, a test of the agent with its
    /// cassette
    Suite,
    /// An agent's run with its model, for agent tests
    AgentCassette,
}

/// Writes the recording.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    arguments.check_content()?;
    if let Some(run) = agent_run(arguments)? {
        return of_agent(arguments, &run);
    }
    if let Format::Suite = arguments.format {
        return suite(arguments);
    }
    if arguments.tape.is_dir() {
        return folder::run(arguments);
    }
    let recording = Recording::open_to(&arguments.tape, output)?;
    arguments.check(&recording, output)?;
    let Some(output) = output else {
        let mut out = report::stdout();
        arguments.write(recording, &mut out)?;
        out.flush()?;
        return Ok(Exit::Pass);
    };
    arguments.write_file(recording, output)?;
    Ok(Exit::Pass)
}

/// Writes a suite; for a folder, one with everything in it.
fn suite(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    if !arguments.tape.is_dir() {
        arguments.check(&Recording::open(&arguments.tape)?, output)?;
    } else if let Some(output) = output {
        output::check_ahead(output, Overwrite::Nothing)?;
    }
    let draft = recorded::draft(&arguments.tape, output)?;
    recorded::write(&draft, output)?;
    Ok(Exit::Pass)
}

/// The run of an agent, if the format needs one and there is one.
fn agent_run(arguments: &Arguments) -> anyhow::Result<Option<agent::Run>> {
    match arguments.format {
        Format::AgentCassette => Ok(Some(agent::Run::required(&arguments.tape)?)),
        Format::Suite => agent::Run::of(&arguments.tape),
        _ => Ok(None),
    }
}

/// Writes the run of an agent in the requested format.
fn of_agent(arguments: &Arguments, run: &agent::Run) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    if let Some(output) = output {
        output::check_ahead(output, Overwrite::Nothing)?;
    }
    match arguments.format {
        Format::AgentCassette => run.write_cassette(output)?,
        _ => run.write_suite(output, Overwrite::Nothing)?,
    }
    Ok(Exit::Pass)
}

impl Arguments {
    /// Refuses impossible exports before anything is written.
    fn check(&self, recording: &Recording, output: Option<&Path>) -> anyhow::Result<()> {
        if let Some(output) = output {
            output::not_among(output, [recording.path.as_path(), &self.tape])?;
        }
        self.check_times(recording)?;
        output.map_or(Ok(()), |output| output::check_ahead(output, self.over()))
    }

    /// What the output may replace.
    fn over(&self) -> Overwrite {
        match self.format {
            Format::Cassette => Overwrite::Cassette,
            Format::Capture => Overwrite::Capture,
            // A tape is the original, and the others cannot be known for certain.
            _ => Overwrite::Nothing,
        }
    }

    fn write_file(&self, recording: Recording, output: &Path) -> anyhow::Result<()> {
        let mut file = NewFile::create(output)?;
        self.write(recording, file.writer())?;
        file.commit(None)
    }

    /// Refuses `--otlp-content` if no spans are written.
    fn check_content(&self) -> anyhow::Result<()> {
        if !self.otlp_content || matches!(self.format, Format::Otlp) {
            return Ok(());
        }
        let what = "`--otlp-content` cannot be used with this format";
        Err(Mistake::new(what, "omit it, or use `--as otlp`").into())
    }

    /// Refuses `--cassette-times` if the recording has no times, or the output is not a cassette.
    fn check_times(&self, recording: &Recording) -> anyhow::Result<()> {
        if !self.cassette_times {
            return Ok(());
        }
        let Format::Cassette = self.format else {
            let what = "`--cassette-times` cannot be used with this format";
            return Err(Mistake::new(what, "omit it, or use `--as cassette`").into());
        };
        if !recording.timed() {
            let path = report::safe(&recording.path.display().to_string());
            let what = format!("no times in `{path}`");
            return Err(Mistake::new(what, "export its tape, which has times").into());
        }
        Ok(())
    }

    fn write(&self, recording: Recording, out: &mut dyn Write) -> anyhow::Result<()> {
        let frame = match self.format {
            Format::Cassette => cassette(recording, self.cassette_times, out)?,
            Format::Capture => capture(recording, out)?,
            Format::Html => html::of_one(recording, out)?,
            Format::Har => har::write(recording, out)?,
            Format::Otlp => otlp::write(recording, self.otlp_content, out)?,
            Format::Tape | Format::Suite | Format::AgentCassette => tape(recording, out)?,
        };
        tell_end(&frame);
        Ok(())
    }
}

fn cassette(recording: Recording, times: bool, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let mut projector = cassette::Projector::new(&recording.header(), spool()?, spool()?);
    if !times {
        projector = projector.without_times();
    }
    let name = recording
        .path
        .file_name()
        .map(|name| name.to_string_lossy());
    if let (FileKind::Tape, Some(name)) = (recording.kind(), &name) {
        projector = projector.with_meta("tape", name);
    }
    for (name, value) in recording.meta() {
        projector = projector.with_meta(name, value);
    }
    let mut projector = ToCassette::by(projector);
    let frame =
        recording.messages(|event, message| Ok(projector.observe_message(event, message)?))?;
    projector.finish(&frame.ending, out)?;
    Ok(frame)
}

fn capture(recording: Recording, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let mut projector = capture::Projector::new(&recording.header(), spool()?, spool()?);
    if let Contents::Document(Document::Capture(capture), _) = &recording.contents {
        for (place, session) in (0..).zip(&capture.sessions) {
            let (key, capabilities) = (session.key(place), session.capabilities.as_deref());
            projector = projector.with_session(key, &session.label, capabilities);
        }
    }
    let mut projector = ToCapture::by(projector);
    let frame =
        recording.messages(|event, message| Ok(projector.observe_message(event, message)?))?;
    projector.finish(&frame.ending, out)?;
    Ok(frame)
}

/// When a recording began.
fn moment(recording: &Recording) -> anyhow::Result<jiff::Timestamp> {
    let time = recording.header().created.parse().ok();
    time.filter(|_| recording.timed()).ok_or_else(|| {
        let path = report::safe(&recording.path.display().to_string());
        let what = format!("no times in `{path}`, and this format needs them");
        Mistake::new(
            what,
            "export the tape that it was made from: `tapewright export FILE.tape.jsonl`",
        )
        .into()
    })
}

/// Warns if a recording is cut short.
pub(super) fn tell_end(frame: &Frame) {
    if let Ending::CutShort { last_seq, .. } = frame.ending {
        report::note(&format!(
            "the tape has no footer; it ends after event {last_seq}"
        ));
    }
}

/// Copies a tape, every event unchanged.
fn tape(recording: Recording, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let rules = Rules::new(&Settings {
        off: true,
        ..Settings::default()
    })?;
    if !recording.timed() {
        report::note("the recording has no times; all times on the tape are 0");
    }
    let mut encoder = Encoder::new(Redactor::new(Arc::new(rules)));
    let mut out = io::BufWriter::new(out);
    let mut line = Vec::new();
    recording.header().write(&mut line);
    let frame = recording.events(|event| {
        encoder.encode(event, &mut line);
        out.write_all(&line)?;
        line.clear();
        Ok(())
    })?;
    if let Ending::Footer(footer) = &frame.ending {
        footer.write(&mut line);
    }
    out.write_all(&line)?;
    out.flush()?;
    Ok(frame)
}

const EXAMPLES: &str = "\
Examples:
  tapewright export fs.tape.jsonl --as cassette -o fs.json
  tapewright export fs.json --as capture > fs.capture.json
  tapewright export fs.tape.jsonl --as html -o fs.html
  tapewright export cassettes/ --as html -o pages/
  tapewright export runs/one/ --as html -o agent.html
  tapewright export http.tape.jsonl --as har -o http.har
  tapewright export fs.tape.jsonl --as otlp -o fs.otlp.jsonl
  tapewright export fs.json --as suite -o fs.yaml
  tapewright export runs/one/ --as agent-cassette -o claude.json";
