//! The state of one session while its events are processed.
//!
//! Rules see the state before the message that they judge; then the message updates it. Every table
//! is bounded, and records when it forgot something.

pub(crate) mod capabilities;
pub(crate) mod elicitations;
mod enter;
mod follows;
pub(crate) mod ids;
pub(crate) mod lifecycle;
pub(crate) mod lists;
pub(crate) mod modern;
mod next;
mod paired;
pub(crate) mod pending_request;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod tools;

use tapewright_schemas::conversation::{Handle, MessagePairs};
use tapewright_schemas::era::{Era, EraTracker};
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, Exit, Offset, SessionEnd, SessionKey,
};
use tapewright_schemas::patience::{CLIENT_PATIENCE, LENIENCY};

use self::capabilities::Capabilities;
use self::elicitations::Elicitations;
pub(crate) use self::enter::{CLIENT_CAPABILITIES_KEY, subscription};
pub(crate) use self::follows::Follows;
use self::ids::Requests;
use self::lifecycle::Lifecycle;
use self::lists::{Cursors, Logging, Subscriptions, Uses};
use self::modern::Modern;
pub(crate) use self::paired::{Answer, CapturePair};
use self::tasks::Tasks;
use self::tokens::Tokens;
use self::tools::Tools;
use crate::carrier::Carriers;
use crate::checker::Followed;
use crate::facts::{Facts, Keeps};
use crate::finding::Side;
use crate::http::session::HttpSession;
use crate::message::{Form, Message};
use crate::revision::{R5, Revisions};

/// The kind of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// From a file that does not show it.
    Document,
    /// An HTTP exchange that belongs to no session.
    Exchange,
    /// Over HTTP, with a session id or an event stream.
    Http,
    /// The life of one process.
    Process,
}

/// A message that happened at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) seq: u64,
    pub(crate) at: Offset,
}

/// One session.
#[derive(Debug)]
#[expect(
    clippy::option_option,
    clippy::struct_excessive_bools,
    reason = "facts that hold in any combination; and what a capture says may be nothing"
)]
pub(crate) struct Session {
    pub(crate) key: SessionKey,
    pub(crate) sort: SessionKind,
    pub(crate) facts: Facts,
    pub(crate) follows: Follows,
    /// The recording began in its middle.
    pub(crate) start_unknown: bool,
    /// Messages of it are missing.
    pub(crate) gap: bool,
    /// A message of it could not be parsed.
    pub(crate) unread: bool,
    /// The negotiated revision; before that, all possible ones.
    pub(crate) negotiated: Revisions,
    /// The server's capabilities according to a capture.
    pub(crate) declared: Option<Option<Capabilities>>,
    /// By direction of the requests.
    pub(crate) requests: [Requests; 2],
    /// By the direction of the requests with the tokens.
    pub(crate) tokens: [Tokens; 2],
    /// Whether a fault changed a message in this direction.
    pub(crate) faulted: [bool; 2],
    /// The position up to which messages in this direction were certainly read.
    pub(crate) read: [u64; 2],
    pub(crate) lifecycle: Lifecycle,
    /// A message of the stateless era was seen.
    pub(crate) stateless: bool,
    /// The client used that era for more than asking whether the server supports it.
    pub(crate) beyond_probe: bool,
    /// The server has answered in that era.
    pub(crate) serves_stateless: bool,
    pub(crate) server: Option<Capabilities>,
    /// The handshake was answered by a server that declared tools; never set by the letter of the documented format.
    pub(crate) serves_tools: bool,
    pub(crate) client: Option<Capabilities>,
    /// The capabilities from `server/discover`.
    pub(crate) discovered: Option<Capabilities>,
    pub(crate) tools: Tools,
    pub(crate) cursors: Cursors,
    pub(crate) elicitations: Elicitations,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) logging: Logging,
    pub(crate) uses: Uses,
    pub(crate) tasks: Tasks,
    pub(crate) modern: Modern,
    pub(crate) http: HttpSession,
    /// How each direction ended.
    pub(crate) closed: [Option<(Moment, CloseReason)>; 2],
    pub(crate) exited: Option<(Moment, Exit)>,
    /// The conduit of the server's process, if there is one.
    pub(crate) process: Option<ConduitId>,
    /// The lines are those of a bridge to a remote server.
    pub(crate) remote: bool,
    /// When a signal that ends a process was passed on to the server.
    pub(crate) signalled: Option<Moment>,
    /// When the server last had no pending request.
    pub(crate) freed: Option<Moment>,
    /// When the session was ended as such, and how.
    pub(crate) ended: Option<(Moment, SessionEnd)>,
    pub(crate) last: Offset,
    /// The messages for which no rule was run.
    pub(crate) silent: Followed,
    /// In a capture the response is next to its request.
    pub(crate) beside: Option<CapturePair>,
    eras: EraTracker,
    // Matches answers with requests, by the values of ids.
    pairs: MessagePairs,
    // The requests of the last payload of each direction, for a fault that follows it.
    latest: [Vec<Handle>; 2],
}

/// The maximum number of requests of one payload that are remembered for a following fault.
const LATEST: usize = 4_096;

