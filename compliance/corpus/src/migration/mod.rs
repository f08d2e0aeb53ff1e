//! What must change before peers can use a later revision: thirteen cases, each decided wherever
//! the traffic allows it.
//!
//! A [`Doctor`] folds over events, of a recording or of a live conversation with a server. A case
//! that the traffic does not exercise is skipped, with the reason.

mod case;
mod cases;
mod doctor;
mod fold;
mod http;

use self::fold::Out;
use crate::missing_resource::{CODE, LEGACY_CODE};

pub use self::case::{Case, Kind, Severity};
pub use self::cases::CASES;
pub use self::doctor::{Doctor, Probed};
pub use self::fold::Evidence;

/// The revisions that can be migrated to.
pub const TARGETS: [&str; 1] = ["2026-07-28"];

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing must change.
    Pass,
    /// Something must change.
    Fail,
    /// The traffic was inconclusive.
    Skipped,
}

impl Status {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
        }
    }
}

/// The result of one case, with its evidence.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The case.
    pub case: &'static Case,
    /// The result.
    pub status: Status,
    /// Why; empty for a pass that needs no word.
    pub detail: String,
    /// Its evidence.
    pub evidence: Vec<Evidence>,
    /// How much more evidence of a failure there is.
    pub more: u64,
}

/// The case of this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.id == id).copied()
}

/// The result for the code of a server's answer to a missing resource under 2026-07-28: -32002
/// fails, -32602 passes, any other code is skipped, since it is inconclusive.
#[must_use]
pub fn check_resource_error_code(code: i64) -> Finding {
    let (status, detail) = match code {
        LEGACY_CODE => {
            let detail = format!(
                "the server answers a missing resource with {LEGACY_CODE}; 2026-07-28 requires {CODE}"
            );
            (Status::Fail, detail)
        }
        CODE => (Status::Pass, String::new()),
        other => {
            let detail = format!("inconclusive: {other} is neither {LEGACY_CODE} nor {CODE}");
            (Status::Skipped, detail)
        }
    };
    Finding {
        case: &cases::LEGACY_ERROR_CODE,
        status,
        detail,
        evidence: Vec::new(),
        more: 0,
    }
}

fn finding(case: &'static Case, out: Out, undecided: impl FnOnce() -> String) -> Finding {
    let (status, detail, evidence) = match (out.fails.first(), out.passes.first()) {
        (Some(first), _) => (Status::Fail, first.what.clone(), out.fails),
        (None, Some(first)) => (Status::Pass, first.what.clone(), out.passes),
        (None, None) => (Status::Skipped, undecided(), Vec::new()),
    };
    Finding {
        case,
        status,
        detail,
        evidence,
        more: out.more,
    }
}

#[cfg(test)]
mod tests;
