//! `eval --calibrate`: judges, compared with labels.

use super::super::stage::with_peer;
use super::*;

/// A judge that decides by the first word of the candidate.
fn judge() -> Provider {
    let says = |when: &str, pass: bool, score: f64| {
        let text =
            json!({"pass": pass, "score": score, "reason": format!("it is {when}")}).to_string();
        json!({"when": when, "text": text})
    };
    Provider::start(&json!({"key": KEY, "turns": [], "sides": [
        says("excellent", true, 0.95),
        says("good", true, 0.8),
        says("middling", false, 0.65),
        says("poor", false, 0.3),
        says("awful", false, 0.1),
        {"when": "odd", "text": "I would rather not say."},
    ]}))
}

/// It is wrong about one of the six that it judges: it fails a middling text that is labelled as a
/// pass.
const EXAMPLES: &str = "judges: [gpt-5]\nrubric: It names the release.\nexamples:\n  - { input: Which release?, output: excellent 1, label: pass, score: 1 }\n  - { input: Which release?, output: good 2, label: pass }\n  - { name: third, output: middling 3, label: pass }\n  - { output: poor 4, score: 0.2 }\n  - { output: awful 5, label: fail }\n  - { output: poor 6, label: fail }\n";

fn calibrate(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    said(&mut command(
        stage,
        provider,
        &[&["eval", "--calibrate", "examples.yaml"], words].concat(),
    ))
}

fn document(said: &CommandOutput) -> Value {
    serde_json::from_str(&said.out)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err))
}

#[test]
fn a_judge_is_compared_with_labels_live_and_from_the_recording() {
    let (stage, provider) = (Stage::new(), judge());
    stage.write("examples.yaml", EXAMPLES);
    let live = calibrate(&stage, Some(&provider), &["--record", "--format", "json"]);
    assert_eq!(live.status, 0, "{}\n{}", live.out, live.err);
    let told = document(&live);
    let gpt = &told["judges"][0];
    assert_eq!(
        (&gpt["judge"], &gpt["judged"]),
        (&json!("gpt-5"), &json!(6))
    );
    assert_eq!(
        gpt["confusion"],
        json!({"true_pass": 2, "false_pass": 0, "false_fail": 1, "true_fail": 3})
    );
    let near =
        |value: &Value, wanted: f64| (value.as_f64().expect("a number") - wanted).abs() < 1e-9;
    assert!(
        near(&gpt["accuracy"], 5.0 / 6.0) && near(&gpt["kappa"], 2.0 / 3.0),
        "{gpt:#}"
    );
    // Between 0.3 and 0.65 all agree.
    assert_eq!(
        gpt["proposal"],
        json!({"threshold": 0.48, "accuracy": 1.0, "kappa": 1.0}),
        "{gpt:#}"
    );
    assert!(near(&gpt["mean_error"], 0.075), "{gpt:#}");
    let third = &gpt["examples"][2];
    assert_eq!(
        (&third["example"], &third["agrees"]),
        (&json!("third"), &json!(false))
    );

    drop(provider);
    let later = calibrate(&stage, None, &["--format", "json"]);
    assert_eq!(later.status, 0, "{}\n{}", later.out, later.err);
    let again = document(&later);
    assert_eq!(again["judges"][0]["replayed"], true);
    for name in ["confusion", "proposal", "kappa", "mean_error"] {
        assert_eq!(again["judges"][0][name], gpt[name]);
    }
    let pretty = calibrate(&stage, None, &[]).out;
    for words in [
        "6 of 6 judged, from the recording",
        "accuracy 0.83, Cohen's kappa 0.67, mean error of its scores 0.08",
        "threshold 0.48 agrees best: accuracy 1.00, kappa 1.00",
        "third: labelled pass, judged fail (0.65): it is middling",
    ] {
        assert!(pretty.contains(words), "{words}\n{pretty}");
    }
    let markdown = calibrate(&stage, None, &["--format", "markdown"]).out;
    assert!(
        markdown.contains("| gpt-5 | 6 of 6 | 0.83 | 0.67 | 2 | 0 | 1 | 3 | 0.48 (kappa 1.00) |"),
        "{markdown}"
    );
    assert_eq!(holding(stage.path("").as_path(), KEY), Vec::<String>::new());
}

