//! Assertions that need several answers to the same question.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};
use tapewright_schemas::event::ResponseHead;

use super::exchange::ReplySource;
use crate::observation::{Answer, HttpHead, Observation};
use crate::plan::AssertionIndex;

/// Answers to the same question, until there are enough.
#[derive(Debug, Default)]
pub(super) struct Groups {
    // Ordered: which of several reasons is reported at the end must be deterministic.
    waiting: BTreeMap<(AssertionIndex, String), Group>,
}

#[derive(Debug)]
struct Group {
    seen: Observation,
    // The source text of all answers, if they are the same result.
    text: Option<Bytes>,
    // The required number of such answers has been judged.
    is_judged: bool,
}

/// An answer, as received.
pub(super) struct ReceivedAnswer<'a> {
    pub(super) said: &'a ReplySource,
    pub(super) head: Option<&'a ResponseHead>,
    pub(super) took: Option<Duration>,
    pub(super) seq: Option<u64>,
}

/// The maximum number of questions that wait for more answers at once.
const MOST: usize = 1_024;

impl Groups {
    /// Counts an answer that equals all earlier ones, so that nothing new needs to be judged:
    /// returns whether there are enough. `None` if it must be judged.
    pub(super) fn hear(
        &mut self,
        at: AssertionIndex,
        wanted: usize,
        question: &str,
        heard: &ReceivedAnswer<'_>,
    ) -> Option<bool> {
        if self.waiting.len() >= MOST {
            return None;
        }
        let ReplySource::Result(text) = heard.said else {
            return None;
        };
        let group = self.waiting.get_mut(&(at, question.to_owned()))?;
        if !group.is_judged || group.text.as_ref() != Some(text) {
            return None;
        }
        let answers = &mut group.seen.answers;
        let new = |reply| Answer {
            reply,
            head: heard.head.map(HttpHead::from),
            took: heard.took,
            seq: heard.seq,
        };
        let is_whole = answers.len() + 1 >= wanted;
        if is_whole {
            answers.truncate(1);
            let last = answers.first_mut()?;
            *last = new(std::mem::take(&mut last.reply));
        } else {
            let reply = answers.first()?.reply.clone();
            answers.push(new(reply));
        }
        Some(is_whole)
    }

    /// Adds an answer, whose source text is `said`; returns all of them once there are enough.
    pub(super) fn add(
        &mut self,
        at: AssertionIndex,
        wanted: usize,
        seen: Observation,
        said: &ReplySource,
    ) -> Option<Observation> {
        if self.waiting.len() >= MOST {
            self.waiting.clear();
        }
        let key = (at, question(seen.sent.params.as_ref()));
        let is_plain = seen.between.is_empty() && !seen.gap;
        let new = match said {
            ReplySource::Result(text) if is_plain => Some(text.clone()),
            _ => None,
        };
        let mut text = new.clone();
        let whole = match self.waiting.remove(&key) {
            None => seen,
            Some(before) => {
                text = text.filter(|text| before.text.as_ref() == Some(text));
                let mut group = before.seen;
                group.answers.extend(seen.answers);
                group.between.extend(seen.between);
                group.gap |= seen.gap;
                group
            }
        };
        if whole.answers.len() < wanted {
            let group = Group {
                seen: whole,
                text,
                is_judged: false,
            };
            self.waiting.insert(key, group);
            return None;
        }
        // The last answer is the first of the next comparison, so that a change is detected
        // wherever it happens.
        let rest = Observation {
            transport: whole.transport,
            sent: whole.sent.clone(),
            answers: whole.answers.last().cloned().into_iter().collect(),
            chosen: whole.chosen,
            ..Observation::default()
        };
        let group = Group {
            seen: rest,
            is_judged: text.is_some(),
            text: new,
        };
        self.waiting.insert(key, group);
        Some(whole)
    }

    /// The questions that never had enough answers.
    pub(super) fn rest(&mut self) -> Vec<(AssertionIndex, Observation)> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.map(|((at, _), group)| (at, group.seen)).collect()
    }
}

/// The question, without the parts that every client adds.
pub(super) fn question(params: Option<&Map<String, Value>>) -> String {
    let mut params = params.cloned().unwrap_or_default();
    params.remove("_meta");
    Value::Object(params).to_string()
}
