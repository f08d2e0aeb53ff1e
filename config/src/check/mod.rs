//! Checks of a complete suite: unknown names, duplicate names, invalid graphs.

mod agents;
mod compositions;
mod fixtures;
mod headers;
mod names;

use crate::issue::{Code, Issues, Severity};
use crate::near::suggestion;
use crate::source::SourceSpot;
use crate::suite::Suite;

/// Notes everything that does not fit together.
pub(crate) fn references(suite: &Suite, issues: &Issues) {
    let check = Check { suite, issues };
    names::check(&check);
    fixtures::check(&check);
    headers::check(&check);
    agents::check(&check);
    compositions::check(&check);
}

/// A suite and where to report its issues.
struct Check<'a> {
    suite: &'a Suite,
    issues: &'a Issues,
}

impl Check<'_> {
    /// Notes an error at a value below a place.
    fn error(
        &self,
        at: &SourceSpot,
        relative: &str,
        code: Code,
        message: String,
        help: impl Into<Option<String>>,
    ) {
        self.issues
            .error(code, self.suite.place(at, relative), message, help.into());
    }

    /// Notes a warning at a value below a place.
    fn warn(&self, at: &SourceSpot, relative: &str, code: Code, message: String, help: String) {
        let place = self.suite.place(at, relative);
        self.issues
            .add(Severity::Warning, code, place, message, Some(help));
    }

    /// Reports a name that is not one of these.
    fn is_one_of(
        &self,
        at: &SourceSpot,
        relative: &str,
        name: &str,
        noun: &str,
        names: &[&str],
    ) -> bool {
        let is_known = names.contains(&name);
        if !is_known {
            let help = suggestion(name, &format!("{noun}s"), names);
            self.error(
                at,
                relative,
                Code::Reference,
                format!("unknown {noun} `{name}`"),
                help,
            );
        }
        is_known
    }

    /// Reports an unknown server.
    fn server(&self, at: &SourceSpot, relative: &str, name: &str) {
        let names: Vec<_> = self
            .suite
            .servers
            .iter()
            .map(|server| server.name.as_str())
            .collect();
        self.is_one_of(at, relative, name, "server", &names);
    }

    /// Reports every duplicate name.
    fn unique<'n>(
        &self,
        noun: &str,
        entries: impl Iterator<Item = (&'n str, &'n SourceSpot)>,
        relative: &str,
    ) {
        let mut seen = std::collections::HashSet::new();
        for (name, place) in entries {
            if !seen.insert(name) {
                let help = "give each a unique name".to_owned();
                let message = format!("duplicate {noun} `{name}`");
                self.error(place, relative, Code::DuplicateName, message, help);
            }
        }
    }
}
