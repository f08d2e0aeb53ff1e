//! The one table of invariants.

use crate::code::Code;
use crate::invariant::Invariant;
use crate::rules;

/// Every invariant, in the order of the codes.
pub static TABLE: &[&Invariant] = rules::ALL;

/// The documented seven, by which a capture is judged by default.
pub const SEED: [Code; 7] = [
    Code(1),
    Code(2),
    Code(3),
    Code(4),
    Code(5),
    Code(6),
    Code(7),
];

/// The invariant with this code.
#[must_use]
pub fn find(code: Code) -> Option<&'static Invariant> {
    TABLE.iter().find(|one| one.code == code).copied()
}
