//! `compositions`: calls that use the results of earlier ones.

use super::expect::{Assertion, assertions};
use super::options::TestOptions;
use crate::issue::Code;
use crate::read::Cursor;
use crate::source::SourceSpot;
use crate::template::Template;

/// A directed graph of calls.
#[derive(Clone, Debug)]
pub struct Composition {
    /// Its name in reports.
    pub name: String,
    /// The calls.
    pub nodes: Vec<CompositionNode>,
    /// The node whose output is that of the composition; the last one if `None`.
    pub output: Option<String>,
    /// The expectations.
    pub expect: Vec<Assertion>,
    /// Its options in a run.
    pub options: TestOptions,
    /// Its position.
    pub place: SourceSpot,
}

/// One call.
#[derive(Clone, Debug)]
pub struct CompositionNode {
    /// The name by which others refer to it.
    pub id: String,
    /// The server to call; the only one with `None`.
    pub server: Option<String>,
    /// The tool to call.
    pub tool: String,
    /// The nodes whose output it waits for.
    pub needs: Vec<String>,
    /// The arguments, to be filled with outputs.
    pub args: Template,
    /// Its position.
    pub place: SourceSpot,
}

impl Composition {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let name = fields.name("name");
        let nodes = fields
            .required("nodes")
            .map(|at| at.some_items())
            .unwrap_or_default();
        let composition = Self {
            name,
            nodes: nodes.iter().map(CompositionNode::read).collect(),
            output: fields.optional_name("output"),
            expect: fields
                .optional("expect")
                .map(|at| assertions(&at))
                .unwrap_or_default(),
            options: TestOptions::read(&mut fields),
            place: at.place(),
        };
        fields.finish();
        composition
    }
}

impl CompositionNode {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let id = fields.required("id").map(|at| {
            let id = at.name();
            if !is_id(&id) && !id.is_empty() && at.is_text() {
                let help =
                    "letters, digits, `_` and `-`, beginning with a letter or `_`".to_owned();
                at.error(Code::Value, "an id must be a word", help);
            }
            id
        });
        let args = fields.optional("args").inspect(|at| drop(at.object()));
        let node = Self {
            id: id.unwrap_or_default(),
            server: fields.optional_name("server"),
            tool: fields.name("tool"),
            needs: fields.names("needs"),
            args: args.map(|at| Template::of(at.node())).unwrap_or_default(),
            place: at.place(),
        };
        fields.finish();
        node
    }
}

/// Whether a text is valid before the dot of a reference.
pub(crate) fn is_id(text: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let starts = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    starts && text.chars().all(is_word)
}
