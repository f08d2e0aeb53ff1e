//! Checks that the cassettes of a suite exist and are recordings.

use tapewright_config::suite::server::Target;
use tapewright_config::{Code, Issue, Severity, Suite};

use crate::files::Recording;
use crate::report;

/// The mistakes in the cassettes of a suite.
pub(super) fn check(suite: &Suite) -> Vec<Issue> {
    let mut issues = Vec::new();
    for server in &suite.servers {
        let Target::Cassette(path) = &server.target else {
            continue;
        };
        let Err(error) = Recording::open(path) else {
            continue;
        };
        let help = report::hint(&error).unwrap_or("record one with `tapewright record -o FILE`");
        issues.push(Issue {
            code: Code::File,
            severity: Severity::Error,
            place: Some(suite.place(&server.place, "/cassette")),
            message: format!("{error:#}"),
            help: Some(help.to_owned()),
        });
    }
    issues
}
