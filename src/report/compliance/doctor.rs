//! The report of `compliance doctor`.

use serde_json::{Value, json};
use tapewright_corpus::migration::{CASES, Case, Evidence, Finding, Severity, Status as Outcome};

use super::official;
use crate::command::compliance::{Examination, Examined};
use crate::report::formats::{self, Reportable};
use crate::report::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::report::safe;

impl Reportable for Examination {
    fn report(&self) -> Report {
        let official = self.all.iter().filter_map(|one| one.official.as_ref());
        let groups = self.all.iter().map(|one| group(one, self.is_folder));
        Report {
            title: "Migration",
            groups: groups.chain(official.map(official::group)).collect(),
            result: Some(format!(
                "{} to change, {} passed, {} skipped",
                self.count(Outcome::Fail),
                self.count(Outcome::Pass),
                self.count(Outcome::Skipped)
            )),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let all: Vec<Value> = self.all.iter().map(document).collect();
        match all.as_slice() {
            [one] if !self.is_folder => formats::json::text(one),
            all => formats::json::text(&all),
        }
    }
}

fn group(examined: &Examined, is_one_of_several: bool) -> Group {
    let target = &examined.target;
    let findings = examined.findings.iter();
    Group {
        title: if is_one_of_several {
            format!("{} to {target}", examined.path.display())
        } else {
            format!("to {target}")
        },
        rows: findings.map(|finding| row(examined, finding)).collect(),
        ..Group::default()
    }
}

fn document(examined: &Examined) -> Value {
    let finding = |finding: &Finding| {
        let evidence = |one: &Evidence| {
            json!({
                "event": (one.event > 0).then_some(one.event),
                "line": line(examined, one),
                "pointer": one.pointer,
                "side": one.side.name(),
                "what": one.what,
            })
        };
        let case = finding.case;
        json!({
            "id": case.id,
            "kind": case.kind.name(),
            "severity": case.severity.name(),
            "status": finding.status.name(),
            "summary": case.summary,
            "detail": finding.detail,
            "replacement": case.replacement,
            "doc_link": case.doc_link,
            "sep": case.sep,
            "evidence": finding.evidence.iter().map(evidence).collect::<Vec<_>>(),
            "more": finding.more,
        })
    };
    let mut document = json!({
        "target_version": examined.target,
        "recording": examined.path.display().to_string(),
        "findings": examined.findings.iter().map(finding).collect::<Vec<_>>(),
    });
    if let (Some(official), Some(members)) = (&examined.official, document.as_object_mut()) {
        members.insert("official".to_owned(), official::json(official));
    }
    document
}

/// The line of the recording with the evidence: a tape's events follow its header.
fn line(examined: &Examined, evidence: &Evidence) -> Option<u64> {
    (examined.is_tape && evidence.event > 0).then(|| evidence.event.saturating_add(1))
}

/// How much evidence of one case people see; programs get more.
const SHOWN: usize = 5;

fn row(examined: &Examined, finding: &Finding) -> Row {
    let (status, word) = match finding.status {
        Outcome::Fail => (Status::Fail, "fail"),
        Outcome::Pass => (Status::Pass, "pass"),
        Outcome::Skipped => (Status::Skipped, "skipped"),
    };
    let case = finding.case;
    let name = match finding.status {
        Outcome::Fail => case.summary,
        Outcome::Pass | Outcome::Skipped => &finding.detail,
    };
    let mut row = Row::new(status, word, name);
    row.code = Some(case.id.to_owned());
    case.id.clone_into(&mut row.heading);
    case.kind.name().clone_into(&mut row.class);
    case.id.clone_into(&mut row.failure);
    let path = examined.path.display().to_string();
    row.spot = Some(Spot::file(&path));
    match finding.status {
        Outcome::Fail => {
            let problem = |evidence: &Evidence| {
                let mut problem = Problem::new(Some(level(case.severity)), &sentence(evidence));
                problem.spot = Some(Spot {
                    line: line(examined, evidence),
                    ..Spot::file(&path)
                });
                problem
            };
            row.problems = finding.evidence.iter().take(SHOWN).map(problem).collect();
            let left = finding.evidence.len().saturating_sub(SHOWN) as u64;
            if left + finding.more > 0 {
                let more = format!("and {} more", left + finding.more);
                row.problems.push(Problem::new(None, &more));
            }
            row.problems.push(Problem::new(
                None,
                &format!("to change: {}", case.replacement),
            ));
        }
        Outcome::Skipped => row.why = Some(finding.detail.clone()),
        Outcome::Pass => {}
    }
    row
}

/// The evidence in a line: who, what, and where.
fn sentence(evidence: &Evidence) -> String {
    let (side, what) = (evidence.side.name(), safe(&evidence.what));
    let pointer = safe(&evidence.pointer);
    if evidence.event == 0 {
        return format!("{side}: {what} ({pointer})");
    }
    format!("{side}: {what} (event {} {pointer})", evidence.event)
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::High => Level::Error,
        Severity::Medium => Level::Warning,
        Severity::Low => Level::Notice,
    }
}

/// The findings as SARIF 2.1.0, for code scanning.
pub(crate) fn sarif(examination: &Examination) -> anyhow::Result<String> {
    let failed = |examined: &Examined| -> Vec<Value> {
        let findings = examined.findings.iter();
        let failed = findings.filter(|one| one.status == Outcome::Fail);
        failed.flat_map(|one| results(examined, one)).collect()
    };
    let results: Vec<Value> = examination.all.iter().flat_map(failed).collect();
    let rules: Vec<Value> = CASES.iter().map(|case| rule(case)).collect();
    formats::sarif::log(&rules, &results)
}

fn rule(case: &Case) -> Value {
    json!({
        "id": case.id,
        "shortDescription": {"text": case.summary},
        "fullDescription": {"text": format!("Before: {}. Now: {}.", case.old_contract, case.new_contract)},
        "help": {"text": format!("To change: {}. {}", case.replacement, case.doc_link)},
        "helpUri": case.doc_link,
        "defaultConfiguration": {"level": word(case.severity)},
        "properties": {"tags": [case.kind.name(), case.sep]},
    })
}

fn results(examined: &Examined, finding: &Finding) -> Vec<Value> {
    let one = |evidence: &Evidence| {
        let line = line(examined, evidence);
        let physical = formats::sarif::place(&examined.path, line);
        let name = format!("event {} {}", evidence.event, evidence.pointer);
        json!({
            "ruleId": finding.case.id,
            "level": word(finding.case.severity),
            "message": {"text": format!("{}. To change: {}", sentence(evidence), finding.case.replacement)},
            "locations": [{
                "physicalLocation": physical,
                "logicalLocations": [{"fullyQualifiedName": safe(&name)}],
            }],
        })
    };
    finding.evidence.iter().map(one).collect()
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}
