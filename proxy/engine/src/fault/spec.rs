//! Parses a fault: `hang tool=search nth=3`.

use std::time::Duration;

use tapewright_schemas::event::Direction;
use tapewright_schemas::near::did_you_mean;

use super::kinds::{self, FaultTarget, Kind, Parameter};
use super::selector::Selector;
use super::values::{ValueError, Values};
use super::words::{Word, words};

/// A fault with its parameters and selector.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its name; the fault set assigns one if there is none.
    pub name: Option<String>,
    /// Its kind.
    pub kind: &'static Kind,
    /// Its parameters.
    pub values: Values,
    /// The messages that it matches.
    pub selector: Selector,
    /// Whether it acts on a matched request or on its answer.
    pub on: FaultTarget,
    // The columns of the words that it was parsed from; the kind is under an empty name.
    columns: Vec<(String, usize)>,
}

/// An error in the words of a fault. `column` counts characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There are no words.
    #[error("column 1: expected a fault, such as `hang tool=search nth=3`")]
    Empty,
    /// A value is invalid.
    #[error("column {column}: {what}")]
    BadValue {
        /// Its column.
        column: usize,
        /// The error.
        what: String,
    },
    /// A required parameter is missing.
    #[error("`{kind}` needs `{parameter}`, as in `{example}`")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// A complete fault.
        example: &'static str,
    },
    /// It could never act.
    #[error("{}{why}; {instead}", .column.map_or_else(String::new, |at| format!("column {at}: ")))]
    NeverActs {
        /// The column of the last conflicting word, if the fault was parsed from words.
        column: Option<usize>,
        /// The reason.
        why: String,
        /// The suggestion.
        instead: String,
    },
    /// A quote that is not closed.
    #[error("column {column}: the quote is not closed")]
    OpenQuote {
        /// Its column.
        column: usize,
    },
    /// A duplicate word.
    #[error("column {column}: duplicate `{word}`")]
    Twice {
        /// Its column.
        column: usize,
        /// The word.
        word: String,
    },
    /// An unknown kind.
    #[error("column {column}: unknown fault `{found}`{}", hint(.near.as_deref()))]
    UnknownKind {
        /// Its column.
        column: usize,
        /// The given word.
        found: String,
        /// A similar kind, as a question.
        near: Option<String>,
    },
    /// An unknown word.
    #[error("column {column}: unknown option `{found}` of `{kind}`{}", hint(.near.as_deref()))]
    UnknownWord {
        /// Its column.
        column: usize,
        /// The kind.
        kind: &'static str,
        /// The given word.
        found: String,
        /// A similar word, as a question.
        near: Option<String>,
    },
}

pub(super) fn hint(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; {near}"))
}

/// The words of the selector, which are valid for all kinds.
pub const SELECTING: [&str; 15] = [
    "name",
    "method",
    "tool",
    "resource",
    "prompt",
    "server",
    "session",
    "dir",
    "on",
    "nth",
    "first",
    "every",
    "after",
    "probability",
    "/pointer",
];

impl Fault {
    /// A fault of a kind, on all tool calls.
    #[must_use]
    pub fn new(kind: &'static Kind) -> Self {
        Self {
            name: None,
            kind,
            values: Values::default(),
            selector: Selector::default(),
            on: kind.on,
            columns: Vec::new(),
        }
    }

    /// The column of a word that it was parsed from.
    pub(super) fn column_of(&self, word: &str) -> Option<usize> {
        let mut columns = self.columns.iter();
        let found = columns.find(|(one, _)| one == word)?;
        Some(found.1)
    }

    /// Parses a fault.
    pub fn parse(line: &str) -> Result<Self, SpecError> {
        let words = words(line).map_err(|quote| SpecError::OpenQuote {
            column: quote.column,
        })?;
        let Some((first, rest)) = words.split_first() else {
            return Err(SpecError::Empty);
        };
        if first.value.is_some() && kinds::find(&first.key).is_some() {
            let what = format!(
                "`{0}` takes no value: write `{0}`, then its words",
                first.key
            );
            let column = first.column;
            return Err(SpecError::BadValue { column, what });
        }
        let (None, Some(kind)) = (&first.value, kinds::find(&first.key)) else {
            return Err(SpecError::UnknownKind {
                column: first.column,
                found: first.key.clone(),
                near: did_you_mean(&first.key, kinds::ALL.iter().map(|kind| kind.name)),
            });
        };
        let mut fault = Self::new(kind);
        fault.columns.push((String::new(), first.column));
        for word in rest {
            if fault.column_of(&word.key).is_some() {
                return Err(SpecError::Twice {
                    column: word.column,
                    word: word.key.clone(),
                });
            }
            fault.take(word)?;
            fault.columns.push((word.key.clone(), word.column));
        }
        fault.check()?;
        Ok(fault)
    }

