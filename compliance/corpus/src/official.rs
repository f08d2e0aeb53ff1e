//! Compares tapewright's rules with the checks of the official conformance suite.
//!
//! `compliance/official.yml` maps the suite's checks to the rules that cover the same requirement.
//! The suite's results are read from its `checks.json`; [`compare`] matches both.

use serde_json::Value;

use crate::embedded;

/// One of our rules, and the checks that are about the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covers {
    /// An invariant, a rule of a corpus, or a migration case.
    pub rule: String,
    /// Ids of checks.
    pub checks: Vec<String>,
    /// Why the two differ on purpose.
    pub differs: Option<String>,
}

/// Why a table or a `checks.json` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfficialError {
    /// The table is not YAML, or of another version.
    #[error("the table of official checks is not one of version 1")]
    NoTable,
    /// A row of the table is incomplete.
    #[error("row {0} of the table of official checks lacks its `rule` or its `checks`")]
    BadRow(usize),
    /// The suite's output cannot be read.
    #[error("expected an array of checks with `id` and `status`")]
    NoChecks,
}

/// The suite's result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// Informative, not judged.
    Info,
    /// Not carried out.
    Skipped,
    /// It holds.
    Success,
    /// It does not hold, and need not.
    Warning,
    /// It does not hold.
    Failure,
}

/// One check of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its id.
    pub id: String,
    /// Its result.
    pub status: CheckStatus,
    /// Why it does not hold; empty if it does.
    pub message: String,
}

/// The result of one of tapewright's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurRule {
    /// Its id.
    pub rule: String,
    /// Whether it holds; `None` where not exercised.
    pub holds: Option<bool>,
    /// Why it does not hold.
    pub detail: String,
}

/// A rule and a check that both have a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Our rule.
    pub rule: String,
    /// The check.
    pub check: Check,
    /// Whether the rule holds.
    pub holds: bool,
    /// Why it does not.
    pub detail: String,
    /// Why the two differ on purpose.
    pub differs: Option<String>,
}

impl Pair {
    /// Whether both have the same result.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.holds == (self.check.status == CheckStatus::Success)
    }
}

impl CheckStatus {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "INFO" => Self::Info,
            "SKIPPED" => Self::Skipped,
            "SUCCESS" => Self::Success,
            "WARNING" => Self::Warning,
            "FAILURE" => Self::Failure,
            _ => return None,
        })
    }

    /// Its name in `checks.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Skipped => "SKIPPED",
            Self::Success => "SUCCESS",
            Self::Warning => "WARNING",
            Self::Failure => "FAILURE",
        }
    }

    fn tells(self) -> bool {
        matches!(self, Self::Success | Self::Warning | Self::Failure)
    }
}

/// The path of the embedded table in the repository.
const BUILT_IN: &str = "compliance/official.yml";

/// The embedded table.
#[must_use]
pub fn built_in() -> Vec<Covers> {
    // A test reads it.
    read(embedded::text(BUILT_IN)).unwrap_or_default()
}

