//! Grades, and the counts that they are computed from.

use std::fmt;

use crate::rule::Severity;

/// A grade, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// A MUST failed.
    F,
    /// Less than half of the SHOULDs hold.
    D,
    /// Less than four fifths.
    C,
    /// Not all.
    B,
    /// All.
    A,
    /// And a MAY of each section that has any holds.
    APlus,
}

/// The number of rules that were tested, and of those that hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// MUSTs that hold.
    pub must_passed: usize,
    /// MUSTs that were tested.
    pub must_total: usize,
    /// SHOULDs that hold.
    pub should_passed: usize,
    /// SHOULDs that were tested.
    pub should_total: usize,
    /// MAYs that hold.
    pub may_passed: usize,
    /// MAYs that were tested.
    pub may_total: usize,
}

/// The weights of a SHOULD and a MAY, relative to a MUST.
const SHOULD: f64 = 0.5;
const MAY: f64 = 0.1;

impl Counts {
    pub(super) fn count(&mut self, severity: Severity, passed: bool) {
        let (holds, all) = match severity {
            Severity::Must => (&mut self.must_passed, &mut self.must_total),
            Severity::Should => (&mut self.should_passed, &mut self.should_total),
            Severity::May => (&mut self.may_passed, &mut self.may_total),
        };
        *holds += usize::from(passed);
        *all += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.must_passed += other.must_passed;
        self.must_total += other.must_total;
        self.should_passed += other.should_passed;
        self.should_total += other.should_total;
        self.may_passed += other.may_passed;
        self.may_total += other.may_total;
    }

    /// The number of rules that were tested.
    #[must_use]
    pub fn total(&self) -> usize {
        self.must_total + self.should_total + self.may_total
    }

    /// The grade, unless nothing was tested. `lacks_may` means that a section has MAYs of which
    /// none holds.
    #[must_use]
    pub fn grade(&self, lacks_may: bool) -> Option<Grade> {
        if self.total() == 0 {
            return None;
        }
        if self.must_passed < self.must_total {
            return Some(Grade::F);
        }
        // With integers: a share of exactly four fifths is enough.
        let (passed, total) = (self.should_passed, self.should_total);
        Some(match () {
            () if passed * 2 < total => Grade::D,
            () if passed * 5 < total * 4 => Grade::C,
            () if passed < total => Grade::B,
            () if lacks_may => Grade::A,
            () => Grade::APlus,
        })
    }

    /// From 0 to 100, unless nothing was tested.
    #[must_use]
    pub fn numeric(&self) -> Option<f64> {
        let weigh = |must: usize, should: usize, may: usize| {
            number(must) + SHOULD * number(should) + MAY * number(may)
        };
        let most = weigh(self.must_total, self.should_total, self.may_total);
        let has = weigh(self.must_passed, self.should_passed, self.may_passed);
        (most > 0.0).then(|| has / most * 100.0)
    }
}

/// A share, from 0 to 1.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    number(part) / number(whole)
}

/// A count as a number to compute with; no registry has more rules than fit.
fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

impl Grade {
    /// All grades, the worst first.
    pub const ALL: [Self; 6] = [Self::F, Self::D, Self::C, Self::B, Self::A, Self::APlus];

    /// Its letter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F => "F",
            Self::D => "D",
            Self::C => "C",
            Self::B => "B",
            Self::A => "A",
            Self::APlus => "A+",
        }
    }

    /// The grade with this letter.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.name() == name)
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
