//! Showing a payload to the rules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tapewright_schemas::conversation::Pair;
use tapewright_schemas::envelope::{Envelope, for_each_message};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{Carrier, Direction, Event, Seen, SessionKey};

use super::briefs::Briefs;
use super::dispatch::{Checks, Dispatch, Entry, MessageCheck, Spoken};
use super::results::Results;
use super::{Case, Out};
use crate::carrier::Carriers;
use crate::finding::{Doubt, Finding, Severity};
use crate::http::conduit::Conduit;
use crate::message::{Form, Message};
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::Revisions;
use crate::session::{Answer, Session, SessionKind};
use crate::value::Value;

/// One payload to be passed to the rules.
pub(super) struct Turn<'a> {
    pub(super) event: &'a Event,
    pub(super) dispatch: &'a Dispatch,
    pub(super) briefs: &'a mut Briefs,
    pub(super) conduit: Option<&'a Conduit>,
    pub(super) carrier: Carrier,
    pub(super) results: &'a mut Results,
    pub(super) found: &'a mut VecDeque<Finding>,
    pub(super) offers: &'a mut BTreeMap<SessionKey, BTreeSet<String>>,
    pub(super) mildest: Severity,
}

impl Turn<'_> {
    /// Shows a payload to the rules that look at payloads.
    pub(super) fn payload(&mut self, session: &Session, message: &Message<'_>) {
        let checks = self.dispatch.payload(message.dir);
        self.show(session, checks, message, Answer::Nameless);
    }

    /// Shows each message of a batch to the rules of its kind, and enters it.
    pub(super) fn members(
        &mut self,
        session: &mut Session,
        seen: &Seen<'_>,
        batch: &[u8],
        mut told: VecDeque<Pair>,
        era: Option<Era>,
    ) {
        let refused = self.conduit.is_some_and(Conduit::is_refused);
        let wanted = self.dispatch.spared;
        let mut within = 0;
        for_each_message(batch, |text| {
            let envelope = Envelope::of_json(text);
            let mut member = Message::new(seen, text, &envelope);
            member.within = Some(within);
            member.paired = told.pop_front().unwrap_or_default();
            member.revisions = session.possible(era, &member);
            member.plain = Plain::of(&mut member, self.event, session, refused, wanted);
            within += 1;
            self.member(session, &member);
        });
    }

    /// Shows one message to the rules of its kind, and enters it.
    pub(super) fn member(&mut self, session: &mut Session, message: &Message<'_>) {
        let (dir, dispatch) = (message.dir, self.dispatch);
        match message.form {
            Form::Request => {
                let opens = dir == Direction::ToServer && !session.lifecycle.is_settled();
                if opens {
                    self.show(session, &dispatch.opening, message, Answer::Nameless);
                }
                if let Some(checks) = dispatch.requests(dir, message.method) {
                    self.show(session, checks, message, Answer::Nameless);
                }
            }
            Form::Notification => {
                if let Some(checks) = dispatch.notifications(dir, message.method) {
                    self.show(session, checks, message, Answer::Nameless);
                }
            }
            Form::Response => self.response(session, message),
            Form::Batch | Form::Malformed => return,
        }
        session.enter(message);
    }

    fn response(&mut self, session: &Session, message: &Message<'_>) {
        let (dir, dispatch) = (message.dir, self.dispatch);
        let answer = session.answer(message);
        let checks = match answer {
            Answer::Pairs(asked) => dispatch.responses(dir.opposite(), asked.method),
            _ => Some(&dispatch.stray),
        };
        if let Some(checks) = checks {
            self.show(session, checks, message, answer);
        }
        if message.error().is_some() {
            self.show(session, &dispatch.errors, message, answer);
        }
        if message.answers == Some(Method::ToolsList) {
            self.offer(session.key, message);
        }
    }

    /// Records the names of listed tools, for problems between servers.
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

    /// Passes a message to the rules of a list.
    pub(super) fn show(
        &mut self,
        session: &Session,
        list: &Checks,
        message: &Message<'_>,
        answer: Answer<'_>,
    ) {
        let first = list.entries.first();
        let Some(first) = first.filter(|_| message.revisions != Revisions::NONE) else {
            return;
        };
        let headless = is_headless(session, self.conduit);
        let known = is_known(session, self.conduit);
        let spoken = Spoken::of(message.revisions, Carriers::of(&[self.carrier]));
        let brief = if known {
            self.briefs.of(list, message.plain, spoken)
        } else {
            None
        };
        if let Some(brief) = brief {
            self.results.count(brief.number);
            if brief.asked.is_empty() {
                return;
            }
        }
        let case = Case {
            event: self.event,
            message,
            session,
            answer,
            status: self.conduit.and_then(Conduit::status),
            carrier: self.carrier,
        };
        let mut out = Out::about(&case, first, self.mildest, self.results, self.found);
        match brief {
            Some(brief) => out.ask_some(list, &brief.asked, &case),
            None if known => out.look(list, spoken, message.plain, &case, false),
            None => out.look(list, spoken, Plain::NOT, &case, headless),
        }
    }
}

