//! Assigns rules to what they examine: computed once, so that each message is only passed to a few.

use tapewright_schemas::event::Direction;

use super::selection::Selection;
use super::{Case, Closing, Out};
use crate::carrier::Carriers;
use crate::http::HttpCase;
use crate::invariant::{Basis, Check, Directions, Invariant, Methods};
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::Revisions;

/// A check of a selected rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<F> {
    pub(super) index: usize,
    pub(super) rule: &'static Invariant,
    /// The revisions of the rule.
    pub(super) revisions: Revisions,
    /// The carriers of the messages that it examines.
    pub(super) carriers: Carriers,
    /// Both as one.
    pub(super) spoken: Spoken,
    /// Whether it needs a session.
    pub(super) in_session: bool,
    /// It is skipped for messages that are plain in these ways, and whether it passes then.
    pub(super) spared: Plain,
    pub(super) passes: bool,
    pub(super) check: F,
}

/// Revisions and carriers, in a form that compares at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spoken(u32);

impl Spoken {
    pub(super) fn of(revisions: Revisions, carriers: Carriers) -> Self {
        Self(u32::from(revisions.bits()) << 16 | u32::from(carriers.bits()))
    }

    /// Whether all revisions and carriers of `other` are among these.
    pub(super) fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

pub(super) type MessageCheck = fn(&Case<'_>, &mut Out<'_>);
pub(super) type HttpCheck = fn(&HttpCase<'_>, &mut Out<'_>);
pub(super) type EndCheck = fn(&Closing<'_>, &mut Out<'_>);

/// Checks of the same messages.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// The index of the list among all lists.
    pub(super) number: usize,
    pub(super) entries: Vec<Entry<MessageCheck>>,
    /// The ways of being plain that matter to any of them.
    pub(super) matters: Plain,
}

/// The checks of the selected rules, by what they examine.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    pub(super) opening: Checks,
    pub(super) errors: Checks,
    pub(super) http_request: Vec<Entry<HttpCheck>>,
    pub(super) http_response: Vec<Entry<HttpCheck>>,
    pub(super) http_end: Vec<Entry<HttpCheck>>,
    pub(super) sse: Vec<Entry<HttpCheck>>,
    pub(super) end: Vec<Entry<EndCheck>>,
    /// The ways of being plain that matter to any rule.
    pub(super) spared: Plain,
    /// The number of lists of message checks.
    pub(super) lists: usize,
    // By direction.
    payload: [Checks; 2],
    // By direction and method; these include the checks of every message.
    requests: Vec<Checks>,
    notifications: Vec<Checks>,
    responses: Vec<Checks>,
    // Checks of every response: appended to those of its method once all are known.
    any_response: Vec<Entry<MessageCheck>>,
    // Checks of a response that answers no known request.
    pub(super) stray: Checks,
}

impl Dispatch {
    pub(super) fn new(selection: &Selection) -> Self {
        let mut dispatch = Self::default();
        let lists = || (0..2 * Method::COUNT).map(|_| Checks::default()).collect();
        dispatch.requests = lists();
        dispatch.notifications = lists();
        dispatch.responses = lists();
        for (index, rule) in selection.each() {
            for check in rule.checks {
                dispatch.add(&Wanted::new(index, rule), check);
                if let Check::Holds(plain, _) | Check::Silent(plain, _) = check {
                    dispatch.spared = dispatch.spared | *plain;
                }
            }
        }
        let any = std::mem::take(&mut dispatch.any_response);
        let responses = dispatch.responses.iter_mut();
        for list in responses.chain([&mut dispatch.stray]) {
            list.entries.extend(&any);
        }
        dispatch.number();
        dispatch
    }

    /// Numbers the lists, and records what matters to each.
    fn number(&mut self) {
        let mut count = 0;
        self.each(|list| {
            list.number = count;
            count += 1;
            for entry in &list.entries {
                list.matters = list.matters | entry.spared;
            }
        });
        self.lists = count;
    }

    fn each(&mut self, each: impl FnMut(&mut Checks)) {
        let by_method = [
            &mut self.requests,
            &mut self.notifications,
            &mut self.responses,
        ];
        let others = [&mut self.opening, &mut self.errors, &mut self.stray];
        let lists = by_method.into_iter().flatten().chain(others);
        lists.chain(&mut self.payload).for_each(each);
    }

