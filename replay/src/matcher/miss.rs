//! Why a request was not answered, and which recorded requests are most similar.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::named::{self, Named};
use super::search::Seen;
use super::{Live, Matcher};
use crate::index::{is_by_method, method_key};
use crate::json::{Aliases, Comparison, Difference, compare};
use crate::options::MatchMode;
use crate::paths::PathMap;
use crate::script::{MethodId, Take, TakePlace};
use tapewright_schemas::order::Order as _;

/// A request without a recorded answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// The method.
    pub method: String,
    /// The target, if the method has one: a tool, a prompt, a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
    /// How many requests of this method are recorded.
    pub recorded: usize,
    /// The most similar recorded requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Near>,
    /// The mapping of paths with which the first of these would match, `FROM=TO`, if one was given
    /// in the wrong direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitting_map: Option<String>,
}

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The recording is of another era of the protocol, and cannot be converted.
    Era {
        /// Why not.
        why: String,
    },
    /// A redaction rule hid a value that is needed for the comparison.
    HiddenByRule {
        /// Where.
        path: String,
    },
    /// The tool or the prompt was never requested, with any arguments.
    NeverCalled {
        /// The first of those that were requested, without repetition, in recorded order.
        called: Vec<String>,
    },
    /// It was never recorded.
    NeverRecorded,
    /// It was recorded, but another request must come first.
    OutOfOrder {
        /// The place of the other request in the file.
        expected: String,
        /// Its method.
        expected_method: String,
        /// Its target: a tool, a prompt, a URI.
        #[serde(skip_serializing_if = "Option::is_none")]
        expected_target: Option<String>,
    },
    /// All of its recordings were already played.
    UsedUp {
        /// How many there are.
        times: usize,
    },
    /// It was recorded without an answer.
    Unanswered {
        /// Why it has no answer.
        why: String,
    },
}

/// A recorded request that is similar to the missed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Near {
    /// Its place in its file, as a JSON pointer.
    pub place: String,
    /// It was already played.
    pub used: bool,
    /// The differences.
    pub differences: Vec<Difference>,
}

/// The error code of a miss; other tools of the format use it as well.
pub const MISS_CODE: i64 = -32020;

/// The maximum number of recorded requests that are compared.
const CANDIDATES: usize = 200;
/// The maximum number of similar requests in a miss.
const SHOWN: usize = 3;
/// The maximum number of differences for each of them.
const DIFFERENCES: usize = 8;
/// Recorded requests longer than this are not compared, so that a miss is answered immediately.
const LONGEST_BYTES: usize = 1 << 20;

impl Miss {
    pub(crate) fn plain(method: String, reason: Reason) -> Self {
        Self {
            method,
            target: None,
            reason,
            recorded: 0,
            nearest: Vec::new(),
            fitting_map: None,
        }
    }

    /// One sentence.
    #[must_use]
    pub fn message(&self) -> String {
        let what = request(&self.method, self.target.as_deref());
        let why = match &self.reason {
            Reason::Era { why } => return format!("no recording answers {what}: {why}"),
            Reason::HiddenByRule { path } => format!(
                "a redaction rule hid the recorded value at {path}; replay with the options of the recording"
            ),
            Reason::NeverCalled { called } => self.never_called(called),
            Reason::NeverRecorded if self.recorded == 0 => {
                "the method was never recorded".to_owned()
            }
            Reason::NeverRecorded => "never recorded with these parameters".to_owned(),
            Reason::OutOfOrder {
                expected,
                expected_method,
                expected_target,
            } => {
                let next = request(expected_method, expected_target.as_deref());
                format!("out of order; expected {next} next ({expected})")
            }
            Reason::UsedUp { times } => {
                format!("its recordings are used up ({times} of {times})")
            }
            Reason::Unanswered { why } if why.is_empty() => "recorded without an answer".to_owned(),
            Reason::Unanswered { why } => format!("recorded without an answer ({why})"),
        };
        let near = self.nearest_words();
        let map = self.fitting_map.as_ref().map_or_else(String::new, |map| {
            format!("; `--map` is the wrong way round, use `--map {map}`")
        });
        format!("no recording answers {what}: {why}{near}{map}")
    }

    fn never_called(&self, called: &[String]) -> String {
        let called: Vec<String> = called.iter().map(|name| format!("`{name}`")).collect();
        let called = called.join(", ");
        match self.method.as_str() {
            "tools/call" => format!("the tool was never called; recorded tools: {called}"),
            _ => format!("never requested; recorded: {called}"),
        }
    }

    fn nearest_words(&self) -> String {
        if !matches!(
            self.reason,
            Reason::NeverRecorded | Reason::HiddenByRule { .. }
        ) {
            return String::new();
        }
        let Some(near) = self.nearest.first() else {
            return String::new();
        };
        let paths = near.differences.iter().map(|one| one.path.as_str());
        let more = if near.differences.len() > 3 {
            ", …"
        } else {
            ""
        };
        let paths = paths.take(3).collect::<Vec<_>>().join(", ");
        let target = self.target.as_ref();
        let of = target.map_or_else(String::new, |target| format!(" of `{target}`"));
        format!(
            "; the nearest{of}, {}, differs at {paths}{more}",
            near.place
        )
    }

