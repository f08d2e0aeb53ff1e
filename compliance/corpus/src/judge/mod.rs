//! Implements the expectations of a rule.
//!
//! [`judge`] judges an [`Observation`], made live or from a recording. Each member of `expect` is
//! one function here; all of them must hold.

mod beside;
mod compare;
mod head;
mod missing;
mod repeat;
mod reply;
mod wire;

#[cfg(test)]
pub(crate) mod tests;

use crate::observation::{Observation, Reply};
use crate::rule::{Applies, RuleAssertion, RuleExpect};
use crate::schema::Schema;
use crate::verdict::{Untested, Verdict};

/// An assertion that is ready to judge by.
#[derive(Debug)]
pub struct Assertion {
    /// The assertion in the corpus.
    pub written: RuleAssertion,
    schema: Option<Schema>,
    // The schema of an error.
    error_schema: Option<Schema>,
}

impl Assertion {
    /// Makes an assertion ready.
    #[must_use]
    pub fn new(written: RuleAssertion) -> Self {
        let error = written.expect.error.as_ref();
        Self {
            schema: written.expect.schema.clone().map(Schema::new),
            error_schema: error
                .and_then(|error| error.schema.clone())
                .map(Schema::new),
            written,
        }
    }

    /// The only transport on which it can be tested.
    #[must_use]
    pub fn transport(&self) -> Option<Applies> {
        let expect = &self.written.expect;
        let call = self.written.call.as_ref();
        // Request header fields are for HTTP; other transports ignore them.
        let of_http = !expect.headers.is_empty() || !expect.headers_absent.is_empty();
        let framed = matches!(expect.transport_observation, Some(one) if wire::is_of_stdio(one));
        call.and_then(|call| call.transport)
            .or(of_http.then_some(Applies::Http))
            .or(framed.then_some(Applies::Stdio))
    }

    /// The number of answers that it needs.
    #[must_use]
    pub fn wants(&self) -> usize {
        let stable = !self.written.expect.stable_keys.is_empty();
        let repeat = self.written.call.as_ref().and_then(|call| call.repeat);
        let repeat = repeat.and_then(|count| usize::try_from(count).ok());
        repeat.unwrap_or(if stable { 2 } else { 1 })
    }

    /// Whether it is about messages between the call and its answer.
    #[must_use]
    pub fn looks_between(&self) -> bool {
        let expect = &self.written.expect;
        expect.notification_stream.is_some() || expect.server_request.is_some()
    }

    /// Whether it requires a result: an error is a failure.
    #[must_use]
    pub fn wants_result(&self) -> bool {
        let expect = &self.written.expect;
        expect.error.is_none()
            && !self.is_notification()
            && (expect.result.is_some()
                || expect.schema.is_some()
                || !expect.stable_keys.is_empty()
                || expect.max_duration_ms.is_some()
                || self.only_asks())
    }

    /// Whether it sends a notification, which has no answer.
    #[must_use]
    pub fn is_notification(&self) -> bool {
        let call = self.written.call.as_ref();
        let method = call.and_then(|call| call.method.as_deref());
        method.is_some_and(|method| method.starts_with("notifications/"))
    }

    /// Whether any answer is a failure.
    fn wants_silence(&self) -> bool {
        self.is_notification() && self.written.expect.error.is_none() && self.only_asks()
    }

    /// Whether it only expects any answer.
    fn only_asks(&self) -> bool {
        let expect = &self.written.expect;
        expect.headers.is_empty()
            && expect.headers_absent.is_empty()
            && expect.transport_observation.is_none()
            && !self.looks_between()
    }
}

/// Judges an assertion by an observation.
#[must_use]
pub fn judge(assertion: &Assertion, seen: &Observation) -> Verdict {
    if let (Some(wanted), Some(is)) = (assertion.transport(), seen.transport)
        && wanted != is
    {
        return Verdict::Untested(Untested::Transport(wanted));
    }
    if assertion.transport().is_some() && seen.transport.is_none() {
        return Verdict::Untested(Untested::UnknownTransport);
    }
    if seen.gap {
        return Verdict::Untested(Untested::Gap);
    }
    let expect = &assertion.written.expect;
    if let Some(why) = beside::nothing_asked(expect, seen) {
        return Verdict::Untested(why);
    }
    let mut verdict = wire::observation(expect, seen)
        .and(|| head::headers(expect, seen))
        .and(|| head::absent(expect, seen))
        .and(|| {
            missing::error(assertion, seen)
                .unwrap_or_else(|| reply::error(expect, assertion.error_schema.as_ref(), seen))
        });
    if assertion.wants_silence() {
        verdict = verdict.and(|| reply::silence(seen));
    }
    if assertion.wants_result() {
        verdict = verdict
            .and(|| reply::results(seen))
            .and(|| reply::result(expect, seen))
            .and(|| reply::schema(assertion.schema.as_ref(), seen))
            .and(|| repeat::stable(expect, assertion.wants(), seen));
    }
    let verdict = verdict
        .and(|| repeat::enough(assertion.wants(), seen))
        .and(|| wire::duration(expect, seen))
        .and(|| beside::notifications(expect, seen))
        .and(|| beside::server_request(expect, seen));
    with_place(verdict, seen)
}

/// The verdict, with the number of the answer in the recording.
fn with_place(verdict: Verdict, seen: &Observation) -> Verdict {
    match verdict {
        Verdict::Fail(mut failure) => {
            let place = || seen.answers.iter().find_map(|answer| answer.seq);
            failure.seq = failure.seq.or_else(place);
            Verdict::Fail(failure)
        }
        other => other,
    }
}

/// The results among the answers.
fn results(seen: &Observation) -> impl Iterator<Item = &serde_json::Value> {
    seen.answers
        .iter()
        .filter_map(|answer| match &answer.reply {
            Reply::Result(result) => Some(result),
            _ => None,
        })
}

/// Whether an expectation has no conditions.
#[must_use]
pub fn is_empty(expect: &RuleExpect) -> bool {
    expect
        .written
        .as_object()
        .is_none_or(serde_json::Map::is_empty)
}