impl Session {
    pub(crate) fn new(key: SessionKey, sort: SessionKind, facts: Facts, follows: Follows) -> Self {
        Self {
            key,
            sort,
            facts,
            follows,
            start_unknown: false,
            gap: false,
            unread: false,
            negotiated: Revisions::HANDSHAKE,
            declared: None,
            requests: Default::default(),
            tokens: Default::default(),
            faulted: [false; 2],
            read: [0; 2],
            lifecycle: Lifecycle::default(),
            stateless: false,
            beyond_probe: false,
            serves_stateless: false,
            server: None,
            serves_tools: false,
            client: None,
            discovered: None,
            tools: Tools::default(),
            cursors: Cursors::default(),
            elicitations: Elicitations::default(),
            subscriptions: Subscriptions::default(),
            logging: Logging::default(),
            uses: Uses::default(),
            tasks: Tasks::default(),
            modern: Modern::default(),
            http: HttpSession::default(),
            closed: [None; 2],
            exited: None,
            process: None,
            remote: false,
            signalled: None,
            freed: None,
            ended: None,
            last: Offset::default(),
            silent: Followed::default(),
            beside: None,
            eras: EraTracker::default(),
            pairs: MessagePairs::default(),
            latest: Default::default(),
        }
    }

    /// Whether the file may be hand-written or by another tool, and is judged strictly by the
    /// documented format.
    pub(crate) fn by_the_letter(&self) -> bool {
        self.facts.keeps == Keeps::Selection
    }

