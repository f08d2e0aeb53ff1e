//! The origins of messages, for recordings that do not contain them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use foldhash::quality::RandomState;
use memchr::memmem::Finder;

use super::{
    Carrier, ConduitId, Direction, Event, EventBody, Head, MessageCount, MessageNumber, Payload,
    RequestHead, ResponseHead, SessionKey, SessionMark, SessionStart,
};
use crate::envelope::Envelope;

/// Sets the numbers and carriers of messages, and which message a fault refers to, if a recording
/// has neither: a tape of format 1, a cassette, a script.
#[derive(Debug, Default)]
pub struct Origins {
    conduits: HashMap<ConduitId, Conduit, RandomState>,
    // Sessions of 2024-11-05, which a stream opened.
    legacy: HashSet<SessionKey, RandomState>,
    // Closed conduits that later events may still refer to.
    closing: VecDeque<ConduitId>,
}

/// The state of a conduit, to the server and to the client.
#[derive(Debug, Default)]
struct Conduit {
    counts: [MessageCount; 2],
    carriers: [Carrier; 2],
    is_get: bool,
    resumes: bool,
    listens: bool,
}

/// The maximum number of conduits that are followed at once; messages of others have no number.
const LIMIT: usize = 65_536;
/// The number of conduits that are remembered after their end.
const CLOSING: usize = 256;
/// The request whose answer is a stream of what it subscribes to (2026-07-28).
const LISTEN: &str = "subscriptions/listen";

impl Origins {
    /// Completes the next event.
    pub fn complete(&mut self, event: &mut Event) {
        let legacy = self.legacy.contains(&event.session);
        match &mut event.body {
            EventBody::Head(head) => {
                let head = head.as_ref();
                if let Some(conduit) = self.conduit(event.conduit) {
                    match head {
                        Head::Request(head) => conduit.request(head, legacy),
                        Head::Interim(_) => {}
                        Head::Response(head) => conduit.response(head, legacy),
                    }
                }
            }
            EventBody::Session(SessionMark::Began(SessionStart::EventStream))
                if self.legacy.len() < LIMIT =>
            {
                self.legacy.insert(event.session);
            }
            EventBody::Message {
                payload, origin, ..
            } if origin.number.is_none() => {
                let dir = event.dir;
                if let Some(conduit) = self.conduit(event.conduit) {
                    if let (Direction::ToServer, Payload::Whole(bytes)) = (dir, payload) {
                        conduit.listens |= listens(bytes);
                    }
                    origin.number = conduit.next(dir);
                    origin.carrier = conduit.carrier(dir);
                }
            }
            EventBody::Faulted(faulted) => {
                let what = &faulted.effect.what;
                if faulted.message.is_none() && !what.is_sequel() && what.is_about_a_message() {
                    faulted.message = self.last(event.conduit, event.dir);
                }
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => self.close(event.conduit),
            _ => {}
        }
    }

    /// The number of the last message of a direction.
    #[must_use]
    pub fn last(&self, conduit: ConduitId, dir: Direction) -> Option<MessageNumber> {
        let [to_server, to_client] = self.conduits.get(&conduit)?.counts;
        match dir {
            Direction::ToServer => to_server.last(),
            Direction::ToClient => to_client.last(),
        }
    }

    fn conduit(&mut self, id: ConduitId) -> Option<&mut Conduit> {
        let fits = self.conduits.len() < LIMIT || self.conduits.contains_key(&id);
        fits.then(|| self.conduits.entry(id).or_default())
    }

    fn close(&mut self, conduit: ConduitId) {
        self.closing.push_back(conduit);
        if self.closing.len() > CLOSING
            && let Some(oldest) = self.closing.pop_front()
        {
            self.conduits.remove(&oldest);
        }
    }
}

impl Conduit {
    fn next(&mut self, dir: Direction) -> Option<MessageNumber> {
        let [to_server, to_client] = &mut self.counts;
        match dir {
            Direction::ToServer => to_server.advance(),
            Direction::ToClient => to_client.advance(),
        }
    }

    fn carrier(&self, dir: Direction) -> Carrier {
        let [to_server, to_client] = self.carriers;
        match (dir, to_client) {
            (Direction::ToServer, _) => to_server,
            (Direction::ToClient, Carrier::PostStream) if self.listens => Carrier::Listen,
            (Direction::ToClient, carrier) => carrier,
        }
    }

    fn request(&mut self, head: &RequestHead, legacy: bool) {
        self.is_get = head.method.eq_ignore_ascii_case("GET");
        self.resumes = head.fields.get("last-event-id").is_some();
        let carrier = if legacy && head.fields.get("mcp-session-id").is_none() {
            Carrier::LegacyPost
        } else {
            Carrier::Post
        };
        self.carriers = [carrier, Carrier::PostAnswer];
    }

