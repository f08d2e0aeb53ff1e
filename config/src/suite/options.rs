//! `skip`, `only` and `repeat`: how a test takes part in a run.

use crate::read::{Cursor, Fields};

/// The options of a test in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOptions {
    /// Why it does not run.
    pub skip: Option<String>,
    /// If any test has it, only those with it run.
    pub only: bool,
    /// The number of repetitions. Each of them must pass.
    pub repeat: u64,
}

/// The most times that a test may be repeated.
const MOST_REPEATS: u64 = 1_000;

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            skip: None,
            only: false,
            repeat: 1,
        }
    }
}

impl TestOptions {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let repeat = fields.optional("repeat");
        Self {
            skip: fields.optional("skip").and_then(|at| reason(&at)),
            only: fields.flag("only"),
            repeat: repeat.map_or(1, |at| at.integer_within(1, MOST_REPEATS)),
        }
    }
}

/// The reason of `skip`, which is optional.
fn reason(at: &Cursor<'_>) -> Option<String> {
    if at.is_boolean() {
        return at.boolean().then(|| "the suite skips it".to_owned());
    }
    if !at.is_text() {
        at.wrong_type("a boolean, or a string with the reason");
        return None;
    }
    Some(at.name())
}