/// The number of the brief by which no rule is run for a message outside a batch, if there is one.
#[inline]
pub(super) fn silent(
    dispatch: &Dispatch,
    briefs: &mut Briefs,
    session: &Session,
    conduit: Option<&Conduit>,
    carrier: Carrier,
    message: &Message<'_>,
) -> Option<usize> {
    let dir = message.dir;
    let list = match message.form {
        Form::Request if dir == Direction::ToClient || session.lifecycle.is_settled() => {
            dispatch.requests(dir, message.method)
        }
        // The names of listed tools are recorded.
        Form::Response if message.error().is_none() => match message.answers {
            None | Some(Method::ToolsList) => None,
            Some(method) => dispatch.responses(dir.opposite(), method),
        },
        _ => None,
    };
    let is_known = message.revisions != Revisions::NONE && is_known(session, conduit);
    let list = list.filter(|_| is_known)?;
    let spoken = Spoken::of(message.revisions, Carriers::of(&[carrier]));
    briefs.alone(dispatch.payload(dir), list, message.plain, spoken)
}

/// Whether the missing events may include the head of the exchange that carries a message.
fn is_headless(session: &Session, conduit: Option<&Conduit>) -> bool {
    session.is_adrift() || session.gap && conduit.is_none_or(|conduit| conduit.gap)
}

/// Whether a message belongs to a session, and the head of its exchange is not missing.
fn is_known(session: &Session, conduit: Option<&Conduit>) -> bool {
    session.sort != SessionKind::Exchange && !is_headless(session, conduit)
}

impl<'a> Out<'a> {
    /// The results of the checks of a list for a message.
    fn about(
        case: &Case<'a>,
        first: &Entry<MessageCheck>,
        mildest: Severity,
        results: &'a mut Results,
        found: &'a mut VecDeque<Finding>,
    ) -> Self {
        Self {
            index: first.index,
            rule: first.rule,
            session: case.session,
            revisions: case.message.revisions,
            mildest,
            at: case.message.at,
            tampered: case.asked().is_some_and(|asked| asked.faulted),
            cut: false,
            results,
            found,
        }
    }

    /// Runs the checks with these indices.
    fn ask_some(&mut self, list: &Checks, places: &[u16], case: &Case<'_>) {
        for place in places {
            if let Some(entry) = list.entries.get(usize::from(*place)) {
                self.ask(entry, case, false);
            }
        }
    }

    /// Determines which rules of a list must examine a message that is plain in these ways.
    fn look(
        &mut self,
        list: &Checks,
        spoken: Spoken,
        plain: Plain,
        case: &Case<'_>,
        headless: bool,
    ) {
        let entries = list.entries.iter();
        for entry in entries.filter(|entry| entry.spoken.covers(spoken)) {
            if !plain.has(entry.spared) {
                self.ask(entry, case, headless);
            } else if entry.passes {
                self.results.exercise(entry.index);
            }
        }
    }

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
