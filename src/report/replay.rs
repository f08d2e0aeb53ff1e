//! The messages about a replay.

use tapewright_replay::models::{ModelMiss, ModelReport};
use tapewright_replay::{Difference, Miss, Report};

use super::{note, safe};

/// How many unused recordings are listed.
const NAMED: usize = 20;

/// Reports a request that no recording answers.
pub(crate) fn miss(miss: &Miss) {
    note(&safe(&miss.message()));
    for near in &miss.nearest {
        for one in &near.differences {
            difference(&safe(&near.place), one, "asked");
        }
    }
}

/// Reports a model call that no recording answers.
pub(crate) fn model_miss(miss: &ModelMiss) {
    note(&safe(&miss.message));
}

/// Prints the summary.
pub(crate) fn end(report: &Report) {
    note(&format!(
        "{} served, {} missed, {} of {} recorded requests never requested",
        report.served,
        report.missed,
        report.unused,
        report.requests.len()
    ));
    for one in report.requests.unused().take(NAMED) {
        note(&format!(
            "  never requested: {} {}",
            one.place,
            safe(&one.method)
        ));
    }
    let more = report.unused.saturating_sub(NAMED as u64);
    if more > 0 {
        note(&format!("  and {more} more"));
    }
    if report.own_pings > 0 {
        let pings = report.own_pings;
        note(&format!("{pings} unrecorded pings answered"));
    }
    if report.mapped > 0 {
        let mapped = report.mapped;
        note(&format!(
            "{mapped} served with paths that were turned into the recorded ones"
        ));
    }
    learned(report);
    replies(report);
    if let Some(report) = &report.models {
        models(report);
    }
}

/// Prints the summary of the model calls.
fn models(report: &ModelReport) {
    note(&format!(
        "models: {} served, {} missed, {} of {} recorded calls never requested",
        report.served,
        report.missed,
        report.unused,
        report.calls.len()
    ));
    if !report.converted.is_empty() {
        let converted = report.converted.len();
        note(&format!(
            "  {converted} answered in a different form than recorded (streamed or not)"
        ));
    }
    for what in report.others.iter().take(NAMED) {
        note(&format!("  not in the recording: {}", safe(what)));
    }
    if report.unread > 0 {
        let unread = report.unread;
        note(&format!("  {unread} recorded exchanges cannot be served"));
    }
}

/// Reports the path mappings that were learned from the recording.
fn learned(report: &Report) {
    for map in &report.learned_maps {
        note(&format!(
            "  {} of the recording is {} here, in {} requests and {} messages; `--no-learned-map` turns that off",
            safe(&map.recorded),
            safe(&map.here),
            map.requests,
            map.messages
        ));
    }
}

/// Reports replies to the recorded server that differ from the recorded ones.
fn replies(report: &Report) {
    if report.replied_otherwise == 0 {
        return;
    }
    note(&format!(
        "{} replies to the recorded server differed from the recorded ones; replay continued",
        report.replied_otherwise
    ));
    for reply in report.other_replies.iter().take(NAMED) {
        for one in &reply.differences {
            difference(&safe(&reply.method), one, "replied");
        }
    }
}

/// Reports one difference of `what`.
fn difference(what: &str, one: &Difference, verb: &str) {
    let text = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |one| safe(one));
    note(&format!(
        "  {what} {}: recorded {}, {verb} {}",
        safe(&one.path),
        text(one.recorded.as_ref()),
        text(one.live.as_ref())
    ));
}
