//! State that a session only tracks on request.

use crate::checker::Selection;
use crate::code::Code;

/// State that a session only tracks if a selected invariant needs it, because it costs a second
/// look at every request, or much memory.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that are wanted in any combination"
)]
pub(crate) struct Follows {
    /// What each stateless request shows about its sender, and the requested inputs.
    pub(crate) inputs: bool,
    /// Which requests asked for a task, and the state of each task.
    pub(crate) tasks: bool,
    /// Progress tokens.
    pub(crate) tokens: bool,
    /// The tools that were listed, with their schemas.
    pub(crate) tools: bool,
}

// A rule that is missing here finds something else alone than among all others: a test
// of this package judges both ways.
const INPUTS: [Code; 4] = [Code(28), Code(32), Code(77), Code(93)];
const TASKS: [Code; 11] = [
    Code(34),
    Code(35),
    Code(36),
    Code(37),
    Code(38),
    Code(39),
    Code(81),
    Code(82),
    Code(83),
    Code(87),
    Code(88),
];
const TOKENS: [Code; 5] = [Code(34), Code(35), Code(36), Code(37), Code(39)];
const TOOLS: [Code; 7] = [
    Code(41),
    Code(42),
    Code(43),
    Code(45),
    Code(69),
    Code(70),
    Code(82),
];

impl Follows {
    /// What the selected invariants need.
    pub(crate) fn of(selection: &Selection) -> Self {
        let any = |codes: &[Code]| selection.each().any(|(_, rule)| codes.contains(&rule.code));
        Self {
            inputs: any(&INPUTS),
            tasks: any(&TASKS),
            tokens: any(&TOKENS),
            tools: any(&TOOLS),
        }
    }
}
