//! What is wrong with suites: for people, for programs, for GitHub.

use std::sync::Arc;

use tapewright_config::{Issue, Loaded, Severity};
use tapewright_schemas::redact::{Redactor, Rules, Settings};

pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod pretty;

/// The name of a suite, as it was typed, and what loading it found.
pub(crate) type Checked = (String, Loaded);

/// Where an issue is, for machines.
struct Spot {
    file: String,
    line: usize,
    column: usize,
    end_column: usize,
}

fn spot(loaded: &Loaded, issue: &Issue) -> Option<Spot> {
    let place = issue.place.as_ref()?;
    let excerpt = loaded.sources.excerpt(place)?;
    Some(Spot {
        file: loaded.sources.path(place.file).display().to_string(),
        line: excerpt.line,
        column: excerpt.column,
        end_column: excerpt.column + excerpt.width,
    })
}

fn severity(issue: &Issue) -> &'static str {
    match issue.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// How many issues are of a severity.
fn count(loaded: &Loaded, severity: Severity) -> usize {
    loaded
        .issues
        .iter()
        .filter(|issue| issue.severity == severity)
        .count()
}

/// Takes secrets out of lines and messages: a suite may hold a token that it should not.
fn redactor() -> Redactor {
    let rules = Rules::new(&Settings::default()).expect("the built-in rules are tested");
    Redactor::new(Arc::new(rules))
}

fn without_secrets(redactor: &mut Redactor, text: &str) -> String {
    String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
}
