//! One assertion: its target, and its condition.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tapewright_schemas::near::did_you_mean;

use crate::error::{EvalError, LoadError};
use crate::failure::Failure;
use crate::json::Json;
use crate::matcher::{self, Judged, Matcher};
use crate::target::{Found, Stop, Target};
use crate::verdict::{Evidence, Verdict};
use crate::world::{Phase, TransformError};

/// An assertion that was read and checked.
#[derive(Debug)]
pub struct Assertion {
    target: Target,
    matcher: Box<dyn Matcher>,
    name: &'static str,
    message: Option<String>,
    transform: Option<Vec<String>>,
}

/// The members of an assertion.
const MEMBERS: [&str; 4] = ["target", "matcher", "message", "transform"];

/// Members that a result may lack: `not` on them says that there is no such value.
const OPTIONAL: [&str; 5] = [
    "_meta",
    "error",
    "isError",
    "nextCursor",
    "structuredContent",
];

/// Compiles an assertion of a suite.
///
/// Finds every error that can be found without an answer: unknown members and matchers, malformed
/// targets, patterns, schemas and expressions.
pub fn compile(value: &Value) -> Result<Assertion, LoadError> {
    let Some(members) = value.as_object() else {
        return Err(
            LoadError::here(format!("an assertion is an object, not {}", kind(value)))
                .help("write `- target: result.content[0].text` and below it `matcher:`"),
        );
    };
    for name in members.keys() {
        if !MEMBERS.contains(&name.as_str()) {
            return Err(unknown(name, members));
        }
    }
    let target = match string(members, "target")? {
        Some(text) => Target::parse(text).map_err(|error| error.under("target"))?,
        None => Target::parse("")?,
    };
    let Some(matcher) = members.get("matcher") else {
        return Err(LoadError::here("the assertion has no `matcher`")
            .help("add `matcher:` with one matcher, as in `matcher: { contains: \"hello\" }`"));
    };
    let (name, matcher) = matcher::compile(matcher).map_err(|error| error.under("matcher"))?;
    let transform = string(members, "transform")?
        .map(|command| argv(command).map_err(|error| error.under("transform")))
        .transpose()?;
    Ok(Assertion {
        target,
        matcher,
        name,
        message: string(members, "message")?.map(str::to_owned),
        transform,
    })
}

impl Assertion {
    /// Its target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The name of its matcher.
    #[must_use]
    pub fn matcher(&self) -> &'static str {
        self.name
    }

    /// Whether a model must judge it.
    #[must_use]
    pub fn asks_models(&self) -> bool {
        self.matcher.needs() == Some(matcher::A_MODEL)
    }

    /// Whether a recording hides a part of its target's value, or may have hidden the target
    /// itself.
    #[must_use]
    pub fn sees_hidden(&self, envelope: &Json) -> bool {
        match self.target.resolve(envelope) {
            Found::Value(value) => value.hides(),
            Found::Missing(_) => envelope.hides(),
        }
    }

    /// If `not` can hold only because nothing is at the target: why nothing is there.
    ///
    /// A member that a valid result may lack is no mistake in the target.
    #[must_use]
    pub fn absent(&self, envelope: &Json) -> Option<Stop> {
        let Found::Missing(stop) = self.target.resolve(envelope) else {
            return None;
        };
        let is_optional = |name: &&str| self.target.starts_with(&["result", *name]);
        let may_lack = stop.at == "result" && OPTIONAL.iter().any(is_optional);
        (self.matcher.negates() && !may_lack).then_some(stop)
    }

    /// Judges an answer.
    pub fn judge(&self, evidence: &Evidence<'_>) -> Verdict {
        let found = self.target.resolve(evidence.envelope);
        let found = match (&self.transform, found) {
            (Some(command), Found::Value(value)) => {
                match evidence.world.transform(Phase::Assertion, command, &value) {
                    Ok(value) => Found::Value(Cow::Owned(value)),
                    Err(TransformError::NotStarted(why)) => {
                        return Verdict::Unjudged(EvalError(why));
                    }
                    Err(TransformError::Failed(why)) => {
                        let failure = Failure::note("transform", why);
                        return Verdict::Failed(Box::new(self.told(failure, &Found::Value(value))));
                    }
                }
            }
            (_, found) => found,
        };
        match self.matcher.judge(found.value(), evidence.world) {
            Judged::Holds => Verdict::Passed,
            Judged::Unknown(error) => Verdict::Unjudged(error),
            Judged::Undecided(why) => Verdict::Undecided(why),
            Judged::Deferred(why) => Verdict::Deferred(why),
            Judged::Fails(failure) => {
                let mut failure = *failure;
                self.name.clone_into(&mut failure.matcher);
                Verdict::Failed(Box::new(self.told(failure, &found)))
            }
        }
    }

    /// Adds the parts that every failure has.
    fn told(&self, mut failure: Failure, found: &Found<'_>) -> Failure {
        failure.target = self.target.to_string();
        failure.message.clone_from(&self.message);
        match found {
            Found::Value(value) => {
                failure.actual.get_or_insert_with(|| value.as_ref().clone());
            }
            Found::Missing(stop) => failure.missing = Some(stop.clone()),
        }
        failure
    }
}

/// Splits a command line into words by the rules of a POSIX shell, without expansions.
pub(crate) fn argv(command: &str) -> Result<Vec<String>, LoadError> {
    let words = shell_words::split(command)
        .map_err(|_| LoadError::here("the command has a quote that is not closed"))?;
    if words.is_empty() {
        return Err(LoadError::here("the command is empty"));
    }
    Ok(words)
}

fn string<'v>(members: &'v Map<String, Value>, name: &str) -> Result<Option<&'v str>, LoadError> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(LoadError::here(format!("`{name}` is a string, not {}", kind(other))).under(name))
        }
    }
}

fn unknown(name: &str, members: &Map<String, Value>) -> LoadError {
    let error = LoadError::here(format!("an assertion has no member `{name}`")).under(name);
    // A matcher one level too high is a common mistake.
    if matcher::names().any(|one| one == name) && !members.contains_key("matcher") {
        return error.help(format!("write `matcher: {{ {name}: … }}`"));
    }
    let help = did_you_mean(name, MEMBERS).unwrap_or_else(|| {
        format!(
            "an assertion has {}",
            MEMBERS.map(|one| format!("`{one}`")).join(", ")
        )
    });
    error.help(help)
}

/// The type of a value, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
