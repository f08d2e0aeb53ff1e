//! `variables`: names for values.

use crate::issue::Code;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A name for a value.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The source of the value.
    pub origin: Origin,
    /// Its position.
    pub place: SourceSpot,
}

/// The source of a variable's value.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The suite.
    Literal(String),
    /// The environment.
    Env {
        /// The environment variable.
        name: String,
        /// The value when it is not set.
        default: Option<String>,
    },
}

impl Variable {
    pub(crate) fn read(name: &str, at: &Cursor<'_>) -> Self {
        let origin = if at.is_object() {
            origin(at)
        } else {
            at.wrong_type_with(
                "an object with `value` or `from_env`",
                "write `value: …` below the name",
            );
            Origin::Literal(String::new())
        };
        if !is_variable_name(name) {
            let message = format!("`{}` can never be referred to", name.escape_debug());
            let help =
                "names are letters, digits and `_`, and do not begin with a digit".to_owned();
            at.warn(Code::Unused, message, help);
        }
        Self {
            name: name.to_owned(),
            origin,
            place: at.place(),
        }
    }
}

fn origin(at: &Cursor<'_>) -> Origin {
    let mut fields = at.fields();
    let found = fields.exactly_one(&["value", "from_env"]);
    let default = fields.optional("default");
    let default_text = default.as_ref().map(Cursor::text);
    let origin = match found {
        Some(("from_env", name)) => Origin::Env {
            name: name.name(),
            default: default_text,
        },
        Some((_, value)) => {
            if let Some(default) = default {
                default.warn(
                    Code::Unused,
                    "`default` has no effect next to `value`",
                    None,
                );
            }
            Origin::Literal(scalar(&value))
        }
        None => Origin::Literal(String::new()),
    };
    fields.finish();
    origin
}

/// A string, or a number or boolean as one.
fn scalar(at: &Cursor<'_>) -> String {
    if let Some(text) = at.scalar_text() {
        return text;
    }
    at.error(
        Code::Type,
        "`value` must be a string, a number or a boolean",
        None,
    );
    String::new()
}

/// Whether `${name}` can mean a variable of this name.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name.chars().all(is_word)
}
