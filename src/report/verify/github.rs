//! Drift, as annotations of GitHub Actions.

use super::{Verified, failures, name};
use crate::report::workflow;

/// One annotation for each request whose answer has drifted, and a line that sums up.
pub(crate) fn github(verified: &Verified<'_>) -> String {
    let file = verified.tape.display().to_string();
    let mut out = String::new();
    for check in verified.checks.iter().filter(|check| check.has_drifted()) {
        let title = format!("drift: {}", name(check));
        let text = format!("{}\n{}", check.place, failures(check).join("\n"));
        out.push_str(&workflow::error(&file, &title, &text));
    }
    out.push_str(&verified.summary());
    out.push('\n');
    out
}