#[test]
fn the_example_of_the_documentation_runs_offline() {
    let stage = Stage::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/calibration");
    for name in [
        "examples.yaml",
        "judgements/examples/eval__calibration.json",
    ] {
        stage.write(
            name,
            &std::fs::read_to_string(folder.join(name)).expect("a file"),
        );
    }
    let told = calibrate(&stage, None, &[]);
    assert_eq!(told.status, 0, "{}\n{}", told.out, told.err);
    let page = include_str!("../../../../docs/scorers.md");
    let shown = told
        .out
        .split("\n\n")
        .nth(1)
        .expect("the figures of a judge");
    assert!(
        page.contains(shown),
        "docs/scorers.md does not show\n{shown}"
    );
}

#[test]
fn what_was_not_judged_is_told_and_counts_for_nobody() {
    let (stage, provider) = (Stage::new(), judge());
    stage.write(
        "examples.yaml",
        &(EXAMPLES.to_owned() + "  - { output: odd 7, label: pass }\n"),
    );
    let told = calibrate(&stage, Some(&provider), &["--format", "json"]);
    assert_eq!(told.status, 3, "{}\n{}", told.out, told.err);
    let told = document(&told);
    assert_eq!(
        (
            &told["judges"][0]["judged"],
            &told["judges"][0]["undecided"]
        ),
        (&json!(6), &json!(1))
    );
    assert_eq!(told["judges"][0]["examples"][6]["outcome"], "error");

    // No judge can be asked.
    let told = calibrate(&stage, None, &[]);
    assert_eq!(told.status, 3, "{}\n{}", told.out, told.err);
    assert!(
        told.out.contains("0 of 7 judged") && told.out.contains("deferred"),
        "{}",
        told.out
    );
}

#[test]
fn scorers_and_rubrics_of_a_suite_are_compared_as_well() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &with_peer("scorers:\n  - { name: facts, type: exec, command: [grep, -q, nothing] }\n  - { name: yes, type: exec, command: [echo, '{\"verdict\": \"pass\", \"score\": 0.5}'] }\nrubrics:\n  tone: { criteria: [{ name: kind, description: It is kind. }] }\n"),
    );
    stage.write(
        "examples.yaml",
        "examples:\n  - { output: a, rubric: { scorer: yes }, label: pass }\n  - { output: b, rubric: { scorer: yes }, label: fail }\n  - { output: c, rubric: { scorer: yes }, label: fail }\n",
    );
    let said = calibrate(&stage, None, &["suite.yaml", "--format", "json"]);
    assert_eq!(said.status, 0, "{}\n{}", said.out, said.err);
    let told = document(&said);
    let yes = &told["judges"][0];
    assert_eq!(yes["judge"], "scorer yes");
    assert_eq!(
        yes["confusion"],
        json!({"true_pass": 1, "false_pass": 2, "false_fail": 0, "true_fail": 0})
    );
    assert_eq!(
        (&yes["kappa"], &yes["no_proposal"]),
        (&json!(0.0), &json!("none agrees better than chance"))
    );

    stage.write(
        "examples.yaml",
        "examples:\n  - { output: a, rubric: { ref: tone }, label: pass }\n",
    );
    assert_eq!(calibrate(&stage, None, &["suite.yaml"]).status, 3);
}

#[test]
fn bad_files_and_formats_are_refused() {
    let stage = Stage::new();
    stage.write(
        "examples.yaml",
        "examples:\n  - { output: a, rubric: { ref: tone }, label: good }\n",
    );
    let told = calibrate(&stage, None, &[]);
    assert_eq!(told.status, 2, "{}", told.err);
    for words in [
        "unknown rubric `tone`",
        "examples.yaml:2",
        "`label` cannot be `good`",
    ] {
        assert!(told.err.contains(words), "{words}: {}", told.err);
    }
    stage.write("examples.yaml", EXAMPLES);
    let told = calibrate(&stage, None, &["--format", "junit"]);
    assert_eq!(told.status, 2, "{}", told.err);
    assert!(
        told.err.contains("`pretty`, `json` or `markdown`"),
        "{}",
        told.err
    );
    let told = said(&mut command(
        &stage,
        None,
        &["eval", "--calibrate", "none.yaml"],
    ));
    assert_eq!(told.status, 2, "{}", told.err);
    assert!(told.err.contains("cannot read `none.yaml`"), "{}", told.err);
}
