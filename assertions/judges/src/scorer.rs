//! Scorers: programs that grade. Input and output are one JSON document each.

use serde_json::{Map, Value, json};

/// The input of a scorer.
#[derive(Clone, Copy, Debug)]
pub struct Task<'t> {
    /// The question.
    pub input: &'t str,
    /// The answer, which is to be graded.
    pub output: &'t str,
    /// The criteria; empty if the suite has none.
    pub criteria: &'t str,
    /// Further data: the names of the suite, the test and the scorer.
    pub metadata: &'t [(&'static str, &'t str)],
}

/// The result of a scorer.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// `verdict`: `pass` or `fail`.
    pub pass: bool,
    /// From 0 to 1, if given.
    pub score: Option<f64>,
    /// Why.
    pub reasoning: Option<String>,
    /// The cost, in US dollars; `None` if unknown.
    pub cost_usd: Option<f64>,
}

/// Why the output of a scorer is not a grade.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGrade {
    /// It is not one JSON document.
    #[error("its output is not JSON ({0})")]
    NotJson(String),
    /// It is not an object.
    #[error("its output is not a JSON object")]
    NoObject,
    /// `verdict` is something else.
    #[error("`verdict` must be \"pass\" or \"fail\"")]
    Verdict,
    /// `score` is something else.
    #[error("`score` must be a number from 0 to 1")]
    Score,
    /// `reasoning` is something else.
    #[error("`reasoning` must be a string")]
    Reasoning,
    /// `cost_usd` is something else.
    #[error("`cost_usd` must not be negative")]
    Cost,
}

impl Task<'_> {
    /// The document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut document = Map::new();
        for (name, text) in [
            ("input", self.input),
            ("output", self.output),
            ("criteria", self.criteria),
        ] {
            document.insert(name.to_owned(), text.into());
        }
        if !self.metadata.is_empty() {
            let member = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
            let metadata: Map<String, Value> = self.metadata.iter().map(member).collect();
            document.insert("metadata".to_owned(), metadata.into());
        }
        Value::Object(document)
    }
}

impl Graded {
    /// Reads the output of a scorer. A member that is `null` counts as absent; unknown members are
    /// ignored.
    pub fn read(output: &[u8]) -> Result<Self, NoGrade> {
        let value: Value =
            serde_json::from_slice(output).map_err(|error| NoGrade::NotJson(error.to_string()))?;
        let Value::Object(members) = value else {
            return Err(NoGrade::NoObject);
        };
        let member = |name: &str| members.get(name).filter(|value| !value.is_null());
        let pass = match member("verdict").and_then(Value::as_str) {
            Some("pass") => true,
            Some("fail") => false,
            _ => return Err(NoGrade::Verdict),
        };
        let number = |name: &str, most: f64, wrong: NoGrade| match member(name) {
            None => Ok(None),
            Some(value) => {
                let number = value
                    .as_f64()
                    .filter(|number| (0.0..=most).contains(number));
                number.map(Some).ok_or(wrong)
            }
        };
        let reasoning = match member("reasoning") {
            None => None,
            Some(Value::String(text)) => Some(text.trim().to_owned()),
            Some(_) => return Err(NoGrade::Reasoning),
        };
        Ok(Self {
            pass,
            score: number("score", 1.0, NoGrade::Score)?,
            reasoning: reasoning.filter(|text| !text.is_empty()),
            cost_usd: number("cost_usd", f64::MAX, NoGrade::Cost)?,
        })
    }

    /// The form in a recording, which [`Graded::read`] reads.
    #[must_use]
    pub fn write(&self) -> String {
        json!({
            "verdict": if self.pass { "pass" } else { "fail" },
            "score": self.score,
            "reasoning": self.reasoning,
            "cost_usd": self.cost_usd,
        })
        .to_string()
    }

    /// From 0 to 1: the given score, otherwise 1 for a pass and 0 for a failure.
    #[must_use]
    pub fn points(&self) -> f64 {
        self.score.unwrap_or(f64::from(u8::from(self.pass)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Graded, NoGrade> {
        Graded::read(text.as_bytes())
    }

    #[test]
    fn the_documented_members_are_written_and_read() {
        let task = Task {
            input: "Which release?",
            output: "payments \"1.4.2\"\n",
            criteria: "names the release",
            metadata: &[("eval", "e"), ("scorer", "s")],
        };
        assert_eq!(
            task.to_value().to_string(),
            r#"{"input":"Which release?","output":"payments \"1.4.2\"\n","criteria":"names the release","metadata":{"eval":"e","scorer":"s"}}"#
        );
        let graded = read(
            r#" {"verdict": "pass", "score": 0.75, "reasoning": " all there ", "cost_usd": 0.002, "more": 1}
"#,
        );
        let wanted = Graded {
            pass: true,
            score: Some(0.75),
            reasoning: Some("all there".to_owned()),
            cost_usd: Some(0.002),
        };
        assert_eq!(graded, Ok(wanted.clone()));
        assert_eq!(read(&wanted.write()), Ok(wanted));
    }

    #[test]
    fn what_it_may_leave_out_may_be_null() {
        for text in [
            r#"{"verdict": "fail"}"#,
            r#"{"verdict": "fail", "score": null, "reasoning": null, "cost_usd": null}"#,
            r#"{"verdict": "fail", "reasoning": ""}"#,
        ] {
            let graded = read(text).unwrap();
            assert!(!graded.pass && graded.reasoning.is_none(), "{text}");
            assert_eq!((graded.score, graded.cost_usd), (None, None), "{text}");
            assert!(graded.points().abs() < 1e-9);
        }
        let passed = read(r#"{"verdict": "pass"}"#).unwrap();
        assert!((passed.points() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_grade_is_told_apart() {
        for (text, why) in [
            ("[]", NoGrade::NoObject),
            ("\"pass\"", NoGrade::NoObject),
            ("{}", NoGrade::Verdict),
            (r#"{"verdict": true}"#, NoGrade::Verdict),
            (r#"{"verdict": "PASS"}"#, NoGrade::Verdict),
            (r#"{"verdict": "pass", "score": 1.01}"#, NoGrade::Score),
            (r#"{"verdict": "pass", "score": "1"}"#, NoGrade::Score),
            (
                r#"{"verdict": "pass", "reasoning": ["a"]}"#,
                NoGrade::Reasoning,
            ),
            (r#"{"verdict": "pass", "cost_usd": -0.1}"#, NoGrade::Cost),
        ] {
            assert_eq!(read(text), Err(why), "{text}");
        }
        for text in [
            "",
            "pass",
            r#"{"verdict": "pass"} and more"#,
            r#"{"verdict""#,
        ] {
            assert!(matches!(read(text), Err(NoGrade::NotJson(_))), "{text}");
        }
    }
}
