//! `tapewright export`: one recording in another format.

pub(crate) mod agent;
mod html;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tapewright_schemas::recording::{Document, FileKind};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending};
use tapewright_schemas::{capture, cassette};

use crate::exit::Exit;
use crate::files::output::{self, Over};
use crate::files::{Contents, Frame, NewFile, Recording, same_file, spool};
use crate::report::{self, Mistake};

use crate::command::init::recorded;

/// Write a recording in another format
///
/// TAPE is a tape, a cassette or a capture; of an agent, the folder of its recording. When a
/// cassette was never finished, the tape beside it is read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording
    tape: PathBuf,
    /// The format to write
    #[arg(long = "as", value_name = "FORMAT")]
    format: Format,
    /// Where to write; standard output without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Exchanges for replay
    Cassette,
    /// Exchanges for the session invariants
    Capture,
    /// The journal itself
    Tape,
    /// One HTML file that shows it: opens from a disk, asks nothing of a network
    Html,
    /// A YAML suite that holds of the recording: one test for each call; of an agent, a test of
    /// the agent with its cassette
    Suite,
    /// The run of an agent with its model, for tests of agents
    AgentCassette,
}

/// Writes the recording.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(run) = agent_run(arguments)? {
        return of_agent(arguments, &run);
    }
    if let Format::Html = arguments.format
        && arguments.tape.is_dir()
    {
        return html::of_folder(&arguments.tape, arguments.output.as_deref());
    }
    let recording = Recording::open(&arguments.tape)?;
    if let Some(output) = &arguments.output
        && same_file(&recording.path, output)
    {
        let path = report::safe(&output.display().to_string());
        return Err(Mistake::new(
            format!("`{path}` is the recording itself"),
            "write to another file: `-o FILE`",
        )
        .into());
    }
    let over = match arguments.format {
        Format::Html | Format::Suite | Format::AgentCassette => Over::Nothing,
        Format::Cassette | Format::Capture | Format::Tape => Over::Recording,
    };
    if let Some(output) = &arguments.output {
        output::check(output, over)?;
    }
    if let Format::Suite = arguments.format {
        let draft = recorded::draft(recording, &arguments.tape, arguments.output.as_deref())?;
        recorded::write(&draft, arguments.output.as_deref())?;
        return Ok(Exit::Pass);
    }
    let Some(output) = &arguments.output else {
        let mut out = report::stdout();
        write(recording, arguments.format, &mut out)?;
        out.flush()?;
        return Ok(Exit::Pass);
    };
    let mut file = NewFile::create(output)?;
    write(recording, arguments.format, file.writer())?;
    file.commit(None)?;
    Ok(Exit::Pass)
}

/// The run of an agent, where one is asked for and there.
fn agent_run(arguments: &Arguments) -> anyhow::Result<Option<agent::Run>> {
    match arguments.format {
        Format::AgentCassette => Ok(Some(agent::Run::required(&arguments.tape)?)),
        Format::Suite if arguments.tape.is_dir() => {
            Ok(Some(agent::Run::required(&arguments.tape)?))
        }
        Format::Suite => agent::Run::of(&arguments.tape),
        _ => Ok(None),
    }
}

/// Writes what is made of the run of an agent.
fn of_agent(arguments: &Arguments, run: &agent::Run) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    if let Some(output) = output {
        output::check(output, Over::Nothing)?;
    }
    match arguments.format {
        Format::AgentCassette => run.write_cassette(output)?,
        _ => run.write_suite(output)?,
    }
    Ok(Exit::Pass)
}

fn write(recording: Recording, format: Format, out: &mut dyn Write) -> anyhow::Result<()> {
    let name = recording
        .path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let kind = recording.kind();
    let frame = match format {
        Format::Cassette => {
            let mut projector = cassette::Projector::new(&recording.header(), spool()?, spool()?);
            if let (FileKind::Tape, Some(name)) = (kind, &name) {
                projector = projector.with_meta("tape", name);
            }
            if let Contents::Document(Document::Cassette(cassette), _) = &recording.contents {
                for (name, value) in &cassette.meta {
                    projector = projector.with_meta(name, value);
                }
            }
            let frame = recording
                .messages(|event, message| Ok(projector.observe_message(event, message)?))?;
            projector.finish(&frame.ending, out)?;
            frame
        }
        Format::Capture => {
            let mut projector = capture::Projector::new(&recording.header(), spool()?, spool()?);
            if let Contents::Document(Document::Capture(capture), _) = &recording.contents {
                for (place, session) in (0..).zip(&capture.sessions) {
                    let (key, capabilities) = (session.key(place), session.capabilities.as_deref());
                    projector = projector.with_session(key, &session.label, capabilities);
                }
            }
            let frame = recording
                .messages(|event, message| Ok(projector.observe_message(event, message)?))?;
            projector.finish(&frame.ending, out)?;
            frame
        }
        Format::Html => html::of_one(recording, out)?,
        Format::Tape | Format::Suite | Format::AgentCassette => tape(recording, out)?,
    };
    tell_end(&frame);
    Ok(())
}

/// Says so when a recording breaks off.
pub(super) fn tell_end(frame: &Frame) {
    if let Ending::CutShort { last_seq, .. } = frame.ending {
        report::note(&format!(
            "the tape has no footer; it ends after event {last_seq}"
        ));
    }
}

/// Writes a tape anew, every event as it is.
fn tape(recording: Recording, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let rules = Rules::new(&Settings {
        off: true,
        ..Settings::default()
    })?;
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
  tapewright export runs/one/ --as html -o agent.html
  tapewright export fs.json --as suite -o fs.yaml
  tapewright export runs/one/ --as agent-cassette -o claude.json";
