//! Issues as annotations of GitHub Actions (workflow commands `error` and `warning`).

use tapewright_config::{Issue, Loaded};
use tapewright_schemas::redact::Redactor;

use super::{Checked, redactor, severity, spot, without_secrets};
use crate::report::workflow::{data, property};

/// One line for each issue.
pub(crate) fn text(results: &[Checked]) -> String {
    let mut redactor = redactor();
    let mut out = String::new();
    for (name, loaded) in results {
        for issue in &loaded.issues {
            out.push_str(&one(name, loaded, issue, &mut redactor));
        }
    }
    out
}

fn one(name: &str, loaded: &Loaded, issue: &Issue, redactor: &mut Redactor) -> String {
    let mut message = without_secrets(redactor, &issue.message);
    if let Some(help) = &issue.help {
        message.push_str("\nhint: ");
        message.push_str(&without_secrets(redactor, help));
    }
    let at = match spot(loaded, issue) {
        Some(spot) => format!(
            "file={},line={},col={},endColumn={}",
            property(&spot.file),
            spot.line,
            spot.column,
            spot.end_column
        ),
        None => format!("file={}", property(name)),
    };
    let (level, title) = (severity(issue), issue.code.name());
    format!(
        "::{level} {at},title=tapewright {title}::{}\n",
        data(&message)
    )
}
