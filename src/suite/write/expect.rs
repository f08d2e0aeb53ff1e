//! Makes expectations from answers: exact for stable parts, and by form for the rest.

use serde_json::{Map, Value, json};
use tapewright_assertions::Json;
use tapewright_assertions::target::Target;

use super::call::Asks;
use super::shape::schema;
use super::text;
use tapewright_schemas::order::Order as _;

/// An assertion about an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    pub(super) target: String,
    pub(super) matcher: Value,
}

/// How many assertions a test gets.
const MOST: usize = 12;
/// How many parts of an answer get their own assertions.
const PARTS: usize = 4;
/// How many members of a structure get their own assertions, and down to which depth.
const MEMBERS: usize = 8;
const DEPTH: usize = 3;
/// The longest value that is expected as a whole, in characters.
const WHOLE: usize = 300;

impl Expectation {
    pub(super) fn new(target: &str, matcher: &str, value: Value) -> Self {
        let mut one = Map::new();
        one.insert(matcher.to_owned(), value);
        Self {
            target: target.to_owned(),
            matcher: Value::Object(one),
        }
    }

    pub(super) fn exact(target: &str, value: &Value) -> Self {
        Self::new(target, "exact", value.clone())
    }

    /// Expects this form.
    pub(super) fn form(target: &str, values: &[&Value]) -> Self {
        Self::new(target, "schema", schema(values))
    }
}

/// The assertions that hold for all answers to a call. Never empty.
pub(super) fn held(asks: Asks, answers: &[Value]) -> Vec<Expectation> {
    let errors = all(answers, "error");
    let results = all(answers, "result");
    let mut held = Vec::new();
    if answers.is_empty() {
        // There is no answer yet.
        held.push(Expectation::new(
            "result",
            "schema",
            json!({ "type": "object" }),
        ));
    } else if errors.len() == answers.len() {
        error(&errors, &mut held);
    } else if results.len() == answers.len() {
        match asks {
            Asks::Tool => tool(&results, &mut held),
            Asks::Resource => list("result.contents", &all_of(&results, "contents"), &mut held),
            Asks::Prompt => messages(&all_of(&results, "messages"), &mut held),
        }
        if held.is_empty() {
            held.push(Expectation::form("result", &results));
        }
    } else {
        // It fails sometimes. A test that checks the error also allows an error.
        let mut seen = errors.clone();
        seen.extend(results.iter().filter_map(|one| one.get("error")));
        seen.push(&Value::Null);
        held.push(Expectation::form("result.error", &seen));
    }
    held.truncate(MOST);
    without_secrets(asks, answers, held)
}

/// Leaves out assertions on values with a redacted secret: over a recording, they would always be
/// inconclusive. If none is left, the number of blocks is expected.
fn without_secrets(asks: Asks, answers: &[Value], held: Vec<Expectation>) -> Vec<Expectation> {
    let answers: Vec<Json> = answers.iter().map(Json::from).collect();
    let is_open = |one: &Expectation| {
        let target = Target::parse(&one.target);
        target.is_ok_and(|target| answers.iter().all(|answer| !hides(&target, answer)))
    };
    let open: Vec<Expectation> = held.iter().filter(|one| is_open(one)).cloned().collect();
    if !open.is_empty() {
        return open;
    }
    let list = match asks {
        Asks::Tool => "content",
        Asks::Resource => "contents",
        Asks::Prompt => "messages",
    };
    let target = format!("result.{list}.length");
    let count = |answer: &Json| {
        let found = Target::parse(&target)
            .ok()?
            .resolve(answer)
            .value()
            .cloned();
        found.map(|count| Value::from(&count))
    };
    let counts: Vec<Value> = answers.iter().filter_map(count).collect();
    match counts.first() {
        Some(first) if counts.len() == answers.len() && counts.iter().all(|one| one == first) => {
            vec![Expectation::exact(&target, first)]
        }
        _ => held,
    }
}

fn hides(target: &Target, answer: &Json) -> bool {
    target.resolve(answer).value().is_some_and(Json::hides)
}

/// This member of all values that have it.
fn all<'v>(values: &'v [Value], name: &str) -> Vec<&'v Value> {
    values.iter().filter_map(|one| one.get(name)).collect()
}

/// Like `all`, for references; empty unless every value has it.
fn all_of<'v>(values: &[&'v Value], name: &str) -> Vec<&'v Value> {
    let found: Vec<&Value> = values.iter().filter_map(|one| one.get(name)).collect();
    if found.len() == values.len() {
        found
    } else {
        Vec::new()
    }
}

fn error(errors: &[&Value], held: &mut Vec<Expectation>) {
    let codes = all_of(errors, "code");
    match codes.first() {
        Some(code) if same(&codes) => held.push(Expectation::exact("result.error.code", code)),
        _ => held.push(Expectation::form("result.error", errors)),
    }
    let messages = all_of(errors, "message");
    if let Some(texts) = texts(&messages) {
        held.push(text::held("result.error.message", &texts));
    }
}

fn tool(results: &[&Value], held: &mut Vec<Expectation>) {
    let failed = all_of(results, "isError");
    if !failed.is_empty() && failed.iter().all(|one| **one == Value::Bool(true)) {
        held.push(Expectation::exact("result.isError", &Value::Bool(true)));
    }
    let structures = all_of(results, "structuredContent");
    if !structures.is_empty() {
        value("result.structuredContent", &structures, 0, held);
    }
    let contents = all_of(results, "content");
    // The text of a structured result repeats the structure.
    let told = !structures.is_empty() && contents.iter().all(|one| is_one_text(one));
    if !told {
        list("result.content", &contents, held);
    }
}

