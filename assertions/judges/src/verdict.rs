//! The content of a judge's answer.

use serde_json::{Map, Value};
use tapewright_models::slices::{Front as _, Part as _};

/// A judge's verdict on one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it passes, if given.
    pub pass: Option<bool>,
    /// From 0 to 1, if given. At least one of the two is present.
    pub score: Option<f64>,
    /// The judge's reason.
    pub reason: Option<String>,
}

/// Why an answer is not a verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoVerdict {
    /// It contains no balanced JSON object.
    #[error("no JSON object found")]
    NoObject,
    /// The object has neither member.
    #[error("`pass` or `score` is required")]
    Neither,
    /// `pass` must be true or false.
    #[error("`pass` must be true or false")]
    Pass,
    /// `score` must be a number from 0 to 1.
    #[error("`score` must be a number from 0 to 1")]
    Score,
}

/// The maximum length of an answer that is searched for an object, in bytes.
const LONGEST: usize = 256 << 10;
/// The maximum number of object beginnings that are tried.
const TRIES: usize = 64;

impl Verdict {
    /// Reads the first balanced JSON object in a text. Members that are `null` are not there.
    pub fn read(text: &str) -> Result<Self, NoVerdict> {
        let object = first_object(text).ok_or(NoVerdict::NoObject)?;
        let member = |name: &str| object.get(name).filter(|value| !value.is_null());
        let pass = match member("pass") {
            None => None,
            Some(Value::Bool(pass)) => Some(*pass),
            Some(_) => return Err(NoVerdict::Pass),
        };
        let score = match member("score") {
            None => None,
            Some(score) => {
                let score = score.as_f64().filter(|score| (0.0..=1.0).contains(score));
                Some(score.ok_or(NoVerdict::Score)?)
            }
        };
        if pass.is_none() && score.is_none() {
            return Err(NoVerdict::Neither);
        }
        let reason = member("reason").and_then(Value::as_str);
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        Ok(Self {
            pass,
            score,
            reason: reason.map(str::to_owned),
        })
    }

    /// From 0 to 1: the judge's score, otherwise 1 for a pass and 0 for a failure.
    #[must_use]
    pub fn points(&self) -> f64 {
        let all_or_nothing = f64::from(u8::from(self.pass == Some(true)));
        self.score.unwrap_or(all_or_nothing)
    }

    /// Whether it passes: `pass: true`, or a score at or above the threshold.
    #[must_use]
    pub fn passes(&self, threshold: f64) -> bool {
        self.pass == Some(true) || self.score.is_some_and(|score| score >= threshold)
    }
}

/// The first object in a text whose braces are balanced and that is JSON.
fn first_object(text: &str) -> Option<Map<String, Value>> {
    let text = text.front(LONGEST);
    let starts = text.match_indices('{').map(|(at, _)| at).take(TRIES);
    for start in starts {
        let rest = text.part(start..);
        let Some(length) = balanced(rest) else {
            continue;
        };
        if let Ok(object) = serde_json::from_str(rest.part(..length)) {
            return Some(object);
        }
    }
    None
}

/// The length of text that begins with a brace until that is closed; braces in strings do not
/// count.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Option<bool>, Option<f64>), NoVerdict> {
        Verdict::read(text).map(|verdict| (verdict.pass, verdict.score))
    }

    #[test]
    fn the_first_object_counts_wherever_it_stands() {
        for (text, wanted) in [
            (r#"{"pass": true}"#, Ok((Some(true), None))),
            (
                r#"Sure: {"score": 0.5, "reason": "so {so}"} {"pass": true}"#,
                Ok((None, Some(0.5))),
            ),
            (
                "```json\n{\"pass\": false, \"score\": 1}\n```",
                Ok((Some(false), Some(1.0))),
            ),
            (r#"{no json} then {"score": 0}"#, Ok((None, Some(0.0)))),
            (
                r#"an open { and {"pass": true, "note": "\"}{"}"#,
                Ok((Some(true), None)),
            ),
            (r#"{"pass": null, "score": 0.25}"#, Ok((None, Some(0.25)))),
            (r#"{"pass": true"#, Err(NoVerdict::NoObject)),
            ("pass", Err(NoVerdict::NoObject)),
            ("", Err(NoVerdict::NoObject)),
            ("{}", Err(NoVerdict::Neither)),
            (r#"{"reason": "good"}"#, Err(NoVerdict::Neither)),
            (r#"{"pass": "true"}"#, Err(NoVerdict::Pass)),
            (r#"{"pass": true, "score": 1.5}"#, Err(NoVerdict::Score)),
            (r#"{"score": -0.1}"#, Err(NoVerdict::Score)),
            (r#"{"score": "0.9"}"#, Err(NoVerdict::Score)),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn it_passes_by_its_word_or_by_its_score() {
        let passes = |text: &str| Verdict::read(text).unwrap().passes(0.7);
        assert!(passes(r#"{"pass": true, "score": 0.1}"#));
        assert!(passes(r#"{"pass": false, "score": 0.7}"#));
        assert!(passes(r#"{"score": 0.9}"#));
        assert!(!passes(r#"{"score": 0.69}"#));
        assert!(!passes(r#"{"pass": false}"#));
        assert!(!passes(r#"{"pass": false, "score": 0.5}"#));
    }

    #[test]
    fn points_are_the_score_or_all_or_nothing() {
        let points = |text: &str| Verdict::read(text).unwrap().points();
        assert!((points(r#"{"pass": true, "score": 0.25}"#) - 0.25).abs() < 1e-9);
        assert!((points(r#"{"pass": true}"#) - 1.0).abs() < 1e-9);
        assert!(points(r#"{"pass": false}"#).abs() < 1e-9);
    }

    #[test]
    fn what_never_closes_ends_soon() {
        let text = "{\"a\": ".repeat(100_000);
        assert_eq!(read(&text), Err(NoVerdict::NoObject));
    }
}
