//! A failed assertion: the documented object of every matcher.

use crate::diff::diff;
use crate::json::Json;
use crate::target::Stop;

/// A failed assertion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// Its index among the assertions of the test, from 0; `None` for other conditions.
    pub index: Option<usize>,
    /// Its target, as written.
    pub target: String,
    /// The name of the matcher, or of the other condition.
    pub matcher: String,
    /// The author's message.
    pub message: Option<String>,
    /// The expected value.
    pub expected: Option<Json>,
    /// The actual value; `None` if there was none.
    pub actual: Option<Json>,
    /// JSON pointer, relative to the target, to the place that differs.
    pub path: Option<String>,
    /// The error, in words.
    pub note: Option<String>,
    /// The difference, as text.
    pub diff: Option<String>,
    /// The violations of a schema.
    pub errors: Vec<Violation>,
    /// Why nothing was at the target.
    pub missing: Option<Stop>,
    /// What the tool said, if it said that it failed and the values do not show it.
    pub tool_error: Option<String>,
}

/// A violation of a JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the value.
    pub instance_path: String,
    /// JSON pointer into the schema.
    pub schema_path: String,
    /// What is wrong.
    pub message: String,
}

impl Failure {
    /// A failure that only has words.
    pub(crate) fn note(matcher: &str, note: impl Into<String>) -> Self {
        Self {
            matcher: matcher.to_owned(),
            note: Some(note.into()),
            ..Self::default()
        }
    }

    /// Drops the values, and keeps the texts.
    pub(crate) fn drop_values(&mut self) {
        self.actual = None;
        self.diff = None;
        self.errors = Vec::new();
    }

    /// The failure with other values, and with the difference between those.
    #[must_use]
    pub fn with_values(&self, expected: Option<Json>, actual: Option<Json>) -> Self {
        let same = (&expected, &actual) == (&self.expected, &self.actual);
        let compared = expected.as_ref().zip(actual.as_ref());
        let other = || compared.and_then(|(one, other)| diff(one, other));
        let diff = match &self.diff {
            Some(_) if !same => other(),
            diff => diff.clone(),
        };
        Self {
            expected,
            actual,
            diff,
            ..self.clone()
        }
    }

    /// All its texts.
    pub fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let errors = self.errors.iter_mut().map(|one| &mut one.message);
        let words = [
            &mut self.message,
            &mut self.note,
            &mut self.diff,
            &mut self.tool_error,
        ];
        words.into_iter().flatten().chain(errors)
    }

    /// The documented object. Values keep their full length; code that prints them for
    /// people shortens them.
    #[must_use]
    pub fn to_json(&self, test_name: &str) -> Json {
        let mut members: Vec<(&str, Json)> = vec![
            ("test_name", test_name.into()),
            ("target", self.target.as_str().into()),
            ("matcher", self.matcher.as_str().into()),
        ];
        let text = |value: &Option<String>| value.as_deref().map(Json::from);
        members.extend(text(&self.message).map(|value| ("message", value)));
        members.extend(text(&self.path).map(|value| ("path", value)));
        members.extend(self.expected.clone().map(|value| ("expected", value)));
        members.extend(self.actual.clone().map(|value| ("actual", value)));
        let kind = |value: &Json| Json::from(value.kind());
        members.extend(
            self.expected
                .as_ref()
                .map(|value| ("expected_type", kind(value))),
        );
        let found = match (&self.actual, &self.missing) {
            (Some(value), _) => Some(kind(value)),
            (None, Some(_)) => Some("missing".into()),
            (None, None) => None,
        };
        members.extend(found.map(|value| ("actual_type", value)));
        if self.matcher == "regex" {
            members.push(("match", Json::Null));
        }
        members.extend(text(&self.note).map(|value| ("note", value)));
        members.extend(text(&self.diff).map(|value| ("diff", value)));
        if !self.errors.is_empty() {
            let errors = self.errors.iter().map(Violation::to_json).collect();
            members.push(("errors", Json::Array(errors)));
        }
        if let Some(stop) = &self.missing {
            members.push(("missing", stop.to_string().into()));
        }
        members.extend(text(&self.tool_error).map(|value| ("tool_error", value)));
        Json::object(members)
    }
}

impl Violation {
    fn to_json(&self) -> Json {
        Json::object(
            [
                ("instance_path", self.instance_path.as_str()),
                ("schema_path", self.schema_path.as_str()),
                ("message", self.message.as_str()),
            ]
            .map(|(name, value)| (name, Json::from(value))),
        )
    }
}
