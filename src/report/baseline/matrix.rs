//! Several models against one baseline: a table of models by tests, with the changes in each cell.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use tapewright_baselines::{Comparison, Entry, Severity};

use super::json::{outcome, summary};
use super::{Compared, TITLE, test_of, words};
use crate::report::formats::Reportable as _;
use crate::report::formats::html::{escaped, page};
use crate::report::formats::markdown::cell;
use crate::report::model::{Group, Level, Problem, Report, Row, Status};
use crate::report::safe;

/// Several models against one baseline.
#[derive(Debug)]
pub(crate) struct Matrix<'m> {
    /// The file of the baseline.
    pub(crate) baseline: &'m str,
    /// Its model.
    pub(crate) model: &'m str,
    /// How often it was asked.
    pub(crate) runs: u64,
    pub(crate) columns: Vec<Column<'m>>,
}

/// One model.
#[derive(Debug)]
pub(crate) struct Column<'m> {
    pub(crate) model: &'m str,
    /// How often it was asked.
    pub(crate) runs: u64,
    /// The comparison, or the reasons why there is no capture, a line for each test.
    pub(crate) found: Result<&'m Comparison, &'m [String]>,
}

/// The result of a test with a model.
#[derive(Default)]
struct Cell<'m> {
    entries: Vec<&'m Entry>,
}

const NOT_CAPTURED: &str = "not captured";
const INVALID: &str = "invalid: the server's configuration differs";

