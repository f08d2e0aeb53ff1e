//! The members of a mapping with a fixed set of keys.

use super::cursor::Cursor;
use crate::issue::Code;
use crate::near::{did_you_mean, listed};
use crate::yaml::{Kind, Member};

/// A closed mapping while it is read. Every requested key is known; [`Fields::finish`] rejects the
/// others.
pub(crate) struct Fields<'a> {
    at: Cursor<'a>,
    members: &'a [Member],
    known: Vec<&'static str>,
    /// Each entry is a set of keys of which one is required.
    missing: Vec<Vec<&'static str>>,
}

impl<'a> Cursor<'a> {
    /// The members of a closed mapping; empty if the node is not a mapping.
    pub(crate) fn fields(&self) -> Fields<'a> {
        let members: &'a [Member] = if let Kind::Object(members) = &self.node.kind {
            members
        } else {
            self.wrong_type("an object");
            &[]
        };
        Fields {
            at: self.clone(),
            members,
            known: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// The members of a mapping with free keys, each with its key.
    pub(crate) fn entries(&self) -> Vec<(&'a str, Self)> {
        let Kind::Object(members) = &self.node.kind else {
            self.wrong_type("an object");
            return Vec::new();
        };
        let entry = |member: &'a Member| {
            let cursor = self.step(&member.key, &member.value, member.key_span);
            (member.key.as_str(), cursor)
        };
        members.iter().map(entry).collect()
    }
}

impl<'a> Fields<'a> {
    /// The value of an optional key.
    pub(crate) fn optional(&mut self, key: &'static str) -> Option<Cursor<'a>> {
        self.known.push(key);
        let member = self.members.iter().find(|member| member.key == key)?;
        Some(self.at.step(key, &member.value, member.key_span))
    }

    /// The value of a required key.
    pub(crate) fn required(&mut self, key: &'static str) -> Option<Cursor<'a>> {
        let found = self.optional(key);
        if found.is_none() {
            self.missing(&[key]);
        }
        found
    }

    /// The text of a required key.
    pub(crate) fn name(&mut self, key: &'static str) -> String {
        let found = self.required(key);
        found.map(|at| at.name()).unwrap_or_default()
    }

    /// The text of an optional key.
    pub(crate) fn optional_name(&mut self, key: &'static str) -> Option<String> {
        self.optional(key).map(|at| at.name())
    }

    /// The texts of an optional list.
    pub(crate) fn names(&mut self, key: &'static str) -> Vec<String> {
        let found = self.optional(key);
        found.map(|at| at.names()).unwrap_or_default()
    }

    /// The address under a key that must be there.
    pub(crate) fn web_address(&mut self, key: &'static str) -> String {
        let found = self.required(key);
        found.map(|at| at.web_address()).unwrap_or_default()
    }

    /// Whether a key is present and true.
    pub(crate) fn flag(&mut self, key: &'static str) -> bool {
        self.optional(key).is_some_and(|at| at.boolean())
    }

    /// Reports that none of these keys is present, of which one is required.
    pub(crate) fn missing(&mut self, keys: &[&'static str]) {
        if matches!(self.at.node.kind, Kind::Object(_)) {
            self.missing.push(keys.to_vec());
        }
    }

    /// The one of several keys that is present. Reports an issue if there is none or more than one.
    pub(crate) fn exactly_one(
        &mut self,
        keys: &[&'static str],
    ) -> Option<(&'static str, Cursor<'a>)> {
        let mut found: Vec<_> = keys
            .iter()
            .filter_map(|key| Some((*key, self.optional(key)?)))
            .collect();
        if found.len() > 1 {
            let given: Vec<_> = found.iter().map(|(key, _)| *key).collect();
            let message = format!(
                "{} has {}, which cannot be used together",
                self.at.label(),
                listed(&given)
            );
            let help = "keep exactly one of them".to_owned();
            if let Some((_, later)) = found.iter().max_by_key(|(_, at)| at.key_span.start) {
                later.error_at_key(Code::Choice, message, help);
            }
        } else if found.is_empty() {
            self.missing(keys);
        }
        (!found.is_empty()).then(|| found.swap_remove(0))
    }

    /// Rejects every key that was not requested.
    pub(crate) fn finish(self) {
        self.finish_with(|_| None);
    }

    /// Rejects every key that was not requested. `explain` returns a hint for some.
    pub(crate) fn finish_with(self, explain: impl Fn(&str) -> Option<&'static str>) {
        let is_unknown = |member: &&Member| !self.known.contains(&member.key.as_str());
        let unknown: Vec<_> = self.members.iter().filter(is_unknown).collect();
        for keys in &self.missing {
            // A mistyped key is reported once, with the right one next to it.
            let is_typo =
                |member: &&Member| did_you_mean(&member.key, keys.iter().copied()).is_some();
            if !unknown.iter().any(is_typo) {
                self.report_missing(keys);
            }
        }
        for member in unknown {
            let key = member.key.as_str();
            let help = explain(key).map(str::to_owned);
            let help = help.or_else(|| (key == "<<").then(|| MERGE_KEY.to_owned()));
            let near = || did_you_mean(key, self.known.iter().copied());
            let help = help.or_else(near).unwrap_or_else(|| {
                let mut known = self.known.clone();
                known.dedup();
                format!("known here: {}", listed(&known))
            });
            let cursor = self.at.step(key, &member.value, member.key_span);
            let message = format!(
                "`{}` is not a key of {}",
                key.escape_debug(),
                self.at.label()
            );
            cursor.error_at_key(Code::UnknownKey, message, help);
        }
    }

    fn report_missing(&self, keys: &[&str]) {
        let what = self.at.label();
        let (code, message, help) = if let [key] = keys {
            let message = format!("{what} has no `{key}`");
            (Code::MissingKey, message, format!("add `{key}:`"))
        } else {
            let message = format!("{what} has none of {}", listed(keys));
            (Code::Choice, message, "give exactly one of them".to_owned())
        };
        self.at.error_at_key(code, message, help);
    }
}

const MERGE_KEY: &str = "merge keys are not part of YAML 1.2; write the members out";
