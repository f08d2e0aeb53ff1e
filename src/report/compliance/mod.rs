//! What `compliance` says.

mod github;
mod json;
mod junit;
mod markdown;
mod pretty;
mod sarif;

use tapewright_compliance::finding::{Finding, Side, Status};

use crate::command::compliance::Server;
use crate::report::safe;

pub(crate) use self::github::github;
pub(crate) use self::json::json;
pub(crate) use self::junit::junit;
pub(crate) use self::markdown::markdown;
pub(crate) use self::pretty::pretty;
pub(crate) use self::sarif::sarif;

/// Who is to blame for a finding, in words.
fn culprit(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Recorder => "our own fault",
        Side::Server => "server",
    }
}

/// A finding in one line: who, what, and where it is proven.
fn sentence(server: &Server, finding: &Finding) -> String {
    let race = if finding.status == Status::Race {
        "race, "
    } else {
        ""
    };
    let text = format!("{race}{}: {}", culprit(finding.side), safe(&finding.detail));
    let places: Vec<String> = finding
        .evidence
        .iter()
        .map(|place| match server.origin(place.seq) {
            Some(origin) => format!("{}{}", origin.pointer(), safe(&place.pointer)),
            None if place.pointer.is_empty() => format!("event {}", place.seq),
            None => format!("event {} {}", place.seq, safe(&place.pointer)),
        })
        .collect();
    if places.is_empty() {
        return text;
    }
    format!("{text} ({})", places.join(", "))
}
