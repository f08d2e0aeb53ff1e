//! Opinions of judges, for people and for programs.

use serde_json::{Value, json};
use tapewright_assertions::Json;
use tapewright_judges::{Finding, JurorOpinion, Opinion, Outcome, Step, Vote, prompt};

use super::view::Redaction;
use crate::report::judgement::{points, why};
use crate::suite::result::Judgement;

/// One judgement, without secrets.
#[derive(Debug)]
pub(crate) struct Judged {
    /// For people.
    pub(crate) text: String,
    /// Whether no other part of its row shows it.
    pub(crate) is_news: bool,
    /// For programs.
    pub(crate) object: Json,
}

pub(super) fn view(judgement: &Judgement, redaction: &mut Redaction) -> Judged {
    let opinion = &judgement.opinion;
    let moved = judgement.was.as_ref().map(|was| moved(was, opinion));
    let mut text = format!("{}: {}", judgement.by, opinion.outcome.name());
    let by = [opinion.model.as_str()]
        .into_iter()
        .filter(|model| !model.is_empty());
    let replayed = opinion.replayed.then_some("recorded");
    let about: Vec<&str> = by.chain(replayed).collect();
    if !about.is_empty() {
        text = format!("{text} ({})", about.join(", "));
    }
    let is_pass = opinion.outcome == Outcome::Pass;
    if is_pass {
        text = format!("{text}, {}", why(opinion));
    }
    if let Some(moved) = &moved {
        text = format!("{text}; {moved}");
    }
    Judged {
        text: redaction.text(&text),
        is_news: is_pass || moved.is_some(),
        object: redaction.json(&Json::from(&object(judgement))),
    }
}

/// `moved: recorded as fail 0.40, and now pass 0.90`
fn moved(was: &Opinion, is: &Opinion) -> String {
    let shown = |one: &Opinion| {
        let score = one
            .score
            .map_or(String::new(), |score| format!(" {}", points(score)));
        format!("{}{score}", one.outcome.name())
    };
    format!("moved: recorded as {}, and now {}", shown(was), shown(is))
}

fn object(judgement: &Judgement) -> Value {
    let Judgement { by, opinion, was } = judgement;
    let was = was.as_ref();
    let strict = opinion.strict.then_some(true);
    let members = [
        ("by", json!(by)),
        ("outcome", json!(opinion.outcome.name())),
        ("score", json!(opinion.score)),
        ("threshold", json!(opinion.threshold)),
        ("strict", json!(strict)),
        ("reason", json!(opinion.reason)),
        ("model", some(&opinion.model)),
        ("prompt", json!(prompt::VERSION)),
        ("replayed", json!(opinion.replayed)),
        ("criteria", list(&opinion.findings, finding)),
        ("path", list(&opinion.path, step)),
        ("votes", list(&opinion.votes, vote)),
        ("jurors", list(&opinion.jurors, juror)),
        ("pass_fraction", json!(opinion.pass_fraction)),
        ("quorum", json!(opinion.quorum)),
        ("agreement", json!(opinion.agreement)),
        ("was", json!(was.map(|was| vote(&was.vote())))),
    ];
    let told = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(told.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn finding(one: &Finding) -> Value {
    json!({"name": one.name, "weight": one.weight, "score": one.score, "reason": one.reason})
}

fn step(one: &Step) -> Value {
    let answer = if one.yes { "yes" } else { "no" };
    json!({"ask": one.ask, "answer": answer, "score": one.score, "reason": one.reason})
}

fn vote(vote: &Vote) -> Value {
    json!({"outcome": vote.outcome.name(), "score": vote.score, "reason": vote.reason})
}

fn juror(one: &JurorOpinion) -> Value {
    let Vote {
        outcome,
        score,
        reason,
    } = &one.vote;
    json!({
        "model": one.model, "threshold": one.threshold, "outcome": outcome.name(),
        "score": score, "reason": reason,
    })
}

/// A list; `null` if it is empty.
fn list<T>(items: &[T], each: impl Fn(&T) -> Value) -> Value {
    if items.is_empty() {
        return Value::Null;
    }
    items.iter().map(each).collect()
}

fn some(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        json!(text)
    }
}
