//! Compares two recordings, exchange by exchange.
//!
//! The requests of the later recording are matched with those of the earlier one as a replay would
//! match them; the rest on both sides is paired by method and target, in order. Parameters and
//! answers are compared, but not ids, times or messages in between. Names that a server generates,
//! such as cursors, are equal if they are in the same place.

mod latency;
pub(crate) mod listed;
mod models;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tapewright_schemas::redact::{Redactor, Rules};

use crate::index::Index;
use crate::json::{Comparison, Difference, Ignore, compare};
use crate::matcher::{Live, Matcher};
use crate::options::{MatchMode, Options};
use crate::script::{Script, Take, TakePlace};
use crate::verify::judge;
use crate::verify::names::Names;
use crate::verify::sessions;

pub use self::latency::Moved;
pub use self::listed::Listed;
pub use self::models::models;

/// How two recordings are compared.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// UUIDs, times and similar values count, and so does the order of lists of tools.
    pub exact: bool,
    /// Places that are ignored, as pointers: `/result/…`, `/error/…`, `/params/…`.
    pub ignore: Ignore,
    /// The redaction rules; both sides are redacted before they are compared.
    pub rules: Arc<Rules>,
}

/// One exchange, and how it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its place in the earlier recording, as a JSON pointer.
    pub before: Option<String>,
    /// Its place in the later recording, as a JSON pointer.
    pub after: Option<String>,
    /// Its method.
    pub method: String,
    /// The target, if the method has one: a tool, a prompt, a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// How it changed.
    pub change: Change,
    /// The places where it differs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The number of further differences that an earlier model call already had, since each call
    /// repeats the conversation so far.
    #[serde(skip_serializing_if = "is_none")]
    pub repeated: usize,
    /// The definitions of tools, prompts and resources that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<Listed>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// How an exchange changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is in both recordings, and differs.
    Changed,
    /// It is only in the earlier recording.
    Gone,
    /// It is only in the later recording.
    New,
    /// It is in both recordings, and is the same.
    Same,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// The exchanges: those of the earlier recording in its order, then the new ones.
    pub exchanges: Vec<Compared>,
    /// The changes in response times that are larger than noise.
    pub latency: Vec<Moved>,
}

/// The maximum number of differences that are reported for one exchange.
const DIFFERENCES: usize = 100;

/// The maximum number of candidates in the earlier recording that are examined for each later
/// request. Requests without a match among them are paired by method and target.
const LOOKED_AT: usize = 64;

/// Compares two recordings.
#[must_use]
pub fn diff(before: &Arc<Script>, after: &Script, options: &DiffOptions) -> Found {
    let mut redactor = Redactor::new(Arc::clone(&options.rules));
    let pairs = Pairs::of(before, after, options);
    let mut pairing = Comparing {
        scripts: (before.as_ref(), after),
        options,
        redactor: &mut redactor,
        names: Names::default(),
    };
    let mut found = Found::default();
    let mut latencies = latency::Latencies::default();
    for (ordinal, take) in before.takes.iter().enumerate() {
        let other = pairs.after.get(ordinal).copied().flatten();
        let other = other.and_then(|other| after.take(other));
        if let Some(other) = &other {
            let key = (before.method_of(&take), before.target_of(&take));
            latencies.add(key, take.took_us, other.took_us);
        }
        found
            .exchanges
            .push(pairing.compared(Some(&take), other.as_ref()));
    }
    for ordinal in pairs.new {
        let take = after.take(ordinal);
        found.exchanges.push(pairing.compared(None, take.as_ref()));
    }
    found.latency = latencies.moved();
    found
}

/// Pairs the requests of two recordings.
struct Pairs {
    /// The later request for each earlier one.
    after: Vec<Option<usize>>,
    new: Vec<usize>,
}

impl Pairs {
    fn of(before: &Arc<Script>, after: &Script, options: &DiffOptions) -> Self {
        let (mut pairs, _) = Self::matched(before, after, options);
        pairs.rest(before, after);
        pairs
    }

    /// Pairs the requests that a replay would match, and returns the matcher.
    fn matched(before: &Arc<Script>, after: &Script, options: &DiffOptions) -> (Self, Matcher) {
        let mut settings = Options::new(Arc::clone(&options.rules));
        settings.ignore = options.ignore.clone();
        if options.exact {
            settings.mode = MatchMode::Strict;
        }
        let index = Arc::new(Index::new(Arc::clone(before), Arc::new(settings)));
        let mut matcher = Matcher::new(index).looking_at(LOOKED_AT);
        let mut names = Names::default();
        let mut pairs = Self {
            after: vec![None; before.requests()],
            new: Vec::new(),
        };
        for takes in sessions(after) {
            matcher.next_session();
            for ordinal in takes {
                let Some(take) = after.take(ordinal) else {
                    continue;
                };
                let found = found(&mut matcher, after, &take, &names);
                match found.and_then(|found| Some((found, before.take(found)?))) {
                    Some((place, one)) => {
                        if let (false, Some(one), Some(other)) =
                            (options.exact, answer(before, &one), answer(after, &take))
                        {
                            names.learn(&other, &one);
                        }
                        if let Some(slot) = pairs.after.get_mut(place) {
                            *slot = Some(ordinal);
                        }
                    }
                    None => pairs.new.push(ordinal),
                }
            }
        }
        (pairs, matcher)
    }

