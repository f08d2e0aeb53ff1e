//! How well judges agree with labelled examples: as text, JSON and a table.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tapewright_judges::calibration::NoProposal;

use super::formats::Format;
use super::judgement::points;
use super::{Mistake, safe};
use crate::suite::calibration::{Calibrated, Compared, Judged};

/// The version of the JSON document.
const VERSION: &str = "1";
/// How many disagreements people see.
const MOST: usize = 20;

/// Refuses formats that cannot represent the report.
pub(crate) fn check(format: Format) -> anyhow::Result<()> {
    match format {
        Format::Pretty | Format::Json | Format::Markdown => Ok(()),
        Format::Junit | Format::Tap | Format::Github => Err(Mistake::new(
            "unsupported format for `--calibrate`",
            "use `pretty`, `json` or `markdown`",
        )
        .into()),
    }
}

/// The report in a format.
pub(crate) fn text(all: &Calibrated, format: Format) -> anyhow::Result<String> {
    check(format)?;
    Ok(match format {
        Format::Json => format!("{:#}\n", document(all)),
        Format::Markdown => markdown(all),
        _ => pretty(all),
    })
}

fn pretty(all: &Calibrated) -> String {
    let mut out = format!("{}: {} labelled examples\n", safe(&all.file), all.examples);
    for one in &all.judges {
        let _never_fails = write!(out, "\n{}\n{}", safe(&one.judge), figures(one));
        for row in one
            .rows
            .iter()
            .filter(|row| row.verdict().is_none())
            .take(MOST)
        {
            let _never_fails = writeln!(out, "  {}", safe(&unjudged(row)));
        }
        for row in one
            .rows
            .iter()
            .filter(|row| row.agrees() == Some(false))
            .take(MOST)
        {
            let _never_fails = writeln!(out, "  {}", safe(&disagreement(row)));
        }
    }
    if !all.notes.is_empty() {
        out.push('\n');
    }
    for note in &all.notes {
        let _never_fails = writeln!(out, "{}", safe(note));
    }
    out
}

/// The lines with the figures of a judge.
fn figures(one: &Compared) -> String {
    let counts = &one.confusion;
    let source = if one.is_replayed() {
        ", from the recording"
    } else {
        ""
    };
    let mut out = format!(
        "  {} of {} judged{source}\n",
        counts.total(),
        one.rows.len()
    );
    let (Some(accuracy), kappa) = (counts.accuracy(), counts.kappa()) else {
        return out;
    };
    let error = one.mean_error.map_or(String::new(), |error| {
        format!(", mean error of its scores {}", points(error))
    });
    let _never_fails = writeln!(
        out,
        "  accuracy {}, Cohen's kappa {}{error}\n\
         \x20                 judged pass  judged fail\n\
         \x20 labelled pass {:>13}{:>13}\n\
         \x20 labelled fail {:>13}{:>13}\n\
         \x20 {}",
        points(accuracy),
        or_none(kappa),
        counts.true_pass,
        counts.false_fail,
        counts.false_pass,
        counts.true_fail,
        proposal(one),
    );
    out
}

/// The proposed threshold, in a line.
fn proposal(one: &Compared) -> String {
    match &one.proposal {
        Ok(found) => format!(
            "threshold {} agrees best: accuracy {}, kappa {}",
            found.threshold,
            or_none(found.confusion.accuracy()),
            or_none(found.confusion.kappa()),
        ),
        Err(why) => format!("no threshold is proposed: {}", no_proposal(*why)),
    }
}

fn no_proposal(why: NoProposal) -> &'static str {
    match why {
        NoProposal::NoScores => "no score",
        NoProposal::OneLabel => "it needs examples that pass and examples that fail",
        NoProposal::Chance => "none agrees better than chance",
    }
}

fn or_none(number: Option<f64>) -> String {
    number.map_or("not defined".to_owned(), points)
}

