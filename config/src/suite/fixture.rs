//! `fixtures`: errors that tests can refer to by name.

use crate::issue::Code;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// Errors by name.
#[derive(Clone, Debug, Default)]
pub struct Fixtures {
    /// The server that they imitate. Informational.
    pub server: Option<String>,
    /// The errors.
    pub errors: Vec<ErrorFixture>,
}

/// An error of JSON-RPC.
#[derive(Clone, Debug)]
pub struct ErrorFixture {
    /// The name that `inject_error` uses.
    pub name: String,
    /// The code of the error.
    pub code: i64,
    /// The text of the error.
    pub message: String,
    /// The one tool that it is for; any with `None`.
    pub tool: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

impl Fixtures {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let errors = fields
            .optional("errors")
            .map(|at| at.items())
            .unwrap_or_default();
        let fixtures = Self {
            server: fields.optional_name("server"),
            errors: errors.iter().map(ErrorFixture::read).collect(),
        };
        fields.finish();
        fixtures
    }
}

impl ErrorFixture {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let (name, message) = (fields.name("name"), fields.name("message"));
        let code = fields.required("code").map_or(0, |at| at.signed());
        let tool = match fields.exactly_one(&["tool", "applies_to"]) {
            Some(("tool", tool)) => Some(tool.name()),
            Some((_, all)) => {
                if all.is_text() && all.text() != "any" {
                    let help = "to name one tool, write `tool:`".to_owned();
                    all.error(Code::Value, "`applies_to` can only be `any`", help);
                } else if !all.is_text() {
                    all.wrong_type("a string");
                }
                None
            }
            None => None,
        };
        fields.finish();
        Self {
            name,
            code,
            message,
            tool,
            place: at.place(),
        }
    }
}
