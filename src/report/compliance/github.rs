//! Verdicts as annotations of a GitHub workflow.

use tapewright_compliance::finding::{Severity, Status};

use super::sentence;
use crate::command::compliance::{Server, Verdicts};
use crate::report::workflow::{data, property};

/// One workflow command a line, and a last line for the log.
pub(crate) fn github(verdicts: &Verdicts) -> String {
    let mut lines = Vec::new();
    for server in &verdicts.servers {
        for outcome in server.outcomes.iter().filter(|one| server.fails(one)) {
            for finding in &outcome.findings {
                // A race, and a fault of our own, are nobody's failure.
                if finding.status != Status::Fail {
                    continue;
                }
                let level = match finding.severity {
                    Severity::Must => "error",
                    Severity::Should => "warning",
                    Severity::Derived => "notice",
                };
                let seq = finding.evidence.first().map(|place| place.seq);
                let place = place(server, seq);
                let title = property(&format!("{} {}", outcome.code, server.label));
                let text = data(&sentence(server, finding));
                lines.push(format!("::{level} {place},title={title}::{text}"));
            }
        }
    }
    for (hazard, _) in verdicts.hazards().filter(|(_, expected)| !expected) {
        let title = property(hazard.kind);
        lines.push(format!("::error title={title}::{}", data(&hazard.detail)));
    }
    for (label, code) in verdicts.expectations.iter().flat_map(|one| &one.stale) {
        let text = format!("{code} of {label} does not fail any more: take it out of the baseline");
        lines.push(format!("::error title=stale::{}", data(&text)));
    }
    for hazard in verdicts
        .expectations
        .iter()
        .flat_map(|one| &one.stale_hazards)
    {
        let text = format!("{hazard}: it is gone, take it out of the baseline");
        lines.push(format!("::error title=stale::{}", data(&text)));
    }
    lines.push(super::pretty::result(verdicts));
    lines.join("\n") + "\n"
}

fn place(server: &Server, seq: Option<u64>) -> String {
    let file = property(&server.path.display().to_string());
    match seq.and_then(|seq| server.line(seq)) {
        Some(line) => format!("file={file},line={line}"),
        None => format!("file={file}"),
    }
}