impl Matrix<'_> {
    /// The table for a terminal.
    pub(crate) fn pretty(&self) -> String {
        let mut rows = vec![self.head()];
        rows.extend(self.body());
        let columns = self.columns.len() + 1;
        let width = |at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = format!(
            "{TITLE}\n\n  against {} ({})\n\n",
            safe(self.baseline),
            safe(self.model)
        );
        for row in &rows {
            let mut line = String::from(" ");
            for (cell, width) in row.iter().zip(&widths) {
                let _never_fails = write!(line, " {cell:<width$} ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for note in self.notes() {
            let _never_fails = write!(out, "\n  {}", safe(&note));
        }
        out.push('\n');
        out
    }

    /// The table for a pull request.
    pub(crate) fn markdown(&self) -> String {
        let line = |row: &[String]| {
            let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = format!(
            "# {TITLE}\n\nAgainst {} ({}).\n\n",
            cell(self.baseline),
            cell(self.model)
        );
        out.push_str(&line(&self.head()));
        let _never_fails = writeln!(out, "|{}", "---|".repeat(self.columns.len() + 1));
        for row in self.body() {
            out.push_str(&line(&row));
        }
        out.push('\n');
        for note in self.notes() {
            let _never_fails = writeln!(out, "- {}", cell(&note));
        }
        out
    }

    /// The table on a page, with the changes folded into each cell.
    pub(crate) fn html(&self) -> String {
        let mut out = format!(
            "<p>Against {} ({}).</p>\n<table>\n<tr>",
            escaped(self.baseline),
            escaped(self.model)
        );
        for name in self.head() {
            let _never_fails = write!(out, "<td>{}</td>", escaped(&name));
        }
        out.push_str("</tr>\n");
        for test in self.tests() {
            let _never_fails = write!(out, "<tr><td>{}</td>", escaped(test));
            for column in &self.columns {
                out.push_str(&html_cell(column, test));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table>\n");
        for note in self.notes() {
            let _never_fails = writeln!(out, "<p>{}</p>", escaped(&note));
        }
        page(TITLE, &out)
    }

    /// The object for programs.
    pub(crate) fn json(&self) -> Value {
        let models: Vec<Value> = self
            .columns
            .iter()
            .map(|column| self.model(column))
            .collect();
        let tests = self.tests().into_iter().map(|test| {
            let cells = self.columns.iter();
            let cells = cells.map(|column| (column.model.to_owned(), column.text(test).into()));
            json!({"test": test, "models": cells.collect::<serde_json::Map<_, Value>>()})
        });
        json!({
            "baseline": {"file": self.baseline, "model_id": self.model, "runs": self.runs},
            "models": models,
            "tests": tests.collect::<Vec<Value>>(),
        })
    }

    fn model(&self, column: &Column<'_>) -> Value {
        match column.found {
            Err(missing) => json!({
                "model_id": column.model,
                "outcome": NOT_CAPTURED,
                "missing": missing,
            }),
            Ok(found) => json!({
                "model_id": column.model,
                "outcome": outcome(found),
                "summary": summary(found),
                "comparison": self.compared(column, found).document(),
            }),
        }
    }

    /// Every model as a group of rows.
    pub(crate) fn report(&self) -> Report {
        let mut groups = Vec::new();
        for column in &self.columns {
            match column.found {
                Ok(found) => groups.extend(self.compared(column, found).report().groups),
                Err(missing) => groups.push(missed(column.model, missing)),
            }
        }
        Report {
            title: TITLE,
            groups,
            result: None,
        }
    }

    fn compared<'c>(&'c self, column: &'c Column<'_>, found: &'c Comparison) -> Compared<'c> {
        Compared {
            baseline: self.baseline,
            candidate: column.model,
            models: [self.model, column.model],
            runs: [self.runs, column.runs],
            found,
        }
    }

    /// Every test of any model, by name.
    fn tests(&self) -> BTreeSet<&str> {
        let found = self.columns.iter().filter_map(|column| column.found.ok());
        let entries = found.flat_map(|found| &found.entries);
        entries.map(|entry| test_of(&entry.test_id).0).collect()
    }

    fn head(&self) -> Vec<String> {
        let models = self.columns.iter().map(|column| safe(column.model));
        std::iter::once("test".to_owned()).chain(models).collect()
    }

    fn body(&self) -> Vec<Vec<String>> {
        let row = |test: &str| {
            let cells = self.columns.iter().map(|column| column.text(test));
            std::iter::once(safe(test)).chain(cells).collect()
        };
        self.tests().into_iter().map(row).collect()
    }

    /// The notes next to the table.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for column in &self.columns {
            match column.found {
                Ok(found) => {
                    let changes = found.identity.iter().map(words::identity);
                    let changes: Vec<String> = changes.collect();
                    if !changes.is_empty() {
                        notes.push(format!("{}: {}", column.model, changes.join("; ")));
                    }
                }
                Err(missing) => {
                    notes.push(format!(
                        "{}: {NOT_CAPTURED}: {}",
                        column.model,
                        missing.join("; ")
                    ));
                }
            }
        }
        notes
    }
}

impl<'m> Column<'m> {
    fn cell(&self, test: &str) -> Cell<'m> {
        let entries = self.found.ok().into_iter().flat_map(|found| &found.entries);
        let own = entries.filter(|entry| test_of(&entry.test_id).0 == test);
        Cell {
            entries: own.collect(),
        }
    }

    /// The changes, in a few words.
    fn text(&self, test: &str) -> String {
        match self.found {
            Err(_) => NOT_CAPTURED.to_owned(),
            Ok(found) if found.is_invalid => INVALID.to_owned(),
            Ok(_) => self.cell(test).text(),
        }
    }
}

impl Cell<'_> {
    /// `FAIL tool_args 1, tool_calls 2; drift response_semantics 1; noise …`
    fn text(&self) -> String {
        let mut sorts: BTreeMap<(u8, &str), BTreeMap<&str, usize>> = BTreeMap::new();
        for entry in &self.entries {
            let sort = match entry.severity {
                Severity::Pass => continue,
                _ if entry.is_noise => (2, "noise"),
                Severity::Fail => (0, "FAIL"),
                Severity::Drift => (1, "drift"),
            };
            let categories = sorts.entry(sort).or_default();
            *categories.entry(entry.category.name()).or_default() += 1;
        }
        if sorts.is_empty() {
            return if self.entries.is_empty() {
                "–"
            } else {
                "pass"
            }
            .to_owned();
        }
        let told = sorts.iter().map(|((_, word), categories)| {
            let each = categories
                .iter()
                .map(|(name, count)| format!("{name} {count}"));
            format!("{word} {}", each.collect::<Vec<_>>().join(", "))
        });
        told.collect::<Vec<_>>().join("; ")
    }
}

fn html_cell(column: &Column<'_>, test: &str) -> String {
    let short = column.text(test);
    let cell = column.cell(test);
    let class = match () {
        () if short == "pass" => "pass",
        () if short.starts_with("FAIL") => "fail",
        () => "other",
    };
    let told = cell
        .entries
        .iter()
        .filter(|entry| entry.severity != Severity::Pass);
    let told: Vec<String> = told
        .map(|entry| {
            escaped(
                &format!("{}: {}", test_of(&entry.test_id).1, words::of(entry)).replace('\n', " "),
            )
        })
        .collect();
    let short = escaped(&short);
    if told.is_empty() {
        return format!("<td class=\"{class}\">{short}</td>");
    }
    let told = told.join("\n");
    format!(
        "<td class=\"{class}\"><details><summary>{short}</summary><pre>{told}</pre></details></td>"
    )
}

/// A model that was not captured.
fn missed(model: &str, missing: &[String]) -> Group {
    let rows = missing.iter().map(|why| {
        let mut row = Row::new(Status::Error, NOT_CAPTURED, model);
        model.clone_into(&mut row.class);
        row.problems.push(Problem::new(Some(Level::Error), why));
        row
    });
    Group {
        title: model.to_owned(),
        rows: rows.collect(),
        ..Group::default()
    }
}
