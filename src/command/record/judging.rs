//! Judging while it is recorded.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tapewright_compliance::live::{Live, Watch};
use tapewright_compliance::{Facts, Selection};
use tapewright_proxy::record::{Findings, Judging};
use tapewright_schemas::event::Offset;
use tapewright_schemas::recording::FileKind;

use crate::command::replay::playing::duration;
use crate::command::selection::SelectionArguments;
use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Judging while it is recorded.
#[derive(Debug, Args)]
#[command(next_help_heading = "Judging")]
pub(crate) struct JudgingArguments {
    /// Judge what passes by every invariant, and put what is found onto the tape
    #[arg(long)]
    check: bool,
    /// Name requests that have had no answer for this long, and what the server is doing
    #[arg(long, value_name = "TIME", value_parser = duration)]
    hang_after: Option<Duration>,
    /// End with status 1 when anything was found
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// How often a judge is told the time, at most and at least.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

impl JudgingArguments {
    /// Who judges, if anybody does.
    pub(super) fn judging(&self, verbose: bool) -> anyhow::Result<Option<Judging>> {
        if !self.check && !self.selection.is_empty() {
            let what =
                "`--select`, `--ignore` and `--severity` say how to judge, and nothing is judged";
            return Err(Mistake::new(what, "add `--check`").into());
        }
        if !self.check && self.hang_after.is_none() {
            if self.strict {
                let what = "`--strict` is about findings, and nothing is judged";
                return Err(
                    Mistake::new(what, "add `--check`, `--hang-after TIME` or both").into(),
                );
            }
            return Ok(None);
        }
        if self.hang_after.is_some_and(|after| after.is_zero()) {
            let what = "`--hang-after 0` would call every request a hang";
            return Err(Mistake::new(what, "give the answer some time: `--hang-after 30s`").into());
        }
        let selection = if self.check {
            Some(self.selection.selection(Selection::all())?)
        } else {
            None
        };
        let watch = Watch {
            selection,
            hang_after: self.hang_after.map(offset),
        };
        Ok(Some(Judging {
            judge: Arc::new(move |header| {
                let facts = Facts::of(FileKind::Tape, header, true);
                Box::new(Live::new(facts, &watch))
            }),
            tell: Arc::new(move |_, finding| {
                if verbose {
                    report::note(&report::finding::line(finding));
                }
            }),
            beat: self
                .hang_after
                .map_or(LATEST, |after| (after / 4).clamp(SOONEST, LATEST)),
        }))
    }

    /// After what time a request without an answer is a hang, where that was said.
    pub(super) fn hang_after(&self) -> Option<Duration> {
        self.hang_after
    }

    /// What findings make of the exit status.
    pub(super) fn exit(&self, findings: Findings) -> Option<Exit> {
        (self.strict && !findings.is_empty()).then_some(Exit::Fail)
    }
}

fn offset(time: Duration) -> Offset {
    Offset(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
