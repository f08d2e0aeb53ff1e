//! Showing a payload to the rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{Carrier, Direction, Event, SessionKey};

use super::dispatch::{Dispatch, Entry, MessageCheck, Spoken};
use super::results::Results;
use super::{Case, Out};
use crate::carrier::Carriers;
use crate::finding::{Doubt, Finding, Severity};
use crate::http::conduit::Conduit;
use crate::message::Message;
use crate::method::Method;
use crate::revision::Revisions;
use crate::session::{Answer, Session, SessionKind};
use crate::value::Value;

/// One payload on its way through the rules.
pub(super) struct Turn<'a> {
    pub(super) event: &'a Event,
    pub(super) dispatch: &'a Dispatch,
    pub(super) conduit: Option<&'a Conduit>,
    pub(super) carrier: Carrier,
    pub(super) results: &'a mut Results,
    pub(super) found: &'a mut VecDeque<Finding>,
    pub(super) offers: &'a mut BTreeMap<SessionKey, BTreeSet<String>>,
    pub(super) mildest: Severity,
}

impl Turn<'_> {
    /// Shows one message to the rules, and enters it.
    pub(super) fn one(&mut self, session: &mut Session, message: &Message<'_>) {
        let (dir, dispatch) = (message.dir, self.dispatch);
        match &message.envelope.kind {
            Kind::Request { .. } => {
                let opens = dir == Direction::ToServer && !session.lifecycle.is_settled();
                let opening = if opens {
                    dispatch.opening.as_slice()
                } else {
                    &[]
                };
                let checks = dispatch.requests(dir, message.method);
                self.show(session, &[opening, checks], message, Answer::Nameless);
            }
            Kind::Notification { .. } => {
                let checks = dispatch.notifications(dir, message.method);
                self.show(session, &[checks], message, Answer::Nameless);
            }
            Kind::Response { .. } => {
                let answer = session.answer(message);
                let checks = match answer {
                    Answer::Pairs(asked) => dispatch.responses(dir.opposite(), asked.method),
                    _ => &dispatch.stray,
                };
                let fails = message.error().is_some();
                let errors = if fails {
                    dispatch.errors.as_slice()
                } else {
                    &[]
                };
                let lists = [checks, &dispatch.any_response, errors];
                self.show(session, &lists, message, answer);
                if let Answer::Pairs(asked) = answer
                    && asked.method == Method::ToolsList
                {
                    self.offer(session.key, message);
                }
            }
            _ => return,
        }
        session.enter(message);
    }

    /// Notes the names of listed tools, for what can go wrong between servers.
    fn offer(&mut self, key: SessionKey, message: &Message<'_>) {
        let Some(tools) = message.result().and_then(|result| result.get("tools")) else {
            return;
        };
        let names = self.offers.entry(key).or_default();
        tools.elements(|tool| {
            if let Some(name) = tool.get("name").and_then(Value::string)
                && names.len() < super::OFFERS
            {
                names.insert(name.into_owned());
            }
        });
    }

    /// Shows a message to the rules of each list.
    pub(super) fn show(
        &mut self,
        session: &Session,
        lists: &[&[Entry<MessageCheck>]],
        message: &Message<'_>,
        answer: Answer<'_>,
    ) {
        let first = lists.iter().find_map(|list| list.first());
        let Some(first) = first.filter(|_| message.revisions != Revisions::NONE) else {
            return;
        };
        let case = Case {
            event: self.event,
            message,
            session,
            answer,
            status: self.conduit.and_then(Conduit::status),
            carrier: self.carrier,
        };
        // What is missing may be the head of its exchange.
        let headless =
            session.is_adrift() || session.gap && self.conduit.is_none_or(|conduit| conduit.gap);
        let known = !headless && session.sort != SessionKind::Exchange;
        let mut out = Out {
            index: first.index,
            rule: first.rule,
            session,
            revisions: message.revisions,
            mildest: self.mildest,
            at: message.at,
            tampered: case.asked().is_some_and(|asked| asked.faulted),
            cut: false,
            results: self.results,
            found: self.found,
        };
        let spoken = Spoken::of(message.revisions, Carriers::of(&[self.carrier]));
        for list in lists {
            for entry in *list {
                if !entry.spoken.covers(spoken) {
                    continue;
                }
                if !known || !message.plain.has(entry.spared) {
                    out.ask(entry, &case, headless);
                } else if entry.passes {
                    out.results.exercise(entry.index);
                }
            }
        }
    }
}

impl Out<'_> {
    /// Asks a rule about a message.
    fn ask(&mut self, entry: &Entry<MessageCheck>, case: &Case<'_>, headless: bool) {
        self.index = entry.index;
        self.rule = entry.rule;
        if headless && !entry.carriers.has(Carrier::Line) {
            self.doubt(Doubt::Gap);
        } else if entry.in_session && case.session.sort == SessionKind::Exchange {
            self.doubt(Doubt::NoSession);
        } else {
            (entry.check)(case, self);
        }
    }
}
