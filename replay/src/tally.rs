//! The result of a replay: served, missed and unused requests.

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

/// A callback for each miss.
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
    // How many of the recorded requests were played.
    played: usize,
    missed: u64,
    // Each with the verbatim id of its request.
    misses: Vec<(String, Miss)>,
    own_pings: u64,
    replied_otherwise: u64,
    other_replies: Vec<OtherReply>,
    mapped: u64,
    mapped_requests: Vec<(u32, Vec<PathMap>)>,
    // The number of requests and of messages to the client in which each learned mapping was used.
    learned: HashMap<PathMap, (u64, u64)>,
    last: Option<u32>,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of sessions.
    pub sessions: u64,
    /// How many requests were answered from the recording.
    pub served: u64,
    /// How many requests were not answered.
    pub missed: u64,
    /// The number of recorded requests that were never requested.
    pub unused: u64,
    /// The recorded requests, in the order of the recording.
    pub requests: Requests,
    /// The result for model calls, if the recording was served as a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelReport>,
    /// The first requests that were not answered, in order.
    pub misses: Vec<Miss>,
    /// The number of pings that were answered without a recording. They are neither served nor
    /// missed: the receiver itself answers a ping (2025-11-25, basic/utilities/ping).
    pub own_pings: u64,
    /// The number of the client's replies to sampling, elicitation or roots requests that differed
    /// from the recorded ones. The recording continued anyway.
    pub replied_otherwise: u64,
    /// The first of these replies, in order.
    pub other_replies: Vec<OtherReply>,
    /// The number of answered requests with mapped paths.
    pub mapped: u64,
    /// The first of those requests, in order.
    pub mapped_requests: Vec<Mapped>,
    /// The mappings learned from the recording, used or not.
    pub learned_maps: Vec<LearnedMap>,
}

/// A learned mapping of paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LearnedMap {
    /// The recorded path.
    pub recorded: String,
    /// The client's path in its place.
    pub here: String,
    /// The number of answered requests in which it was used.
    pub requests: u64,
    /// The number of messages to the client in which it was used.
    pub messages: u64,
}

/// A request that matches a recorded one with its paths mapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// The recorded request's place in its file, as a JSON pointer.
    pub place: String,
    /// The mappings that were used.
    pub paths: Vec<PathMap>,
}

/// A reply of the client to the recorded server that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherReply {
    /// The method of the server's request.
    pub method: String,
    /// The recorded request that the server was processing, as a JSON pointer; `None` outside of
    /// all requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The differences, redacted.
    pub differences: Vec<Difference>,
}

/// The misses of a running replay, and the recorded requests that were not requested so far.
#[derive(Clone, Debug)]
pub struct SoFar {
    /// The last requests that were not answered, each with its id as JSON text, redacted.
    pub misses: Vec<(String, Miss)>,
    /// The number of misses.
    pub missed: u64,
    /// The number of recorded requests that were not requested so far.
    pub unused: usize,
    /// The number of recorded requests.
    pub recorded: usize,
    /// The first unused ones: their places in the file, and their methods.
    pub first: Vec<(String, String)>,
}

/// The maximum number of misses, differing replies and requests with mapped paths that are stored
/// in full.
const KEPT: usize = 1_000;
/// The maximum stored length of an id, in bytes.
const LONGEST_ID: usize = 256;
/// The maximum number of unused requests that are listed, and of requests searched for them.
const NAMED: usize = 100;
const LOOKED_AT: usize = 100_000;

impl Tally {
    /// A tally that calls `on_miss` for each miss.
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

    /// Counts a ping that was answered without a recording.
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

    /// Counts a request that matched a recorded one with its paths mapped.
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

    /// Counts mapped paths in a message to the client.
    pub(crate) fn told(&self, paths: &[PathMap]) {
        let mut inner = self.lock();
        for path in paths.iter().filter(|path| path.learned) {
            inner.learned.entry(path.clone()).or_default().1 += 1;
        }
    }

    /// The ordinal of the last request played since the previous call, for a client with one
    /// request in progress.
    pub fn take_last(&self) -> Option<u32> {
        self.lock().last.take()
    }

    /// The current state, with at most `most` of the last misses.
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
        // Methods are peer-supplied texts, so they are redacted.
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

/// A redacted mapping, since a user's rule may hide the name of a folder.
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
