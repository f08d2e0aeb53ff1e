//! Known failures: what is expected to fail, until it no longer does.
//!
//! ```json
//! {
//!   "baseline": 1,
//!   "expected_failures": {
//!     "stdio://my-server": ["INV-007", "INV-046"]
//!   },
//!   "expected_hazards": ["tool-namespace-overlap: …"]
//! }
//! ```
//!
//! As with the conformance suite's list of expected failures: a listed invariant that fails is
//! expected, and one that passes is stale and must be removed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use tapewright_schemas::slices::Part as _;

use crate::code::{Code, CodeError};
use crate::composition::Hazard;
use crate::finding::Status;
use crate::table::find;

/// Expected failures, by the label of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    failures: BTreeMap<String, BTreeSet<Code>>,
    hazards: BTreeSet<String>,
}

/// How a baseline classifies one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// It is listed, and failed.
    Expected,
    /// It is listed, and passed.
    Stale,
    /// It is not listed, or was not exercised.
    Unlisted,
}

/// Why a baseline cannot be used.
///
/// Each message completes "cannot read the baseline: …".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// A word that is not a code.
    #[error("`/expected_failures/{label}`: {source}")]
    Code {
        /// The server that it belongs to.
        label: String,
        /// What is wrong with it.
        #[source]
        source: CodeError,
    },
    /// No JSON, or not of this shape.
    #[error("line {}, column {}: {}", .0.line(), .0.column(), without_place(.0))]
    Shape(#[source] serde_json::Error),
    /// A code that nothing has.
    #[error("`/expected_failures/{label}`: unknown invariant `{code}`")]
    Unknown {
        /// The server that it belongs to.
        label: String,
        /// The code.
        code: Code,
    },
    /// Written by a later version.
    #[error("unsupported version {found}; expected {VERSION}")]
    Version {
        /// The version found.
        found: u64,
    },
}

const VERSION: u64 = 1;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: u64,
    #[serde(default)]
    expected_failures: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    expected_hazards: BTreeSet<String>,
}

impl Baseline {
    /// Reads a baseline from its file.
    pub fn read(text: &[u8]) -> Result<Self, BaselineError> {
        let file: File = serde_json::from_slice(text).map_err(BaselineError::Shape)?;
        if file.baseline != VERSION {
            let found = file.baseline;
            return Err(BaselineError::Version { found });
        }
        let mut failures: BTreeMap<String, BTreeSet<Code>> = BTreeMap::new();
        for (label, words) in file.expected_failures {
            let codes = failures.entry(label.clone()).or_default();
            for word in words {
                let code: Code = word.parse().map_err(|source| BaselineError::Code {
                    label: label.clone(),
                    source,
                })?;
                if find(code).is_none() {
                    return Err(BaselineError::Unknown { label, code });
                }
                codes.insert(code);
            }
        }
        Ok(Self {
            failures,
            hazards: file.expected_hazards,
        })
    }

    /// The text of its file.
    #[must_use]
    pub fn write(&self) -> String {
        let listed = self.failures.iter().filter(|(_, codes)| !codes.is_empty());
        let file = File {
            baseline: VERSION,
            expected_failures: listed
                .map(|(label, codes)| {
                    let codes = codes.iter().map(ToString::to_string).collect();
                    (label.clone(), codes)
                })
                .collect(),
            expected_hazards: self.hazards.clone(),
        };
        // Strings and numbers always have a JSON text.
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How the baseline classifies the verdict on one invariant of a server.
    #[must_use]
    pub fn expects(&self, label: &str, code: Code, status: Status) -> Expectation {
        let listed = self
            .failures
            .get(label)
            .is_some_and(|codes| codes.contains(&code));
        match status {
            Status::Fail if listed => Expectation::Expected,
            Status::Pass if listed => Expectation::Stale,
            _ => Expectation::Unlisted,
        }
    }

    /// Whether a hazard is listed.
    #[must_use]
    pub fn expects_hazard(&self, hazard: &Hazard) -> bool {
        self.hazards.contains(&name(hazard))
    }

    /// The hazards that are listed and are not among these.
    pub fn stale_hazards<'a>(&'a self, found: &'a [Hazard]) -> impl Iterator<Item = &'a str> {
        let found: BTreeSet<String> = found.iter().map(name).collect();
        let gone = move |listed: &&String| !found.contains(*listed);
        self.hazards.iter().filter(gone).map(String::as_str)
    }

    /// Updates the list with a verdict: a failure is listed, and a pass is removed.
    pub fn update(&mut self, label: &str, code: Code, status: Status) {
        match status {
            Status::Fail => {
                self.failures
                    .entry(label.to_owned())
                    .or_default()
                    .insert(code);
            }
            Status::Pass => {
                if let Some(codes) = self.failures.get_mut(label) {
                    codes.remove(&code);
                }
            }
            Status::Inconclusive | Status::Race | Status::Vacuous => {}
        }
    }

    /// Lists these hazards, and no others.
    pub fn update_hazards(&mut self, found: &[Hazard]) {
        self.hazards = found.iter().map(name).collect();
    }
}

fn name(hazard: &Hazard) -> String {
    format!("{}: {}", hazard.kind, hazard.detail)
}

/// The text of an error without its position, which is shown before it.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text.part(..end).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_expected_and_what_passes_is_stale() {
        let text = br#"{"baseline":1,"expected_failures":{"a":["INV-007","inv-46"]}}"#;
        let baseline = Baseline::read(text).unwrap();
        let says = |label, code, status| baseline.expects(label, Code(code), status);
        assert_eq!(says("a", 7, Status::Fail), Expectation::Expected);
        assert_eq!(says("a", 46, Status::Pass), Expectation::Stale);
        assert_eq!(says("a", 7, Status::Vacuous), Expectation::Unlisted);
        assert_eq!(says("a", 8, Status::Fail), Expectation::Unlisted);
        assert_eq!(says("b", 7, Status::Fail), Expectation::Unlisted);
    }

    #[test]
    fn an_update_keeps_what_was_not_put_to_the_test() {
        let text =
            br#"{"baseline":1,"expected_failures":{"a":["INV-007","INV-046"],"b":["INV-001"]}}"#;
        let mut baseline = Baseline::read(text).unwrap();
        baseline.update("a", Code(7), Status::Pass);
        baseline.update("a", Code(46), Status::Vacuous);
        baseline.update("c", Code(12), Status::Fail);
        let again = Baseline::read(baseline.write().as_bytes()).unwrap();
        assert_eq!(again, {
            let mut expected = baseline.clone();
            expected.failures.retain(|_, codes| !codes.is_empty());
            expected
        });
        let text = again.write();
        assert!(!text.contains("INV-007"), "{text}");
        for kept in ["INV-046", "INV-001", "INV-012"] {
            assert!(text.contains(kept), "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = |text: &str| Baseline::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error("{\n  \"baseline\": x}").starts_with("line 2, column 15: "));
        assert!(error(r#"{"baseline":1,"expected":{}}"#).contains("unknown field `expected`"));
        assert!(error(r#"{"baseline":2}"#).contains("version 2"));
        assert_eq!(
            error(r#"{"baseline":1,"expected_failures":{"s":["INV-999"]}}"#),
            "`/expected_failures/s`: unknown invariant `INV-999`"
        );
        let no_code = error(r#"{"baseline":1,"expected_failures":{"s":["x"]}}"#);
        assert!(
            no_code.contains("is not the code of an invariant"),
            "{no_code}"
        );
    }
}
