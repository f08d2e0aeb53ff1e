//! What became of a replay: served, missed, never requested.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::slices::Front as _;

use crate::index::Index;
use crate::json::Difference;
use crate::matcher::Miss;
use crate::models::ModelReport;
use crate::paths::{PathMap, PathMaps};
use crate::requests::Requests;
use crate::script::Script;

/// Counts over all sessions of a replay.
#[derive(Default)]
pub struct Tally {
    inner: Mutex<Inner>,
    on_miss: Option<Tell>,
}

/// Hears of each miss as it happens.
pub type Tell = Box<dyn Fn(&Miss) + Send + Sync>;

impl std::fmt::Debug for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tally").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Inner {
    sessions: u64,
    served: Vec<u32>,
    // How many recorded requests were played at all.
    played: usize,
    missed: u64,
    // Each with the id of its request, as it was sent.
    misses: Vec<(String, Miss)>,
    own_pings: u64,
    replied_otherwise: u64,
    other_replies: Vec<OtherReply>,
    mapped: u64,
    mapped_requests: Vec<(u32, Vec<PathMap>)>,
    // How many requests and messages to the client each learned mapping was used in.
    learned: HashMap<PathMap, (u64, u64)>,
    last: Option<u32>,
}

/// What became of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many sessions there were.
    pub sessions: u64,
    /// How many requests were answered from the recording.
    pub served: u64,
    /// How many were not.
    pub missed: u64,
    /// Number of recorded requests that never came.
    pub unused: u64,
    /// What was recorded, one entry per request, in the order of the recording.
    pub requests: Requests,
    /// What became of the calls of models, where the recording was served as a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelReport>,
    /// The first requests that were not answered, in order.
    pub misses: Vec<Miss>,
    /// How many pings were answered of which there was no recording. They are neither
    /// served nor missed: the receiver itself answers a ping (2025-11-25, basic/utilities/ping).
    pub own_pings: u64,
    /// How often the client replied to the recorded server as it had not when it was
    /// recorded, to sampling, elicitation or roots. What followed was played all the same.
    pub replied_otherwise: u64,
    /// The first of these replies, in order.
    pub other_replies: Vec<OtherReply>,
    /// How many of the requests that were answered held a path that was mapped.
    pub mapped: u64,
    /// The first of them, in order.
    pub mapped_requests: Vec<Mapped>,
    /// The mappings that the recording told of, used or not.
    pub learned_maps: Vec<LearnedMap>,
}

/// A learned mapping of paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LearnedMap {
    /// The path as it was recorded.
    pub recorded: String,
    /// What the client has in its place.
    pub here: String,
    /// In how many of the requests that were answered it was used.
    pub requests: u64,
    /// In how many messages to the client it was used.
    pub messages: u64,
}

/// A request that is a recorded one with its paths mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// Where the recorded one stands in its file, as a JSON pointer.
    pub place: String,
    /// What was mapped.
    pub paths: Vec<PathMap>,
}

/// A reply of the client to the recorded server that is not the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherReply {
    /// What the server had asked for.
    pub method: String,
    /// In the course of which recorded request, as a JSON pointer; none when of its own
    /// accord.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What differs, redacted.
    pub differences: Vec<Difference>,
}

/// What a running replay has missed, and which recorded requests have not come so far.
#[derive(Clone, Debug)]
pub struct SoFar {
    /// The last requests that were not answered, each with its id as JSON text, redacted.
    pub misses: Vec<(String, Miss)>,
    /// How many there were.
    pub missed: u64,
    /// Number of recorded requests that have not come so far.
    pub unused: usize,
    /// Of how many.
    pub recorded: usize,
    /// The first of them: where they stand in the file, and their methods.
    pub first: Vec<(String, String)>,
}

/// How many misses, other replies and requests with mapped paths are kept whole.
const KEPT: usize = 1_000;
/// How much of an id is kept, in bytes.
const LONGEST_ID: usize = 256;
/// Limit of unused requests that are listed, and of those that are searched for them.
const NAMED: usize = 100;
const LOOKED_AT: usize = 100_000;

impl Tally {
    /// A tally that tells of each miss as it happens.
    #[must_use]
    pub fn new(on_miss: Option<Tell>) -> Self {
        Self {
            inner: Mutex::default(),
            on_miss,
        }
    }

    pub(crate) fn opened(&self) {
        self.lock().sessions += 1;
    }

    pub(crate) fn served(&self, ordinal: u32) {
        let mut inner = self.lock();
        inner.last = Some(ordinal);
        let place = ordinal as usize;
        if inner.served.len() <= place {
            inner.served.resize(place + 1, 0);
        }
        if let Some(times) = inner.served.get_mut(place) {
            let is_first = *times == 0;
            *times = times.saturating_add(1);
            inner.played += usize::from(is_first);
        }
    }

    pub(crate) fn missed(&self, id: &[u8], miss: Miss) {
        if let Some(tell) = &self.on_miss {
            tell(&miss);
        }
        let mut inner = self.lock();
        inner.missed += 1;
        if inner.misses.len() < KEPT {
            let id = String::from_utf8_lossy(id.front(LONGEST_ID)).into_owned();
            inner.misses.push((id, miss));
        }
    }

