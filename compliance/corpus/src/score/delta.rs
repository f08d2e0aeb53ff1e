//! Compares a score with an earlier one: the targets of `grade_delta`.

use serde_json::{Value, json};

use super::{Grade, Scorecard, section_name};

/// A score compared with an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// The grade now.
    pub grade: Option<Grade>,
    /// The number now.
    pub score: Option<f64>,
    /// The grade is worse than before.
    pub grade_regressed: bool,
    /// The sections whose grades are worse.
    pub regressed_sections: Vec<&'static str>,
}

/// Compares a score with a saved report. A grade that the report does not have cannot get worse.
#[must_use]
pub fn delta(now: &Scorecard, before: &Value) -> Delta {
    let grade_of = |value: &Value| Grade::from_name(value.get("grade")?.as_str()?);
    let worse = |now: Option<Grade>, before: Option<Grade>| matches!((now, before), (Some(now), Some(before)) if now < before);
    let sections = before.get("sections").and_then(Value::as_array);
    let old = |name: &str| {
        let all = sections.into_iter().flatten();
        let mut same = all.filter(|one| one.get("section").and_then(Value::as_str) == Some(name));
        grade_of(same.next()?)
    };
    let regressed = now.sections.iter().filter_map(|section| {
        let name = section_name(section.section);
        worse(section.grade, old(name)).then_some(name)
    });
    Delta {
        grade: now.grade,
        score: now.numeric,
        grade_regressed: worse(now.grade, grade_of(before)),
        regressed_sections: regressed.collect(),
    }
}

impl Delta {
    /// The targets of assertions.
    #[must_use]
    pub fn targets(&self) -> Value {
        json!({
            "grade": self.grade.map(Grade::name),
            "score": self.score,
            "grade_regressed": self.grade_regressed,
            "regressed_sections": self.regressed_sections,
        })
    }
}
