//! The costs of models, and the caps on them.

use serde_json::{Value, json};

use super::super::stage::Stage;
use super::{EXPECTS, adder, agent, report, run, tests};

const FILE: &str = "cassettes/sums__claude-sonnet-4-5.json";

#[test]
fn what_a_run_cost_is_in_every_report() {
    let (stage, provider) = (Stage::new(), adder());
    stage.write("suite.yaml", &agent(EXPECTS));
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    // Twice 100 tokens at 3 dollars and 20 at 15 dollars for a million.
    let cost = json!({"asked": 2, "tokens": 240, "usd": 0.0012, "usd_known": 0.0012});
    assert_eq!(tests(&told)[0]["cost"], cost);
    assert_eq!(told["summary"]["cost"], cost);
    for format in ["pretty", "junit", "tap", "github", "markdown"] {
        let said = run(
            &stage,
            Some(&provider),
            &["suite.yaml", "--reporter", format],
        );
        let text = said.out;
        assert!(text.contains("240 tokens, $0.0012"), "{format}: {text}");
    }
}

#[test]
fn an_unknown_price_is_unknown_and_no_cap_can_be_kept_with_it() {
    let (stage, provider) = (Stage::new(), adder());
    let suite = EXPECTS.replace("claude-sonnet-4-5", "claude-nobody-knows");
    stage.write("suite.yaml", &agent(&suite));
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    let cost = &tests(&told)[0]["cost"];
    assert_eq!((&cost["usd"], &cost["tokens"]), (&Value::Null, &json!(240)));
    let asked = provider.requests().len();
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--max-cost", "1"]);
    assert_eq!(status, 2);
    let why = tests(&told)[0]["reasons"][0].as_str().expect("a reason");
    assert!(
        why.contains("claude-nobody-knows") && why.contains("--prices"),
        "{why}"
    );
    assert_eq!(provider.requests().len(), asked, "nobody was asked");

    let prices = json!({"date": "2026-11-01", "source": "us", "models": {"claude-nobody-knows": {"input": 1, "output": 10}}});
    stage.write("prices.json", &prices.to_string());
    let words = ["suite.yaml", "--max-cost", "1", "--prices", "prices.json"];
    let (status, told) = report(&stage, Some(&provider), &words);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(tests(&told)[0]["cost"]["usd"], 0.0006);
    let notes = told["suites"][0]["notes"].to_string();
    assert!(notes.contains("prices of 2026-11-01"), "{notes}");
    stage.write("prices.json", "{}");
    assert_eq!(run(&stage, Some(&provider), &words).status, 2);
}

#[test]
fn each_cap_ends_the_run_and_leaves_no_cassette() {
    for (budget, words, key) in [
        (
            "budget: { per_test_usd_cents: 0 }\n",
            vec![],
            "per_test_usd_cents",
        ),
        (
            "budget: { per_suite_usd_cents: 0 }\n",
            vec![],
            "per_suite_usd_cents",
        ),
        ("", vec!["--max-cost", "0.0001"], "--max-cost"),
    ] {
        let (stage, provider) = (Stage::new(), adder());
        stage.write("suite.yaml", &(budget.to_owned() + &agent(EXPECTS)));
        let words = [vec!["suite.yaml", "--record"], words].concat();
        let (status, told) = report(&stage, Some(&provider), &words);
        assert_eq!(status, 2, "{told:#}");
        let why = tests(&told)[0]["reasons"][0].as_str().expect("a reason");
        assert!(why.contains(key), "{why}");
        assert!(provider.requests().len() < 2);
        assert!(!stage.path(FILE).exists());
    }
}

#[test]
fn a_suite_spends_its_budget_over_all_its_tests() {
    let (stage, provider) = (Stage::new(), adder());
    let each = |n| {
        format!(
            "  - {{ name: a{n}, model: claude-sonnet-4-5, servers: [peer], prompt: p }}
"
        )
    };
    let more = (0..20).map(each).collect::<Vec<_>>().concat();
    let suite = "budget: { per_suite_usd_cents: 1 }\n".to_owned() + &agent(EXPECTS) + &more;
    stage.write("suite.yaml", &suite);
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--parallel", "1"]);
    assert_eq!(status, 2);
    let of = |status: &str| {
        tests(&told)
            .iter()
            .filter(|test| test["status"] == status)
            .count()
    };
    // A cent pays for sixteen requests of 0.06 cents, and the seventeenth crosses it.
    assert_eq!((of("pass"), of("error")), (8, 13), "{told:#}");
    assert_eq!(provider.requests().len(), 17);
}
