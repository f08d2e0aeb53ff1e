//! `tapewright eval`.

use super::*;

/// An evaluation of the peer with this rubric.
fn suite(rubric: &str) -> String {
    with_peer(&format!(
        "evals:\n  - name: sums up\n    server: peer\n    prompt: What is 2 + 3?\n    {rubric}\n"
    ))
}

fn provider(score: f64) -> Provider {
    Provider::start(
        &json!({"key": KEY, "sides": [verdict(false, score, "so it is")], "turns": [
            {"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
            {"text": "It is 5."},
        ]}),
    )
}

const EVAL: &[&str] = &["eval", "suite.yaml"];

#[test]
fn an_evaluation_asks_the_server_through_a_model_and_a_judge_grades_it() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite("rubric: It names the sum."));
    let (status, told) = report(&stage, Some(&provider(0.8)), EVAL);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(test(&told, 0)["kind"], "eval");
    assert_eq!(test(&told, 0)["judgements"][0]["score"], 0.8);
    assert_eq!(test(&told, 0)["cost"]["asked"], 3);
    let (status, told) = report(&stage, Some(&provider(0.6)), EVAL);
    assert_eq!(status, 1, "{told:#}");
    let junit = self::told(
        &stage,
        Some(&provider(0.6)),
        &[EVAL, &["--format", "junit"]].concat(),
    );
    assert!(
        junit
            .out
            .contains("score 0.60; must be at least 0.70: so it is"),
        "{}",
        junit.out
    );
}

#[test]
fn a_named_rubric_is_looked_up_and_its_threshold_overridden() {
    let stage = Stage::new();
    let named = "rubrics:\n  sum: { threshold: 0.9, criteria: [{ name: sum, description: It names the sum. }] }\n";
    stage.write(
        "suite.yaml",
        &format!("{}{named}", suite("rubric: { ref: sum }")),
    );
    assert_eq!(report(&stage, Some(&provider(0.8)), EVAL).0, 1);
    stage.write(
        "suite.yaml",
        &format!("{}{named}", suite("rubric: { ref: sum, threshold: 0.5 }")),
    );
    assert_eq!(report(&stage, Some(&provider(0.8)), EVAL).0, 0);
}

#[test]
fn without_a_key_it_is_deferred_and_with_recordings_it_is_not() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite("rubric: It names the sum."));
    let (status, told) = report(&stage, None, EVAL);
    assert_eq!(
        (status, &test(&told, 0)["status"]),
        (0, &json!("deferred")),
        "{told:#}"
    );
    let words = [EVAL, &["--record"]].concat();
    assert_eq!(report(&stage, Some(&provider(0.8)), &words).0, 0);
    let (status, told) = report(&stage, None, EVAL);
    assert_eq!(
        (status, &test(&told, 0)["status"]),
        (0, &json!("pass")),
        "{told:#}"
    );
    assert_eq!(test(&told, 0)["replay"], true);
    stage.write("suite.yaml", &suite("rubric: It names the summands."));
    let (status, told) = report(&stage, None, EVAL);
    assert_eq!(status, 2);
    assert!(
        test(&told, 0)["reasons"]
            .to_string()
            .contains("the rubric changed"),
        "{told:#}"
    );
}

#[test]
fn run_says_who_runs_evaluations() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite("rubric: It names the sum."));
    let said = told(&stage, None, RUN);
    assert_eq!(said.status, 3, "{}", said.out);
    assert!(said.out.contains("tapewright eval"), "{}", said.out);
}

#[test]
fn only_what_is_named_is_evaluated() {
    let (stage, provider) = (Stage::new(), provider(0.8));
    stage.write("suite.yaml", &suite("rubric: It names the sum."));
    let said = told(
        &stage,
        Some(&provider),
        &["eval", "suite.yaml", "--filter", "other"],
    );
    assert_eq!(said.status, 3, "{}", said.out);
    assert!(said.err.contains("no evaluation matches"), "{}", said.err);
    assert_eq!(asked(&provider), 0);
}
