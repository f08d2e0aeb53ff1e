//! What is said of a replay.

use tapewright_replay::{Miss, Report};

use super::{note, safe};

/// How many recordings that nobody asked for are named.
const NAMED: usize = 20;

/// Tells of a request that no recording answers.
pub(crate) fn miss(miss: &Miss) {
    note(&safe(&miss.message()));
    for near in &miss.nearest {
        for one in &near.differences {
            let text = |value: Option<&String>| match value {
                Some(value) => safe(value),
                None => "nothing".to_owned(),
            };
            note(&format!(
                "  {} {}: recorded {}, asked {}",
                safe(&near.place),
                safe(&one.path),
                text(one.recorded.as_ref()),
                text(one.live.as_ref())
            ));
        }
    }
}

/// Tells how it went.
pub(crate) fn end(report: &Report) {
    let unused: Vec<_> = report
        .requests
        .iter()
        .filter(|one| one.times == 0)
        .collect();
    note(&format!(
        "{} served, {} missed, {} of {} recorded requests never asked for",
        report.served,
        report.missed,
        unused.len(),
        report.requests.len()
    ));
    for one in unused.iter().take(NAMED) {
        note(&format!(
            "  never asked for: {} {}",
            one.place,
            safe(&one.method)
        ));
    }
    if unused.len() > NAMED {
        note(&format!("  and {} more", unused.len() - NAMED));
    }
}
