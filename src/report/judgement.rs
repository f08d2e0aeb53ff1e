//! Opinions of judges, as text.

use std::fmt::Write as _;

use tapewright_judges::{JurorOpinion, Opinion, Outcome, Vote};

/// Why an opinion came out as it did, in one line or more: the score and the reason, the path of a
/// tree, the opinion of each juror.
pub(crate) fn why(opinion: &Opinion) -> String {
    let mut text = match opinion.outcome {
        Outcome::Pass | Outcome::Fail => decided(opinion),
        Outcome::Undecided => "the judges did not decide".to_owned(),
        Outcome::Deferred => "deferred".to_owned(),
        Outcome::Error => "judge error".to_owned(),
    };
    if let Some(reason) = &opinion.reason {
        let _never_fails = write!(text, ": {reason}");
    }
    // Without a verdict the reason is one line, like those of rows.
    let apart = if opinion.outcome.is_decided() {
        "\n"
    } else {
        "; "
    };
    for line in details(opinion) {
        let _never_fails = write!(text, "{apart}{line}");
    }
    text
}

/// `score 0.40, and 0.80 is needed`
fn decided(opinion: &Opinion) -> String {
    let score = opinion.score.unwrap_or_default();
    if let (Some(fraction), Some(quorum)) = (opinion.pass_fraction, opinion.quorum) {
        return format!(
            "{} of the jurors voted to pass; the quorum is {}",
            points(fraction),
            points(quorum)
        );
    }
    if opinion.strict {
        return format!("score {}; must be 1", points(score));
    }
    let threshold = points(opinion.threshold);
    match opinion.outcome {
        Outcome::Fail if score >= opinion.threshold => {
            format!("score {}, and the judge fails it", points(score))
        }
        Outcome::Pass if opinion.threshold <= 0.0 => format!("score {}", points(score)),
        Outcome::Pass if score < opinion.threshold => {
            format!("score {}, and the judge passes it", points(score))
        }
        _ => format!("score {}; must be at least {threshold}", points(score)),
    }
}

/// The details of a score, line by line.
pub(crate) fn details(opinion: &Opinion) -> Vec<String> {
    let mut lines = Vec::new();
    for one in &opinion.findings {
        let weight = if (one.weight - 1.0).abs() < f64::EPSILON {
            String::new()
        } else {
            format!(" (weight {})", one.weight)
        };
        let reason = because(one.reason.as_deref());
        let (name, score) = (&one.name, points(one.score));
        lines.push(format!("{name}{weight}: {score}{reason}"));
    }
    if !opinion.path.is_empty() {
        let steps = opinion.path.iter();
        let steps =
            steps.map(|step| format!("{} -> {}", step.ask, if step.yes { "yes" } else { "no" }));
        lines.push(format!("path: {}", steps.collect::<Vec<_>>().join(", ")));
    }
    for (at, one) in opinion.votes.iter().enumerate() {
        lines.push(format!("opinion {}: {}", at + 1, vote(one)));
    }
    for JurorOpinion {
        model, vote: one, ..
    } in &opinion.jurors
    {
        let abstains = if one.outcome.is_decided() {
            ""
        } else {
            "abstains: "
        };
        lines.push(format!("{model}: {abstains}{}", vote(one)));
    }
    lines.extend(
        opinion
            .agreement
            .map(|alpha| format!("agreement {}", points(alpha))),
    );
    lines
}

fn vote(vote: &Vote) -> String {
    let score = vote
        .score
        .map_or(String::new(), |score| format!(" {}", points(score)));
    format!(
        "{}{score}{}",
        vote.outcome.name(),
        because(vote.reason.as_deref())
    )
}

fn because(reason: Option<&str>) -> String {
    reason.map_or(String::new(), |reason| format!(": {reason}"))
}

/// A number with two decimal places.
pub(crate) fn points(number: f64) -> String {
    format!("{number:.2}")
}
