//! The assertions that a request tests, and everything that they examine.

use std::time::Duration;

use tapewright_schemas::event::ResponseHead;

use super::exchange::{Finished, ReplySource};
use super::look::Look;
use super::looks;
use crate::judge::Assertion;
use crate::placeholder::PlaceholderFit;
use crate::plan::{AssertionIndex, Plan};
use crate::rule::Applies;

/// The assertions that a request tests.
#[derive(Debug, Default)]
pub(super) struct RequestSubject {
    /// Names it among all.
    number: usize,
    /// Each assertion, and whether only a refusal puts it to the test.
    pub(super) tested: Vec<(AssertionIndex, PlaceholderFit)>,
    /// Whether any of them is about messages between the request and its answer.
    pub(super) listens: bool,
    /// Whether any of them needs several answers.
    pub(super) compares: bool,
    /// The parts of a result that they examine.
    look: Look,
    // The response fields that they examine, if they examine its head.
    head: Option<Vec<String>>,
    // The maximum time that an answer may take for all of them.
    limit: Option<Duration>,
    // Verdicts are the same whenever the same is seen.
    repeats: bool,
}

impl RequestSubject {
    pub(super) fn new(
        plan: &Plan,
        tested: Vec<(AssertionIndex, PlaceholderFit)>,
        number: usize,
    ) -> Self {
        let mut about = Self {
            number,
            repeats: true,
            ..Self::default()
        };
        about.look.member("isError").add(&Look::whole());
        about.look.member("resultType").add(&Look::whole());
        for (at, stands) in &tested {
            if let Some(assertion) = plan.assertion(*at) {
                about.add(assertion, *stands);
            }
        }
        about.tested = tested;
        about
    }

    fn add(&mut self, assertion: &Assertion, stands: PlaceholderFit) {
        let expect = &assertion.written.expect;
        self.listens |= assertion.looks_between();
        if assertion.wants() > 1 {
            self.compares = true;
            // Several answers are compared by their text alone.
            self.repeats &= stands == PlaceholderFit::Yes
                && !assertion.looks_between()
                && assertion.transport().is_none()
                && expect.max_duration_ms.is_none();
            return;
        }
        self.look.add(&looks::of_result(assertion));
        if let Some(limit) = expect.max_duration_ms.map(Duration::from_millis) {
            self.limit = Some(self.limit.map_or(limit, |known| known.min(limit)));
        }
        let names = expect.headers.iter().map(|(name, _)| name);
        let names: Vec<_> = names.chain(&expect.headers_absent).cloned().collect();
        if !names.is_empty() {
            self.head.get_or_insert_default().extend(names);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tested.is_empty()
    }

    /// Writes what all of them see of an answer; returns false if that cannot be determined, or if
    /// other data is relevant.
    pub(super) fn see(
        &self,
        finished: &Finished,
        took: Option<Duration>,
        out: &mut Vec<u8>,
    ) -> bool {
        let Finished { exchange, .. } = finished;
        let is_plain = !finished.gap
            && !finished.in_place
            && !exchange.tampered
            && exchange.between.is_empty();
        let in_time = self
            .limit
            .is_none_or(|limit| took.is_none_or(|took| took <= limit));
        if !is_plain || !in_time || !self.repeats {
            return false;
        }
        out.extend_from_slice(&self.number.to_le_bytes());
        out.push(match exchange.transport {
            None => b'-',
            Some(Applies::Stdio) => b's',
            Some(Applies::Http) => b'h',
        });
        out.push(if took.is_some() { b't' } else { b'-' });
        if let Some(names) = &self.head {
            see_head(names, finished.head.as_deref(), out);
        }
        match &finished.said {
            ReplySource::Nothing => false,
            ReplySource::Result(result) => {
                out.push(b'r');
                self.look.see(result, out)
            }
            ReplySource::Error(error) => {
                out.push(b'e');
                Look::whole().see(error, out)
            }
        }
    }
}

fn see_head(names: &[String], head: Option<&ResponseHead>, out: &mut Vec<u8>) {
    let Some(head) = head else {
        return out.push(b'-');
    };
    out.extend_from_slice(&head.status.to_le_bytes());
    for name in names {
        for value in head.fields.all(name) {
            out.extend_from_slice(value.as_bytes());
            out.push(b'\xff');
        }
        out.push(b'\xff');
    }
}
