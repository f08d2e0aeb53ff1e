//! Which assertions a request may put to the test, by its method.

use std::collections::HashMap;

use super::question::Named;
use crate::judge::Assertion;
use crate::known::LISTS;
use crate::plan::{At, Plan};
use crate::rule::TransportObservation;

/// The assertions of a plan, by what puts them to the test.
#[derive(Debug)]
pub(super) struct Index<'p> {
    by_method: HashMap<&'p str, Vec<(At, Named)>>,
    /// What is sent as it stands, trimmed; empty for a request without a body.
    pub(super) raw: Vec<(At, &'p str)>,
    /// Whether some of it is several lines.
    pub(super) has_lines: bool,
    /// About how the server frames what it says.
    pub(super) framing: Vec<At>,
    /// About what a cancellation does.
    pub(super) cancellable: Vec<At>,
}

/// The requests that open a conversation.
pub(super) const OPENINGS: [&str; 2] = ["initialize", "server/discover"];

impl<'p> Index<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let mut index = Self {
            by_method: HashMap::new(),
            raw: Vec::new(),
            has_lines: false,
            framing: Vec::new(),
            cancellable: Vec::new(),
        };
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

    fn add(&mut self, at: At, assertion: &'p Assertion) {
        match assertion.written.expect.transport_observation {
            Some(TransportObservation::Cancellable) => return self.cancellable.push(at),
            Some(_) => return self.framing.push(at),
            None => {}
        }
        let Some(call) = &assertion.written.call else {
            for opening in OPENINGS {
                self.by_method
                    .entry(opening)
                    .or_default()
                    .push((at, Named::default()));
            }
            return;
        };
        if let Some(raw) = &call.raw {
            self.has_lines |= raw.trim().contains('\n');
            self.raw.push((at, raw.trim()));
        } else if let Some(method) = &call.method {
            let named = Named::by(assertion);
            self.by_method.entry(method).or_default().push((at, named));
        }
    }

    /// What a request may put to the test that names these members.
    pub(super) fn of(&self, method: &str, named: Named) -> impl Iterator<Item = At> {
        let all = self.by_method.get(method).map_or(&[][..], Vec::as_slice);
        all.iter()
            .filter(move |(_, one)| *one == named)
            .map(|(at, _)| *at)
    }

    pub(super) fn knows(&self, method: &str) -> bool {
        self.by_method.contains_key(method)
    }
}

/// Whether an answer says what a server has.
pub(super) fn teaches(method: &str) -> bool {
    OPENINGS.contains(&method) || LISTS.iter().any(|(name, ..)| *name == method)
}
