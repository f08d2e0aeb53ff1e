//! `tapewright show`: a conversation line by line.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tapewright_proxy::record::is_written;
use tapewright_schemas::filter::{Filter, LineKind};
use tapewright_schemas::listing::{Counts, Entry, Listing, Wanted};
use tapewright_schemas::tape::Ending;

use crate::exit::Exit;
use crate::files::{Frame, Recording, folder};
use crate::report::show::{Closing, Shown, Style};
use crate::report::{self, Mistake};

/// Show a conversation: one line for each exchange, in order
///
/// Each line tells when, in which session, which way, what was asked with which id, how long it
/// took, how it ended, and which fault and findings it has to do with. Answers to nothing that
/// was asked, what is no message, and gaps are lines of their own.
///
/// FILE is a tape, a cassette, a capture, or a folder of them. A tape that is still written is
/// shown as far as it is there.
///
/// FILTER narrows it down; all of them must hold, and `-` in front turns one round:
///
///   `tool:read`        part of the name of a tool
///   `method:tools/`     part of a method
///   `status:error`     ok, error, cancelled, late, pending, gone, unknown, fault, finding,
///                      or a number such as 401 or -32601; several with commas
///   `dir:to_client`    requests of the server; `to_server` those of the client
///   `session:2`         one session
///   `kind:stderr`      exchange, notification, progress, cancellation, late, orphan, noise,
///                      stderr, http, fault, finding, gap; several with commas
///   `id:7`             one id
///   `slow:>200ms`      what took longer; `slow:<1s` what took less
///   `anything`         in the method or the name; with `--full` in what was said, too
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Arguments {
    /// The recording, or a folder of them
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to show: `tool:`, `method:`, `status:`, `dir:`, `session:`, `kind:`, `id:`, `slow:`,
    /// or a text
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Show the exchanges with this id
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Show what was said, as it stands on the recording
    #[arg(long)]
    full: bool,
    /// Show notifications, progress, cancellations, faults and findings as lines of their own
    #[arg(long)]
    all: bool,
    /// Show the server's standard error
    #[arg(long)]
    stderr: bool,
    /// Show the heads of HTTP requests and responses
    #[arg(long)]
    http: bool,
    /// Leave out times, so that two recordings can be compared line by line
    #[arg(long)]
    no_times: bool,
    /// Print a JSON object for each line: `tapewright schema exchange` describes it
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tapewright show fs.tape.jsonl
  tapewright show fs.tape.jsonl 'slow:>0ms' -method:ping
  tapewright show fs.json --id 1 --full
  tapewright show cassettes --json method:tools/call | jq .waited_ms";

/// Shows what was asked for.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let wanted = arguments.wanted()?;
    let style = Style {
        json: arguments.json,
        full: arguments.full,
        named: arguments.file.is_dir(),
    };
    let mut shown = Shown::new(report::stdout(), style);
    if !arguments.file.is_dir() {
        return one(&arguments.file, &wanted, &mut shown);
    }
    let mut exits = Vec::new();
    for path in folder::recordings(&arguments.file)? {
        exits.push(one(&path, &wanted, &mut shown)?);
    }
    // Nothing found in one of them is no matter where there is something in another.
    Ok(if exits.contains(&Exit::Pass) {
        Exit::Pass
    } else {
        Exit::Inconclusive
    })
}

/// Shows one recording.
fn one(path: &Path, wanted: &Wanted, shown: &mut Shown<impl Write>) -> anyhow::Result<Exit> {
    let recording = Recording::open(path)?;
    let (kind, timed) = (recording.kind(), recording.timed());
    let path = recording.path.clone();
    let http = recording.header().transport == "http";
    shown.begin(&path.display().to_string(), http)?;
    let (Frame { header, ending }, counts) = list(recording, wanted, |entry| shown.entry(entry))?;
    let grows = matches!(ending, Ending::CutShort { .. }) && is_written(&path);
    let closing = Closing {
        kind,
        timed,
        counts,
        ending: &ending,
        written_by: grows.then_some(header.pid),
        filtered: !wanted.filter.is_empty(),
        wants_times: wanted.filter.asks_for_times(),
    };
    shown.end(&closing)?;
    if shown.is_for_programs() && closing.is_incomplete() {
        report::note(&closing.text());
    }
    let nothing = counts.shown + counts.beside == 0;
    Ok(if nothing && !wanted.filter.is_empty() {
        Exit::Inconclusive
    } else {
        Exit::Pass
    })
}

/// Hands out what is wanted of a recording, line by line.
pub(super) fn list(
    recording: Recording,
    wanted: &Wanted,
    mut each: impl FnMut(&Entry) -> io::Result<()>,
) -> anyhow::Result<(Frame, Counts)> {
    let mut listing = Listing::new(Wanted {
        timed: recording.timed() && wanted.timed,
        ..wanted.clone()
    });
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
    // What stands before a line that cannot be read was handed out.
    Ok((read?, listing.counts()))
}

impl Arguments {
    fn wanted(&self) -> anyhow::Result<Wanted> {
        let filter = Filter::new(&self.filter).map_err(|error| {
            let hint = "`tapewright show --help` tells what a filter may be";
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