    /// An unrecorded ping was answered.
    pub(crate) fn pinged(&self) {
        self.lock().own_pings += 1;
    }

    pub(crate) fn replied_otherwise(&self, reply: OtherReply) {
        let mut inner = self.lock();
        inner.replied_otherwise += 1;
        if inner.other_replies.len() < KEPT {
            inner.other_replies.push(reply);
        }
    }

    /// A recorded request was played to one whose paths were mapped.
    pub(crate) fn mapped(&self, ordinal: u32, paths: Vec<PathMap>) {
        let mut inner = self.lock();
        inner.mapped += 1;
        for path in paths.iter().filter(|path| path.learned) {
            inner.learned.entry(path.clone()).or_default().0 += 1;
        }
        if inner.mapped_requests.len() < KEPT {
            inner.mapped_requests.push((ordinal, paths));
        }
    }

    /// Recorded paths were turned in a message to the client.
    pub(crate) fn told(&self, paths: &[PathMap]) {
        let mut inner = self.lock();
        for path in paths.iter().filter(|path| path.learned) {
            inner.learned.entry(path.clone()).or_default().1 += 1;
        }
    }

    /// Which recorded request was played last, by its number, since this was last asked.
    /// For a client that has one request under way.
    pub fn take_last(&self) -> Option<u32> {
        self.lock().last.take()
    }

    /// How it stands, with so many of the last misses.
    #[must_use]
    pub fn so_far(&self, index: &Index, most: usize) -> SoFar {
        let script = index.script();
        let mut redactor = Redactor::new(Arc::clone(&index.options.rules));
        let mut text = |bytes: &[u8]| String::from_utf8_lossy(&redactor.text(bytes)).into_owned();
        let inner = self.lock();
        let recorded = script.takes.len();
        let times = |place: usize| inner.served.get(place).copied().unwrap_or_default();
        let all = script.takes.iter().enumerate().take(LOOKED_AT);
        let unused = all.filter(|(place, _)| times(*place) == 0).take(NAMED);
        let first = unused.map(|(_, take)| {
            let method = text(script.method_name(take.method));
            (take.place.pointer(), method)
        });
        let first = first.collect();
        let before = inner.misses.len().saturating_sub(most);
        let last = inner.misses.iter().skip(before);
        SoFar {
            first,
            misses: last
                .map(|(id, miss)| (text(id.as_bytes()), miss.clone()))
                .collect(),
            missed: inner.missed,
            unused: recorded.saturating_sub(inner.played),
            recorded,
        }
    }

    /// The report so far.
    #[must_use]
    pub fn report(&self, index: &Index) -> Report {
        let script = index.script();
        let inner = self.lock();
        // A peer may call a method as it likes.
        let mut redactor = Redactor::new(Arc::clone(&index.options.rules));
        let requests = Requests::new(&index.script, &inner.served, &mut redactor);
        Report {
            sessions: inner.sessions,
            served: inner.served.iter().copied().map(u64::from).sum(),
            missed: inner.missed,
            unused: requests.len().saturating_sub(inner.played) as u64,
            requests,
            models: None,
            misses: inner.misses.iter().map(|(_, miss)| miss.clone()).collect(),
            own_pings: inner.own_pings,
            replied_otherwise: inner.replied_otherwise,
            other_replies: inner.other_replies.clone(),
            mapped: inner.mapped,
            mapped_requests: mapped(script, &inner.mapped_requests, &mut redactor),
            learned_maps: learned(&index.options.paths, &inner.learned, &mut redactor),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mapped(
    script: &Script,
    requests: &[(u32, Vec<PathMap>)],
    redactor: &mut Redactor,
) -> Vec<Mapped> {
    let place = |ordinal: u32| {
        let take = script.take(ordinal as usize);
        take.map_or_else(String::new, |take| take.place.pointer())
    };
    let mapped = requests.iter().map(|(ordinal, paths)| Mapped {
        place: place(*ordinal),
        paths: paths.iter().map(|path| shown(path, redactor)).collect(),
    });
    mapped.collect()
}

fn learned(
    maps: &PathMaps,
    used: &HashMap<PathMap, (u64, u64)>,
    redactor: &mut Redactor,
) -> Vec<LearnedMap> {
    let learned = maps.learned().map(|map| {
        let (requests, messages) = used.get(map).copied().unwrap_or_default();
        let PathMap { recorded, here, .. } = shown(map, redactor);
        LearnedMap {
            recorded,
            here,
            requests,
            messages,
        }
    });
    learned.collect()
}

/// A mapping as it may be told: a rule of the user may hide the name of a folder.
fn shown(map: &PathMap, redactor: &mut Redactor) -> PathMap {
    let mut text = |path: &str| {
        let path = redactor.text(path.as_bytes());
        String::from_utf8_lossy(&path).into_owned()
    };
    PathMap {
        recorded: text(&map.recorded),
        here: text(&map.here),
        learned: map.learned,
    }
}

impl Report {
    /// Whether every request was answered and every recording was used.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let models = self.models.as_ref();
        self.missed == 0 && self.unused == 0 && models.is_none_or(ModelReport::is_exact)
    }
}
