//! Which assertions a request may test, by its method.

use std::collections::HashMap;
use std::rc::Rc;

use foldhash::quality::RandomState;

use super::look::Look;
use super::looks;
use super::question::NamingMembers;
use crate::inventory::LISTS;
use crate::judge::Assertion;
use crate::plan::{AssertionIndex, Plan};
use crate::rule::TransportObservation;

/// The assertions of a plan, by what tests them.
#[derive(Debug)]
pub(super) struct Index<'p> {
    by_method: HashMap<&'p str, Rc<Asks<'p>>, RandomState>,
    /// Raw texts that are sent unchanged.
    pub(super) raw: Vec<RawText<'p>>,
    /// Whether any of them has several lines.
    pub(super) has_lines: bool,
    /// Assertions about how the server frames its messages.
    pub(super) framing: Vec<AssertionIndex>,
    /// Assertions about the effect of a cancellation.
    pub(super) cancellable: Vec<AssertionIndex>,
}

/// Bytes that an assertion sends unchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawText<'p> {
    pub(super) at: AssertionIndex,
    /// Trimmed; empty for a request without a body.
    pub(super) text: &'p str,
    /// The text before its first placeholder, which does not depend on the value of that.
    pub(super) front: &'p str,
    /// It is several lines.
    pub(super) is_lines: bool,
}

/// What applies to the requests of a method.
#[derive(Clone, Debug)]
pub(super) struct Asks<'p> {
    pub(super) method: Rc<str>,
    /// Whether their answers report what the server has.
    pub(super) teaches: bool,
    /// The parts of their parameters that decide which assertions they test.
    pub(super) look: Look,
    /// The header fields of their requests that are relevant.
    pub(super) headers: Vec<&'p str>,
    assertions: Vec<(AssertionIndex, NamingMembers)>,
}

/// The requests that open a conversation.
pub(super) const OPENINGS: [&str; 2] = ["initialize", "server/discover"];

impl<'p> Index<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let mut index = Self {
            by_method: HashMap::default(),
            raw: Vec::new(),
            has_lines: false,
            framing: Vec::new(),
            cancellable: Vec::new(),
        };
        for method in OPENINGS.into_iter().chain(LISTS.map(|(method, ..)| method)) {
            index.asks(method).teaches = true;
        }
        for (at, assertion) in plan.each() {
            let version = plan
                .rules
                .get(at.rule)
                .map(|rule| &rule.registered.spec_versions);
            if version.is_some_and(|versions| versions.contains(&plan.version)) {
                index.add(at, assertion);
            }
        }
        index
    }

    fn add(&mut self, at: AssertionIndex, assertion: &'p Assertion) {
        match assertion.written.expect.transport_observation {
            Some(TransportObservation::Cancellable) => return self.cancellable.push(at),
            Some(_) => return self.framing.push(at),
            None => {}
        }
        let Some(call) = &assertion.written.call else {
            for opening in OPENINGS {
                self.put(opening, at, assertion);
            }
            return;
        };
        if let Some(raw) = &call.raw {
            let text = raw.trim();
            let front = text.split("${").next().unwrap_or_default();
            let is_lines = text.contains('\n');
            self.has_lines |= is_lines;
            self.raw.push(RawText {
                at,
                text,
                front,
                is_lines,
            });
        } else if let Some(method) = &call.method {
            self.put(method, at, assertion);
        }
    }

    fn put(&mut self, method: &'p str, at: AssertionIndex, assertion: &'p Assertion) {
        let asks = self.asks(method);
        asks.look.add(&looks::of_params(assertion));
        let call = assertion.written.call.as_ref();
        let headers = call.map_or(&[][..], |call| call.headers.as_slice());
        asks.headers
            .extend(headers.iter().map(|(name, _)| name.as_str()));
        asks.assertions.push((at, NamingMembers::by(assertion)));
    }

    fn asks(&mut self, method: &'p str) -> &mut Asks<'p> {
        let new = || {
            Rc::new(Asks {
                method: method.into(),
                teaches: false,
                look: looks::of_any_params(),
                headers: Vec::new(),
                assertions: Vec::new(),
            })
        };
        let asks = self.by_method.entry(method).or_insert_with(new);
        Rc::make_mut(asks)
    }

    /// What applies to the requests of a method; `None` if they test nothing.
    pub(super) fn method(&self, method: &str) -> Option<&Rc<Asks<'p>>> {
        self.by_method.get(method)
    }

    pub(super) fn knows(&self, method: &str) -> bool {
        let asks = self.by_method.get(method);
        asks.is_some_and(|asks| !asks.assertions.is_empty())
    }
}

impl Asks<'_> {
    /// The assertions that a request with these members may test.
    pub(super) fn of(&self, named: NamingMembers) -> impl Iterator<Item = AssertionIndex> {
        let all = self.assertions.iter();
        all.filter(move |(_, one)| *one == named).map(|(at, _)| *at)
    }
}
