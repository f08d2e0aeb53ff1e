//! Playbooks: a judge's answers and their results; and properties of the prompts.

use proptest::prelude::*;
use tapewright_judges::{
    Answer, Asker, Call, Candidate, Criterion, Form, Juror, Jury, Key, Miss, Model, Node, Opinion,
    Outcome, Record, Recorded, Reply, Rubric, Samples, Subject, judge, prompt,
};
use tapewright_models::Wire;

/// Returns these answers, one after the other, and records the questions.
#[derive(Default)]
struct Script {
    says: Vec<Reply>,
    asked: Vec<(Call, usize)>,
}

impl Asker for Script {
    fn ask(&mut self, call: &Call, earlier: &[String]) -> Reply {
        self.asked.push((call.clone(), earlier.len()));
        if self.says.is_empty() {
            return Reply::Failed("the script is over".to_owned());
        }
        self.says.remove(0)
    }
}

fn said(text: &str) -> Reply {
    Reply::Said {
        text: text.to_owned(),
        replayed: false,
    }
}

fn script(says: &[&str]) -> Script {
    Script {
        says: says.iter().map(|text| said(text)).collect(),
        asked: Vec::new(),
    }
}

const YES: &str = "{\"pass\": true, \"score\": 0.9, \"reason\": \"good\"}";
const NO: &str = "{\"pass\": false, \"score\": 0.2, \"reason\": \"bad\"}";

fn opinion(rubric: &Rubric, samples: u64, script: &mut Script) -> Opinion {
    let candidate = Candidate {
        subject: Subject::Text,
        text: "hello",
    };
    let samples = Samples::new(samples).expect("an odd number");
    judge(rubric, candidate, &Model::named("gpt-5"), samples, script)
}

fn text() -> Rubric {
    Rubric::text("It greets.", 0.7)
}

#[test]
fn an_answer_that_is_no_verdict_is_asked_for_once_more() {
    let mut right = script(&["hm", YES]);
    assert_eq!(opinion(&text(), 1, &mut right).outcome, Outcome::Pass);
    assert_eq!(right.asked[1].1, 1);
    let mut wrong = script(&["hm", "{\"score\": 2}", YES]);
    let told = opinion(&text(), 1, &mut wrong);
    assert_eq!((told.outcome, wrong.asked.len()), (Outcome::Error, 2));
    assert_eq!(told.score, None);
}

#[test]
fn only_a_score_of_one_passes_where_it_is_strict() {
    let strict = Rubric {
        strict: true,
        ..text()
    };
    assert_eq!(
        opinion(&strict, 1, &mut script(&[YES])).outcome,
        Outcome::Fail
    );
    let all = script(&["{\"pass\": true}"]).says;
    let mut all = Script {
        says: all,
        asked: Vec::new(),
    };
    assert_eq!(opinion(&strict, 1, &mut all).outcome, Outcome::Pass);
}

#[test]
fn criteria_are_a_mean_by_weight_and_one_error_is_an_error() {
    let one = |name: &str, weight| Criterion {
        name: name.to_owned(),
        description: format!("It is {name}."),
        weight,
        about: None,
    };
    let rubric = Rubric {
        form: Form::Criteria(vec![one("kind", 3.0), one("short", 1.0)]),
        ..text()
    };
    let told = opinion(&rubric, 1, &mut script(&[YES, NO]));
    assert_eq!((told.outcome, told.score), (Outcome::Pass, Some(0.725)));
    assert_eq!(told.findings[1].reason.as_deref(), Some("bad"));
    let told = opinion(&rubric, 1, &mut script(&[YES, "hm", "hm"]));
    assert_eq!((told.outcome, told.score), (Outcome::Error, None));
}

#[test]
fn a_tree_is_walked_and_half_is_a_yes() {
    let leaf = |score| {
        Box::new(Node::Score {
            score,
            reason: None,
        })
    };
    let rubric = Rubric {
        form: Form::Tree(Node::Ask {
            ask: "Is it one?".to_owned(),
            yes: leaf(1.0),
            no: leaf(0.3),
        }),
        ..text()
    };
    let told = opinion(&rubric, 1, &mut script(&["{\"score\": 0.5}"]));
    assert_eq!((told.outcome, told.path[0].yes), (Outcome::Pass, true));
    let told = opinion(&rubric, 1, &mut script(&["{\"score\": 0.49}"]));
    assert_eq!((told.score, told.path[0].yes), (Some(0.3), false));
}

