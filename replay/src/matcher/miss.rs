//! Why a request was not answered, and what was nearest to it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use tapewright_schemas::json as text;

use super::search::{Seen, member};
use super::{Live, Matcher};
use crate::index::{is_by_method, method_key};
use crate::json::{Aliases, Comparison, Difference, compare};
use crate::options::MatchMode;
use crate::script::{MethodId, TakePlace};

/// A request that no recording answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// The method.
    pub method: String,
    /// What was asked for, where the method has such a thing: a tool, a prompt, a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
    /// How many requests of this method are recorded.
    pub recorded: usize,
    /// The recorded requests that are most like it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Near>,
}

/// Why a request is missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The recording is of another era of the protocol, and cannot be carried over.
    Era {
        /// Why not.
        why: String,
    },
    /// A redaction rule hid what would have to be compared.
    HiddenByRule {
        /// Where.
        path: String,
    },
    /// It was never recorded.
    NeverRecorded,
    /// It was recorded, and another request has to come first.
    OutOfOrder {
        /// The other request: where it stands in the file.
        expected: String,
        /// Its method.
        expected_method: String,
    },
    /// All of its recordings were played.
    UsedUp {
        /// How many there are.
        times: usize,
    },
    /// It was recorded without an answer.
    Unanswered {
        /// Why none came.
        why: String,
    },
}

/// A recorded request that is like the one that was missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Near {
    /// Where it stands in its file, as a JSON pointer.
    pub place: String,
    /// It was played already.
    pub used: bool,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// The code of a miss, which other tools of the format use as well.
pub const MISS_CODE: i64 = -32020;

/// How many recorded requests are looked at for the nearest.
const CANDIDATES: usize = 200;
/// How many of them are shown.
const SHOWN: usize = 3;
/// How many differences are shown of each.
const DIFFERENCES: usize = 8;
/// Recorded requests longer than this are not looked into: a miss is answered at once.
const LONGEST_BYTES: usize = 1 << 20;

impl Miss {
    pub(crate) fn plain(method: &str, reason: Reason) -> Self {
        Self {
            method: method.to_owned(),
            target: None,
            reason,
            recorded: 0,
            nearest: Vec::new(),
        }
    }

    /// One sentence.
    #[must_use]
    pub fn message(&self) -> String {
        let target = self.target.as_ref();
        let what = target.map_or_else(
            || format!("`{}`", self.method),
            |target| format!("`{}` of `{target}`", self.method),
        );
        let why = match &self.reason {
            Reason::Era { why } => return format!("no recording answers {what}: {why}"),
            Reason::HiddenByRule { path } => format!(
                "a redaction rule hid what was recorded at {path}; replay with the options that it was recorded with"
            ),
            Reason::NeverRecorded if self.recorded == 0 => {
                "the method was never recorded".to_owned()
            }
            Reason::NeverRecorded => "it was never recorded with these parameters".to_owned(),
            Reason::OutOfOrder {
                expected,
                expected_method,
            } => format!("it is out of order; next comes {expected} (`{expected_method}`)"),
            Reason::UsedUp { times } => {
                format!("it was recorded, but its recordings are used up ({times} of {times})")
            }
            Reason::Unanswered { why } if why.is_empty() => {
                "it was recorded without an answer".to_owned()
            }
            Reason::Unanswered { why } => format!("it was recorded without an answer ({why})"),
        };
        let near = self.nearest.first().filter(|_| {
            matches!(
                self.reason,
                Reason::NeverRecorded | Reason::HiddenByRule { .. }
            )
        });
        let near = near.map_or_else(String::new, |near| {
            let paths: Vec<&str> = near
                .differences
                .iter()
                .map(|one| one.path.as_str())
                .collect();
            let more = if paths.len() > 3 { ", …" } else { "" };
            let paths = paths.iter().take(3).copied().collect::<Vec<_>>().join(", ");
            format!("; the nearest, {}, differs at {paths}{more}", near.place)
        });
        format!("no recording answers {what}: {why}{near}")
    }

    /// The error that answers it, without an id.
    #[must_use]
    pub fn error(&self) -> serde_json::Value {
        json!({"code": MISS_CODE, "message": self.message(), "data": self})
    }
}

