//! `transform`: programs that rewrite requests and responses.

use crate::read::Cursor;
use crate::source::SourceSpot;

/// Programs, each as its words. They read one JSON value and write its replacement.
#[derive(Clone, Debug)]
pub struct Transform {
    /// Rewrites `{"name", "arguments"}` before it is sent.
    pub request: Option<Vec<String>>,
    /// Rewrites `{"result"}` before assertions see it.
    pub response: Option<Vec<String>>,
    /// Its position.
    pub place: SourceSpot,
}

impl Transform {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let mut command = |key| fields.optional(key).map(|at| at.command_line());
        let transform = Self {
            request: command("request"),
            response: command("response"),
            place: at.place(),
        };
        fields.finish();
        transform
    }
}