    /// The requests that travelled this way.
    pub(crate) fn requests(&self, dir: Direction) -> &Requests {
        let [to_server, to_client] = &self.requests;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    pub(crate) fn requests_mut(&mut self, dir: Direction) -> &mut Requests {
        let [to_server, to_client] = &mut self.requests;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    /// The tokens of requests in this direction.
    pub(crate) fn tokens(&self, dir: Direction) -> &Tokens {
        let [to_server, to_client] = &self.tokens;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    pub(crate) fn tokens_mut(&mut self, dir: Direction) -> &mut Tokens {
        let [to_server, to_client] = &mut self.tokens;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    /// The server's capabilities for a message of these revisions.
    pub(crate) fn advertised(&self, revisions: Revisions) -> Option<&Capabilities> {
        if let Some(declared) = &self.declared {
            return declared.as_ref();
        }
        if revisions == R5 {
            self.discovered.as_ref()
        } else {
            self.server.as_ref()
        }
    }

    /// Whether it is an HTTP session whose beginning is missing: it may use the transport of
    /// 2024-11-05.
    pub(crate) fn is_adrift(&self) -> bool {
        self.gap && self.sort == SessionKind::Http && self.http.id.is_none()
    }

    /// Whether a fault changed messages in this direction.
    pub(crate) fn is_faulted(&self, dir: Direction) -> bool {
        pick(self.faulted, dir)
    }

    /// Whether a fault changed any messages.
    pub(crate) fn is_tampered_with(&self) -> bool {
        self.faulted.contains(&true)
    }

    /// Whether a fault changed messages to one side, so that its behaviour may be tapewright's
    /// fault.
    pub(crate) fn misled(&self, side: Side) -> bool {
        self.is_faulted(side.towards())
    }

    /// How this direction ended.
    pub(crate) fn closing(&self, dir: Direction) -> Option<(Moment, CloseReason)> {
        pick(self.closed, dir)
    }

    /// Until when requests could be answered, if the session ended regularly: until the client
    /// deleted the session, closed the server's input, or had the server ended.
    pub(crate) fn ended_in_order(&self) -> Option<Moment> {
        if let Some((moment, how)) = &self.ended {
            return (*how == SessionEnd::Deleted).then_some(*moment);
        }
        let (exited, how) = self.exited?;
        if let Some((_, CloseReason::ReceiverGone)) = self.closing(Direction::ToClient) {
            return None;
        }
        let closed = self.closing(Direction::ToServer);
        let closed = closed.filter(|(_, reason)| *reason == CloseReason::EndOfInput);
        let before = |moment: &Moment| moment.seq < exited.seq;
        let closed = closed.map(|(moment, _)| moment).filter(before);
        let signalled = self.signalled.filter(before);
        if !is_ended_by_signal(how) {
            return signalled.or(closed);
        }
        // A server with pending answers is only ended by a client that requests it, or that has
        // gone.
        signalled.or_else(|| {
            let waited = exited.at.since(closed?.at);
            let least = Offset::of(CLIENT_PATIENCE).since(Offset::of(LENIENCY));
            (waited >= least).then_some(exited)
        })
    }

    /// Whether the receiver of an earlier message certainly knew it at `now`: it has answered a
    /// later message on the same pipe, or enough time has passed.
    pub(crate) fn knew(&self, dir: Direction, earlier: Moment, now: Offset) -> bool {
        // Behind a gateway, only messages to the process are ordered.
        let piped = self.sort == SessionKind::Process
            || self.process.is_some() && dir == Direction::ToServer;
        piped && pick(self.read, dir) >= earlier.seq
            || self.facts.timed && now.since(earlier.at) > self.facts.grace
    }

    /// Whether this conduit is a pipe and not an HTTP exchange.
    pub(crate) fn is_pipe(&self, conduit: ConduitId) -> bool {
        self.sort == SessionKind::Process || self.process == Some(conduit)
    }

    /// The possible carriers of its messages.
    pub(crate) fn carriers(&self) -> Carriers {
        match self.sort {
            SessionKind::Process => Carriers::LINE,
            SessionKind::Document => Carriers::DOCUMENT,
            SessionKind::Http if self.process.is_some() => Carriers::HTTP.and(Carriers::LINE),
            SessionKind::Exchange | SessionKind::Http => Carriers::HTTP,
        }
    }

    /// The era of a message.
    pub(crate) fn era(&mut self, told: Option<Era>, message: &Message<'_>) -> Option<Era> {
        if told.is_some() {
            self.eras.told(message.dir, message.envelope);
            return told;
        }
        self.eras.observe(message.dir, message.envelope)
    }

    /// Whether a message whose era is told changes nothing about the eras of those that follow.
    pub(crate) fn has_settled_era(&self) -> bool {
        self.eras.is_settled() && !self.stateless
    }

    /// The revisions that a message may be of.
    pub(crate) fn possible(&self, era: Option<Era>, message: &Message<'_>) -> Revisions {
        if self.stateless
            && message.form == Form::Response
            && let Answer::Pairs(asked) = self.answer(message)
        {
            // An answer has the era of its request.
            return if asked.revisions == R5 {
                R5
            } else {
                self.handshake_revisions()
            };
        }
        // After a handshake that followed only a probe, the server uses the negotiated revision.
        let agreed = self.lifecycle.agreed.is_some() && !self.beyond_probe;
        let own = message.dir == Direction::ToClient
            && matches!(message.form, Form::Request | Form::Notification);
        if agreed && own {
            return self.handshake_revisions();
        }
        match era {
            Some(Era::Stateless) => R5,
            Some(Era::Handshake) => self.handshake_revisions(),
            // A request of the stateless era describes itself.
            None if message.dir == Direction::ToServer || message.form == Form::Response => {
                self.handshake_revisions()
            }
            None => Revisions::ALL,
        }
    }

    fn handshake_revisions(&self) -> Revisions {
        if self.negotiated == Revisions::HANDSHAKE {
            self.http.revisions.unwrap_or(Revisions::HANDSHAKE)
        } else {
            self.negotiated
        }
    }

    /// The revisions that the session as a whole may be of.
    pub(crate) fn closing_revisions(&self) -> Revisions {
        if self.lifecycle.asked.is_some() || self.lifecycle.first.is_some() {
            self.negotiated
        } else if self.stateless {
            R5
        } else {
            Revisions::ALL
        }
    }

    /// Records a fault on the last payload of this direction.
    pub(crate) fn fault(&mut self, dir: Direction) {
        *pick_mut(&mut self.faulted, dir) = true;
        for handle in std::mem::take(pick_mut(&mut self.latest, dir)) {
            if let Some(asked) = self.requests_mut(dir).get_mut(handle) {
                asked.faulted = true;
            }
        }
    }

    /// The recorder answered in a peer's place: the requester may act on it, and it is not the
    /// peer's fault what it sends, or never sends, about that request.
    pub(crate) fn answered_by_us(&mut self, event: &Event, message: &Message<'_>) {
        let (dir, way) = (event.dir, event.dir.opposite());
        *pick_mut(&mut self.faulted, dir) = true;
        let find = |id| self.pairs.find(event.scope(), way, id);
        let handle = message.id().and_then(find);
        if let Some(asked) = handle.and_then(|one| self.requests_mut(way).get_mut(one)) {
            asked.faulted = true;
        }
    }

    /// Begins a message.
    pub(crate) fn begin_message(&mut self, event: &Event) {
        self.last = self.last.max(event.at);
        self.begin_payload(event.dir);
    }

    /// Begins the next payload of a direction.
    pub(crate) fn begin_payload(&mut self, dir: Direction) {
        pick_mut(&mut self.latest, dir).clear();
    }

    /// A direction ended.
    pub(crate) fn close(&mut self, dir: Direction, moment: Moment, reason: CloseReason) {
        let [to_server, to_client] = &mut self.closed;
        let end = match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        end.get_or_insert((moment, reason));
    }
}

/// Whether a process was ended by SIGTERM or another signal, which a shell reports as a status.
pub(crate) fn is_ended_by_signal(exit: Exit) -> bool {
    matches!(exit, Exit::Signal(_) | Exit::Code(129..=159))
}

/// The value for one of two directions.
pub(crate) fn pick<T: Copy>([to_server, to_client]: [T; 2], dir: Direction) -> T {
    match dir {
        Direction::ToServer => to_server,
        Direction::ToClient => to_client,
    }
}

/// The place for one of two directions.
pub(crate) fn pick_mut<T>([to_server, to_client]: &mut [T; 2], dir: Direction) -> &mut T {
    match dir {
        Direction::ToServer => to_server,
        Direction::ToClient => to_client,
    }
}
