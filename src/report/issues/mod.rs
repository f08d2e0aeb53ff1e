//! Issues in suites: for people, for programs, for GitHub.

use std::sync::Arc;

use tapewright_config::{Issue, Loaded, Severity};
use tapewright_schemas::redact::{Redactor, Rules, Settings};

use super::formats::Reportable;
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};

mod json;
mod pretty;

/// The name of a suite as given, and the result of loading it.
pub(crate) type Checked = (String, Loaded);

/// The issues in suites.
pub(crate) struct Issues<'a>(pub(crate) &'a [Checked]);

impl Reportable for Issues<'_> {
    fn report(&self) -> Report {
        let mut redactor = redactor();
        let groups = self.0.iter().map(|(name, loaded)| Group {
            title: name.clone(),
            rows: loaded
                .issues
                .iter()
                .map(|issue| row(name, loaded, issue, &mut redactor))
                .collect(),
            ..Group::default()
        });
        Report {
            title: "Suites",
            groups: groups.collect(),
            result: None,
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        json::text(self.0)
    }

    fn pretty(&self) -> String {
        pretty::text(self.0)
    }
}

/// The issues in one suite, for people.
pub(crate) fn pretty(name: String, loaded: Loaded) -> String {
    pretty::text(&[(name, loaded)])
}

fn row(name: &str, loaded: &Loaded, issue: &Issue, redactor: &mut Redactor) -> Row {
    let message = without_secrets(redactor, &issue.message);
    let (status, level) = match issue.severity {
        Severity::Error => (Status::Fail, Level::Error),
        Severity::Warning => (Status::Inconclusive, Level::Warning),
    };
    let mut problem = Problem::new(Some(level), &message);
    let help = issue.help.as_deref();
    let help = help.map(|help| format!("hint: {}", without_secrets(redactor, help)));
    problem.lines.extend(help);
    let mut row = Row::new(status, severity(issue), problem.headline.clone());
    row.heading = format!("tapewright {}", issue.code.name());
    issue.code.name().clone_into(&mut row.failure);
    name.clone_into(&mut row.class);
    row.spot = Some(spot(loaded, issue).unwrap_or_else(|| Spot::file(name)));
    row.problems.push(problem);
    row
}

fn spot(loaded: &Loaded, issue: &Issue) -> Option<Spot> {
    let place = issue.place.as_ref()?;
    let excerpt = loaded.sources.excerpt(place)?;
    Some(Spot {
        file: loaded.sources.path(place.file).display().to_string(),
        line: Some(excerpt.line as u64),
        columns: Some(excerpt.column..excerpt.column + excerpt.width),
    })
}

fn severity(issue: &Issue) -> &'static str {
    match issue.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// How many issues have a severity.
fn count(loaded: &Loaded, severity: Severity) -> usize {
    loaded
        .issues
        .iter()
        .filter(|issue| issue.severity == severity)
        .count()
}

/// Removes secrets from lines and messages: a suite may contain a token that it should not.
fn redactor() -> Redactor {
    let rules = Rules::new(&Settings::default()).expect("the built-in rules are tested");
    Redactor::new(Arc::new(rules))
}

/// A line of a suite without secrets. A variable with a secret's name, as in `token: ${API_TOKEN}`,
/// is not a secret.
fn line_without_secrets(redactor: &mut Redactor, line: &str) -> String {
    let probe = without_references(line);
    if without_secrets(redactor, &probe) == probe {
        return line.to_owned();
    }
    without_secrets(redactor, line)
}

/// The line with `null` in place of every reference to a variable without a default.
fn without_references(line: &str) -> String {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let inner = after.strip_prefix('{');
        let name = inner.unwrap_or(after);
        let (_, tail) = name.split_at(name.find(|char| !is_word(char)).unwrap_or(name.len()));
        let end = match inner {
            None => Some(tail),
            Some(_) if tail.starts_with(":?") => tail.split_once('}').map(|(_, end)| end),
            Some(_) => tail.strip_prefix('}'),
        };
        let end = end.filter(|_| tail.len() < name.len());
        out.push_str(if end.is_some() { "null" } else { "$" });
        rest = end.unwrap_or(after);
    }
    out.push_str(rest);
    out
}

fn without_secrets(redactor: &mut Redactor, text: &str) -> String {
    String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{line_without_secrets, redactor};

    #[test]
    fn references_stay_and_secrets_go() {
        let mut redactor = redactor();
        for line in [
            "token: \"${API_TOKEN:?}\"",
            "  password: $DB_PASSWORD",
            "api_key: ${KEY}",
        ] {
            assert_eq!(line_without_secrets(&mut redactor, line), line);
        }
        for line in [
            "token: \"${API_TOKEN:-Xq7vB2kPz9sLm4Wd8}\"",
            "password: Xq7vB2kPz9sLm4Wd8 $x",
        ] {
            assert!(
                !line_without_secrets(&mut redactor, line).contains("Xq7vB2kPz9sLm4Wd8"),
                "{line}"
            );
        }
    }
}
