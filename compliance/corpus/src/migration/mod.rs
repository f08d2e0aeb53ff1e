//! What has to change before peers can speak a later revision: thirteen cases, each decided wherever the wire can tell.
//!
//! A [`Doctor`] folds over events, of a recording or of a conversation that we held ourselves. A case that the wire did
//! not exercised is skipped, with the reason.

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

/// How a case came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing has to change.
    Pass,
    /// Something has to change.
    Fail,
    /// The wire did not tell.
    Skipped,
}

impl Status {
    /// Its word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
        }
    }
}

/// What was found about one case.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The case.
    pub case: &'static Case,
    /// How it came out.
    pub status: Status,
    /// Why; empty for a pass that needs no word.
    pub detail: String,
    /// Where it is proven.
    pub evidence: Vec<Evidence>,
    /// How many more proofs of a failure there are.
    pub more: u64,
}

/// The case of this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.id == id).copied()
}

/// What the code of a server's answer to a missing resource says about 2026-07-28: -32002 fails, -32602 passes, any
/// other code is skipped, since it does not tell.
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
