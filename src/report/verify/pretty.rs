//! Drift, for people.

use tapewright_replay::verify::Verdict;

use super::{Verified, failures, name};
use crate::report::safe;

/// One line for each request, and below it what differs.
pub(crate) fn pretty(verified: &Verified<'_>) -> String {
    let mut out = String::new();
    for check in verified.checks {
        let (word, why) = match &check.verdict {
            Verdict::Same => ("same ", None),
            Verdict::Skipped { why } => ("skip ", Some(why)),
            _ => ("DRIFT", None),
        };
        line(
            &mut out,
            &format!("{word}  {}  {}", check.place, safe(&name(check))),
        );
        for text in failures(check).iter().chain(why) {
            line(&mut out, &format!("         {}", safe(text)));
        }
    }
    line(&mut out, &format!("\nResult: {}", verified.summary()));
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
