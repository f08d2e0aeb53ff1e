//! The matchers, one file each, and the table of their names.
//!
//! A new matcher is a file with a `compile` and a line in [`TABLE`].

mod cel;
mod compose;
mod contains;
mod each;
mod exact;
mod is_json;
mod is_sql;
mod is_tools_call;
mod is_xml;
mod levenshtein;
mod model;
mod not;
mod regex;
pub(crate) mod schema;
mod snapshot;
mod text;

use std::fmt::Debug;

pub(crate) use self::model::NEEDS as A_MODEL;
pub(crate) use self::regex::build as build_regex;

use serde_json::{Map, Value};
use tapewright_schemas::near::did_you_mean;

use crate::assertion::kind;
use crate::error::{EvalError, LoadError};
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

/// Judges one value.
pub(crate) trait Matcher: Debug + Send + Sync {
    /// Judges the value at the target; `None` if there is none.
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged;

    /// What the matcher needs, in a word, if that prevents its use inside `not` and similar
    /// matchers.
    fn needs(&self) -> Option<&'static str> {
        None
    }

    /// Whether it is `not`, or contains one, so that it may hold because nothing is there.
    fn negates(&self) -> bool {
        false
    }
}

/// The result of a matcher.
#[derive(Debug)]
pub(crate) enum Judged {
    Holds,
    Fails(Box<Failure>),
    Unknown(EvalError),
    /// A model judged, and did not decide.
    Undecided(String),
    /// No model can be asked.
    Deferred(String),
}

impl Judged {
    /// It holds, or it fails with these words.
    pub(crate) fn when(holds: bool, failure: impl FnOnce() -> Failure) -> Self {
        if holds {
            Self::Holds
        } else {
            Self::fails(failure())
        }
    }

    pub(crate) fn fails(failure: Failure) -> Self {
        Self::Fails(Box::new(failure))
    }

    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::Unknown(EvalError::new(message))
    }
}

/// Compiles the argument of a matcher. The number is its nesting depth inside others.
type Compile = fn(&Value, usize) -> Result<Box<dyn Matcher>, LoadError>;

/// Every matcher, in the order in which the document introduces them.
const TABLE: [(&str, Compile); 25] = [
    ("exact", exact::compile),
    ("contains", contains::compile),
    ("regex", regex::compile),
    ("schema", schema::compile),
    ("snapshot", snapshot::compile),
    ("llm-judge", model::judge),
    ("llm-jury", model::jury),
    ("contains-all", each::all),
    ("contains-any", each::any),
    ("icontains", text::icontains),
    ("starts-with", text::starts_with),
    ("is-json", is_json::compile),
    ("is-valid-tools-call", is_tools_call::compile),
    ("levenshtein", levenshtein::compile),
    ("is-xml", is_xml::compile),
    ("is-sql", is_sql::compile),
    ("similar", model::similar),
    ("cel", cel::compile),
    ("factuality", model::factuality),
    ("answer-relevance", model::answer_relevance),
    ("context-faithfulness", model::context_faithfulness),
    ("not", not::compile),
    ("oneOf", compose::one_of),
    ("anyOf", compose::any_of),
    ("allOf", compose::all_of),
];

/// Names in drafts and other tools, and their replacements.
const FORMER: [(&str, &str); 5] = [
    ("equals", "write `exact`"),
    (
        "length",
        "write `schema: { type: array, minItems: N }`, or put `.length` at the end of the target and match that with `exact`",
    ),
    (
        "jsonpath",
        "write the path as the `target`: names, `[0]` and `[\"quoted names\"]`",
    ),
    (
        "subset",
        "write `contains`, which takes a part of an object",
    ),
    ("notContains", "write `not: { contains: … }`"),
];

/// The maximum nesting depth of matchers.
const DEPTH: usize = 32;

/// The names of all matchers.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

/// Reads a matcher: an object with exactly one member.
pub(crate) fn compile(value: &Value) -> Result<(&'static str, Box<dyn Matcher>), LoadError> {
    nested(value, 0)
}

