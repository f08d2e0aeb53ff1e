//! `evals` and `scorers`: grading an answer.

use std::time::Duration;

use super::rubric::Rubric;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A prompt whose answer is graded.
#[derive(Clone, Debug)]
pub struct Eval {
    /// Its name in reports.
    pub name: String,
    /// The server whose tools may be called.
    pub server: String,
    /// The prompt for the model.
    pub prompt: String,
    /// The criterion for the answer.
    pub rubric: Option<Rubric>,
    /// The minimum score of a rubric that sets none.
    pub threshold: Option<f64>,
    /// Its position.
    pub place: SourceSpot,
}

/// A program that grades.
#[derive(Clone, Debug)]
pub struct Scorer {
    /// The name by which it is referenced.
    pub name: String,
    /// Its kind; `exec` is the only one.
    pub kind: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables in addition to the environment.
    pub env: Vec<(String, String)>,
    /// The folder that it runs in.
    pub cwd: Option<String>,
    /// The longest that it may take.
    pub timeout: Duration,
    /// Its position.
    pub place: SourceSpot,
}

impl Eval {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let eval = Self {
            name: fields.name("name"),
            server: fields.name("server"),
            prompt: fields.name("prompt"),
            rubric: fields.optional("rubric").map(|at| Rubric::read(&at)),
            threshold: fields.optional("threshold").map(|at| at.fraction()),
            place: at.place(),
        };
        fields.finish();
        eval
    }
}

impl Scorer {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let name = fields.name("name");
        let kind = fields.name("type");
        let command = if kind == "exec" {
            fields.required("command")
        } else {
            fields.optional("command")
        };
        let command = command.map(|at| at.some_items()).unwrap_or_default();
        let scorer = Self {
            name,
            kind,
            command: command.iter().map(Cursor::name).collect(),
            env: fields
                .optional("env")
                .map(|at| at.text_map())
                .unwrap_or_default(),
            cwd: fields.optional_name("cwd"),
            timeout: fields
                .optional("timeout_ms")
                .map_or(Duration::from_secs(30), |at| at.milliseconds()),
            place: at.place(),
        };
        fields.finish();
        scorer
    }
}