    /// Pairs the remaining requests by method and target, in order.
    fn rest(&mut self, before: &Script, after: &Script) {
        let key = |script: &Script, ordinal: usize| {
            let take = script.take(ordinal)?;
            Some((script.method_of(&take), script.target_of(&take)))
        };
        let mut waiting: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (ordinal, _) in self
            .after
            .iter()
            .enumerate()
            .filter(|(_, one)| one.is_none())
        {
            waiting
                .entry(key(before, ordinal))
                .or_default()
                .push_back(ordinal);
        }
        let after_of = &mut self.after;
        self.new.retain(|ordinal| {
            let queue = waiting.get_mut(&key(after, *ordinal));
            let place = queue.and_then(VecDeque::pop_front);
            if let Some(place) = place
                && let Some(slot) = after_of.get_mut(place)
            {
                *slot = Some(*ordinal);
                return false;
            }
            true
        });
    }
}

/// The request of the earlier recording that matches this one.
fn found(matcher: &mut Matcher, after: &Script, take: &Take, names: &Names) -> Option<usize> {
    let line = after.source(take.request);
    let params = take.params.map(|span| after.source(span));
    let method = after.method_of(take);
    let asked = Live {
        line: &line,
        method: &method,
        params: params.as_deref(),
    };
    let found = matcher.find_any(asked, names.aliases())?;
    Some(found.ordinal as usize)
}

fn answer(script: &Script, take: &Take) -> Option<Bytes> {
    take.response.map(|response| script.source(response.span))
}

/// Compares exchanges.
struct Comparing<'c> {
    scripts: (&'c Script, &'c Script),
    options: &'c DiffOptions,
    redactor: &'c mut Redactor,
    names: Names,
}

impl Comparing<'_> {
    fn compared(&mut self, before: Option<&Take>, after: Option<&Take>) -> Compared {
        let (earlier, later) = self.scripts;
        let told = before.map(|take| (earlier, take));
        let told = told.or(after.map(|take| (later, take)));
        let mut compared = Compared {
            before: before.map(|take| take.place.pointer()),
            after: after.map(|take| take.place.pointer()),
            method: told.map_or_else(String::new, |(script, take)| script.method_of(take)),
            target: told.and_then(|(script, take)| script.target_of(take)),
            change: match (before, after) {
                (Some(_), None) => Change::Gone,
                (None, _) => Change::New,
                (Some(_), Some(_)) => Change::Same,
            },
            differences: Vec::new(),
            repeated: 0,
            listed: Vec::new(),
        };
        if let (Some(before), Some(after)) = (before, after) {
            compared.differences = self.params(before, after);
            self.answers(before, after, &mut compared);
            if !compared.differences.is_empty() || !compared.listed.is_empty() {
                compared.change = Change::Changed;
            }
        }
        compared
    }

    fn mode(&self) -> MatchMode {
        if self.options.exact {
            MatchMode::Strict
        } else {
            MatchMode::Semantic
        }
    }

    fn params(&mut self, before: &Take, after: &Take) -> Vec<Difference> {
        let (earlier, later) = self.scripts;
        let source = |script: &Script, take: &Take| {
            let params = take.params.map(|span| script.source(span));
            params.unwrap_or_else(|| Bytes::from_static(b"{}"))
        };
        let (ours, theirs) = (source(earlier, before), source(later, after));
        let ours = judge::redacted(&ours, self.redactor);
        let theirs = judge::redacted(&theirs, self.redactor);
        let comparison = Comparison {
            mode: self.mode(),
            ignore: &self.options.ignore,
            aliases: Some(self.names.aliases()).filter(|_| !self.options.exact),
            skip_incidental: true,
            limit: DIFFERENCES,
        };
        compare(&ours, &theirs, "params", &comparison)
    }

    fn answers(&mut self, before: &Take, after: &Take, compared: &mut Compared) {
        let (earlier, later) = self.scripts;
        let (ours, theirs) = match (answer(earlier, before), answer(later, after)) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            (ours, theirs) => {
                let said = |take: &Take, answer: Option<Bytes>| match (answer, &take.place) {
                    (Some(answer), _) => crate::json::shown(&answer),
                    (None, TakePlace::Unanswered(_, why)) => format!("no answer ({why})"),
                    (None, _) => "no answer".to_owned(),
                };
                let (recorded, live) = (said(before, ours), said(after, theirs));
                if recorded != live {
                    compared.differences.push(Difference {
                        path: "$".to_owned(),
                        recorded: Some(recorded),
                        live: Some(live),
                        redacted: false,
                    });
                }
                return;
            }
        };
        if !self.options.exact {
            self.names.learn(&theirs, &ours);
        }
        let aliases = Some(self.names.aliases()).filter(|_| !self.options.exact);
        let comparison = Comparison {
            aliases,
            ..judge::comparison(self.mode(), &self.options.ignore)
        };
        let found = judge::compared(&ours, &theirs, &comparison, self.redactor);
        if !found.is_empty() {
            compared.listed = listed::of(&ours, &theirs, self.redactor);
        }
        compared.differences.extend(found);
    }
}

#[cfg(test)]
mod tests;