/// Compiles a matcher inside another one.
fn nested(value: &Value, depth: usize) -> Result<(&'static str, Box<dyn Matcher>), LoadError> {
    let Some(members) = value.as_object() else {
        return Err(LoadError::here(format!(
            "a matcher is an object with one member, not {}",
            kind(value)
        ))
        .help("write it as in `{ exact: \"hello\" }`"));
    };
    if depth > DEPTH {
        return Err(LoadError::here(format!(
            "matchers nest deeper than {DEPTH} levels"
        )));
    }
    for name in members.keys() {
        if !names().any(|one| one == name) {
            return Err(unknown(name));
        }
    }
    let mut each = members.iter();
    let (Some((name, argument)), None) = (each.next(), each.next()) else {
        return Err(count(members));
    };
    let found = TABLE.iter().find(|(one, _)| one == name);
    let Some((name, compile)) = found else {
        return Err(unknown(name));
    };
    compile(argument, depth)
        .map(|matcher| (*name, matcher))
        .map_err(|error| error.under(name))
}

fn count(members: &Map<String, Value>) -> LoadError {
    if members.is_empty() {
        return LoadError::here("the matcher is empty")
            .help("write one matcher, as in `{ exact: \"hello\" }`");
    }
    let found: Vec<String> = members.keys().map(|name| format!("`{name}`")).collect();
    LoadError::here(format!(
        "a matcher has exactly one member, and this one has {}",
        found.join(" and ")
    ))
    .help("write `allOf:` with a list of matchers, or one assertion for each")
}

fn unknown(name: &str) -> LoadError {
    let error = LoadError::here(format!("unknown matcher `{name}`")).under(name);
    let former = FORMER
        .iter()
        .find(|(one, _)| *one == name)
        .map(|(_, help)| (*help).to_owned());
    let help = former
        .or_else(|| did_you_mean(name, names()))
        .unwrap_or_else(|| {
            let names: Vec<String> = names().map(|one| format!("`{one}`")).collect();
            format!("expected one of {}", names.join(", "))
        });
    error.help(help)
}

/// The string argument of a matcher.
fn string_argument(value: &Value, name: &str) -> Result<String, LoadError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(LoadError::here(format!(
            "`{name}` takes a string, not {}",
            kind(other)
        ))),
    }
}

/// The members of an object argument, all of which must be known.
fn object_argument<'v>(
    value: &'v Value,
    name: &str,
    known: &[&str],
) -> Result<&'v Map<String, Value>, LoadError> {
    let Some(members) = value.as_object() else {
        return Err(LoadError::here(format!(
            "`{name}` takes an object, not {}",
            kind(value)
        )));
    };
    for member in members.keys() {
        if !known.contains(&member.as_str()) {
            let list: Vec<String> = known.iter().map(|one| format!("`{one}`")).collect();
            let help = did_you_mean(member, known.iter().copied())
                .unwrap_or_else(|| format!("`{name}` has {}", list.join(", ")));
            return Err(
                LoadError::here(format!("`{name}` has no member `{member}`"))
                    .help(help)
                    .under(member),
            );
        }
    }
    Ok(members)
}

/// A member that must be there.
fn required<'v>(
    members: &'v Map<String, Value>,
    member: &str,
    name: &str,
) -> Result<&'v Value, LoadError> {
    members
        .get(member)
        .ok_or_else(|| LoadError::here(format!("`{name}` needs the member `{member}`")))
}

/// The result of a matcher that only accepts strings.
fn no_string(name: &str, value: &Json) -> Judged {
    Judged::unknown(format!(
        "`{name}` judges a string, and the target is {} {}",
        article(value.kind()),
        value.kind()
    ))
}

/// The failure if there is no value at the target.
fn nothing_there(expected: Option<Json>) -> Judged {
    Judged::fails(Failure {
        expected,
        note: Some("no value at the target".to_owned()),
        ..Failure::default()
    })
}

fn article(word: &str) -> &'static str {
    match word.as_bytes().first() {
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => "an",
        _ => "a",
    }
}
