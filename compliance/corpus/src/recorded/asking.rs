//! Requests of a recording: which assertions they test, from their source text.

use std::rc::Rc;

use serde_json::{Map, Value};
use tapewright_schemas::era::{Era, PROTOCOL_VERSION_KEY};
use tapewright_schemas::event::{Event, RequestHead};

use super::exchange::parameters;
use super::head::SESSION;
use super::head::{self, RecordedRequest};
use super::index::{Asks, OPENINGS};
use super::memory::Question;
use super::question::NamingMembers;
use super::{Recorded, question};
use crate::placeholder::PlaceholderFit;
use crate::plan::AssertionIndex;
use crate::rounds;
use crate::rule::Applies;

type Params = Map<String, Value>;

/// Request header fields that determine whether a request is valid.
const FIELDS: [&str; 7] = [
    "accept",
    "content-type",
    "origin",
    "mcp-protocol-version",
    "mcp-session-id",
    "mcp-method",
    "mcp-name",
];

impl<'p> Recorded<'p> {
    /// What a request would test if it is well-formed; `None` if its parameters are not a readable
    /// object.
    pub(super) fn question(
        &mut self,
        event: &Event,
        asks: &Asks<'p>,
        params: Option<&[u8]>,
    ) -> Option<Rc<Question>> {
        let mut seen = std::mem::take(&mut self.scratch);
        seen.clear();
        let can_tell = self.see(event, asks, params, &mut seen);
        let known = self.memory.question(&seen).filter(|_| can_tell);
        let question = match known {
            Some(known) => Some(Rc::clone(known)),
            None => self.read(event, asks, params).map(Rc::new),
        };
        if let Some(question) = question.as_ref().filter(|_| can_tell) {
            self.memory.keep_question(&seen, question);
        }
        self.scratch = seen;
        question
    }

    /// Writes everything that determines what a request tests, except for what the server reported;
    /// returns false if that cannot be determined.
    fn see(
        &mut self,
        event: &Event,
        asks: &Asks<'_>,
        params: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> bool {
        let conduit = self.conduits.enter(event);
        out.extend_from_slice(asks.method.as_bytes());
        out.push(match conduit.transport {
            None => b'\xff',
            Some(Applies::Stdio) => b'\xfe',
            Some(Applies::Http) => b'\xfd',
        });
        if let Some(head) = &conduit.request {
            see_head(head, &asks.headers, out);
            let id = head.fields.get(SESSION);
            out.push(u8::from(self.issued.is_any()));
            out.push(u8::from(id.is_some_and(|id| self.issued.may_have(id))));
        }
        params.is_none_or(|params| is_surely_read(params) && asks.look.see(params, out))
    }

    /// Like [`question`](Self::question), from parsed values.
    fn read(&mut self, event: &Event, asks: &Asks<'p>, params: Option<&[u8]>) -> Option<Question> {
        let read = parameters(params);
        if params.is_some() && read.is_none() {
            return None;
        }
        let tested = self.tested(event, asks, read.as_ref());
        let meta = read.as_ref().and_then(|params| params.get("_meta"));
        let of_meta = |name: &str| meta.and_then(|meta| meta.get(name));
        let revision = of_meta(PROTOCOL_VERSION_KEY).and_then(Value::as_str);
        Some(Question {
            about: self.memory.about(self.plan, tested),
            revision: revision.map(str::to_owned),
            has_token: of_meta("progressToken").is_some(),
            is_again: rounds::is_again(&asks.method, read.as_ref()),
        })
    }

    /// The assertions that a well-formed request tests.
    pub(super) fn tested(
        &mut self,
        event: &Event,
        asks: &Asks<'p>,
        params: Option<&Params>,
    ) -> Vec<(AssertionIndex, PlaceholderFit)> {
        let method = asks.method.as_ref();
        let stateless = self.era() == Era::Stateless && !method.starts_with("notifications/");
        let describes = !stateless || head::describes_itself(params, &self.revision);
        let conduit = self.conduits.enter(event);
        let (request, transport) = (conduit.request.as_ref(), conduit.transport);
        let right = request.is_none_or(|head| {
            let asked = RecordedRequest {
                head,
                method,
                params,
            };
            asked.is_right(&self.revision, &self.issued)
        });
        let empty = Map::new();
        let params = params.unwrap_or(&empty);
        let mut tested = Vec::new();
        for at in asks.of(NamingMembers::of(params)) {
            let Some(assertion) = self.plan.assertion(at) else {
                continue;
            };
            let call = assertion.written.call.as_ref();
            let headers = call.map_or(&[][..], |call| call.headers.as_slice());
            let sent = if headers.is_empty() || transport == Some(Applies::Stdio) {
                right
            } else {
                request.is_some() && head::has(request, headers, &self.issued)
            };
            let here = assertion
                .transport()
                .is_none_or(|one| transport.is_none_or(|is| is == one));
            // Parameters with their own `_meta` are compared including it.
            let meta = stateless && question::writes_meta(assertion);
            if !sent
                || !here
                || (!describes && !meta)
                || (meta && !question::same_meta(assertion, params))
            {
                continue;
            }
            match question::asks(assertion, params, &self.facts.known) {
                PlaceholderFit::No => {}
                stands => tested.push((at, stands)),
            }
        }
        tested
    }

    /// Whether a request can be used: it has the revision that is judged, and no bytes that clients
    /// never send came before it.
    pub(super) fn is_of_use(&mut self, event: &Event, method: &str) -> bool {
        let session = self.sessions.get(&event.session);
        let spoken = session.and_then(|session| session.revision.as_deref());
        let other = spoken.is_some_and(|spoken| spoken != self.revision);
        let strange = self.conduits.enter(event).strange;
        (!other || OPENINGS.contains(&method)) && (!strange || method.starts_with("notifications/"))
    }
}

fn see_head(head: &RequestHead, more: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(head.method.as_bytes());
    for name in FIELDS.iter().chain(more) {
        out.push(b'\xff');
        for value in head.fields.all(name) {
            out.extend_from_slice(value.as_bytes());
            out.push(b'\xfe');
        }
    }
    out.push(b'\xff');
}

/// Parameters with at most this many opening brackets are certainly not nested too deeply.
const OPENED: usize = 100;
/// So many digits are surely a number that can be read.
const DIGITS: usize = 300;

/// Whether the source text of valid JSON can certainly be parsed as a value. A lone surrogate, a
/// number that is too large, and nesting that is too deep cannot.
fn is_surely_read(text: &[u8]) -> bool {
    let (mut opened, mut digits, mut within) = (0, 0, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => within = !within,
            b'\\' if bytes.next() == Some(&b'u') => return false,
            _ if within => continue,
            b'{' | b'[' => opened += 1,
            b'e' | b'E' if digits > 0 => return false,
            _ => {}
        }
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > DIGITS {
            return false;
        }
    }
    opened <= OPENED && text.first() == Some(&b'{')
}
