//! The shapes of messages: which members each method's parameters and results must have, and of
//! what type, by revision.
//!
//! These are facts of the schemas of MCP, in tables of [`Member`]s: `requests`, `notifications`,
//! `results` and `content`. A rule gets the table of a method and calls [`check`]. A new revision
//! adds members with [`Member::only`], and new methods as arms of the three functions that return
//! the tables.

pub(crate) mod content;
pub(crate) mod form;
mod notifications;
mod requests;
mod results;
mod types;

pub(crate) use self::notifications::of as notification;
pub(crate) use self::requests::of as request;
pub(crate) use self::results::of as result;
use crate::fields::Fields;
use crate::revision::{R3, Revisions};
use crate::value::{Value, quoted};

/// The required type of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any value at all.
    Any,
    /// A block of content.
    Block,
    /// A boolean.
    Boolean,
    /// A value of a filled-in form: a string, a number, a boolean, and from 2025-11-25 on strings.
    Filled,
    /// A client's answer to a server's request for input.
    InputResponse,
    /// A string or an integer.
    Id,
    /// These members of an object; other rules check that it is one.
    Inside(&'static [Member]),
    /// An array of these.
    List(&'static Self),
    /// An object whose members are all of this kind.
    Map(&'static Self),
    /// One of these, or `null`.
    Nullable(&'static Self),
    /// A number.
    Number,
    /// An object with these members, and any other.
    Object(&'static [Member]),
    /// The reference of a completion: a prompt by its name, or a resource by its URI.
    Reference,
    /// The contents of a resource: a string `text` or `blob` next to its URI.
    Resource,
    /// A string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    name: &'static str,
    kind: Kind,
    required: bool,
    /// The revisions that define it; in others it may be anything.
    revisions: Revisions,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeError {
    /// JSON pointer to it; for a missing member, to its container.
    pub(crate) pointer: String,
    /// The error, as words that follow a name, such as that a string member is missing.
    pub(crate) what: String,
}

/// A member that must be there.
const fn need(name: &'static str, kind: Kind) -> Member {
    Member {
        name,
        kind,
        required: true,
        revisions: Revisions::ALL,
    }
}

/// An optional member.
const fn may(name: &'static str, kind: Kind) -> Member {
    Member {
        required: false,
        ..need(name, kind)
    }
}

impl Member {
    /// Only in these revisions.
    const fn only(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }
}

/// The first error of an object that should have these members, if it is of one of the `possible`
/// revisions.
pub(crate) fn check(
    object: Value<'_>,
    members: &'static [Member],
    possible: Revisions,
) -> Result<(), ShapeError> {
    if members.is_empty() {
        return Ok(());
    }
    if !object.is_object() {
        return Err(ShapeError::here(format!(
            "is {}, not an object",
            object.kind()
        )));
    }
    check_fields(object, &Fields::of(object), members, possible)
}

/// Like [`check`], for an object whose members are known.
pub(crate) fn check_fields(
    object: Value<'_>,
    fields: &Fields,
    members: &'static [Member],
    possible: Revisions,
) -> Result<(), ShapeError> {
    for member in members {
        if !member.revisions.covers(possible) {
            continue;
        }
        match fields.get(object, member.name) {
            Some(value) => member
                .kind
                .check(value, possible)
                .map_err(|wrong| wrong.under(member.name))?,
            None if member.required => {
                return Err(ShapeError::here(format!("has no {}", member.in_words())));
            }
            None => {}
        }
    }
    Ok(())
}

impl Member {
    /// Its type, if it has a word, and its name.
    fn in_words(&self) -> String {
        let kind = match self.kind {
            Kind::Any | Kind::Filled | Kind::Id | Kind::Nullable(_) | Kind::Word(_) => "",
            Kind::Boolean => "boolean ",
            Kind::List(_) => "array ",
            Kind::Block
            | Kind::InputResponse
            | Kind::Inside(_)
            | Kind::Map(_)
            | Kind::Object(_)
            | Kind::Reference
            | Kind::Resource => "object ",
            Kind::Number => "number ",
            Kind::Text => "string ",
        };
        format!("{kind}`{}`", self.name)
    }
}

impl Kind {
    fn check(self, value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
        let fits = match self {
            Self::Any => true,
            Self::Boolean => value.boolean().is_some(),
            Self::Id => value.is_string() || value.is_integer(),
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
            Self::Block => return content::block(value, possible),
            Self::Filled => {
                value.is_string()
                    || value.is_number()
                    || value.boolean().is_some()
                    || value.is_array() && !R3.covers(possible) && are_texts(value)
            }
            Self::InputResponse => return requests::given(value, possible),
            Self::Inside(_) if !value.is_object() => true,
            Self::Nullable(_) if value.0 == b"null" => true,
            Self::Nullable(kind) => return kind.check(value, possible),
            Self::Reference => return requests::reference(value, possible),
            Self::Word(words) => return word(value, words),
            Self::List(kind) => return list(value, *kind, possible),
            Self::Map(kind) => return map(value, *kind, possible),
            Self::Object([]) => value.is_object(),
            Self::Inside(members) | Self::Object(members) => {
                return check(value, members, possible);
            }
            Self::Resource => return content::resource(value, possible),
        };
        if fits {
            return Ok(());
        }
        let wanted = match self {
            Self::Boolean => "a boolean",
            Self::Id => "a string or an integer",
            Self::Filled => "a value of a form",
            Self::Number => "a number",
            Self::Text => "a string",
            _ => "an object",
        };
        let what = format!("is {}, not {wanted}", value.kind());
        Err(ShapeError::here(what))
    }
}

fn are_texts(list: Value<'_>) -> bool {
    let mut all = true;
    list.elements(|element| all &= element.is_string());
    all
}

fn word(value: Value<'_>, words: &[&str]) -> Result<(), ShapeError> {
    if words.iter().any(|word| value.is(word)) {
        return Ok(());
    }
    let Some(text) = value.string() else {
        let what = format!("is {}, not a string", value.kind());
        return Err(ShapeError::here(what));
    };
    if text.starts_with("<REDACTED") {
        return Ok(());
    }
    let what = format!("is {}, not one of `{}`", quoted(&text), words.join("`, `"));
    Err(ShapeError::here(what))
}

fn list(value: Value<'_>, kind: Kind, possible: Revisions) -> Result<(), ShapeError> {
    if !value.is_array() {
        let what = format!("is {}, not an array", value.kind());
        return Err(ShapeError::here(what));
    }
    let (mut number, mut first) = (0_usize, Ok(()));
    value.elements(|element| {
        if first.is_ok() {
            first = kind
                .check(element, possible)
                .map_err(|wrong| wrong.under(&number.to_string()));
        }
        number += 1;
    });
    first
}

fn map(value: Value<'_>, kind: Kind, possible: Revisions) -> Result<(), ShapeError> {
    if !value.is_object() {
        let what = format!("is {}, not an object", value.kind());
        return Err(ShapeError::here(what));
    }
    let mut first = Ok(());
    value.members(|name, value| {
        if first.is_ok() {
            let name = || String::from_utf8_lossy(name).into_owned();
            first = kind
                .check(value, possible)
                .map_err(|wrong| wrong.under(&name()));
        }
    });
    first
}

impl ShapeError {
    fn here(what: String) -> Self {
        Self {
            pointer: String::new(),
            what,
        }
    }

    /// The same error, seen from the container that has it under this name.
    pub(crate) fn under(mut self, name: &str) -> Self {
        let name = name.replace('~', "~0").replace('/', "~1");
        self.pointer = format!("/{name}{}", self.pointer);
        self
    }

    /// The error as a sentence, with the name `whole`: `` the parameters of `ping`: `/a` is null …
    /// ``.
    pub(crate) fn told(&self, whole: &str) -> String {
        if self.pointer.is_empty() {
            format!("{whole}: {}", self.what)
        } else {
            format!("{whole}: {} {}", quoted(&self.pointer), self.what)
        }
    }
}

#[cfg(test)]
mod tests;
