//! Findings on a tape, as text.

use std::fmt::Write as _;

use tapewright_schemas::event::{Finding, Process, Side};

use super::safe;

/// One line about a finding, and one for each process in its evidence.
pub(crate) fn line(finding: &Finding) -> String {
    let who = match finding.side {
        Side::Recorder => "our own fault",
        other => other.name(),
    };
    let mut text = format!(
        "{} {} ({}): {}",
        safe(&finding.code),
        finding.status.name(),
        who,
        safe(&finding.detail)
    );
    let places: Vec<String> = finding
        .evidence
        .iter()
        .map(|place| match place.pointer.as_str() {
            "" => format!("event {}", place.seq),
            pointer => format!("event {} {}", place.seq, safe(pointer)),
        })
        .collect();
    if !places.is_empty() {
        // Writing to a string does not fail.
        let _never_fails = write!(text, " ({})", places.join(", "));
    }
    for one in &finding.processes {
        let _never_fails = write!(text, "\n  {}", process(one));
    }
    text
}

fn process(process: &Process) -> String {
    let mut files: Vec<String> = process.files.iter().map(|file| safe(file)).collect();
    if process.more_files > 0 {
        files.push(format!("{} more", process.more_files));
    }
    format!(
        "process {} `{}` is {}, {} s of processor time, open: {}",
        process.pid,
        safe(&process.name),
        safe(&process.state),
        Seconds(process.cpu_ms),
        if files.is_empty() {
            "nothing that may be seen".to_owned()
        } else {
            files.join(", ")
        }
    )
}

/// Milliseconds, shown as seconds.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{:02}", self.0 / 1_000, self.0 % 1_000 / 10)
    }
}
