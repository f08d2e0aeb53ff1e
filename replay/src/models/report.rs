//! The result of serving the model side of a recording.

use serde::Serialize;

use super::asides::Asides;
use super::index::Index;
use super::miss::ModelMiss;

/// What happened to the model calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelReport {
    /// How many calls were answered from the recording.
    pub served: u64,
    /// How many calls were not answered.
    pub missed: u64,
    /// Number of recorded calls that were never made.
    pub unused: u64,
    /// The recorded calls, in the order of the recording.
    pub calls: Vec<ServedCall>,
    /// The first calls that were not answered, in order.
    pub misses: Vec<ModelMiss>,
    /// Answers that were requested in another form than the recorded one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub converted: Vec<Converted>,
    /// How many other requests were answered from the recording: lists of models, counts of
    /// tokens, files.
    pub others_served: u64,
    /// How many other requests were not answered.
    pub others_missed: u64,
    /// The first of those: method and path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// How many recorded exchanges cannot be served: they were recorded in part, or cannot be read.
    pub unread: u64,
}

/// One recorded call of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedCall {
    /// The number of the event with the head of its request.
    pub seq: u64,
    /// The wire.
    pub wire: &'static str,
    /// The requested model.
    pub model: String,
    /// How often it was served.
    pub times: u32,
}

/// An answer in another form than it was recorded in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// The number of the event with the head of its request.
    pub seq: u64,
    /// The recorded form.
    pub recorded: Form,
    /// The form that was sent.
    pub sent: Form,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As an event stream.
    Events,
    /// As a JSON array that is sent element by element.
    List,
    /// As one document.
    Whole,
}

/// Counts while serving.
#[derive(Debug, Default)]
pub(super) struct Tally {
    missed: u64,
    misses: Vec<ModelMiss>,
    converted: Vec<Converted>,
    others_missed: u64,
    others: Vec<String>,
    unread: u64,
}

/// The maximum number of misses and similar entries that are stored in full.
const KEPT: usize = 1_000;

impl Tally {
    pub(super) fn new(unread: u64) -> Self {
        Self {
            unread,
            ..Self::default()
        }
    }

    pub(super) fn missed(&mut self, miss: &ModelMiss) {
        self.missed += 1;
        if self.misses.len() < KEPT {
            self.misses.push(miss.clone());
        }
    }

    pub(super) fn missed_beside(&mut self, what: String) {
        self.others_missed += 1;
        if self.others.len() < KEPT {
            self.others.push(what);
        }
    }

    pub(super) fn converted(&mut self, converted: Converted) {
        if self.converted.len() < KEPT {
            self.converted.push(converted);
        }
    }

    pub(super) fn report(&self, index: &Index, asides: &Asides) -> ModelReport {
        let calls = index.entries().iter().map(|entry| ServedCall {
            seq: entry.exchange.seq,
            wire: entry.call.wire.name(),
            model: entry.model.clone(),
            times: entry.times,
        });
        let calls: Vec<ServedCall> = calls.collect();
        let (_, others_served) = asides.counts();
        ModelReport {
            served: calls.iter().map(|call| u64::from(call.times)).sum(),
            missed: self.missed,
            unused: calls.iter().filter(|call| call.times == 0).count() as u64,
            calls,
            misses: self.misses.clone(),
            converted: self.converted.clone(),
            others_served,
            others_missed: self.others_missed,
            others: self.others.clone(),
            unread: self.unread,
        }
    }
}

impl ModelReport {
    /// Whether every call was answered and every recorded call was used.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.missed == 0 && self.unused == 0
    }
}
