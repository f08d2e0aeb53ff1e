//! A short summary of the rows of a range, for listeners.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use tapewright_fleet_query::canned::HANG_OUTCOMES;

/// How many tools are listed, and how many codes of findings.
const NAMES: usize = 32;
/// How many exchanges are listed.
const NOTABLE: usize = 16;
/// The longest name chosen by a peer, in characters.
const TEXT: usize = 80;

/// The summary of a range's rows. Every part of it is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many exchanges were settled.
    pub exchanges: u64,
    /// How many ended in which way, by the token of the column `outcome`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, u64>,
    /// How many were answered with a tool's error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_errors: u64,
    /// The same counts for each tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, BTreeMap<String, u64>>,
    /// How many exchanges are of tools that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of_other_tools: u64,
    /// How many findings there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub findings: u64,
    /// How many findings have each code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub codes: BTreeMap<String, u64>,
    /// Failed exchanges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notable: Vec<Notable>,
    /// How many further ones there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_notable: u64,
}

/// A failed exchange, and its place on the tape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notable {
    /// The event of the request.
    pub seq: u64,
    /// The method.
    pub method: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How it ended: a token of the column `outcome`, or [`TOOL_ERROR`].
    pub outcome: String,
    /// How long its sender waited, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

/// The token for a tool's error, in place of an outcome.
pub const TOOL_ERROR: &str = "tool_error";
/// The token of an answer.
pub const ANSWERED: &str = "answered";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn short(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

/// Whether an exchange with this outcome is a hang, as in the canned query `hangs`.
#[must_use]
pub fn is_hang(outcome: &str) -> bool {
    HANG_OUTCOMES.contains(&outcome)
}

impl Summary {
    /// Adds an exchange; the outcome of a tool's error is changed to say so.
    pub fn exchange(&mut self, one: Notable, is_tool_error: bool) {
        self.exchanges += 1;
        self.tool_errors += u64::from(is_tool_error);
        *self.outcomes.entry(one.outcome.clone()).or_default() += 1;
        let outcome = if is_tool_error {
            TOOL_ERROR.to_owned()
        } else {
            one.outcome
        };
        let one = Notable {
            method: short(&one.method),
            tool: one.tool.as_deref().map(short),
            outcome,
            ..one
        };
        self.tool(&one);
        if one.outcome != ANSWERED {
            self.notable(one);
        }
    }

    fn tool(&mut self, one: &Notable) {
        let Some(tool) = &one.tool else { return };
        if self.tools.len() >= NAMES && !self.tools.contains_key(tool) {
            self.of_other_tools += 1;
            return;
        }
        let outcomes = self.tools.entry(tool.clone()).or_default();
        *outcomes.entry(one.outcome.clone()).or_default() += 1;
    }

    /// Hangs come before errors if not all can be listed.
    fn notable(&mut self, one: Notable) {
        if self.notable.len() < NOTABLE {
            self.notable.push(one);
            return;
        }
        self.more_notable += 1;
        if is_hang(&one.outcome) {
            let lesser = self.notable.iter().rposition(|one| !is_hang(&one.outcome));
            if let Some(lesser) = lesser {
                drop(self.notable.remove(lesser));
                self.notable.push(one);
            }
        }
    }

    /// Adds a finding.
    pub fn finding(&mut self, code: &str) {
        self.findings += 1;
        let code = short(code);
        if self.codes.len() < NAMES || self.codes.contains_key(&code) {
            *self.codes.entry(code).or_default() += 1;
        }
    }

    /// How many exchanges hang.
    #[must_use]
    pub fn hangs(&self) -> u64 {
        let hangs = self.outcomes.iter().filter(|(outcome, _)| is_hang(outcome));
        hangs.map(|(_, count)| count).sum()
    }

    /// Lists fewer exchanges and tools, to shorten the whole; `false` if nothing is left to leave
    /// out.
    pub fn shorten(&mut self) -> bool {
        if self.notable.pop().is_some() {
            self.more_notable += 1;
            return true;
        }
        if let Some((_, outcomes)) = self.tools.pop_last() {
            self.of_other_tools += outcomes.values().sum::<u64>();
            return true;
        }
        self.codes.pop_last().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(seq: u64, tool: &str, outcome: &str) -> Notable {
        Notable {
            seq,
            method: "tools/call".to_owned(),
            tool: Some(tool.to_owned()),
            outcome: outcome.to_owned(),
            waited_ms: None,
        }
    }

    #[test]
    fn what_went_wrong_is_told_and_hangs_first() {
        let mut summary = Summary::default();
        for seq in 0..20 {
            summary.exchange(exchange(seq, "a", "error"), false);
        }
        summary.exchange(exchange(20, "b", "still_pending"), false);
        summary.exchange(exchange(21, "b", ANSWERED), false);
        summary.exchange(exchange(22, "b", ANSWERED), true);
        assert_eq!((summary.exchanges, summary.hangs()), (23, 1));
        assert_eq!(summary.notable.len(), NOTABLE);
        assert_eq!(summary.notable.last().unwrap().seq, 20);
        assert_eq!(summary.more_notable, 6);
        let of_b: Vec<(&str, u64)> = summary.tools["b"]
            .iter()
            .map(|(outcome, count)| (outcome.as_str(), *count))
            .collect();
        assert_eq!(of_b, [(ANSWERED, 1), ("still_pending", 1), (TOOL_ERROR, 1)]);
    }

    /// For any names and any number of tools.
    #[test]
    fn it_is_bounded() {
        let mut summary = Summary::default();
        for seq in 0..1_000 {
            let name = format!("{}{seq}", "\u{1}".repeat(10_000));
            summary.exchange(exchange(seq, &format!("{seq}{name}"), "timeout"), false);
            summary.finding(&format!("{seq}{name}"));
        }
        assert_eq!(summary.tools.len(), NAMES);
        assert_eq!(summary.of_other_tools, 1_000 - NAMES as u64);
        let text = serde_json::to_string(&summary).unwrap();
        assert!(text.len() < 48 << 10, "{}", text.len());
        let mut last = text.len();
        while summary.shorten() {
            let now = serde_json::to_string(&summary).unwrap().len();
            assert!(now < last + 2, "{now} {last}");
            last = now;
        }
        assert!(last < 300, "{last}");
    }
}