/// Reads a table.
pub fn read(text: &str) -> Result<Vec<Covers>, OfficialError> {
    let table = tapewright_config::to_json(text).ok_or(OfficialError::NoTable)?;
    if table.get("version") != Some(&Value::from(1)) {
        return Err(OfficialError::NoTable);
    }
    let rows = table
        .get("rules")
        .and_then(Value::as_array)
        .ok_or(OfficialError::NoTable)?;
    let row = |(number, row): (usize, &Value)| {
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let checks = row.get("checks").and_then(Value::as_array);
        let checks = checks.map(|all| {
            all.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        match (text("rule"), checks) {
            (Some(rule), Some(checks)) if !checks.is_empty() => Ok(Covers {
                rule,
                checks,
                differs: text("differs"),
            }),
            _ => Err(OfficialError::BadRow(number)),
        }
    };
    (1..).zip(rows).map(row).collect()
}

/// Reads a `checks.json` of the suite. A check with an unknown status is ignored.
pub fn checks(text: &[u8]) -> Result<Vec<Check>, OfficialError> {
    let Ok(Value::Array(all)) = serde_json::from_slice(text) else {
        return Err(OfficialError::NoChecks);
    };
    let mut found = Vec::new();
    for one in &all {
        let text = |name: &str| one.get(name).and_then(Value::as_str);
        let (Some(id), Some(status)) = (text("id"), text("status")) else {
            return Err(OfficialError::NoChecks);
        };
        found.extend(CheckStatus::named(status).map(|status| Check {
            id: id.to_owned(),
            status,
            message: text("errorMessage").unwrap_or_default().to_owned(),
        }));
    }
    Ok(found)
}

/// The worst result of each check that was made several times.
#[must_use]
pub fn worst(all: impl IntoIterator<Item = Check>) -> Vec<Check> {
    let mut found = std::collections::BTreeMap::<String, Check>::new();
    for check in all {
        match found.get_mut(&check.id) {
            Some(before) if before.status >= check.status => {}
            Some(before) => *before = check,
            None => {
                found.insert(check.id.clone(), check);
            }
        }
    }
    found.into_values().collect()
}

/// The pairs of a rule and a check of the suite that have a result for the same requirement.
#[must_use]
pub fn compare(table: &[Covers], ours: &[OurRule], theirs: &[Check]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for covers in table {
        let Some(own) = ours.iter().find(|own| own.rule == covers.rule) else {
            continue;
        };
        let Some(holds) = own.holds else { continue };
        for id in &covers.checks {
            let check = theirs
                .iter()
                .find(|check| check.id == *id && check.status.tells());
            pairs.extend(check.map(|check| Pair {
                rule: own.rule.clone(),
                check: check.clone(),
                holds,
                detail: own.detail.clone(),
                differs: covers.differs.clone(),
            }));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_rules_that_there_are() {
        let table = read(embedded::text(BUILT_IN)).unwrap();
        assert!(table.len() > 20);
        let registry = crate::registry::embedded().value.unwrap();
        for covers in &table {
            let invariant = covers
                .rule
                .strip_prefix("INV-")
                .map(|_| covers.rule.parse());
            let known = if let Some(code) = invariant {
                code.is_ok_and(|code| tapewright_compliance::table::find(code).is_some())
            } else {
                let is_registered = registry.rule(&covers.rule).is_some();
                is_registered || crate::migration::find(&covers.rule).is_some()
            };
            assert!(known, "{}", covers.rule);
        }
        assert_eq!(built_in(), table);
    }

    #[test]
    fn a_table_without_its_parts_is_refused() {
        assert_eq!(read("version: 2\nrules: []"), Err(OfficialError::NoTable));
        assert_eq!(read("["), Err(OfficialError::NoTable));
        let row = "version: 1\nrules:\n  - { rule: a, checks: [b] }\n  - { rule: c }\n";
        assert_eq!(read(row), Err(OfficialError::BadRow(2)));
    }

    #[test]
    fn what_the_suite_says_is_put_beside_ours() {
        let text = br#"[{"id":"a","status":"SUCCESS"},{"id":"a","status":"FAILURE","errorMessage":"no"},{"id":"b","status":"INFO"},{"id":"c","status":"WARNING"}]"#;
        let theirs = worst(checks(text).unwrap());
        assert_eq!(theirs.len(), 3);
        let table = read("version: 1\nrules:\n  - { rule: X, checks: [a, b, c] }\n  - { rule: Y, checks: [a] }\n").unwrap();
        let ours = |holds| {
            vec![OurRule {
                rule: "X".to_owned(),
                holds,
                detail: String::new(),
            }]
        };
        let pairs = compare(&table, &ours(Some(true)), &theirs);
        let told: Vec<_> = pairs
            .iter()
            .map(|pair| (pair.check.id.as_str(), pair.agrees()))
            .collect();
        assert_eq!(told, [("a", false), ("c", false)]);
        assert!(
            compare(&table, &ours(Some(false)), &theirs)
                .iter()
                .all(Pair::agrees)
        );
        assert!(compare(&table, &ours(None), &theirs).is_empty());
        assert_eq!(checks(b"{}"), Err(OfficialError::NoChecks));
        assert_eq!(checks(br#"[{"id":1}]"#), Err(OfficialError::NoChecks));
    }
}
