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
    // In order: which of several reasons is told at the end must not depend on chance.
    waiting: BTreeMap<(AssertionIndex, String), Group>,
}

#[derive(Debug)]
struct Group {
    seen: Observation,
    // The source text of all answers, where they are the same result.
    text: Option<Bytes>,
    // As many such answers as are wanted were judged.
    is_judged: bool,
}

/// An answer, as received.
pub(super) struct ReceivedAnswer<'a> {
    pub(super) said: &'a ReplySource,
    pub(super) head: Option<&'a ResponseHead>,
    pub(super) took: Option<Duration>,
    pub(super) seq: Option<u64>,
}

/// How many questions wait for more answers at once.
const MOST: usize = 1_024;

impl Groups {
    /// Takes an answer that is the same as all before it, so often that there is nothing new to judge: whether there are
    /// as many as are wanted. Nothing where it has to be judged.
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

    /// Takes an answer, whose source text is `said`; gives all of them once there are as many as are wanted.
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
        // The last answer is the first of the next comparison: a change is seen wherever it happens.
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

    /// What never had enough answers.
    pub(super) fn rest(&mut self) -> Vec<(AssertionIndex, Observation)> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.map(|((at, _), group)| (at, group.seen)).collect()
    }
}

/// The question, without what every client adds to it.
pub(super) fn question(params: Option<&Map<String, Value>>) -> String {
    let mut params = params.cloned().unwrap_or_default();
    params.remove("_meta");
    Value::Object(params).to_string()
}
