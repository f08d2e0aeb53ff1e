//! Judges the session while it is recorded.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tapewright_compliance::Facts;
use tapewright_compliance::live::{Live, Watch};
use tapewright_proxy::record::{Feed, Findings, Judging, MakeJudge};
use tapewright_schemas::event::Offset;
use tapewright_schemas::recording::FileKind;

use crate::command::duration;
use crate::command::selection::SelectionArguments;
use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Options for judging the session while it is recorded.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct JudgingArguments {
    /// Check the session while it is recorded, and record the findings
    #[arg(long)]
    check: bool,
    /// Report requests without an answer for this long
    #[arg(long, value_name = "DURATION", value_parser = duration::positive)]
    hang_after: Option<Duration>,
    /// Exit with status 1 on findings, or when `--suite` fails
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// The shortest and longest time between two clock ticks of a judge.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

impl JudgingArguments {
    /// The judges, if any; a feed that scores the session gets the events as well.
    pub(super) fn judging(
        &self,
        verbose: bool,
        feed: Option<Feed>,
    ) -> anyhow::Result<Option<Judging>> {
        if !self.check && !self.selection.is_empty() {
            let what = "`--all`, `--select`, `--skip` and `--severity` need `--check`";
            return Err(Mistake::new(what, "add `--check`").into());
        }
        let judges = self.check || self.hang_after.is_some();
        if !judges && feed.is_none() {
            if self.strict {
                let what = "`--strict` has no effect without checks";
                let hint = "add `--check`, `--hang-after DURATION` or `--suite SUITE`";
                return Err(Mistake::new(what, hint).into());
            }
            return Ok(None);
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
            feeds: feed.into_iter().collect(),
            tell: Arc::new(move |_, finding| {
                if verbose {
                    report::note(&report::finding::line(finding));
                }
            }),
            beat: judges.then_some(beat),
        }))
    }

    /// After what time a request without an answer is a hang, if given.
    pub(super) fn hang_after(&self) -> Option<Duration> {
        self.hang_after
    }

    /// The effect of findings and of a suite's score on the exit status.
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
