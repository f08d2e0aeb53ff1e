//! Judgements that are recorded next to the suite, and reused.

use super::*;

const FILE: &str = "judgements/suite/tool__greets.json";

/// A stage on which a judge passed `hello`, recorded.
fn recorded() -> Stage {
    let (stage, provider) = (Stage::new(), passing());
    stage.write("suite.yaml", &echo("hello", &llm_judge("It greets.")));
    let (status, told) = report(&stage, Some(&provider), RECORD);
    assert_eq!(status, 0, "{told:#}");
    let notes = told["suites"][0]["notes"].to_string();
    assert!(
        notes.contains("the judgements of 1 test recorded"),
        "{notes}"
    );
    stage
}

#[test]
fn what_was_judged_is_judged_again_without_a_key() {
    let stage = recorded();
    let text = stage.read(FILE);
    assert!(!text.contains(KEY), "{text}");
    let schema = include_str!("../../../../schemas/json/judgements.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validate(&schema, &file).expect("the file is as documented");
    let (status, told) = report(&stage, None, RUN);
    assert_eq!(status, 0, "{told:#}");
    let judged = &test(&told, 0)["judgements"][0];
    assert_eq!(
        (&judged["outcome"], &judged["replayed"]),
        (&json!("pass"), &json!(true))
    );
    assert!(test(&told, 0)["cost"].is_null());
    // With a key, no model is asked either.
    let provider = failing();
    let (status, _) = report(&stage, Some(&provider), RUN);
    assert_eq!((status, asked(&provider)), (0, 0));
}

#[test]
fn what_has_changed_is_a_miss_that_says_so() {
    for (message, rubric, model, why) in [
        (
            "hello",
            "It is polite.",
            "claude-sonnet-4-5",
            "the rubric changed: `It greets.` was recorded",
        ),
        (
            "good day",
            "It greets.",
            "claude-sonnet-4-5",
            "the candidate changed: `hello` was recorded",
        ),
        (
            "hello",
            "It greets.",
            "gpt-5",
            "the judge changed: `claude-sonnet-4-5` was recorded",
        ),
    ] {
        let (stage, provider) = (recorded(), failing());
        let matcher = llm_judge(rubric).replace("claude-sonnet-4-5", model);
        stage.write("suite.yaml", &echo(message, &matcher));
        for provider in [None, Some(&provider)] {
            let (status, told) = report(&stage, provider, RUN);
            assert_eq!(status, 2, "{told:#}");
            let note = test(&told, 0)["errors"][0]["note"].as_str().unwrap();
            assert!(note.contains(why) && note.contains("--record"), "{note}");
        }
        assert_eq!(asked(&provider), 0);
        // Recorded again, it has the judge's current verdict.
        let (status, _) = report(&stage, Some(&provider), RECORD);
        assert_eq!((status, asked(&provider)), (1, 1));
        assert_eq!(report(&stage, None, RUN).0, 1);
    }
}

#[test]
fn another_version_of_the_prompt_is_a_miss() {
    let stage = recorded();
    let old = stage.read(FILE).replace("\"prompt\": 1", "\"prompt\": 0");
    stage.write(FILE, &old);
    let (status, told) = report(&stage, None, RUN);
    assert_eq!(status, 2);
    let note = test(&told, 0)["errors"][0]["note"].as_str().unwrap();
    assert!(
        note.contains("the prompt of the judge changed: version 0"),
        "{note}"
    );
}

#[test]
fn what_is_judged_anew_shows_what_has_moved() {
    let (stage, provider) = (recorded(), failing());
    let words = [RUN, &["--rejudge"]].concat();
    let before = stage.read(FILE);
    let (status, told) = report(&stage, Some(&provider), &words);
    assert_eq!((status, asked(&provider)), (1, 1), "{told:#}");
    let judged = &test(&told, 0)["judgements"][0];
    assert_eq!(
        (&judged["outcome"], &judged["was"]["outcome"]),
        (&json!("fail"), &json!("pass"))
    );
    let pretty = self::told(&stage, Some(&provider), &words).out;
    assert!(
        pretty.contains("moved: recorded as pass 0.90, and now fail 0.25"),
        "{pretty}"
    );
    assert_eq!(stage.read(FILE), before, "only `--record` writes");
    let (status, _) = report(
        &stage,
        Some(&provider),
        &[&words[..], &["--record"]].concat(),
    );
    assert_eq!(status, 1);
    assert_eq!(report(&stage, None, RUN).0, 1);
    // Without a key the recorded judgement is used, and a note is printed.
    let (status, told) = report(&stage, None, &words);
    assert_eq!(status, 1);
    assert!(
        test(&told, 0)["warnings"].to_string().contains("is kept"),
        "{told:#}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let stage = recorded();
    stage.write(FILE, "{\"judgements\": \"9\"}");
    let (status, told) = report(&stage, None, RUN);
    assert_eq!(status, 2, "{told:#}");
    let note = test(&told, 0)["errors"][0]["note"].as_str().unwrap();
    assert!(note.contains("unsupported version"), "{note}");
}

#[test]
fn a_secret_of_the_candidate_is_in_no_file() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let (stage, provider) = (Stage::new(), passing());
    stage.write("suite.yaml", &echo(secret, &llm_judge("It greets.")));
    let (status, _) = report(&stage, Some(&provider), RECORD);
    assert_eq!(status, 0);
    assert!(!stage.read(FILE).contains(secret));
    assert_eq!(report(&stage, None, RUN).0, 0);
}

#[test]
fn a_captured_session_is_judged_likewise() {
    let stage = recorded();
    let said = told(&stage, None, &["run", "suite.yaml", "--record=tapes"]);
    assert_eq!(said.status, 0, "{}", said.out);
    let words = &["run", "suite.yaml", "--capture", "tapes/peer.json"];
    let (status, told) = report(&stage, None, words);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(test(&told, 0)["judgements"][0]["replayed"], true);
}

#[test]
fn a_verdict_that_is_too_old_is_asked_for_anew_where_its_judge_can_be_asked() {
    let stage = recorded();
    let young = [RUN, &["--verdict-cache", "1d"]].concat();
    let provider = failing();
    assert_eq!(report(&stage, Some(&provider), &young).0, 0);
    assert_eq!(asked(&provider), 0, "it was recorded just now");
    let text = stage.read(FILE);
    let at = text.find("\"recorded_at\"").expect("a time");
    let year = text[at..].find("20").expect("a year") + at;
    let (before, rest) = (&text[..year], &text[year + 4..]);
    stage.write(FILE, &format!("{before}2019{rest}"));
    // Without a key it is used, and a note is printed.
    let (status, told) = report(&stage, None, &young);
    assert_eq!(status, 0, "{told:#}");
    let warnings = test(&told, 0)["warnings"].to_string();
    assert!(warnings.contains("is kept"), "{told:#}");
    let (status, told) = report(&stage, Some(&provider), &young);
    assert_eq!((status, asked(&provider)), (1, 1), "{told:#}");
    assert!(
        stage.read(FILE).contains("2019"),
        "nothing was to be recorded"
    );
    let anew = [RECORD, &["--verdict-cache", "1d"]].concat();
    assert_eq!(report(&stage, Some(&provider), &anew).0, 1);
    assert_eq!(report(&stage, None, &young).0, 1);
    assert!(!stage.read(FILE).contains("2019"));
}
