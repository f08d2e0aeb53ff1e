//! The stack of open containers.

/// The open containers, one bit each: set for an object. Text that is not nested deeper than a word
/// has bits needs no allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) depth: usize,
    // The innermost containers, the last one in the lowest bit.
    near: u64,
    // Full words for the outer containers.
    far: Vec<u64>,
}

impl Open {
    pub(super) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.far.push(self.near);
        }
        self.near = self.near << 1 | u64::from(object);
        self.depth += 1;
    }

    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.near >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.near = self.far.pop().unwrap_or_default();
        }
    }

    pub(super) fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.near & 1 == 1)
    }
}