    /// The error that answers it, without an id.
    #[must_use]
    pub fn error(&self) -> serde_json::Value {
        json!({"code": MISS_CODE, "message": self.message(), "data": self})
    }
}

/// A request in words.
fn request(method: &str, target: Option<&str>) -> String {
    target.map_or_else(
        || format!("`{method}`"),
        |target| format!("`{method}` of `{target}`"),
    )
}

/// The place of a recorded request, and why it has no answer.
fn place_of(take: &Take) -> String {
    match &take.place {
        TakePlace::Unanswered(_, why) => format!("{} ({why})", take.place.pointer()),
        TakePlace::Exchange(_) | TakePlace::Probe(_) => take.place.pointer(),
    }
}

impl Matcher {
    /// Explains why a request was not answered.
    pub(super) fn miss(
        &mut self,
        live: Live<'_>,
        method: Option<MethodId>,
        seen: &Seen,
        aliases: &Aliases,
    ) -> Box<Miss> {
        let params = self.redacted_params(live).map(Cow::into_owned);
        let params = params.as_deref();
        let wanted = named::text_of(params, "name");
        let fresh = method.filter(|_| seen.used == 0 && seen.blocked.is_none());
        let named = fresh
            .zip(wanted)
            .map(|(method, name)| Named::look(&self.index, method, &name, CANDIDATES));
        let nearest = fresh.map_or_else(Vec::new, |method| {
            let same = named.as_ref().map(|named| named.same.as_slice());
            self.nearest(live, method, same, aliases)
        });
        let never = named.filter(|named| named.none && !named.others.is_empty());
        let reason = match never {
            Some(named) => Reason::NeverCalled {
                called: named.others,
            },
            None => self.reason(seen, &nearest),
        };
        let fitting_map = nearest.first().and_then(|near| self.fitting_map(near));
        Box::new(Miss {
            method: self.shown(live.method).chars().take(120).collect(),
            target: named::target(params).as_deref().map(named::short),
            reason,
            recorded: self.count(method),
            nearest,
            fitting_map,
        })
    }

    /// The mapping with which a recorded request would match, redacted.
    fn fitting_map(&mut self, near: &Near) -> Option<String> {
        let leads = |map: &PathMap, one: &Difference| {
            let sides = one.live.as_deref().zip(one.recorded.as_deref());
            sides.is_some_and(|(live, recorded)| map.leads(live, recorded))
        };
        let differences = &near.differences;
        let fits = |map: &&PathMap| differences.iter().all(|one| leads(map, one));
        let index = Arc::clone(&self.index);
        let mut given = index.options.paths.given();
        let map = given.find(fits).filter(|_| !differences.is_empty())?;
        let (from, to) = (self.shown(&map.here), self.shown(&map.recorded));
        Some(format!("{from}={to}"))
    }

    /// The reason, unless the target already explains the miss.
    fn reason(&self, seen: &Seen, nearest: &[Near]) -> Reason {
        let hidden = nearest.first().and_then(|near| {
            let first = near.differences.first()?;
            let all = near.differences.iter().all(|one| one.redacted);
            all.then(|| first.path.clone())
        });
        let script = &self.index.script;
        if let Some((_, expected)) = seen.blocked {
            let target = named::recorded_target(&self.index, expected);
            let take = script.take(expected as usize);
            Reason::OutOfOrder {
                expected: take
                    .as_ref()
                    .map_or_else(String::new, |take| take.place.pointer()),
                expected_method: take.map_or_else(String::new, |take| {
                    String::from_utf8_lossy(script.method_name(take.method)).into_owned()
                }),
                expected_target: target.as_deref().map(named::short),
            }
        } else if seen.used > 0 {
            Reason::UsedUp { times: seen.used }
        } else if let Some(path) = hidden {
            Reason::HiddenByRule { path }
        } else {
            Reason::NeverRecorded
        }
    }

    /// The recorded requests with the fewest differences, only those with the `same` target if
    /// there is a target.
    fn nearest(
        &mut self,
        live: Live<'_>,
        method: MethodId,
        same: Option<&[u32]>,
        aliases: &Aliases,
    ) -> Vec<Near> {
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
        let candidates = same.map_or_else(
            || {
                let first = index.by_method.first(method_key(method, None));
                index.by_method.from(first).take(CANDIDATES).collect()
            },
            <[u32]>::to_vec,
        );
        let mut found: Vec<Near> = Vec::new();
        for ordinal in candidates {
            self.look();
            let Some(take) = index.script.take(ordinal as usize) else {
                continue;
            };
            let recorded = index.redacted_params(ordinal, &take);
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
            found.push(Near {
                place: place_of(&take),
                used: self.is_used(ordinal),
                differences,
            });
        }
        // Stable: the first recorded of equally similar ones comes first.
        found.order_by_key(|near| near.differences.len());
        found.truncate(SHOWN);
        found
    }
}
