//! Why a recording does not hold everything that crossed.

use super::old;
use super::{Ending, Footer, GapTotal, TapeFailure};

/// Why a recording does not hold everything that crossed, as documents made of it say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// Why not.
    pub why: TapeFailure,
    /// What the system said of it, or the sentence of an older document.
    pub detail: Option<String>,
    /// The last event, where it breaks off.
    pub last_seq: Option<u64>,
    /// What is missing, as far as it was counted.
    pub gaps: GapTotal,
}

impl Incomplete {
    /// Nothing but why.
    fn plain(why: TapeFailure) -> Self {
        Self {
            why,
            detail: None,
            last_seq: None,
            gaps: GapTotal::default(),
        }
    }

    /// What a recording lacks that ends so, and of which these gaps were seen; `None` for nothing.
    #[must_use]
    pub fn of(ending: &Ending, seen: GapTotal) -> Option<Self> {
        let footer = match ending {
            Ending::CutShort { last_seq, .. } => {
                return Some(Self {
                    last_seq: Some(*last_seq),
                    gaps: seen,
                    ..Self::plain(TapeFailure::CutShort)
                });
            }
            Ending::Footer(footer) => footer,
        };
        let counted = if footer.complete || footer.gaps.is_empty() {
            seen
        } else {
            footer.gaps
        };
        let gaps = (!counted.is_empty()).then_some(TapeFailure::Gaps);
        let why = match footer.why {
            _ if footer.complete => gaps?,
            // Another document may say more than that it is not known.
            Some(TapeFailure::Unknown) if footer.detail.is_none() => {
                gaps.unwrap_or(TapeFailure::Unknown)
            }
            Some(why) => why,
            None => gaps.unwrap_or(TapeFailure::Unknown),
        };
        Some(Self {
            detail: footer.detail.clone().filter(|_| footer.why == Some(why)),
            gaps: counted,
            ..Self::plain(why)
        })
    }

    /// What a document says: a token with its detail, or what stood there before, a sentence.
    #[must_use]
    pub fn read(why: String, detail: Option<String>) -> Self {
        let (why, words) = old::tape_failure(why);
        Self {
            detail: detail.or(words),
            ..Self::plain(why)
        }
    }

    /// The footer of a tape that lacks the same.
    pub(crate) fn footer(lacks: Option<&Self>) -> Footer {
        Footer {
            complete: lacks.is_none(),
            why: lacks.map(|lacks| lacks.why),
            detail: lacks.and_then(|lacks| lacks.detail.clone()),
            gaps: lacks.map(|lacks| lacks.gaps).unwrap_or_default(),
            ..Footer::default()
        }
    }
}
