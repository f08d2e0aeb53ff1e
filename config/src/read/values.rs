//! Strings, numbers and lists.

use serde_json::{Map, Number, Value};

use super::cursor::Cursor;
use crate::issue::Code;
use crate::near::{did_you_mean, listed};
use crate::yaml::{Kind, Node};

/// The largest integer that a suite may set; far beyond any sensible value.
pub(crate) const MAX_INTEGER: u64 = 1_000_000_000_000;

impl<'a> Cursor<'a> {
    /// Any string.
    pub(crate) fn text(&self) -> String {
        if let Some(text) = self.string() {
            text.value.clone()
        } else {
            self.wrong_type("a string");
            String::new()
        }
    }

    /// A string that is not empty.
    pub(crate) fn name(&self) -> String {
        match self.string() {
            Some(text) => {
                if text.value.is_empty() {
                    let message = format!("{} is empty", self.label());
                    self.error(Code::Value, message, None);
                }
                text.value.clone()
            }
            None => self.text(),
        }
    }

    /// One of these words.
    pub(crate) fn word(&self, words: &[&'static str]) -> Option<&'static str> {
        let Some(text) = self.string() else {
            self.wrong_type("a string");
            return None;
        };
        let found = words.iter().find(|word| **word == text.value).copied();
        if found.is_none() {
            let near = did_you_mean(&text.value, words.iter().copied());
            let help = near.unwrap_or_else(|| format!("one of {}", listed(words)));
            let message = format!("{} cannot be {}", self.label(), self.shown());
            self.error(Code::Value, message, help);
        }
        found
    }

    /// A boolean.
    pub(crate) fn boolean(&self) -> bool {
        if let Kind::Bool(value) = self.node.kind {
            return value;
        }
        match self.string().map(|text| text.value.as_str()) {
            Some("yes" | "no" | "on" | "off") => {
                let message = format!("{} must be a boolean, not a string", self.label());
                let help = "in YAML 1.2 only `true` and `false` are booleans".to_owned();
                self.error(Code::Type, message, help);
            }
            _ => self.wrong_type("a boolean"),
        }
        false
    }

    /// A whole number, `least` or more.
    pub(crate) fn integer(&self, least: u64) -> u64 {
        self.integer_within(least, MAX_INTEGER)
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn integer_within(&self, least: u64, most: u64) -> u64 {
        let Kind::Number(number) = &self.node.kind else {
            self.wrong_type("an integer");
            return least;
        };
        let Some(value) = whole(number) else {
            let message = format!(
                "{} must be a whole number, not {}",
                self.label(),
                self.shown()
            );
            self.error(Code::Type, message, None);
            return least;
        };
        match u64::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => value,
            _ => {
                let range = if most == MAX_INTEGER {
                    format!("{least} or more")
                } else {
                    format!("from {least} to {most}")
                };
                let message = format!("{} must be {range}, not {value}", self.label());
                self.error(Code::Value, message, None);
                least
            }
        }
    }

    /// A whole number of either sign.
    pub(crate) fn signed(&self) -> i64 {
        let Kind::Number(number) = &self.node.kind else {
            self.wrong_type("an integer");
            return 0;
        };
        let most = i128::from(MAX_INTEGER);
        match whole(number) {
            Some(value) if (-most..=most).contains(&value) => i64::try_from(value).unwrap_or(0),
            Some(value) => {
                let message = format!("{} is out of range: {value}", self.label());
                self.error(Code::Value, message, None);
                0
            }
            None => {
                let message = format!(
                    "{} must be a whole number, not {}",
                    self.label(),
                    self.shown()
                );
                self.error(Code::Type, message, None);
                0
            }
        }
    }

    /// A number from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        let value = self.number();
        if !(0.0..=1.0).contains(&value) {
            let message = format!("{} must be from 0 to 1, not {}", self.label(), self.shown());
            self.error(Code::Value, message, None);
        }
        value
    }

    /// A number above 0.
    pub(crate) fn positive(&self) -> f64 {
        let is_number = matches!(self.node.kind, Kind::Number(_));
        let value = self.number();
        if is_number && value <= 0.0 {
            let message = format!("{} must be more than 0, not {}", self.label(), self.shown());
            self.error(Code::Value, message, None);
        }
        value
    }

    fn number(&self) -> f64 {
        if let Kind::Number(number) = &self.node.kind {
            number.as_f64().unwrap_or(0.0)
        } else {
            self.wrong_type("a number");
            0.0
        }
    }

    /// The entries of a list.
    pub(crate) fn items(&self) -> Vec<Self> {
        self.items_if_array().unwrap_or_else(|| {
            self.wrong_type("an array");
            Vec::new()
        })
    }

    /// The entries of a list with at least one.
    pub(crate) fn some_items(&self) -> Vec<Self> {
        let items = self.items();
        if items.is_empty() && matches!(self.node.kind, Kind::Array(_)) {
            let message = format!("{} is empty", self.label());
            self.error(Code::Value, message, "give at least one entry".to_owned());
        }
        items
    }

    /// The entries, when the node is a list.
    pub(crate) fn items_if_array(&self) -> Option<Vec<Self>> {
        let Kind::Array(items) = &self.node.kind else {
            return None;
        };
        let step =
            |(index, item): (usize, &'a Node)| self.step(&index.to_string(), item, item.span);
        Some(items.iter().enumerate().map(step).collect())
    }

    /// A list of strings that are not empty.
    pub(crate) fn names(&self) -> Vec<String> {
        self.items().iter().map(Self::name).collect()
    }

    /// A mapping with free contents.
    pub(crate) fn object(&self) -> Map<String, Value> {
        if !matches!(self.node.kind, Kind::Object(_)) {
            self.wrong_type("an object");
        }
        self.node.to_map()
    }

    /// A string, or a number or boolean as one.
    pub(crate) fn scalar_text(&self) -> Option<String> {
        match &self.node.kind {
            Kind::Text(text) => Some(text.value.clone()),
            Kind::Bool(value) => Some(value.to_string()),
            Kind::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The entries of a mapping with at least one.
    pub(crate) fn some_entries(&self) -> Vec<(&'a str, Self)> {
        let entries = self.entries();
        if entries.is_empty() && self.is_object() {
            let message = format!("{} is empty", self.label());
            self.error(Code::Value, message, "give at least one entry".to_owned());
        }
        entries
    }

    /// A mapping from names to strings.
    pub(crate) fn text_map(&self) -> Vec<(String, String)> {
        let pair = |(key, value): (&str, Self)| (key.to_owned(), value.text());
        self.entries().into_iter().map(pair).collect()
    }
}

/// The number, when it has no fraction: JSON Schema calls `3.0` an integer as well.
fn whole(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i128() {
        return Some(value);
    }
    let value = number.as_f64()?;
    let bound = 1e18;
    if value.fract() != 0.0 {
        return None;
    }
    // Beyond the bound every value is out of range, whatever it is.
    format!("{:.0}", value.clamp(-bound, bound)).parse().ok()
}
