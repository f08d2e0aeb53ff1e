//! The shapes, one item each, grouped by purpose and ordered by kind.

mod ai;
mod cloud;
mod code;
mod generic;
mod services;

use super::{Body, Extent, Shape};

const fn body(
    alphabet: fn(u8) -> bool,
    min: usize,
    max: usize,
    check: fn(&[u8]) -> bool,
    loose: bool,
) -> Extent {
    Extent::Body(Body {
        alphabet,
        min,
        max,
        check,
        loose,
    })
}

/// Every shape. Lengths are lenient: test keys are shorter than real ones.
pub(in crate::redact) fn shapes() -> impl Iterator<Item = &'static Shape> {
    let themes = [
        ai::SHAPES,
        cloud::SHAPES,
        code::SHAPES,
        generic::SHAPES,
        services::SHAPES,
    ];
    themes.into_iter().flatten()
}
