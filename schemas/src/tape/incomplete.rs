//! Why a recording does not hold everything that crossed.

use super::old;
use super::{Ending, Footer, GapTotal, TapeFailure};

/// Why a recording does not contain everything that crossed, as recorded in documents made from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// Why not.
    pub why: TapeFailure,
    /// The system's error, or the sentence of an older document.
    pub detail: Option<String>,
    /// The last event, if the recording breaks off.
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

    /// What is missing from a recording with this ending and these gaps; `None` if nothing is.
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
            // Another document may have more details than that it is unknown.
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

    /// From the members of a document: a token with its detail, or the sentence of an older
    /// version.
    #[must_use]
    pub fn read(why: String, detail: Option<String>) -> Self {
        let (why, words) = old::tape_failure(why);
        Self {
            detail: detail.or(words),
            ..Self::plain(why)
        }
    }

    /// The footer of a tape with the same parts missing.
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
