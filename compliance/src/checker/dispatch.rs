//! Which rules look at what: made once, so that a message is shown to few.

use tapewright_schemas::event::Direction;

use super::selection::Selection;
use super::{Case, Closing, Out};
use crate::carrier::Carriers;
use crate::http::HttpCase;
use crate::invariant::{Basis, Check, Directions, Invariant, Methods};
use crate::method::Method;
use crate::revision::Revisions;

/// A check of a selected rule.
#[derive(Debug)]
pub(super) struct Entry<F> {
    pub(super) index: usize,
    pub(super) rule: &'static Invariant,
    /// The revisions of the rule.
    pub(super) revisions: Revisions,
    /// What carries the messages that it is asked about.
    pub(super) carriers: Carriers,
    /// Whether it needs a session.
    pub(super) in_session: bool,
    pub(super) check: F,
}

pub(super) type MessageCheck = fn(&Case<'_>, &mut Out<'_>);
pub(super) type HttpCheck = fn(&HttpCase<'_>, &mut Out<'_>);
pub(super) type EndCheck = fn(&Closing<'_>, &mut Out<'_>);

/// The checks of the selected rules, by what they look at.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    pub(super) payload: Vec<Entry<MessageCheck>>,
    pub(super) opening: Vec<Entry<MessageCheck>>,
    pub(super) any_response: Vec<Entry<MessageCheck>>,
    pub(super) errors: Vec<Entry<MessageCheck>>,
    pub(super) http_request: Vec<Entry<HttpCheck>>,
    pub(super) http_response: Vec<Entry<HttpCheck>>,
    pub(super) http_end: Vec<Entry<HttpCheck>>,
    pub(super) sse: Vec<Entry<HttpCheck>>,
    pub(super) end: Vec<Entry<EndCheck>>,
    // By direction and method; the checks of every message are among them.
    requests: Vec<Vec<Entry<MessageCheck>>>,
    notifications: Vec<Vec<Entry<MessageCheck>>>,
    responses: Vec<Vec<Entry<MessageCheck>>>,
    // A response that answers nothing known.
    pub(super) stray: Vec<Entry<MessageCheck>>,
}

impl Dispatch {
    pub(super) fn new(selection: &Selection) -> Self {
        let mut dispatch = Self::default();
        let lists = || (0..2 * Method::COUNT).map(|_| Vec::new()).collect();
        dispatch.requests = lists();
        dispatch.notifications = lists();
        dispatch.responses = lists();
        for (index, rule) in selection.each() {
            for check in rule.checks {
                dispatch.add(index, rule, check);
            }
        }
        dispatch
    }

    /// The checks of requests of this method.
    pub(super) fn requests(&self, dir: Direction, method: Method) -> &[Entry<MessageCheck>] {
        list(&self.requests, dir, method)
    }

    /// The checks of notifications of this method.
    pub(super) fn notifications(&self, dir: Direction, method: Method) -> &[Entry<MessageCheck>] {
        list(&self.notifications, dir, method)
    }

    /// The checks of responses to such a request; the direction is that of the request.
    pub(super) fn responses(&self, dir: Direction, method: Method) -> &[Entry<MessageCheck>] {
        list(&self.responses, dir, method)
    }

    fn add(&mut self, index: usize, rule: &'static Invariant, check: &Check) {
        match check {
            Check::Payload(check) => self.payload.push(entry(index, rule, *check)),
            Check::Message(check) => {
                for lists in [
                    &mut self.requests,
                    &mut self.notifications,
                    &mut self.responses,
                ] {
                    for list in lists {
                        list.push(entry(index, rule, *check));
                    }
                }
                self.stray.push(entry(index, rule, *check));
            }
            Check::Request(way, methods, check) => {
                fill(&mut self.requests, *way, *methods, index, rule, *check);
            }
            Check::Notification(way, methods, check) => {
                fill(&mut self.notifications, *way, *methods, index, rule, *check);
            }
            Check::Response(way, methods, check) => {
                fill(&mut self.responses, *way, *methods, index, rule, *check);
            }
            Check::Opening(check) => self.opening.push(entry(index, rule, *check)),
            Check::Error(check) => self.errors.push(entry(index, rule, *check)),
            Check::AnyResponse(check) => self.any_response.push(entry(index, rule, *check)),
            Check::HttpRequest(check) => self.http_request.push(entry(index, rule, *check)),
            Check::HttpResponse(check) => self.http_response.push(entry(index, rule, *check)),
            Check::Sse(check) => self.sse.push(entry(index, rule, *check)),
            Check::HttpEnd(check) => self.http_end.push(entry(index, rule, *check)),
            Check::End(check) => self.end.push(entry(index, rule, *check)),
        }
    }
}

fn entry<F>(index: usize, rule: &'static Invariant, check: F) -> Entry<F> {
    Entry {
        index,
        rule,
        revisions: rule.levels.revisions(),
        carriers: rule.carriers,
        in_session: matches!(rule.basis, Basis::Sent | Basis::Session),
        check,
    }
}

fn place(dir: Direction, method: Method) -> usize {
    let first = match dir {
        Direction::ToServer => 0,
        Direction::ToClient => Method::COUNT,
    };
    first + method as usize
}

fn list(
    lists: &[Vec<Entry<MessageCheck>>],
    dir: Direction,
    method: Method,
) -> &[Entry<MessageCheck>] {
    lists.get(place(dir, method)).map_or(&[], Vec::as_slice)
}

fn fill(
    lists: &mut [Vec<Entry<MessageCheck>>],
    way: Directions,
    methods: Methods,
    index: usize,
    rule: &'static Invariant,
    check: MessageCheck,
) {
    for (at, list) in lists.iter_mut().enumerate() {
        let to_server = at < Method::COUNT;
        let goes = match way {
            Directions::Any => true,
            Directions::ToServer => to_server,
            Directions::ToClient => !to_server,
        };
        let wanted = match methods {
            Methods::All => true,
            Methods::Of(some) => some
                .iter()
                .any(|method| *method as usize == at % Method::COUNT),
        };
        if goes && wanted {
            list.push(entry(index, rule, check));
        }
    }
}
