//! One filter word.

use super::status::Status;
use super::{FilterError, LineKind, Subject, WORDS, micros};
use crate::event::Direction;

/// A property that a line must have.
#[derive(Clone, Debug)]
pub(super) enum Word {
    Dir(Direction),
    Id(String),
    Kind(Vec<LineKind>),
    Method(Vec<u8>),
    Model(Vec<u8>),
    Session(u32),
    Slow {
        /// Longer than the time, and not shorter.
        longer: bool,
        ms: f64,
    },
    Status(Vec<Status>),
    Text(Vec<u8>),
    Tool(Vec<u8>),
}

impl Word {
    /// Reads a word without its sign.
    pub(super) fn read(text: &str) -> Result<Self, FilterError> {
        let Some((name, value)) = text.split_once(':') else {
            return Self::text(text, text);
        };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_name || value.starts_with("//") {
            return Self::text(text, text);
        }
        let wanted = WORDS.iter().find(|(known, _)| *known == name);
        let Some((name, wanted)) = wanted else {
            return Err(FilterError::name(name, text));
        };
        if value.is_empty() {
            return Err(FilterError::value(name, value, wanted));
        }
        Self::of_value(name, value).ok_or_else(|| FilterError::value(name, value, wanted))
    }

    fn text(text: &str, word: &str) -> Result<Self, FilterError> {
        if text.is_empty() {
            return Err(FilterError {
                word: word.to_owned(),
                why: "a text is not empty".to_owned(),
            });
        }
        Ok(Self::Text(needle(text)))
    }

    fn of_value(name: &str, value: &str) -> Option<Self> {
        Some(match name {
            "dir" => Self::Dir(Direction::from_name(value)?),
            "id" => Self::Id(value.to_owned()),
            "kind" => Self::Kind(list(value, LineKind::from_name)?),
            "method" => Self::Method(needle(value)),
            "model" => Self::Model(needle(value)),
            "session" => Self::Session(value.strip_prefix('s').unwrap_or(value).parse().ok()?),
            "slow" => slow(value)?,
            "status" => Self::Status(list(value, Status::read)?),
            "text" => Self::Text(needle(value)),
            "tool" => Self::Tool(needle(value)),
            _ => return None,
        })
    }

    /// Whether a line has this property.
    pub(super) fn matches(&self, one: &Subject<'_>) -> bool {
        match self {
            Self::Dir(dir) => one.dir == *dir,
            Self::Id(id) => {
                let uses = one.uses.iter().filter_map(|used| used.id.as_deref());
                let mut ids = one.id.into_iter().chain(one.use_id).chain(uses);
                ids.any(|known| is_id(known, id))
            }
            Self::Kind(kinds) => kinds.contains(&one.kind),
            Self::Method(part) => holds(one.method.as_bytes(), part),
            Self::Model(part) => one.model.is_some_and(|model| holds(model.as_bytes(), part)),
            Self::Session(number) => one.session == *number,
            Self::Slow { longer, ms } => one
                .waited_ms
                .is_some_and(|waited| if *longer { waited > *ms } else { waited < *ms }),
            Self::Status(all) => all.iter().any(|status| status.matches(one)),
            Self::Text(part) => {
                holds(one.method.as_bytes(), part)
                    || one.name.is_some_and(|name| holds(name.as_bytes(), part))
                    || one.model.is_some_and(|model| holds(model.as_bytes(), part))
                    || one.asks_for(|name| holds(name, part))
                    || one.texts.iter().any(|text| holds(text, part))
            }
            Self::Tool(part) => {
                one.tool.is_some_and(|tool| holds(tool.as_bytes(), part))
                    || one.asks_for(|name| holds(name, part))
            }
        }
    }
}

/// Parses a comma-separated list of values.
fn list<T>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(read).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no time is known to the picosecond"
)]
fn slow(value: &str) -> Option<Word> {
    let shorter = value.strip_prefix('<');
    let time = shorter.or(value.strip_prefix('>')).unwrap_or(value);
    Some(Word::Slow {
        longer: shorter.is_none(),
        ms: micros(time)? as f64 / 1_000.0,
    })
}

/// Whether an id matches: as written, or by the value of a string.
fn is_id(known: &str, wanted: &str) -> bool {
    let inner = known
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    known == wanted || inner == Some(wanted)
}

fn needle(text: &str) -> Vec<u8> {
    text.to_ascii_lowercase().into_bytes()
}

/// Whether a text contains another one, which is in lower case.
pub(super) fn holds(text: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first().copied() else {
        return true;
    };
    let starts = |at: usize| {
        let here = text.get(at..at + part.len());
        here.is_some_and(|here| here.eq_ignore_ascii_case(part))
    };
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), text).any(starts)
}