fn is_one_text(content: &Value) -> bool {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    matches!(parts, [one] if one.get("text").is_some())
}

/// Blocks of content, or the contents of a resource.
fn list(target: &str, lists: &[&Value], held: &mut Vec<Expectation>) {
    let Some(first) = lists.first().and_then(|one| one.as_array()) else {
        return;
    };
    let lengths = |one: &&Value| one.as_array().is_some_and(|one| one.len() == first.len());
    if !lists.iter().all(lengths) || first.len() > PARTS {
        return held.push(Expectation::form(target, lists));
    }
    if first.is_empty() {
        return held.push(Expectation::exact(target, &json!([])));
    }
    for place in 0..first.len() {
        let parts: Vec<&Value> = lists.iter().filter_map(|one| one.get(place)).collect();
        part(&format!("{target}[{place}]"), &parts, held);
    }
}

/// One block: its text, or its kind.
fn part(target: &str, parts: &[&Value], held: &mut Vec<Expectation>) {
    let said = all_of(parts, "text");
    if let Some(texts) = texts(&said) {
        return held.push(text::held(&format!("{target}.text"), &texts));
    }
    if let Some(content) = inner(target, parts) {
        let (target, parts) = content;
        return part(&target, &parts, held);
    }
    // Only the type of binary content is expected.
    let mut kind = Map::new();
    for name in ["type", "mimeType", "name"] {
        let values = all_of(parts, name);
        if let Some(one) = values.first().filter(|_| same(&values)) {
            kind.insert(name.to_owned(), (*one).clone());
        }
    }
    if kind.is_empty() {
        held.push(Expectation::form(target, parts));
    } else {
        held.push(Expectation::new(target, "contains", Value::Object(kind)));
    }
}

/// The resource within a block of content.
fn inner<'v>(target: &str, parts: &[&'v Value]) -> Option<(String, Vec<&'v Value>)> {
    let inner = all_of(parts, "resource");
    (!inner.is_empty()).then(|| (format!("{target}.resource"), inner))
}

fn messages(lists: &[&Value], held: &mut Vec<Expectation>) {
    let Some(first) = lists.first().and_then(|one| one.as_array()) else {
        return;
    };
    let lengths = |one: &&Value| one.as_array().is_some_and(|one| one.len() == first.len());
    if !lists.iter().all(lengths) || first.len() > PARTS {
        return held.push(Expectation::form("result.messages", lists));
    }
    for place in 0..first.len() {
        let all: Vec<&Value> = lists.iter().filter_map(|one| one.get(place)).collect();
        let contents = all_of(&all, "content");
        let target = format!("result.messages[{place}].content");
        if contents.iter().all(|one| one.is_object()) && !contents.is_empty() {
            part(&target, &contents, held);
        } else {
            held.push(Expectation::form(
                &format!("result.messages[{place}]"),
                &all,
            ));
        }
    }
}

/// A value of a structure.
fn value(target: &str, values: &[&Value], depth: usize, held: &mut Vec<Expectation>) {
    let Some(first) = values.first() else { return };
    // Searching for variable parts is the most expensive step, so only values that may be expected
    // as a whole are searched.
    if same(values) && first.to_string().len() <= WHOLE && text::is_stable_value(first) {
        return held.push(Expectation::exact(target, first));
    }
    if let Some(texts) = texts(values) {
        return held.push(text::held(target, &texts));
    }
    if let Some(elements) = in_any_order(values) {
        return held.push(Expectation::new(target, "contains-all", elements));
    }
    let names = |members: &Map<String, Value>| {
        let plain = |name: &String| {
            let word = |char: char| char.is_ascii_alphanumeric() || char == '_';
            !name.is_empty() && name.chars().all(word)
        };
        members.len() <= MEMBERS && members.keys().all(plain)
    };
    match first {
        Value::Object(members) if depth < DEPTH && names(members) && !members.is_empty() => {
            for name in members.keys() {
                let inner = all_of(values, name);
                value(&format!("{target}.{name}"), &inner, depth + 1, held);
            }
        }
        _ => held.push(Expectation::form(target, values)),
    }
}

/// Whether all are equal.
fn same(values: &[&Value]) -> bool {
    values.windows(2).all(|pair| match pair {
        [one, other] => one == other,
        _ => true,
    })
}

/// All values as texts, if they are.
fn texts<'v>(values: &[&'v Value]) -> Option<Vec<&'v str>> {
    let texts: Option<Vec<&str>> = values.iter().map(|one| one.as_str()).collect();
    texts.filter(|texts| !texts.is_empty())
}

/// The elements of lists that only differ in their order.
fn in_any_order(values: &[&Value]) -> Option<Value> {
    let key = |one: &&Value| {
        let mut all: Vec<String> = one.as_array()?.iter().map(Value::to_string).collect();
        all.order();
        Some(all)
    };
    let first = key(values.first()?)?;
    let short = first.iter().map(String::len).sum::<usize>() <= WHOLE;
    let alike = values.iter().all(|one| key(one).as_ref() == Some(&first));
    let taken = values.len() > 1 && !first.is_empty() && short && alike;
    let stable = |one: &&&Value| taken && text::is_stable_value(one);
    values.first().filter(stable).map(|one| (*one).clone())
}