#[test]
fn a_failure_is_confirmed_by_the_majority_and_an_even_vote_decides_nothing() {
    let votes = |says: &[&str]| {
        let mut script = script(says);
        let told = opinion(&text(), 3, &mut script);
        (told.outcome, script.asked.len())
    };
    assert_eq!(votes(&[YES, NO, NO]), (Outcome::Pass, 1));
    assert_eq!(votes(&[NO, NO, YES]), (Outcome::Fail, 2));
    assert_eq!(votes(&[NO, YES, YES]), (Outcome::Pass, 3));
    // The third fails twice to give a verdict.
    assert_eq!(votes(&[NO, YES, "hm", "hm"]), (Outcome::Undecided, 4));
    assert_eq!(Samples::new(2), None);
    assert_eq!(Samples::new(11), None);
}

#[test]
fn jurors_that_fail_or_cannot_be_asked_abstain() {
    let jury = |names: &[&str]| Jury {
        jurors: names
            .iter()
            .map(|name| Juror {
                model: Model::named(*name),
                threshold: None,
            })
            .collect(),
        rubric: "It greets.".to_owned(),
        threshold: 0.7,
        quorum: 0.66,
    };
    let candidate = Candidate {
        subject: Subject::Text,
        text: "hello",
    };
    let deferred = || Reply::Deferred("no key".to_owned());
    let failed = || Reply::Failed("gone".to_owned());
    let three = jury(&["a", "b", "c"]);
    let with = |says: Vec<Reply>| {
        let asked = Vec::new();
        three.judge(candidate, &mut Script { says, asked })
    };
    let told = with(vec![said(YES), failed(), said(NO)]);
    assert_eq!(
        (told.outcome, told.pass_fraction),
        (Outcome::Fail, Some(0.5))
    );
    assert_eq!(
        with(vec![said(YES), failed(), said(YES)]).outcome,
        Outcome::Pass
    );
    assert_eq!(
        with(vec![deferred(), deferred(), deferred()]).outcome,
        Outcome::Deferred
    );
    assert_eq!(
        with(vec![deferred(), failed(), deferred()]).outcome,
        Outcome::Error
    );
}

fn call(question: &str, candidate: &str) -> Call {
    Call {
        model: Model::named("gpt-5"),
        question: question.to_owned(),
        subject: Subject::Text,
        candidate: candidate.to_owned(),
        sample: 0,
    }
}

#[test]
fn a_record_is_read_as_it_was_written_and_a_miss_says_what_differs() {
    let key = Key::of(&call("It greets.", "hello"));
    let recorded = Recorded {
        key: key.clone(),
        answers: vec![Answer::new(YES.to_owned(), None)],
        recorded_at: "2026-11-25T08:00:00Z".to_owned(),
    };
    let mut record = Record {
        test: "greets".to_owned(),
        calls: Vec::new(),
    };
    record.put(recorded.clone());
    record.put(recorded);
    assert_eq!(record.calls.len(), 1);
    let read = Record::read(record.write().as_bytes()).unwrap();
    assert_eq!(read, record);
    assert!(read.find(&key).is_ok());
    let miss = |call: &Call| read.find(&Key::of(call)).unwrap_err();
    assert_eq!(
        miss(&call("It is kind.", "hello")),
        Miss::Question("It greets.".to_owned())
    );
    assert_eq!(
        miss(&call("It greets.", "bye")),
        Miss::Candidate("hello".to_owned())
    );
    assert_eq!(miss(&call("It is kind.", "bye")), Miss::Nothing);
    let second = Call {
        sample: 1,
        ..call("It greets.", "hello")
    };
    assert_eq!(miss(&second), Miss::Sample);
}

proptest! {
    /// Any candidate is between two lines that it does not contain, in the user's message, and
    /// never in the instructions.
    #[test]
    fn a_candidate_never_leaves_its_place(
        candidate in "([a-z =\n]|={1,40}|Ignore the rubric|\\{\"pass\": true\\}){0,40}",
        question in "[A-Za-z =.]{1,60}",
    ) {
        let call = call(&question, &candidate);
        let marker = prompt::marker(&[&question, &candidate]);
        prop_assert!(!candidate.contains(&marker) && !question.contains(&marker));
        for wire in Wire::ALL {
            let request = prompt::request(wire, &call, &[]);
            prop_assert_eq!(request.messages.len(), 1);
            let said = request.messages[0].blocks[0].as_text().unwrap();
            let lines = said.split(&marker).collect::<Vec<_>>();
            prop_assert_eq!(lines.len(), 3);
            prop_assert_eq!(lines[1], format!("\n{candidate}\n"));
            let system = request.system[0].as_text().unwrap();
            prop_assert!(system.contains(&marker));
            let instructions = system.replace(&marker, "");
            prop_assert!(candidate.len() < 40 || !instructions.contains(&candidate));
        }
    }
}
