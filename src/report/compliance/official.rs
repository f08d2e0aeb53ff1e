//! The results of the official suite next to our rules, as a group of a report.

use serde_json::{Value, json};
use tapewright_corpus::official::{Check, Pair};

use crate::command::compliance::Official;
use crate::report::model::{Group, Problem, Row, Status};
use crate::report::safe;

/// The disagreements, and the number of agreements.
pub(crate) fn group(official: &Official) -> Group {
    let (agree, differ): (Vec<&Pair>, Vec<&Pair>) =
        official.pairs.iter().partition(|pair| pair.agrees());
    let summary = format!(
        "{} checks, {} with a corresponding rule, {} agree",
        official.checks.len(),
        official.pairs.len(),
        agree.len()
    );
    let summary = Row::new(Status::Pass, "suite", summary);
    Group {
        title: "Beside the official suite".to_owned(),
        rows: std::iter::once(summary)
            .chain(differ.into_iter().map(row))
            .collect(),
        ..Group::default()
    }
}

fn row(pair: &Pair) -> Row {
    let ours = if pair.holds { "holds" } else { "fails" };
    let name = format!(
        "we say it {ours}, `{}` says {}",
        safe(&pair.check.id),
        pair.check.status.name()
    );
    // A disagreement is not a failure; failures have their own rows.
    let mut row = Row::new(Status::Skipped, "differs", name);
    row.code = Some(pair.rule.clone());
    let said = [(&pair.detail, "ours"), (&pair.check.message, "theirs")];
    let said = said.into_iter().filter(|(text, _)| !text.is_empty());
    row.problems = said
        .map(|(text, whose)| Problem::new(None, &format!("{whose}: {}", safe(text))))
        .collect();
    row.problems
        .extend(pair.differs.as_ref().map(|why| Problem::new(None, why)));
    row
}

/// The checks of the suite in the form of our results, with their source, and the pairs.
pub(crate) fn json(official: &Official) -> Value {
    let result = |check: &Check| {
        json!({
            "rule_id": check.id,
            "status": check.status.name(),
            "source": "official",
            "message": check.message,
        })
    };
    let pair = |pair: &Pair| {
        json!({
            "rule_id": pair.rule,
            "check": pair.check.id,
            "ours": pair.holds,
            "theirs": pair.check.status.name(),
            "agrees": pair.agrees(),
            "differs": pair.differs,
        })
    };
    json!({
        "results": official.checks.iter().map(result).collect::<Vec<_>>(),
        "pairs": official.pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}
