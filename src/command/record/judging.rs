//! Judging while it is recorded.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tapewright_compliance::Facts;
use tapewright_compliance::live::{Live, Watch};
use tapewright_proxy::record::{Ear, Findings, Judging, MakeJudge};
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
    /// Judge what passes by its invariants, and put what is found onto the tape
    #[arg(long)]
    check: bool,
    /// Name requests that have had no answer for this long, and what the server is doing
    #[arg(long, value_name = "TIME", value_parser = duration)]
    hang_after: Option<Duration>,
    /// End with status 1 when anything was found, or as `run` when the suite of `--suite`
    /// does not hold
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// How often a judge is told the time, at most and at least.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

impl JudgingArguments {
    /// Who judges, if anybody does; an ear that scores the session hears it as well.
    pub(super) fn judging(
        &self,
        verbose: bool,
        ear: Option<Ear>,
    ) -> anyhow::Result<Option<Judging>> {
        if !self.check && !self.selection.is_empty() {
            let what = "`--all`, `--select`, `--ignore` and `--severity` say how to judge, and nothing is judged";
            return Err(Mistake::new(what, "add `--check`").into());
        }
        let judges = self.check || self.hang_after.is_some();
        if !judges && ear.is_none() {
            if self.strict {
                let what = "`--strict` is about findings, and nothing is judged";
                let hint = "add `--check`, `--hang-after TIME` or `--suite SUITE`";
                return Err(Mistake::new(what, hint).into());
            }
            return Ok(None);
        }
        if self.hang_after.is_some_and(|after| after.is_zero()) {
            let what = "`--hang-after 0` would call every request a hang";
            return Err(Mistake::new(what, "give the answer some time: `--hang-after 30s`").into());
        }
        let selection = if self.check {
            Some(self.selection.selection()?)
        } else {
            None
        };
        let watch = Watch {
            selection,
            hang_after: self.hang_after.map(offset),
        };
        let judge: Arc<MakeJudge> = Arc::new(move |header| {
            let facts = Facts::of(FileKind::Tape, header, true);
            Box::new(Live::new(facts, &watch))
        });
        let beat = self
            .hang_after
            .map_or(LATEST, |after| (after / 4).clamp(SOONEST, LATEST));
        Ok(Some(Judging {
            judge: judges.then_some(judge),
            ears: ear.into_iter().collect(),
            tell: Arc::new(move |_, finding| {
                if verbose {
                    report::note(&report::finding::line(finding));
                }
            }),
            beat: judges.then_some(beat),
        }))
    }

    /// After what time a request without an answer is a hang, where that was said.
    pub(super) fn hang_after(&self) -> Option<Duration> {
        self.hang_after
    }

    /// What findings, and the score of a suite, make of the exit status.
    pub(super) fn exit(&self, findings: Findings, score: Exit) -> Option<Exit> {
        let found = if findings.is_empty() {
            Exit::Pass
        } else {
            Exit::Fail
        };
        let worst = Exit::worst(&[found, score]);
        (self.strict && worst != Exit::Pass).then_some(worst)
    }
}

fn offset(time: Duration) -> Offset {
    Offset(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
