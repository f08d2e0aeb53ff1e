//! What `verify` says.

mod github;
mod json;
mod junit;
mod pretty;

use std::path::Path;

use tapewright_replay::Difference;
use tapewright_replay::verify::{Check, Verdict};

use crate::exit::Exit;

pub(crate) use self::github::github;
pub(crate) use self::json::json;
pub(crate) use self::junit::junit;
pub(crate) use self::pretty::pretty;

/// What was found.
#[derive(Debug)]
pub(crate) struct Verified<'v> {
    /// The recording.
    pub(crate) tape: &'v Path,
    /// One check for each recorded request.
    pub(crate) checks: &'v [Check],
}

impl Verified<'_> {
    /// The exit status: nothing that could be compared is no success.
    pub(crate) fn exit(&self) -> Exit {
        if self.drifted() > 0 {
            Exit::Fail
        } else if self.same() == 0 {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }

    fn drifted(&self) -> usize {
        self.checks.iter().filter(|one| one.has_drifted()).count()
    }

    fn same(&self) -> usize {
        let same = |one: &&Check| one.verdict == Verdict::Same;
        self.checks.iter().filter(same).count()
    }

    fn skipped(&self) -> usize {
        self.checks.len() - self.drifted() - self.same()
    }

    fn summary(&self) -> String {
        let skipped = match self.skipped() {
            0 => String::new(),
            count => format!(", {count} not sent"),
        };
        format!(
            "{} drifted, {} the same{skipped}",
            self.drifted(),
            self.same()
        )
    }
}

/// What was asked, in words.
fn name(check: &Check) -> String {
    match &check.target {
        Some(target) => format!("{} {target}", check.method),
        None => check.method.clone(),
    }
}

/// One difference, in words.
fn difference(one: &Difference) -> String {
    let text = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
    format!(
        "{}: recorded {}, now {}",
        one.path,
        text(one.recorded.as_ref()),
        text(one.live.as_ref())
    )
}

/// Why a check failed, line by line; nothing for one that did not.
fn failures(check: &Check) -> Vec<String> {
    match &check.verdict {
        Verdict::Drift { differences } => differences.iter().map(difference).collect(),
        Verdict::NoAnswer { after_ms } => vec![format!("no answer within {after_ms} ms")],
        _ => Vec::new(),
    }
}
