//! `tapewright show`: a conversation line by line.

mod names;
pub(super) mod whole;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_proxy::record::is_written;
use tapewright_schemas::filter::{Filter, LineKind};
use tapewright_schemas::listing::{Counts, Entry, Wanted};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Ending;

use crate::command::format::FormatArguments;
use crate::command::linking;
use crate::command::prices::PriceArguments;
use crate::exit::Exit;
use crate::files::{Frame, Recording, folder};
use crate::report::show::{Closing, Part, Printer, Style};
use crate::report::{self, Mistake};

use self::whole::Whole;

/// Show a recorded conversation, one exchange per line
///
/// Each line shows the time, session, direction, request and ID, duration and
/// outcome, and the faults and findings of an exchange. Unexpected answers, output
/// that is not MCP, and gaps have lines of their own, and so have model calls, with
/// the `tools/call` that carried out what they asked for. A tape that is still
/// being written can be shown.
///
/// All filters must match; `-` before a filter negates it:
///
///   tool:read       name of a tool that is called, or that a model asks for
///   method:tools/   part of a method
///   model:claude    part of the name of a model
///   status:error    ok, error, cancelled, late, pending, gone, unknown, fault,
///                   finding, or a number such as 401 or -32601
///   dir:to_client   requests of the server; `to_server` for those of the client
///   session:2       one session
///   kind:stderr     exchange, model, notification, progress, cancellation, late,
///                   orphan, noise, stderr, http, fault, finding, gap
///   id:7            a request ID, or the ID of a tool use
///   slow:>200ms     slower than this; `slow:<1s` is faster
///   anything        in the method or name; with `--full` also in the messages
///
/// `status:` and `kind:` take several values, separated by commas.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[expect(clippy::doc_markdown, reason = "filter words are aligned in the help")]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
    #[arg(value_name = "RECORDING")]
    file: PathBuf,
    /// Show only what matches all filters; see above
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Only exchanges with this ID
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Show the recorded messages in full
    #[arg(long)]
    full: bool,
    /// Also show notifications, progress, cancellations, faults and findings
    #[arg(long)]
    all: bool,
    /// Show what the server wrote to stderr
    #[arg(long)]
    stderr: bool,
    /// Show heads of HTTP requests and responses
    #[arg(long)]
    http: bool,
    /// Omit times, so that output can be compared line by line
    #[arg(long)]
    no_times: bool,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    prices: PriceArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright show fs.tape.jsonl
  tapewright show fs.tape.jsonl 'slow:>0ms' -method:ping
  tapewright show fs.json --id 1 --full
  tapewright show cassettes kind:model,exchange
  tapewright show cassettes --json method:tools/call | jq .waited_ms";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let wanted = arguments.wanted()?;
    let prices = arguments.prices.read()?;
    let style = Style {
        json: arguments.format.is_json(),
        full: arguments.full,
        named: arguments.file.is_dir(),
    };
    let mut shown = Printer::new(report::stdout(), style);
    if !arguments.file.is_dir() {
        let exit = one(&arguments.file, &wanted, &prices, &mut shown)?;
        drop(shown);
        names::tell(exit, std::slice::from_ref(&arguments.file), &wanted.filter);
        return Ok(exit);
    }
    let found = folder::contained(&arguments.file)?;
    let mut exits = Vec::new();
    if !found.parts.is_empty() {
        exits.push(whole(
            arguments,
            &found.parts,
            &wanted,
            &prices,
            &mut shown,
        )?);
    }
    for path in &found.others {
        exits.push(one(path, &wanted, &prices, &mut shown)?);
    }
    // If one of several recordings has a match, it does not matter that another has none.
    let exit = if exits.contains(&Exit::Pass) {
        Exit::Pass
    } else {
        Exit::Inconclusive
    };
    drop(shown);
    let all: Vec<PathBuf> = found.parts.into_iter().chain(found.others).collect();
    names::tell(exit, &all, &wanted.filter);
    Ok(exit)
}

/// Shows one recording.
fn one(
    path: &Path,
    wanted: &Wanted,
    prices: &Prices,
    shown: &mut Printer<impl Write>,
) -> anyhow::Result<Exit> {
    let recording = Recording::open(path)?;
    let (kind, timed) = (recording.kind(), recording.timed());
    let path = recording.path.clone();
    let http = recording.header().transport == "http";
    shown.begin(&path.display().to_string(), http)?;
    let (Frame { header, ending }, counts) =
        list(recording, wanted, prices, |entry| shown.entry(entry))?;
    let part = Part {
        name: None,
        kind,
        timed,
        ending: &ending,
        last: counts.last,
        written_by: written_by(&path, header.pid, &ending),
    };
    end(wanted, counts, vec![part], shown)
}

