//! Faults that can never act: selectors that match nothing, and kinds that cannot act on the
//! matches.

use tapewright_schemas::event::Direction;

use super::kinds::{ActsOn, FaultTarget, TransportSupport};
use super::methods::{ExpectedMessage, one_way};
use super::pointers;
use super::selector::Selector;
use super::spec::{Fault, SpecError};

/// Why a fault can never act.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    /// The words of the selector that cause it; empty for the kind.
    pub(super) words: Vec<String>,
    /// The reason.
    pub(super) why: String,
    /// The suggestion.
    pub(super) instead: String,
}

impl Contradiction {
    pub(super) fn new(words: &[&str], why: String, instead: impl Into<String>) -> Self {
        Self {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            why,
            instead: instead.into(),
        }
    }
}

/// All transports.
const ANYWHERE: [TransportSupport; 3] = [
    TransportSupport::Stdio,
    TransportSupport::Http,
    TransportSupport::Any,
];

impl Fault {
    /// Rejects a fault that cannot act on any transport.
    pub(super) fn check_sense(&self) -> Result<(), SpecError> {
        let selector = &self.selector;
        let found = counts(selector)
            .or_else(|| pointers::contradiction(selector))
            .or_else(|| direction(selector))
            .or_else(|| self.nothing_to_do(&ANYWHERE));
        found.map_or(Ok(()), |found| Err(self.never(found)))
    }

    /// Rejects a fault that cannot act on this transport.
    pub(super) fn check_reach(&self, reach: TransportSupport) -> Result<(), SpecError> {
        let found = self
            .out_of_reach(reach)
            .or_else(|| no_session(&self.selector, reach))
            .or_else(|| self.nothing_to_do(&[reach]));
        found.map_or(Ok(()), |found| Err(self.never(found)))
    }

    fn never(&self, found: Contradiction) -> SpecError {
        // The last of the words is the one that conflicts with those before.
        let columns = found.words.iter().filter_map(|word| self.column_of(word));
        SpecError::NeverActs {
            column: columns.max(),
            why: found.why,
            instead: found.instead,
        }
    }

    fn out_of_reach(&self, reach: TransportSupport) -> Option<Contradiction> {
        let kind = self.kind;
        let needs = if kind.reach == TransportSupport::Http {
            "HTTP"
        } else {
            "standard streams"
        };
        let why = format!("`{}` only works over {needs}", kind.name);
        let instead = "choose another kind; `tapewright explain` lists them";
        (!kind.is_for(reach)).then(|| Contradiction::new(&[""], why, instead))
    }

    /// Reports a kind that cannot act on any match, on any of these transports.
    fn nothing_to_do(&self, reaches: &[TransportSupport]) -> Option<Contradiction> {
        let sorts = self.selector.sorts();
        let acts = |reach: &TransportSupport| sorts.iter().any(|sort| self.can_act(*reach, *sort));
        if reaches.iter().any(acts) {
            return None;
        }
        let kind = self.kind.name;
        let only_http = reaches == [TransportSupport::Http];
        if self.on == FaultTarget::Request {
            let why = if self.kind.acts_on == ActsOn::Messages {
                format!(
                    "`{kind}` cannot act on HTTP requests, which can only be delayed or dropped"
                )
            } else {
                format!("`{kind}` acts on answers, not on requests")
            };
            let instead = "omit `on=request` to use it on the answer";
            return Some(Contradiction::new(&["on"], why, instead));
        }
        if sorts.iter().all(|sort| !sort.is_request) {
            let why = if only_http {
                format!("`{kind}` acts on answers, and over HTTP a notification has none")
            } else {
                format!("`{kind}` acts on answers, and a notification has none")
            };
            let instead = "choose the method of a request";
            return Some(Contradiction::new(&["method"], why, instead));
        }
        let to_client = |sort: &ExpectedMessage| sort.dir == Direction::ToClient;
        let why = if only_http {
            format!(
                "`{kind}` cannot act on answers of clients over HTTP, which can only be delayed or dropped"
            )
        } else {
            format!("`{kind}` acts on answers of servers, not of clients")
        };
        let instead = if self.selector.dir.is_some() {
            "omit `dir=to_client` to use it on answers of the server"
        } else {
            "choose a method that clients ask with"
        };
        let found = Contradiction::new(&["dir", "method"], why, instead);
        sorts.iter().all(to_client).then_some(found)
    }
}

/// Counts that no message has.
fn counts(selector: &Selector) -> Option<Contradiction> {
    let Selector {
        nth, first, every, ..
    } = selector;
    if let (Some(nth), Some(first)) = (nth, first)
        && nth > first
    {
        let why =
            format!("`nth={nth}` means number {nth} alone, which is not among `first={first}`");
        return Some(Contradiction::new(&["nth", "first"], why, ONE_OF_THEM));
    }
    if let (Some(nth), Some(every)) = (nth, every)
        && nth % every != 0
    {
        let why = format!("`nth={nth}` means number {nth} alone, which `every={every}` leaves out");
        return Some(Contradiction::new(&["nth", "every"], why, ONE_OF_THEM));
    }
    if let (Some(first), Some(every)) = (first, every)
        && every > first
    {
        let why = format!(
            "`every={every}` begins with number {every}, which is not among `first={first}`"
        );
        return Some(Contradiction::new(&["first", "every"], why, ONE_OF_THEM));
    }
    let why = "with a `probability` of less than one in a million it never acts".to_owned();
    let instead = "use a larger one, such as `probability=0.1`";
    (selector.probability == Some(0)).then(|| Contradiction::new(&["probability"], why, instead))
}

const ONE_OF_THEM: &str = "say one of them";

/// A direction in which no matching message is sent.
fn direction(selector: &Selector) -> Option<Contradiction> {
    let dir = selector.dir?;
    let methods = selector.methods();
    let wrong = |(_, method): &&(&str, &str)| one_way(method).is_some_and(|way| way != dir);
    let (word, method) = methods.iter().find(wrong)?;
    let (name, side) = match dir {
        Direction::ToServer => ("to_server", "server"),
        Direction::ToClient => ("to_client", "client"),
    };
    let why = format!("`{method}` travels the other way, from the {side}");
    let (why, instead) = if word.is_empty() {
        let why = "`tools/call` is the default method, and it travels the other way";
        (
            why.to_owned(),
            "say which `method`, or `method=*`".to_owned(),
        )
    } else {
        let instead = format!(
            "leave out `dir={name}`: it is the way of the request, also where its answer is acted on"
        );
        (why, instead)
    };
    Some(Contradiction::new(&["dir", word], why, instead))
}

/// A session that does not exist.
fn no_session(selector: &Selector, reach: TransportSupport) -> Option<Contradiction> {
    let session = selector.session.filter(|session| *session != 0)?;
    let why = format!("stdio has only session 0, not `session={session}`");
    let found = || Contradiction::new(&["session"], why, "omit it");
    (reach == TransportSupport::Stdio).then(found)
}