    /// Whether its matches or its effects are random.
    #[must_use]
    pub fn is_by_chance(&self) -> bool {
        let jitter = |parameter: &Parameter| {
            parameter.name == "jitter_ms" && self.values.number(self.kind, "jitter_ms") > 0
        };
        self.selector.probability.is_some() || self.kind.parameters.iter().any(jitter)
    }

    /// Rejects a fault that lacks a parameter, or that could never act.
    pub fn check(&self) -> Result<(), SpecError> {
        match self.values.missing(self.kind) {
            None => self.check_sense(),
            Some(parameter) => Err(SpecError::Missing {
                kind: self.kind.name,
                parameter: parameter.name,
                example: self.kind.example,
            }),
        }
    }

    fn take(&mut self, word: &Word) -> Result<(), SpecError> {
        let column = word.column;
        let bad = |what: String| SpecError::BadValue { column, what };
        let known = self.kind.parameter(&word.key).is_some()
            || SELECTING.contains(&word.key.as_str())
            || word.key.starts_with('/');
        if !known {
            let names = self.kind.parameters.iter().map(|one| one.name);
            return Err(SpecError::UnknownWord {
                column,
                kind: self.kind.name,
                found: word.key.clone(),
                near: did_you_mean(&word.key, names.chain(SELECTING)),
            });
        }
        let Some(value) = word.value.as_deref().filter(|value| !value.is_empty()) else {
            return Err(bad(format!("`{0}` needs a value: `{0}=…`", word.key)));
        };
        if let Some(parameter) = self.kind.parameter(&word.key) {
            let set = self.values.set(parameter, value);
            return set.map_err(|error: ValueError| bad(error.to_string()));
        }
        self.select(&word.key, value).map_err(bad)
    }

    /// Sets one word of the selector; the error is a message for the user.
    pub fn select(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = || Some(value.to_owned());
        let selector = &mut self.selector;
        match key {
            "name" => self.name = text(),
            "method" => selector.method = text(),
            "tool" => selector.tool = text(),
            "resource" => selector.resource = text(),
            "prompt" => selector.prompt = text(),
            "server" => selector.server = text(),
            "session" => selector.session = Some(number(key, value)?),
            "nth" => selector.nth = Some(count(key, value)?),
            "first" => selector.first = Some(count(key, value)?),
            "every" => selector.every = Some(count(key, value)?),
            "dir" => {
                let dir = Direction::from_name(&value.replace('-', "_"));
                let dir = dir.ok_or_else(|| {
                    format!("invalid `dir`: expected `to_server` or `to_client`, found `{value}`")
                })?;
                selector.dir = Some(dir);
            }
            "on" => {
                self.on = match value {
                    "answer" => FaultTarget::Answer,
                    "request" => FaultTarget::Request,
                    _ => {
                        return Err(format!(
                            "invalid `on`: expected `answer` or `request`, found `{value}`"
                        ));
                    }
                }
            }
            "after" => match value.parse() {
                Ok(met) => selector.after_met = Some(met),
                Err(_) => selector.after_time = Some(time(value)?),
            },
            "probability" => selector.probability = Some(chance(value)?),
            _ if key.starts_with('/') => {
                if key.replace("~0", "").replace("~1", "").contains('~') {
                    return Err(format!(
                        "invalid JSON pointer `{key}`: write `~0` for `~`, and `~1` for `/` in a name"
                    ));
                }
                selector.equals.push((key.to_owned(), value.to_owned()));
            }
            _ => return Err(format!("unknown option `{key}`")),
        }
        Ok(())
    }
}

fn number<N: std::str::FromStr>(key: &str, value: &str) -> Result<N, String> {
    let wrong = |_| format!("invalid `{key}`: expected a whole number, found `{value}`");
    value.parse().map_err(wrong)
}

fn count(key: &str, value: &str) -> Result<u64, String> {
    let wrong = || format!("`{key}` must be at least 1");
    number(key, value).and_then(|number: u64| (number > 0).then_some(number).ok_or_else(wrong))
}

fn time(value: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "invalid `after`: expected a number of messages, or a duration such as `500ms` or `2s`, found `{value}`"
        )
    };
    let (digits, factor) = match (value.strip_suffix("ms"), value.strip_suffix('s')) {
        (Some(digits), _) => (digits, 1),
        (None, Some(digits)) => (digits, 1_000),
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    Ok(Duration::from_millis(number.saturating_mul(factor)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between zero and a million"
)]
fn chance(value: &str) -> Result<u32, String> {
    let wrong =
        || format!("invalid `probability`: expected 0 to 1, or 0% to 100%, found `{value}`");
    let (digits, whole) = match value.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (value, 1.0),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    let share = number / whole;
    if !(0.0..=1.0).contains(&share) {
        return Err(wrong());
    }
    Ok((share * 1_000_000.0).round() as u32)
}