    fn response(&mut self, head: &ResponseHead, legacy: bool) {
        let media_type = head.fields.get("content-type").unwrap_or_default();
        let is_stream = media_type
            .to_ascii_lowercase()
            .contains("text/event-stream");
        let [_, to_client] = &mut self.carriers;
        *to_client = match (self.is_get, is_stream) {
            (true, true) if legacy => Carrier::LegacyStream,
            (true, true) if self.resumes => Carrier::ResumedStream,
            (true, true) => Carrier::GetStream,
            (false, true) => Carrier::PostStream,
            (_, false) => Carrier::PostAnswer,
        };
    }
}

/// Made once: every message to the server is searched.
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(LISTEN));

/// Whether a message asks for a stream of its subscriptions.
fn listens(message: &[u8]) -> bool {
    FINDER.find(message).is_some() && Envelope::parse(message).method() == Some(LISTEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LineEnd, Offset};

    const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#;

    /// The carriers of the message to the server, and of the one to the client.
    fn carriers(request: RequestHead, answer: &str, ask: &str, legacy: bool) -> [Carrier; 2] {
        let mut origins = Origins::default();
        let response = ResponseHead {
            status: 200,
            fields: [("Content-Type", answer)].into_iter().collect(),
            ..ResponseHead::default()
        };
        let message = |text: &str| {
            let payload = Payload::Whole(text.to_owned().into());
            EventBody::message(payload, LineEnd::None)
        };
        let began = SessionMark::Began(SessionStart::EventStream);
        let marks = legacy.then_some((Direction::ToClient, EventBody::Session(began)));
        let rest = [
            (
                Direction::ToServer,
                EventBody::Head(Box::new(Head::Request(request))),
            ),
            (Direction::ToServer, message(ask)),
            (
                Direction::ToClient,
                EventBody::Head(Box::new(Head::Response(response))),
            ),
            (Direction::ToClient, message(ASK)),
            (Direction::ToClient, message(ASK)),
        ];
        let mut found = [Carrier::Document; 2];
        let mut numbers = Vec::new();
        for (dir, body) in marks.into_iter().chain(rest) {
            let mut event = Event::new(Offset(1), dir, body);
            event.conduit = ConduitId(4);
            event.session = SessionKey(1);
            origins.complete(&mut event);
            if let EventBody::Message { origin, .. } = &event.body {
                found[dir as usize] = origin.carrier;
                numbers.push(origin.number.unwrap().get());
            }
        }
        assert_eq!(numbers, [1, 1, 2]);
        found
    }

    fn request(method: &'static str, fields: &[(&str, &str)]) -> RequestHead {
        RequestHead {
            method: method.into(),
            fields: fields.iter().copied().collect(),
            ..RequestHead::default()
        }
    }

    #[test]
    fn heads_tell_what_carries_messages() {
        use Carrier::{
            GetStream, LegacyPost, LegacyStream, Listen, Post, PostAnswer, PostStream,
            ResumedStream,
        };
        let (json, stream) = ("application/json", "text/event-stream; charset=utf-8");
        let resumes = [("Last-Event-ID", "7")];
        let named = [("Mcp-Session-Id", "a")];
        for (head, answer, ask, legacy, wanted) in [
            (
                request("POST", &named),
                json,
                ASK,
                false,
                [Post, PostAnswer],
            ),
            (
                request("POST", &named),
                stream,
                ASK,
                false,
                [Post, PostStream],
            ),
            (
                request("POST", &[]),
                stream,
                SUBSCRIBE,
                false,
                [Post, Listen],
            ),
            (
                request("POST", &[]),
                json,
                SUBSCRIBE,
                false,
                [Post, PostAnswer],
            ),
            (
                request("GET", &named),
                stream,
                ASK,
                false,
                [Post, GetStream],
            ),
            (
                request("GET", &resumes),
                stream,
                ASK,
                false,
                [Post, ResumedStream],
            ),
            (
                request("GET", &[]),
                stream,
                ASK,
                true,
                [LegacyPost, LegacyStream],
            ),
            (
                request("POST", &[]),
                json,
                ASK,
                true,
                [LegacyPost, PostAnswer],
            ),
        ] {
            assert_eq!(carriers(head, answer, ask, legacy), wanted);
        }
    }

    #[test]
    fn carriers_say_what_transport_it_is() {
        for carrier in Carrier::ALL {
            assert_eq!(Carrier::from_name(carrier.name()), Some(*carrier));
            let kinds = [
                carrier.is_legacy(),
                carrier.is_streamable(),
                !carrier.is_http(),
            ];
            assert_eq!(kinds.iter().filter(|one| **one).count(), 1, "{carrier:?}");
        }
    }
}