fn word(passes: bool) -> &'static str {
    if passes { "pass" } else { "fail" }
}

/// `3: labelled fail, judged pass (0.90): it names both`
fn disagreement(row: &Judged) -> String {
    let score = row
        .opinion
        .score
        .map_or(String::new(), |score| format!(" ({})", points(score)));
    let reason = row.opinion.reason.as_deref();
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    let (label, verdict) = (word(row.label), word(!row.label));
    format!(
        "{}: labelled {label}, judged {verdict}{score}{reason}",
        row.example
    )
}

fn unjudged(row: &Judged) -> String {
    let reason = row
        .opinion
        .reason
        .as_deref()
        .unwrap_or("no reason is given");
    format!("{}: {}: {reason}", row.example, row.opinion.outcome.name())
}

fn markdown(all: &Calibrated) -> String {
    let mut out = format!(
        "## Calibration of judges\n\n{}: {} labelled examples.\n\n\
         | judge | judged | accuracy | kappa | true pass | false pass | false fail | true fail | threshold that agrees best |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        cell(&all.file),
        all.examples
    );
    for one in &all.judges {
        let counts = &one.confusion;
        let best = match &one.proposal {
            Ok(found) => format!(
                "{} (kappa {})",
                found.threshold,
                or_none(found.confusion.kappa())
            ),
            Err(why) => no_proposal(*why).to_owned(),
        };
        let _never_fails = writeln!(
            out,
            "| {} | {} of {} | {} | {} | {} | {} | {} | {} | {best} |",
            cell(&one.judge),
            counts.total(),
            one.rows.len(),
            or_none(counts.accuracy()),
            or_none(counts.kappa()),
            counts.true_pass,
            counts.false_pass,
            counts.false_fail,
            counts.true_fail,
        );
    }
    for one in &all.judges {
        let odd = one.rows.iter().filter(|row| row.agrees() == Some(false));
        for row in odd.take(MOST) {
            let _never_fails = write!(
                out,
                "\n- {}: {}",
                cell(&one.judge),
                cell(&disagreement(row))
            );
        }
    }
    for note in &all.notes {
        let _never_fails = write!(out, "\n- {}", cell(note));
    }
    out.trim_end().to_owned() + "\n"
}

/// A text that cannot break its table cell.
fn cell(text: &str) -> String {
    let line = safe(text).split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}

fn document(all: &Calibrated) -> Value {
    let judges: Vec<Value> = all.judges.iter().map(judge).collect();
    json!({
        "calibration": VERSION,
        "file": all.file,
        "examples": all.examples,
        "judges": judges,
        "notes": all.notes,
    })
}

fn judge(one: &Compared) -> Value {
    let counts = &one.confusion;
    let proposal = one.proposal.as_ref().ok().map(|found| {
        json!({
            "threshold": found.threshold,
            "accuracy": found.confusion.accuracy(),
            "kappa": found.confusion.kappa(),
        })
    });
    let rows: Vec<Value> = one.rows.iter().map(row).collect();
    json!({
        "judge": one.judge,
        "judged": counts.total(),
        "undecided": one.undecided(),
        "replayed": one.is_replayed(),
        "accuracy": counts.accuracy(),
        "kappa": counts.kappa(),
        "confusion": {
            "true_pass": counts.true_pass,
            "false_pass": counts.false_pass,
            "false_fail": counts.false_fail,
            "true_fail": counts.true_fail,
        },
        "mean_error": one.mean_error,
        "proposal": proposal,
        "no_proposal": one.proposal.as_ref().err().map(|why| no_proposal(*why)),
        "examples": rows,
    })
}

fn row(row: &Judged) -> Value {
    json!({
        "example": row.example,
        "label": word(row.label),
        "label_score": row.score,
        "outcome": row.opinion.outcome.name(),
        "score": row.opinion.score,
        "agrees": row.agrees(),
        "replayed": row.opinion.replayed,
        "reason": row.opinion.reason,
    })
}
