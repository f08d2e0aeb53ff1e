//! The words of the protocol, where secret values of the environment do not apply.

use super::Walk;
use crate::redact::forms::Within;
use crate::redact::names::{Area, Name};
use crate::slices::Part as _;

impl Area {
    /// How the values of the environment apply to the contents of a container.
    pub(super) fn within(self, around: Self, object: bool) -> Self {
        match (around, self) {
            // The `arguments` of a prompt are a list of its parameters.
            (Self::Same, Self::Data) if !object => Self::Same,
            (Self::Same, own) => own,
            (around, _) => around,
        }
    }
}

impl Walk<'_, '_, '_> {
    /// How the secret values of the environment apply to a value under `name`. The contents of a
    /// string are not a message, whatever its names are.
    #[inline]
    pub(super) fn place(&self, name: Name) -> Within {
        if !self.rules.has_values {
            return self.finder.place;
        }
        let parent = self.finder.frames.part(self.base..).last();
        match (parent.map_or(Area::Same, |parent| parent.area), name.area) {
            (Area::Schema | Area::Word, _) => Within::Word,
            (Area::Same, Area::Word) if self.depth == 0 => Within::Word,
            _ => self.finder.place,
        }
    }

    /// The kind of a number that is a secret value of the environment.
    pub(super) fn configured(&self, number: &[u8], name: Name) -> Option<&'static str> {
        let known = self.rules.is_number(number) && self.place(name) == Within::Value;
        known.then_some("env")
    }
}
