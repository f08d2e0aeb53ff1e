use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Finding, Side, Status};
use tapewright_compliance::table::{self, TABLE};
use tapewright_compliance::{Invariant, Selection, Transport, script};
use tapewright_replay::Script;
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Header, VERSION};

use self::plan::Plan;
use super::super::judge::{self, Question};
use super::{Verdicts, plain, write};

#[test]
fn labels_become_names_of_files() {
    assert_eq!(plain("stdio://my server"), "stdio---my-server");
    assert_eq!(plain("../.."), "server");
    assert_eq!(plain("a".repeat(500).as_str()).len(), 60);
}

/// A tape of an example.
fn tape(example: &str) -> Vec<u8> {
    let script = script::read(example).expect("an example");
    let header = Header {
        tape: VERSION.to_owned(),
        by: "tapewright".to_owned(),
        label: "s".to_owned(),
        transport: match script.facts.transport {
            Transport::Http => "http".to_owned(),
            Transport::Stdio | Transport::Unknown => "stdio".to_owned(),
        },
        ..Header::default()
    };
    let rules = Rules::new(&Settings::default()).expect("no rules of our own");
    let mut encoder = Encoder::new(Redactor::new(Arc::new(rules)));
    let mut text = Vec::new();
    header.write(&mut text);
    for event in &script.events {
        encoder.encode(event, &mut text);
    }
    encoder.footer(1, None).write(&mut text);
    text
}

fn judged(path: &Path, rule: &Invariant) -> Verdicts {
    let mut selection = Selection::none();
    selection.select(rule.code).expect("a known code");
    let question = Question {
        path,
        selection,
        shared_transport: false,
    };
    judge::judge(&question).expect("a readable file")
}

fn failures(verdicts: &Verdicts) -> Vec<&Finding> {
    let outcomes = verdicts.servers.iter().flat_map(|one| &one.outcomes);
    let findings = outcomes.flat_map(|one| &one.findings);
    findings.filter(|one| one.status == Status::Fail).collect()
}

#[test]
fn each_finding_of_each_bad_example_is_found_again_in_the_file_that_was_cut_out_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for rule in TABLE {
        let whole = folder.path().join(format!("{}.tape.jsonl", rule.code));
        let text = tape(rule.breaks);
        fs::write(&whole, &text).expect("a file");
        let mut verdicts = judged(&whole, rule);
        let proof = folder.path().join(rule.code.to_string());
        write(&proof, &mut verdicts).expect("evidence");
        let found = failures(&verdicts);
        assert!(!found.is_empty(), "{}", rule.code);
        let files: Vec<_> = super::files(&verdicts).collect();
        assert_eq!(files.len(), found.len(), "{}", rule.code);
        for (finding, file) in found.iter().zip(files) {
            let again = judged(file, rule);
            let same = |one: &&Finding| {
                (one.code, one.side, &one.detail) == (finding.code, finding.side, &finding.detail)
            };
            assert!(
                failures(&again).iter().any(same),
                "{finding:?} in {file:?}: {again:?}"
            );
        }
    }
}

#[path = "../../../../compliance/tests/mutants/draft/mod.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the rules, which use all of it"
)]
mod draft;
#[path = "../../../../compliance/tests/mutants/plan.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the rules, which use all of it"
)]
mod plan;

/// Code, side and text of everything that fails in a file, by every rule.
fn all_failures(path: &Path) -> BTreeSet<(Code, Side, String)> {
    let question = Question {
        path,
        selection: Selection::all(),
        shared_transport: false,
    };
    let verdicts = judge::judge(&question).expect("a readable file");
    let told = |one: &Finding| (one.code, one.side, one.detail.clone());
    failures(&verdicts).into_iter().map(told).collect()
}

/// What is wrong with the evidence of a rule on a tape: each of its findings must have a file that
/// shows it, shows nothing that the tape does not show, and can be replayed. `None` if the rule
/// finds nothing.
fn flaw(folder: &Path, rule: Code, tape: &[u8]) -> Option<Result<(), String>> {
    fs::create_dir(folder).expect("a new folder");
    let whole = folder.join("whole.tape.jsonl");
    fs::write(&whole, tape).expect("a file");
    let known = all_failures(&whole);
    let mut verdicts = judged(&whole, table::find(rule).expect("a rule"));
    let found = failures(&verdicts).len();
    if found == 0 {
        return None;
    }
    write(&folder.join("proof"), &mut verdicts).expect("evidence");
    let files: Vec<_> = super::files(&verdicts).collect();
    if files.len() != found {
        return Some(Err(format!("{rule}: {} of {found} files", files.len())));
    }
    let flawed = files.iter().find_map(|file| {
        let shown = all_failures(file);
        let extra: Vec<_> = shown.difference(&known).collect();
        let there = shown.iter().any(|(code, ..)| *code == rule);
        let replays = Script::load(fs::read(file).expect("a file")).is_ok();
        let clean = there && extra.is_empty() && replays;
        (!clean).then(|| format!("{rule}: {there} {replays} {extra:?}"))
    });
    Some(flawed.map_or(Ok(()), Err))
}

/// The first mutant of each rule.
fn mutants() -> Vec<Plan> {
    let mut done = BTreeSet::new();
    let mut plans = plan::all();
    plans.retain(|plan| done.insert(plan.rule));
    plans
}

#[test]
fn the_evidence_of_every_mutant_is_clean_and_replays() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut flaws = Vec::new();
    for (number, plan) in mutants().iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        match flaw(&folder, plan.rule, &plan.mutant().tape()) {
            None => flaws.push(format!("{}: no finding", plan.rule)),
            Some(looked) => flaws.extend(looked.err()),
        }
    }
    assert!(flaws.is_empty(), "{flaws:#?}");
}

#[test]
fn a_tape_whose_numbers_jump_gets_evidence_as_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut tried, mut flaws) = (0, Vec::new());
    for (number, plan) in mutants().iter().enumerate() {
        let mut mutant = plan.mutant();
        mutant.lose(mutant.len() / 2);
        let folder = folder.path().join(number.to_string());
        // Verdicts that depend on the lost event are inconclusive.
        let Some(looked) = flaw(&folder, plan.rule, &mutant.tape()) else {
            continue;
        };
        tried += 1;
        flaws.extend(looked.err());
    }
    assert!(flaws.is_empty(), "{flaws:#?}");
    assert!(tried > 30, "{tried}");
}
