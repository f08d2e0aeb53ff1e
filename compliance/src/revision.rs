//! The revisions of MCP, and sets of them.

use std::fmt;
use std::ops::BitOr;

/// A set of revisions of MCP. For a message: the possible ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Revisions(u8);

/// 2024-11-05, and its pre-release 2024-10-07.
pub const R1: Revisions = Revisions(1);
/// 2025-03-26.
pub const R2: Revisions = Revisions(2);
/// 2025-06-18.
pub const R3: Revisions = Revisions(4);
/// 2025-11-25.
pub const R4: Revisions = Revisions(8);
/// 2026-07-28, the first without a handshake.
pub const R5: Revisions = Revisions(16);

const NAMES: [(&str, Revisions); 6] = [
    ("2024-11-05", R1),
    ("2025-03-26", R2),
    ("2025-06-18", R3),
    ("2025-11-25", R4),
    ("2026-07-28", R5),
    ("2024-10-07", R1),
];

impl Revisions {
    /// No revision.
    pub const NONE: Self = Self(0);
    /// Every revision that opens with a handshake.
    pub const HANDSHAKE: Self = Self(15);
    /// From 2025-03-26 on, as long as there are handshakes.
    pub const HANDSHAKE_FROM_R2: Self = Self(14);
    /// Up to 2025-03-26.
    pub const TO_R2: Self = Self(3);
    /// Up to 2025-06-18.
    pub const TO_R3: Self = Self(7);
    /// 2025-06-18 and 2025-11-25.
    pub const R3_AND_R4: Self = Self(12);
    /// From 2025-11-25 on.
    pub const FROM_R4: Self = Self(24);
    /// From 2025-06-18 on.
    pub const FROM_R3: Self = Self(28);
    /// From 2025-03-26 on.
    pub const FROM_R2: Self = Self(30);
    /// Every revision.
    pub const ALL: Self = Self(31);

    /// The revision of this name, as peers write it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut known = NAMES.iter();
        known.find(|(word, _)| *word == name).map(|(_, one)| *one)
    }

    /// Whether the set contains every revision of `possible`, which must not be empty.
    #[must_use]
    pub fn covers(self, possible: Self) -> bool {
        possible.0 != 0 && possible.0 & !self.0 == 0
    }

    /// Whether any revision of `other` is in the set.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// One bit for each.
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// The union.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The names, oldest first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .iter()
            .take(5)
            .filter(move |(_, one)| self.meets(*one))
            .map(|(name, _)| *name)
    }

    /// In words: `all`, `2025-06-18 and later`, `2024-11-05 to 2025-11-25`, or a list.
    #[must_use]
    pub fn words(self) -> String {
        let names: Vec<&str> = self.names().collect();
        let (Some(first), Some(last)) = (names.first(), names.last()) else {
            return "none".to_owned();
        };
        let run = self.0 >> self.0.trailing_zeros();
        let contiguous = run & (run + 1) == 0;
        match (names.len(), contiguous) {
            (5, _) => "all".to_owned(),
            (1, _) => (*first).to_owned(),
            (_, true) if self.meets(R5) => format!("{first} and later"),
            (_, true) => format!("{first} to {last}"),
            _ => names.join(", "),
        }
    }
}

impl BitOr for Revisions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

impl fmt::Debug for Revisions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_words() {
        assert_eq!(Revisions::ALL.words(), "all");
        assert_eq!(Revisions::FROM_R3.words(), "2025-06-18 and later");
        assert_eq!(Revisions::HANDSHAKE.words(), "2024-11-05 to 2025-11-25");
        assert_eq!((R1 | R3).words(), "2024-11-05, 2025-06-18");
        assert_eq!(
            (R1 | R3 | R4 | R5).words(),
            "2024-11-05, 2025-06-18, 2025-11-25, 2026-07-28"
        );
        assert_eq!(R2.words(), "2025-03-26");
    }

    #[test]
    fn a_rule_holds_where_every_possible_revision_has_it() {
        assert!(Revisions::HANDSHAKE.covers(R3));
        assert!(!R3.covers(Revisions::HANDSHAKE));
        assert!(!Revisions::ALL.covers(Revisions::NONE));
        assert_eq!(Revisions::named("2024-10-07"), Some(R1));
        assert_eq!(Revisions::named("2099-01-01"), None);
    }
}
