//! The syntax of matchers: their names and arguments.
//!
//! `assertions` checks regular expressions and schemas.

use crate::issue::Code;
use crate::near::{did_you_mean, listed};
use crate::read::Cursor;

/// The argument of a matcher.
#[derive(Clone, Copy, Debug)]
enum Argument {
    /// Any value.
    Any,
    /// Any string.
    Text,
    /// A string that is not empty.
    Name,
    /// A list.
    List,
    /// An inline JSON Schema.
    Schema,
    /// Nothing, or `schema`.
    MaybeSchema,
    /// Nothing, or `root`.
    MaybeRoot,
    /// Nothing.
    Nothing,
    /// `value` and `max`.
    Distance,
    /// A key, or `name` and `update`.
    Snapshot,
    /// `rubric` and how to judge by it.
    Judge,
    /// `rubric` and the jurors.
    Jury,
    /// `value`, `threshold` and `model`.
    Similar,
    /// A string under this key, and how to judge by it.
    Graded(&'static str),
    /// Another matcher.
    Matcher,
    /// Other matchers, at least one.
    Matchers,
}

/// Every matcher, as reports and completions list them.
const MATCHERS: &[(&str, Argument)] = &[
    ("exact", Argument::Any),
    ("contains", Argument::Any),
    ("regex", Argument::Text),
    ("schema", Argument::Schema),
    ("snapshot", Argument::Snapshot),
    ("contains-all", Argument::List),
    ("contains-any", Argument::List),
    ("icontains", Argument::Text),
    ("starts-with", Argument::Text),
    ("is-json", Argument::MaybeSchema),
    ("is-valid-tools-call", Argument::MaybeSchema),
    ("levenshtein", Argument::Distance),
    ("is-xml", Argument::MaybeRoot),
    ("is-sql", Argument::Nothing),
    ("cel", Argument::Name),
    ("not", Argument::Matcher),
    ("oneOf", Argument::Matchers),
    ("anyOf", Argument::Matchers),
    ("allOf", Argument::Matchers),
    ("llm-judge", Argument::Judge),
    ("llm-jury", Argument::Jury),
    ("similar", Argument::Similar),
    ("factuality", Argument::Graded("reference")),
    ("answer-relevance", Argument::Graded("query")),
    ("context-faithfulness", Argument::Graded("context")),
];

/// Names in earlier drafts of the format, and their replacements.
const FORMER: &[(&str, &str)] = &[
    ("equals", "write `exact`, which compares the whole value"),
    (
        "length",
        "write `schema: {type: array, minItems: N, maxItems: N}`, or target `….length` with `exact`",
    ),
    (
        "jsonpath",
        "put the path into `target`, such as `result.content[0].text`",
    ),
];

/// The names of all matchers.
pub fn names() -> impl Iterator<Item = &'static str> {
    MATCHERS.iter().map(|(name, _)| *name)
}

pub(super) fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Matchers that store something or ask a model, and are not allowed inside others.
const NOT_WITHIN: &[&str] = &[
    "snapshot",
    "llm-judge",
    "llm-jury",
    "similar",
    "factuality",
    "answer-relevance",
    "context-faithfulness",
];

/// Checks an object whose only key is a matcher.
pub(super) fn check(at: &Cursor<'_>) {
    check_within(at, None);
}

/// The same, for a matcher that may be inside another one.
fn check_within(at: &Cursor<'_>, around: Option<&str>) {
    if !at.is_object() {
        at.wrong_type("an object with the name of a matcher");
        return;
    }
    let entries = at.entries();
    let mut known = 0;
    for (name, value) in &entries {
        let Some((_, argument)) = MATCHERS.iter().find(|(known, _)| known == name) else {
            unknown(name, value);
            continue;
        };
        known += 1;
        if let Some(around) = around.filter(|_| NOT_WITHIN.contains(name)) {
            let message = format!("`{name}` cannot be judged within `{around}`");
            let help = "write an assertion of its own for it".to_owned();
            value.warn(Code::Assertion, message, help);
        }
        if known == 2 {
            let help = "write one assertion for each, or put both into `allOf`".to_owned();
            value.error_at_key(Code::Choice, "a matcher has exactly one key", help);
        }
        argument.check(value, name);
    }
    if entries.is_empty() {
        let help = "such as `exact: …` or `contains: …`".to_owned();
        at.error_at_key(Code::Choice, "the matcher is empty", help);
    }
}