    /// The checks of every payload that travels this way.
    pub(super) fn payload(&self, dir: Direction) -> &Checks {
        let [to_server, to_client] = &self.payload;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    /// The checks of requests of this method.
    pub(super) fn requests(&self, dir: Direction, method: Method) -> Option<&Checks> {
        self.requests.get(place(dir, method))
    }

    /// The checks of notifications of this method.
    pub(super) fn notifications(&self, dir: Direction, method: Method) -> Option<&Checks> {
        self.notifications.get(place(dir, method))
    }

    /// The checks of responses to such a request; the direction is that of the request.
    pub(super) fn responses(&self, dir: Direction, method: Method) -> Option<&Checks> {
        self.responses.get(place(dir, method))
    }

    #[cfg(test)]
    pub(super) fn spare_nothing(&mut self) {
        self.each(|list| {
            for entry in &mut list.entries {
                entry.spared = Plain::NEVER;
            }
        });
    }

    fn add(&mut self, wanted: &Wanted, check: &Check) {
        match check {
            Check::Holds(plain, check) => self.add(&wanted.unless(*plain, true), check),
            Check::Silent(plain, check) => self.add(&wanted.unless(*plain, false), check),
            Check::Payload(way, check) => {
                let [to_server, to_client] = &mut self.payload;
                let lists = [
                    (Direction::ToServer, to_server),
                    (Direction::ToClient, to_client),
                ];
                for (_, list) in lists.into_iter().filter(|(dir, _)| way.has(*dir)) {
                    list.entries.push(wanted.entry(*check));
                }
            }
            Check::Message(check) => {
                for lists in [
                    &mut self.requests,
                    &mut self.notifications,
                    &mut self.responses,
                ] {
                    fill(lists, Directions::Any, Methods::All, wanted, *check);
                }
                self.stray.entries.push(wanted.entry(*check));
            }
            Check::Request(way, methods, check) => {
                fill(&mut self.requests, *way, *methods, wanted, *check);
            }
            Check::Notification(way, methods, check) => {
                fill(&mut self.notifications, *way, *methods, wanted, *check);
            }
            Check::Response(way, methods, check) => {
                fill(&mut self.responses, *way, *methods, wanted, *check);
            }
            Check::Opening(check) => self.opening.entries.push(wanted.entry(*check)),
            Check::Error(check) => self.errors.entries.push(wanted.entry(*check)),
            Check::AnyResponse(check) => self.any_response.push(wanted.entry(*check)),
            Check::HttpRequest(check) => self.http_request.push(wanted.entry(*check)),
            Check::HttpResponse(check) => self.http_response.push(wanted.entry(*check)),
            Check::Sse(check) => self.sse.push(wanted.entry(*check)),
            Check::HttpEnd(check) => self.http_end.push(wanted.entry(*check)),
            Check::End(check) => self.end.push(wanted.entry(*check)),
        }
    }
}

/// A selected rule, and the messages that it skips.
struct Wanted {
    index: usize,
    rule: &'static Invariant,
    spared: Plain,
    passes: bool,
}

impl Wanted {
    fn new(index: usize, rule: &'static Invariant) -> Self {
        Self {
            index,
            rule,
            spared: Plain::NEVER,
            passes: false,
        }
    }

    fn unless(&self, spared: Plain, passes: bool) -> Self {
        Self {
            spared,
            passes,
            ..*self
        }
    }

    fn entry<F>(&self, check: F) -> Entry<F> {
        Entry {
            index: self.index,
            rule: self.rule,
            revisions: self.rule.levels.revisions(),
            carriers: self.rule.carriers,
            spoken: Spoken::of(self.rule.levels.revisions(), self.rule.carriers),
            in_session: matches!(self.rule.basis, Basis::Sent | Basis::Session),
            spared: self.spared,
            passes: self.passes,
            check,
        }
    }
}

fn place(dir: Direction, method: Method) -> usize {
    let first = match dir {
        Direction::ToServer => 0,
        Direction::ToClient => Method::COUNT,
    };
    first + method as usize
}

fn fill(
    lists: &mut [Checks],
    way: Directions,
    methods: Methods,
    wanted: &Wanted,
    check: MessageCheck,
) {
    for (at, list) in lists.iter_mut().enumerate() {
        let dir = if at < Method::COUNT {
            Direction::ToServer
        } else {
            Direction::ToClient
        };
        let is_one = match methods {
            Methods::All => true,
            Methods::Of(some) => some
                .iter()
                .any(|method| *method as usize == at % Method::COUNT),
        };
        if way.has(dir) && is_one {
            list.entries.push(wanted.entry(check));
        }
    }
}
