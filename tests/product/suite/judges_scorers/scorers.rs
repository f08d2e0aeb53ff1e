//! Scorers: programs of the suite that grade.

use super::super::stage::with_peer;
use super::*;
use crate::support::system::make_executable;

/// A model that answers at once.
fn model() -> Provider {
    Provider::start(
        &json!({"key": KEY, "repeat": true, "turns": [{"text": "payments 1.4.2 is deployed"}]}),
    )
}

/// A suite with one evaluation, and a scorer with this script.
fn suite(stage: &Stage, script: &str, rubric: &str, scorer: &str) {
    let path = stage.write("grade", &format!("#!/bin/sh\n{script}\n"));
    make_executable(&path);
    stage.write(
        "suite.yaml",
        &with_peer(&format!(
            "scorers:\n  - {{ name: facts, type: exec, command: [./grade, now]{scorer} }}\nevals:\n  - {{ name: release, server: peer, prompt: Which release?, rubric: {{ scorer: facts{rubric} }} }}\n"
        )),
    );
}

fn eval(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> (i32, Value) {
    report(stage, provider, &[&["eval", "suite.yaml"], words].concat())
}

#[test]
fn a_scorer_gets_the_task_and_what_it_says_is_the_verdict() {
    let (stage, provider) = (Stage::new(), model());
    std::fs::create_dir(stage.path("work")).expect("a folder");
    suite(
        &stage,
        "cat > seen.json; echo \"$1 $GRADING\" > seen.txt\necho '{\"verdict\": \"pass\", \"score\": 0.9, \"reasoning\": \"all there\", \"cost_usd\": 0.25}'",
        ", criteria: names the release",
        ", cwd: work, env: { GRADING: \"${HOW}\" }",
    );
    let words = [
        "eval",
        "suite.yaml",
        "--reporter",
        "json",
        "--var",
        "HOW=strictly",
    ];
    let said = said(&mut command(&stage, Some(&provider), &words));
    let told: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
    assert_eq!(
        (said.status, statuses(&told)),
        (0, vec!["pass"]),
        "{told:#}"
    );
    let seen: Value = serde_json::from_str(&stage.read("work/seen.json")).expect("JSON");
    assert_eq!(
        seen,
        json!({
            "input": "Which release?", "output": "payments 1.4.2 is deployed", "criteria": "names the release",
            "metadata": {"test": "release", "scorer": "facts"},
        })
    );
    assert_eq!(stage.read("work/seen.txt"), "now strictly\n");
    let judgement = &tests(&told)[0]["judgements"][0];
    assert_eq!(
        (
            &judgement["model"],
            &judgement["score"],
            &judgement["reason"]
        ),
        (&json!("scorer facts"), &json!(0.9), &json!("all there"))
    );
    assert!(
        told.to_string().contains("25"),
        "the cost is told: {told:#}"
    );
}

#[test]
fn the_verdict_decides_and_what_the_rubric_sets_must_hold_as_well() {
    let (stage, provider) = (Stage::new(), model());
    let says = |verdict: &str| {
        format!("echo '{{\"verdict\": \"{verdict}\", \"score\": 0.6, \"reasoning\": \"so so\"}}'")
    };
    for (verdict, rubric, wanted) in [
        ("pass", "", "pass"),
        ("fail", "", "fail"),
        ("fail", ", threshold: 0.5", "fail"),
        ("pass", ", threshold: 0.6", "pass"),
        ("pass", ", threshold: 0.7", "fail"),
        ("pass", ", strict: true", "fail"),
    ] {
        suite(&stage, &says(verdict), rubric, "");
        let (status, told) = eval(&stage, Some(&provider), &[]);
        assert_eq!(statuses(&told), [wanted], "{verdict}{rubric}: {told:#}");
        assert_eq!(status, i32::from(wanted == "fail"), "{told:#}");
        if wanted == "fail" {
            assert!(told.to_string().contains("so so"), "{told:#}");
        }
    }
}

/// Scripts that answer wrongly, and what the error says.
const WRONG: &[(&str, &[&str])] = &[
    (
        "echo \"well, $API_TOKEN says maybe\"",
        &["gave no grade", "received: `well, ", "says maybe`"],
    ),
    (
        "echo '{\"verdict\": \"maybe\"}'",
        &["`verdict` must be", "maybe"],
    ),
    (
        "echo '{\"verdict\": \"pass\", \"score\": 7}'",
        &["`score` must be a number from 0 to 1"],
    ),
    ("exit 0", &["received: nothing"]),
    (
        "echo \"no quota for $API_TOKEN\" >&2; exit 3",
        &["ended with status 3", "no quota for"],
    ),
    (
        "x=0123456789; for i in 1 2 3 4 5; do x=$x$x$x$x$x$x$x$x$x$x; done; echo $x$x",
        &["wrote more than 1048576 bytes"],
    ),
];

/// Windows has no signals.
const ON_UNIX: &[(&str, &[&str])] = &[("kill -9 $$", &["was ended by signal 9"])];

#[test]
fn a_wrong_answer_is_an_error_that_shows_what_was_received() {
    let (stage, provider) = (Stage::new(), model());
    let secret = "hG7tR2qLx9vB4nZk8WcY";
    let here = if cfg!(unix) { ON_UNIX } else { &[] };
    for (script, words) in WRONG.iter().chain(here) {
        suite(&stage, script, "", ", env: { API_TOKEN: \"${API_TOKEN}\" }");
        let words_of_all = ["eval", "suite.yaml", "--reporter", "json"];
        let said = said(command(&stage, Some(&provider), &words_of_all).env("API_TOKEN", secret));
        let told: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
        assert_eq!(
            (said.status, statuses(&told)),
            (2, vec!["error"]),
            "{script}: {told:#}"
        );
        let text = tests(&told)[0].to_string();
        for word in *words {
            assert!(text.contains(word), "{script}: {word}: {told:#}");
        }
        assert!(
            !said.out.contains(secret) && !said.err.contains(secret),
            "{script}: {told:#}"
        );
    }
}

// A script without a shell's jobs cannot start something and go on.
#[cfg(unix)]
#[test]
fn one_that_hangs_is_killed_with_all_that_it_started() {
    use std::time::Duration;

    use crate::support::{eventually, marked};

    let (stage, provider) = (Stage::new(), model());
    for (script, wanted) in [
        (
            "sleep 1000 & echo $! > pid; wait",
            "took longer than 400 ms",
        ),
        // It has closed its output, and keeps running.
        (
            "sleep 1000 >&- 2>&- & echo $! > pid; exec >&- 2>&-; wait",
            "took longer than 400 ms",
        ),
    ] {
        let mark = format!("scorer-of-{}", std::process::id());
        let scorer = format!(", timeout_ms: 400, env: {{ HANGS: {mark} }}");
        suite(&stage, script, "", &scorer);
        let (status, told) = eval(&stage, Some(&provider), &[]);
        assert_eq!((status, statuses(&told)), (2, vec!["error"]), "{told:#}");
        assert!(told.to_string().contains(wanted), "{script}: {told:#}");
        let mark = format!("HANGS={mark}");
        let gone = || marked(&mark).is_empty();
        assert!(eventually(Duration::from_secs(20), gone), "{script}");
    }
}

#[test]
fn one_that_never_reads_its_input_is_no_trouble() {
    let (stage, provider) = (Stage::new(), model());
    suite(&stage, "echo '{\"verdict\": \"pass\"}'", "", "");
    // More than any pipe holds.
    let long = stage
        .read("suite.yaml")
        .replace("Which release?", &"why? ".repeat(400_000));
    stage.write("suite.yaml", &long);
    let (status, told) = eval(&stage, Some(&provider), &[]);
    assert_eq!(
        (status, statuses(&told)),
        (0, vec!["pass"]),
        "{}",
        tests(&told)[0]["reasons"]
    );
}

#[test]
fn a_type_that_is_not_there_fails_when_it_is_used_with_those_that_are() {
    let (stage, provider) = (Stage::new(), model());
    stage.write(
        "suite.yaml",
        &with_peer("scorers:\n  - { name: facts, type: braintrust }\nevals:\n  - { name: release, server: peer, prompt: Which?, rubric: { scorer: facts } }\n"),
    );
    assert_eq!(
        said(&mut command(&stage, None, &["validate", "suite.yaml"])).status,
        0
    );
    let (status, told) = eval(&stage, Some(&provider), &[]);
    assert_eq!((status, statuses(&told)), (2, vec!["error"]), "{told:#}");
    let words = "the scorer `facts` is of type `braintrust`, and this build has: exec";
    assert!(told.to_string().contains(words), "{told:#}");
}

#[test]
fn a_variable_that_is_not_set_and_a_scorer_that_is_not_there_are_found_at_load() {
    let stage = Stage::new();
    suite(
        &stage,
        "exit 0",
        "",
        ", env: { API_TOKEN: \"${NOBODY_SETS_THIS}\" }",
    );
    let told = said(&mut command(&stage, None, &["eval", "suite.yaml"]));
    assert_eq!(told.status, 2, "{}", told.err);
    assert!(
        told.err.contains("NOBODY_SETS_THIS") && told.err.contains("suite.yaml:5"),
        "{}",
        told.err
    );

    suite(&stage, "exit 0", "", "");
    let other = stage
        .read("suite.yaml")
        .replace("scorer: facts", "scorer: fact");
    stage.write("suite.yaml", &other);
    let told = said(&mut command(&stage, None, &["eval", "suite.yaml"]));
    assert_eq!(told.status, 2, "{}", told.err);
    assert!(told.err.contains("unknown scorer `fact`"), "{}", told.err);
}

#[test]
fn what_it_said_is_recorded_and_said_again_without_it() {
    let (stage, provider) = (Stage::new(), model());
    suite(
        &stage,
        "echo '{\"verdict\": \"fail\", \"score\": 0.4, \"reasoning\": \"no service\"}'",
        ", criteria: names it",
        "",
    );
    let (status, live) = eval(&stage, Some(&provider), &["--record"]);
    assert_eq!((status, statuses(&live)), (1, vec!["fail"]), "{live:#}");
    drop(provider);
    std::fs::remove_file(stage.path("grade")).expect("a file");
    let (status, later) = eval(&stage, None, &[]);
    assert_eq!((status, statuses(&later)), (1, vec!["fail"]), "{later:#}");
    let judgement = &tests(&later)[0]["judgements"][0];
    assert_eq!(
        (&judgement["replayed"], &judgement["reason"]),
        (&json!(true), &json!("no service"))
    );

    let changed = stage.read("suite.yaml").replace("names it", "names all");
    stage.write("suite.yaml", &changed);
    let (status, missed) = eval(&stage, None, &[]);
    assert_eq!(
        (status, statuses(&missed)),
        (2, vec!["error"]),
        "{missed:#}"
    );
    assert!(
        missed.to_string().contains("the rubric changed"),
        "{missed:#}"
    );
}

#[test]
fn what_it_costs_counts() {
    let (stage, provider) = (Stage::new(), model());
    suite(
        &stage,
        "echo '{\"verdict\": \"pass\", \"cost_usd\": 0.6}'",
        "",
        "",
    );
    let second =
        "  - { name: second, server: peer, prompt: And now?, rubric: { scorer: facts } }\n";
    let text = stage.read("suite.yaml") + second;
    stage.write("suite.yaml", &text);
    let words = ["--max-cost", "0.5", "--parallel", "1"];
    let (status, told) = eval(&stage, Some(&provider), &words);
    assert_eq!(statuses(&told)[0], "pass", "{told:#}");
    assert_ne!((status, statuses(&told)[1]), (0, "pass"), "{told:#}");

    // An unknown cost is not counted.
    suite(
        &stage,
        "echo '{\"verdict\": \"pass\", \"cost_usd\": null}'",
        "",
        "",
    );
    let text = stage.read("suite.yaml") + second;
    stage.write("suite.yaml", &text);
    let (status, told) = eval(&stage, Some(&provider), &words);
    assert_eq!(
        (status, statuses(&told)),
        (0, vec!["pass", "pass"]),
        "{told:#}"
    );
}
