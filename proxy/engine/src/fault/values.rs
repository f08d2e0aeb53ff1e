//! The parameters of a fault.

use std::collections::BTreeMap;

use super::kinds::{Kind, Parameter, Unit};

/// The given parameters of a fault; the others have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<&'static str, String>);

/// Why a value is not valid for its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Not a whole number.
    #[error("invalid `{name}`: expected a whole number of {unit}, found `{found}`")]
    NotANumber {
        /// The parameter.
        name: &'static str,
        /// The unit.
        unit: &'static str,
        /// The given value.
        found: String,
    },
    /// Not JSON.
    #[error("invalid `{name}`: expected a JSON value, found `{found}`")]
    NotJson {
        /// The parameter.
        name: &'static str,
        /// The given value.
        found: String,
    },
    /// Not one of the allowed words.
    #[error("invalid `{name}`: expected one of {words}, found `{found}`")]
    NotAWord {
        /// The parameter.
        name: &'static str,
        /// The words.
        words: String,
        /// The given value.
        found: String,
    },
    /// Too large or too small.
    #[error("invalid `{name}`: expected {least} to {most} {unit}, found {found}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The unit.
        unit: &'static str,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
        /// The given value.
        found: String,
    },
}

impl Values {
    /// Sets one parameter.
    pub fn set(&mut self, parameter: &Parameter, value: &str) -> Result<(), ValueError> {
        let name = parameter.name;
        let found = || value.to_owned();
        match parameter.unit {
            Unit::Text => {}
            Unit::Json if tapewright_schemas::json::is_valid(value.as_bytes()) => {}
            Unit::Json => {
                let found = found();
                return Err(ValueError::NotJson { name, found });
            }
            Unit::Integer => {
                value.parse::<i64>().map_err(|_| ValueError::NotANumber {
                    name,
                    unit: "either sign",
                    found: found(),
                })?;
            }
            Unit::Words(words) if words.contains(&value) => {}
            Unit::Words(words) => {
                return Err(ValueError::NotAWord {
                    name,
                    words: words.join(", "),
                    found: found(),
                });
            }
            Unit::Count { of, least, most } => {
                let number: u64 = value.parse().map_err(|_| ValueError::NotANumber {
                    name,
                    unit: of,
                    found: found(),
                })?;
                if !(least..=most).contains(&number) {
                    return Err(ValueError::OutOfRange {
                        name,
                        unit: of,
                        least,
                        most,
                        found: found(),
                    });
                }
            }
        }
        self.0.insert(name, value.to_owned());
        Ok(())
    }

    /// The text of a parameter: the given one, or its default.
    #[must_use]
    pub fn text<'a>(&'a self, kind: &Kind, name: &str) -> &'a str {
        let default = kind
            .parameter(name)
            .and_then(|parameter| parameter.default)
            .unwrap_or_default();
        self.0.get(name).map_or(default, String::as_str)
    }

    /// The number of a parameter.
    #[must_use]
    pub fn number(&self, kind: &Kind, name: &str) -> u64 {
        self.text(kind, name).parse().unwrap_or_default()
    }

    /// The first required parameter that is missing.
    #[must_use]
    pub fn missing(&self, kind: &Kind) -> Option<&'static Parameter> {
        let lacks = |one: &&Parameter| one.default.is_none() && !self.0.contains_key(one.name);
        kind.parameters.iter().find(lacks)
    }

    /// The given parameters, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