fn unknown(name: &str, at: &Cursor<'_>) {
    let former = FORMER
        .iter()
        .find(|(former, _)| *former == name)
        .map(|(_, help)| (*help).to_owned());
    let all: Vec<_> = names().collect();
    let help = former.or_else(|| did_you_mean(name, all.iter().copied()));
    let help = help.unwrap_or_else(|| format!("expected one of {}", listed(&all)));
    at.error_at_key(
        Code::UnknownKey,
        format!("`{}` is not a matcher", name.escape_debug()),
        help,
    );
}

impl Argument {
    fn check(self, at: &Cursor<'_>, name: &str) {
        match self {
            Self::Any => {}
            Self::Text => drop(at.text()),
            Self::Name => drop(at.name()),
            Self::List => drop(at.items()),
            Self::Schema => drop(at.object()),
            Self::Nothing => {
                if !at.is_null() {
                    at.wrong_type_with("null", "it takes nothing; write `~`");
                }
            }
            Self::MaybeSchema => maybe(at, "schema", |schema| drop(schema.object())),
            Self::MaybeRoot => maybe(at, "root", |root| drop(root.name())),
            Self::Distance => distance(at),
            Self::Snapshot => snapshot(at),
            Self::Judge => judge(at),
            Self::Jury => jury(at),
            Self::Similar => similar(at),
            Self::Graded(key) => graded(at, key),
            Self::Matcher => check_within(at, Some(name)),
            Self::Matchers => {
                for matcher in at.some_items() {
                    check_within(&matcher, Some(name));
                }
            }
        }
    }
}

fn maybe(at: &Cursor<'_>, key: &'static str, check: impl Fn(&Cursor<'_>)) {
    if at.is_null() {
        return;
    }
    if !at.is_object() {
        at.wrong_type(&format!("null or an object with `{key}`"));
        return;
    }
    let mut fields = at.fields();
    if let Some(value) = fields.required(key) {
        check(&value);
    }
    fields.finish();
}

fn distance(at: &Cursor<'_>) {
    let mut fields = at.fields();
    if let Some(value) = fields.required("value") {
        value.text();
    }
    if let Some(most) = fields.required("max") {
        most.integer(0);
    }
    fields.finish();
}

fn snapshot(at: &Cursor<'_>) {
    if !at.is_object() {
        if at.is_text() {
            at.name();
        } else {
            at.wrong_type("a string or an object with `name`");
        }
        return;
    }
    let mut fields = at.fields();
    if let Some(name) = fields.required("name") {
        name.name();
    }
    if let Some(update) = fields.optional("update") {
        update.boolean();
    }
    fields.finish();
}

fn judge(at: &Cursor<'_>) {
    graded(at, "rubric");
}

/// A judgement by a model: the criterion, and the threshold.
fn graded(at: &Cursor<'_>, key: &'static str) {
    let mut fields = at.fields();
    if let Some(text) = fields.required(key) {
        text.name();
    }
    if let Some(threshold) = fields.optional("threshold") {
        threshold.fraction();
    }
    if let Some(model) = fields.optional("model") {
        model.name();
    }
    if let Some(samples) = fields.optional("samples") {
        odd(&samples);
    }
    fields.finish();
}

/// The number of opinions that decide: odd, so that there is a majority.
fn odd(at: &Cursor<'_>) {
    if at.integer_within(1, 9).is_multiple_of(2) {
        let message = format!("{} must be odd", at.label());
        let help = "write 1, 3, 5, 7 or 9".to_owned();
        at.error(Code::Value, message, help);
    }
}

fn jury(at: &Cursor<'_>) {
    let mut fields = at.fields();
    if let Some(rubric) = fields.required("rubric") {
        rubric.name();
    }
    if let Some(jurors) = fields.required("jurors") {
        jurors.some_items().iter().for_each(juror);
    }
    for key in ["threshold", "quorum"] {
        if let Some(value) = fields.optional(key) {
            value.fraction();
        }
    }
    fields.finish();
}

fn juror(at: &Cursor<'_>) {
    let mut fields = at.fields();
    if let Some(model) = fields.required("model") {
        model.name();
    }
    if let Some(threshold) = fields.optional("threshold") {
        threshold.fraction();
    }
    fields.finish();
}

fn similar(at: &Cursor<'_>) {
    let mut fields = at.fields();
    for key in ["value", "model"] {
        if let Some(text) = fields.required(key) {
            text.name();
        }
    }
    if let Some(threshold) = fields.required("threshold") {
        threshold.fraction();
    }
    fields.finish();
}
