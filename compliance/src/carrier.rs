//! Sets of carriers.

use tapewright_schemas::event::Carrier;

/// A set of carriers: those on which an invariant can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carriers(u16);

impl Carriers {
    /// All.
    pub const ANY: Self = Self(0x03ff);
    /// Lines of a process.
    pub const LINE: Self = Self::of(&[Carrier::Line]);
    /// Documents only.
    pub const DOCUMENT: Self = Self::of(&[Carrier::Document]);
    /// A POST of streamable HTTP, and its answers.
    pub const POST: Self = Self::of(&[
        Carrier::Post,
        Carrier::PostAnswer,
        Carrier::PostStream,
        Carrier::Listen,
    ]);
    /// Streams that a GET opens over streamable HTTP.
    pub const GET: Self = Self::of(&[Carrier::GetStream, Carrier::ResumedStream]);
    /// Streams of streamable HTTP that can be taken up again.
    pub const RESUMABLE: Self = Self::of(&[Carrier::PostStream]).and(Self::GET);
    /// Streamable HTTP, from 2025-03-26 on.
    pub const STREAMABLE: Self = Self::POST.and(Self::GET);
    /// HTTP+SSE, the transport of 2024-11-05.
    pub const LEGACY: Self = Self::of(&[Carrier::LegacyPost, Carrier::LegacyStream]);
    /// HTTP of every revision.
    pub const HTTP: Self = Self::STREAMABLE.and(Self::LEGACY);

    /// These.
    #[must_use]
    pub const fn of(some: &[Carrier]) -> Self {
        let mut all = Self(0);
        let mut rest = some;
        while let [first, others @ ..] = rest {
            all.0 |= 1 << *first as u16;
            rest = others;
        }
        all
    }

    /// The union.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// One bit for each.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Whether this one is among them.
    #[must_use]
    pub const fn has(self, one: Carrier) -> bool {
        self.0 & (1 << one as u16) != 0
    }

    /// Whether any of `other` is among them.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// In words: `any transport`, `stdio only`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ANY => "any transport",
            Self::LINE => "stdio only",
            Self::HTTP => "HTTP only",
            Self::LEGACY => "HTTP+SSE only",
            some if some.meets(Self::LEGACY.and(Self::LINE)) => "some transports",
            _ => "streamable HTTP only",
        }
    }
}