/// Shows a recording that is on several tapes.
fn whole(
    arguments: &Arguments,
    parts: &[PathBuf],
    wanted: &Wanted,
    prices: &Prices,
    shown: &mut Printer<impl Write>,
) -> anyhow::Result<Exit> {
    let mut whole = Whole::open(parts, wanted, prices)?;
    let tapes = whole.tapes.iter().map(|tape| {
        let is_http = tape.header().transport == "http";
        (tape.name.clone(), tape.path.display().to_string(), is_http)
    });
    shown.begin_whole(&arguments.file.display().to_string(), tapes.collect())?;
    whole.list(|tape, entry| {
        shown.turn_to(tape);
        shown.entry(&entry)
    })?;
    let endings: Vec<Ending> = whole.tapes.iter().map(whole::Tape::ending).collect();
    let mut counts = Counts::default();
    let mut told = Vec::new();
    for (tape, ending) in whole.tapes.iter().zip(&endings) {
        let of_tape = tape.counts();
        counts = counts.plus(&of_tape);
        told.push(Part {
            name: Some(tape.name.clone()),
            kind: FileKind::Tape,
            timed: true,
            ending,
            last: of_tape.last,
            written_by: written_by(&tape.path, tape.header().pid, ending),
        });
    }
    end(wanted, counts, told, shown)
}

/// The process that still writes a tape.
fn written_by(path: &Path, process: u32, ending: &Ending) -> Option<u32> {
    let is_cut = matches!(ending, Ending::CutShort { .. });
    (is_cut && is_written(path)).then_some(process)
}

/// Prints the notes at the end.
fn end(
    wanted: &Wanted,
    counts: Counts,
    parts: Vec<Part<'_>>,
    shown: &mut Printer<impl Write>,
) -> anyhow::Result<Exit> {
    let closing = Closing {
        counts,
        parts,
        filtered: !wanted.filter.is_empty(),
        wants_times: wanted.filter.asks_for_times(),
    };
    shown.end(&closing)?;
    if shown.is_for_programs() && closing.is_incomplete() {
        report::note(&closing.text());
    }
    let nothing = counts.shown + counts.models_shown + counts.beside == 0;
    Ok(if nothing && !wanted.filter.is_empty() {
        Exit::Inconclusive
    } else {
        Exit::Pass
    })
}

/// Passes on the selected lines of a recording, one by one.
pub(super) fn list(
    recording: Recording,
    wanted: &Wanted,
    prices: &Prices,
    mut each: impl FnMut(&Entry) -> io::Result<()>,
) -> anyhow::Result<(Frame, Counts)> {
    let wanted = Wanted {
        timed: recording.timed() && wanted.timed,
        ..wanted.clone()
    };
    let links = linking::of_one(&recording)?;
    let mut listing = Listing::new(wanted, prices.clone(), links);
    let read = recording.messages(|event, envelope| {
        listing.observe(event, envelope);
        while let Some(entry) = listing.poll() {
            each(&entry)?;
        }
        Ok(())
    });
    listing.finish();
    while let Some(entry) = listing.poll() {
        each(&entry)?;
    }
    // Lines in front of an unreadable one have been passed on.
    Ok((read?, listing.counts()))
}

impl Arguments {
    fn wanted(&self) -> anyhow::Result<Wanted> {
        let filter = Filter::new(&self.filter).map_err(|error| {
            let hint = "see the filters in `tapewright show --help`";
            Mistake::new(report::safe(&error.to_string()), hint)
        })?;
        let filter = match &self.id {
            Some(id) => filter.with_id(id),
            None => filter,
        };
        let mut kinds = BTreeSet::from(Wanted::PLAIN);
        if self.all {
            kinds.extend([
                LineKind::Notification,
                LineKind::Progress,
                LineKind::Cancellation,
                LineKind::Fault,
                LineKind::Finding,
            ]);
        }
        kinds.extend(self.stderr.then_some(LineKind::Stderr));
        kinds.extend(self.http.then_some(LineKind::Http));
        Ok(Wanted {
            filter,
            kinds,
            bodies: self.full,
            timed: !self.no_times,
        })
    }
}
