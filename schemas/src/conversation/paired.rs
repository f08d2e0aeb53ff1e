//! The results of a [`Pairing`](super::Pairing).

use super::Handle;

/// The result of adding a request.
#[derive(Debug)]
#[must_use = "a request may be forgotten for another"]
pub struct Registered<T> {
    /// The request.
    pub handle: Handle,
    /// The earlier request with the same id, which is in flight as well.
    pub reuses: Option<Handle>,
    /// A request with the same id was sent before, in flight or not.
    pub again: bool,
    /// The oldest request, when there were too many.
    pub forgotten: Option<(Handle, T)>,
}

/// The request that a response answers.
#[derive(Debug)]
pub enum Answer<T> {
    /// This request, which is no longer in flight.
    Pairs(Handle, T),
    /// A request that already had its answer.
    Duplicate,
    /// A request that waits, whose id has the same text and another type; it waits on.
    TypeChanged(Handle),
    /// Perhaps a request that was forgotten.
    Forgotten,
    /// Nothing.
    Orphan,
}