impl Matcher {
    /// Tells why a request got nothing.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "the error half of a result, which must not be large"
    )]
    pub(super) fn miss(
        &mut self,
        live: Live<'_>,
        method: Option<MethodId>,
        seen: &Seen,
        aliases: &Aliases,
    ) -> Box<Miss> {
        let nearest = match method {
            Some(method) if seen.used == 0 && seen.blocked.is_none() => {
                self.nearest(live, method, aliases)
            }
            _ => Vec::new(),
        };
        let params = self.redacted_params(live);
        let target = ["name", "uri"]
            .iter()
            .find_map(|name| member(params.as_deref(), name))
            .and_then(|source| match source {
                [b'"', content @ .., b'"'] => {
                    let mut meaning = Vec::new();
                    text::unescape(content, &mut meaning);
                    let shown = String::from_utf8_lossy(&meaning);
                    Some(shown.chars().take(120).collect())
                }
                _ => None,
            });
        let hidden = nearest.first().and_then(|near| {
            let first = near.differences.first()?;
            let all = near.differences.iter().all(|one| one.redacted);
            all.then(|| first.path.clone())
        });
        let script = &self.index.script;
        let reason = if let Some((_, expected)) = seen.blocked {
            let expected = script.take(expected as usize);
            Reason::OutOfOrder {
                expected: expected.map_or_else(String::new, |take| take.place.pointer()),
                expected_method: expected.map_or_else(String::new, |take| {
                    String::from_utf8_lossy(script.method_name(take.method)).into_owned()
                }),
            }
        } else if seen.used > 0 {
            Reason::UsedUp { times: seen.used }
        } else if let Some(path) = hidden {
            Reason::HiddenByRule { path }
        } else {
            Reason::NeverRecorded
        };
        Box::new(Miss {
            method: live.method.chars().take(120).collect(),
            target,
            reason,
            recorded: self.count(method),
            nearest,
        })
    }

    /// The recorded requests that differ in the fewest places.
    fn nearest(&mut self, live: Live<'_>, method: MethodId, aliases: &Aliases) -> Vec<Near> {
        if is_by_method(live.method.as_bytes()) || live.line.len() > LONGEST_BYTES {
            return Vec::new();
        }
        let params = self.redacted_params(live);
        let params = params.as_deref().filter(|params| *params != b"null");
        let index = Arc::clone(&self.index);
        let comparison = Comparison {
            mode: match index.options.mode {
                MatchMode::Structural => MatchMode::Semantic,
                mode => mode,
            },
            ignore: &index.options.ignore,
            aliases: Some(aliases),
            skip_incidental: true,
            limit: DIFFERENCES,
        };
        let first = index.by_method.first(method_key(method, None));
        let name = |params: Option<&[u8]>| {
            let of = |name| member(params, name).map(<[u8]>::to_vec);
            of("name").or_else(|| of("uri"))
        };
        let wanted = name(params);
        let mut found: Vec<(bool, usize, Near)> = Vec::new();
        for ordinal in index.by_method.from(first).take(CANDIDATES) {
            let Some(take) = index.script.take(ordinal as usize) else {
                continue;
            };
            let recorded = index.redacted_params(ordinal, take);
            let recorded = recorded.as_deref().filter(|params| *params != b"null");
            if recorded.is_some_and(|recorded| recorded.len() > LONGEST_BYTES) {
                continue;
            }
            let differences = compare(
                recorded.unwrap_or(b"{}"),
                params.unwrap_or(b"{}"),
                "params",
                &comparison,
            );
            let other = name(recorded) != wanted;
            let place = match &take.place {
                TakePlace::Unanswered(_, why) => format!("{} ({why})", take.place.pointer()),
                TakePlace::Exchange(_) | TakePlace::Probe(_) => take.place.pointer(),
            };
            let near = Near {
                place,
                used: self.is_used(ordinal),
                differences,
            };
            found.push((other, near.differences.len(), near));
        }
        // Stable: of two that are as near, the first recorded one.
        found.sort_by_key(|(other, differences, _)| (*other, *differences));
        found
            .into_iter()
            .map(|(_, _, near)| near)
            .take(SHOWN)
            .collect()
    }
}
