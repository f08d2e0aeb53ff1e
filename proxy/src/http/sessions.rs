//! Assigns exchanges to sessions.
//!
//! The wire defines sessions: an `Mcp-Session-Id` (2025-03-26 to 2025-11-25, basic/transports,
//! Session Management), or the event stream of 2024-11-05 with the endpoint that it announced.
//! Sessionless exchanges have session 0; in revision 2026-07-28 all are.
//!
//! Only a server opens a session: by the response that contains the id, or, if its start was not
//! seen, by a successful answer to a request with the id. An id that a client invented, that the
//! server refuses, or that is used after the end of its session opens none.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, Method};
use tapewright_schemas::event::{Offset, SessionKey};
use tapewright_schemas::slices::Part as _;

use super::tap::is_event_stream_wanted;

/// The header field with the session id.
pub(crate) static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The session of sessionless exchanges.
pub(crate) const SESSIONLESS: SessionKey = SessionKey(0);

/// The sessions of one gateway.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    // By origin, kind and name.
    known: HashMap<Vec<u8>, SessionEntry>,
    last: u32,
    // Origins that answered `initialize` without a session id.
    without: HashSet<String>,
    // Ids of sessions that are over.
    over: HashSet<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
struct SessionEntry {
    key: SessionKey,
    used: Offset,
    // It has an exchange.
    begun: bool,
}

/// What a request's head shows about its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionHint {
    /// It is this known one.
    Known(SessionKey),
    /// It is this one, without exchanges so far.
    New(SessionKey),
    /// Its first message determines it: an `initialize`, or a sessionless message.
    AskMessage,
    /// The response determines it.
    AskResponse,
}

/// The maximum number of known sessions.
const MOST: usize = 65_536;

impl Sessions {
    /// The session of a request to `origin`.
    pub(crate) fn place(
        &self,
        origin: &str,
        method: &Method,
        target: &str,
        head: &HeaderMap,
        now: Offset,
    ) -> SessionHint {
        let mut table = self.lock();
        let id = head.get(&SESSION_ID);
        let named = id.and_then(|id| table.touch(&name(origin, b'i', id.as_bytes()), now));
        let place = named.or_else(|| table.touch(&name(origin, b'e', target.as_bytes()), now));
        if let Some(place) = place {
            return place;
        }
        if *method == Method::POST {
            SessionHint::AskMessage
        } else if *method == Method::GET && is_event_stream_wanted(head) {
            SessionHint::AskResponse
        } else {
            SessionHint::Known(SESSIONLESS)
        }
    }

    /// The session that an `initialize` opens; `None` if this server's sessions have no ids.
    pub(crate) fn initialize(&self, origin: &str) -> Option<SessionKey> {
        let mut table = self.lock();
        (!table.without.contains(origin)).then(|| table.next())
    }

    /// The session that an event stream opens.
    pub(crate) fn stream(&self) -> SessionKey {
        self.lock().next()
    }

    /// Handles the session id in the response to an `initialize`; returns whether it is new. If the
    /// exchange is already sessionless, the session starts with what follows.
    pub(crate) fn named(&self, origin: &str, id: &[u8], key: SessionKey, now: Offset) -> bool {
        let mut table = self.lock();
        table.without.remove(origin);
        let name = name(origin, b'i', id);
        if table.known.contains_key(&name) {
            return false;
        }
        table.over.remove(&name);
        let begun = key != SESSIONLESS;
        let key = if begun { key } else { table.next() };
        table.add(name, key, now, begun);
        true
    }

    /// Handles a session whose start was not seen: the server accepted a request with its id, or
    /// its answer contains the id. Returns the session of this exchange if it `is_open`; otherwise
    /// the session starts with what follows. `None` if it is over, or if the server has no session
    /// ids.
    pub(crate) fn joined(
        &self,
        origin: &str,
        id: &[u8],
        is_open: bool,
        now: Offset,
    ) -> Option<SessionHint> {
        let mut table = self.lock();
        let name = name(origin, b'i', id);
        if table.known.contains_key(&name) {
            // Two requests found it at once.
            return is_open.then(|| table.touch(&name, now)).flatten();
        }
        if table.over.contains(&name) || table.without.contains(origin) {
            return None;
        }
        let key = table.next();
        table.add(name, key, now, is_open);
        Some(SessionHint::New(key))
    }

    /// Notes that the response to an `initialize` contained no session id.
    pub(crate) fn unnamed(&self, origin: &str) {
        let mut table = self.lock();
        if table.without.len() < MOST {
            table.without.insert(origin.to_owned());
        }
    }

    /// Notes the endpoint that an event stream announced.
    pub(crate) fn announced(&self, origin: &str, endpoint: &str, key: SessionKey, now: Offset) {
        let target = target_of(endpoint);
        self.lock()
            .add(name(origin, b'e', target.as_bytes()), key, now, true);
    }

    /// A session is over.
    pub(crate) fn ended(&self, key: SessionKey) {
        let table = &mut *self.lock();
        let over = table.known.extract_if(|_, known| known.key == key);
        let names: Vec<_> = over.map(|(name, _)| name).collect();
        for name in names {
            table.note_over(name);
        }
    }

    /// Ends the session with this id, if there is one.
    pub(crate) fn ended_unseen(&self, origin: &str, id: &[u8]) {
        self.lock().note_over(name(origin, b'i', id));
    }

    /// Whether a stream that has ended announced this address: messages posted there are late.
    pub(crate) fn was_announced(&self, origin: &str, target: &str) -> bool {
        let name = name(origin, b'e', target.as_bytes());
        self.lock().over.contains(&name)
    }

    /// The number of known sessions.
    pub(crate) fn count(&self) -> usize {
        self.lock().known.len()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn next(&mut self) -> SessionKey {
        self.last = self.last.saturating_add(1);
        SessionKey(self.last)
    }

    fn touch(&mut self, name: &[u8], now: Offset) -> Option<SessionHint> {
        let known = self.known.get_mut(name)?;
        known.used = now;
        Some(if std::mem::replace(&mut known.begun, true) {
            SessionHint::Known(known.key)
        } else {
            SessionHint::New(known.key)
        })
    }

    fn add(&mut self, name: Vec<u8>, key: SessionKey, now: Offset, begun: bool) {
        if self.known.len() >= MOST {
            // Drops the older half, since most sessions are never closed.
            let mut times: Vec<Offset> = self.known.values().map(|known| known.used).collect();
            let middle = times.len() / 2;
            let (_, median, _) = times.select_nth_unstable(middle);
            let median = *median;
            self.known.retain(|_, known| known.used > median);
        }
        let used = now;
        self.known.insert(name, SessionEntry { key, used, begun });
    }

    fn note_over(&mut self, name: Vec<u8>) {
        if self.over.len() >= MOST {
            // Messages this late find a server that has forgotten the session as well.
            self.over.clear();
        }
        self.over.insert(name);
    }
}

fn name(origin: &str, kind: u8, rest: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(origin.len() + 1 + rest.len());
    name.extend_from_slice(origin.as_bytes());
    name.push(kind);
    name.extend_from_slice(rest);
    name
}

/// Path and query of an endpoint, which may be a whole URL.
fn target_of(endpoint: &str) -> String {
    let endpoint = endpoint.trim();
    let rest = match endpoint.find("://") {
        Some(at) => {
            let rest = endpoint.part(at + 3..);
            rest.find('/').map_or("/", |at| rest.part(at..))
        }
        None => endpoint,
    };
    if rest.starts_with('/') {
        rest.to_owned()
    } else {
        format!("/{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(id: Option<&str>) -> HeaderMap {
        let mut head = HeaderMap::new();
        if let Some(id) = id {
            head.insert(&SESSION_ID, id.parse().unwrap());
        }
        head.insert("accept", "text/event-stream".parse().unwrap());
        head
    }

    fn place(sessions: &Sessions, method: &Method, target: &str, id: Option<&str>) -> SessionHint {
        sessions.place("o", method, target, &head(id), Offset(1))
    }

    #[test]
    fn a_session_is_the_one_that_its_id_names() {
        let sessions = Sessions::default();
        assert_eq!(
            place(&sessions, &Method::POST, "/mcp", None),
            SessionHint::AskMessage
        );
        let key = sessions.initialize("o").unwrap();
        assert!(sessions.named("o", b"abc", key, Offset(1)));
        assert_eq!(
            place(&sessions, &Method::POST, "/mcp", Some("abc")),
            SessionHint::Known(key)
        );
        assert_eq!(
            place(&sessions, &Method::GET, "/mcp", Some("abc")),
            SessionHint::Known(key)
        );
        // An id that was never assigned opens no session, and neither does one that is over.
        let unknown = |id| {
            let post = place(&sessions, &Method::POST, "/mcp", Some(id));
            let get = place(&sessions, &Method::GET, "/mcp", Some(id));
            let delete = place(&sessions, &Method::DELETE, "/mcp", Some(id));
            assert_eq!(post, SessionHint::AskMessage);
            assert_eq!(get, SessionHint::AskResponse);
            assert_eq!(delete, SessionHint::Known(SESSIONLESS));
        };
        unknown("abd");
        sessions.ended(key);
        unknown("abc");
        assert_eq!(sessions.joined("o", b"abc", true, Offset(2)), None);
        // Unless the server assigns it again.
        let key = sessions.initialize("o").unwrap();
        assert!(sessions.named("o", b"abc", key, Offset(3)));
        let found = place(&sessions, &Method::POST, "/mcp", Some("abc"));
        assert_eq!(found, SessionHint::Known(key));
    }

    #[test]
    fn a_session_whose_beginning_was_not_seen_is_opened_by_the_servers_consent() {
        let sessions = Sessions::default();
        // Its first exchange is sessionless, and it starts with the second.
        let joined = |id: &str, is_open| sessions.joined("o", id.as_bytes(), is_open, Offset(1));
        let Some(SessionHint::New(key)) = joined("abc", false) else {
            panic!("it is new");
        };
        assert_eq!(joined("abc", false), None);
        for expected in [SessionHint::New(key), SessionHint::Known(key)] {
            let found = place(&sessions, &Method::POST, "/mcp", Some("abc"));
            assert_eq!(found, expected);
        }
        // Or with the first, and simultaneous ones belong to it as well.
        let Some(SessionHint::New(key)) = joined("abd", true) else {
            panic!("it is new");
        };
        assert_eq!(joined("abd", true), Some(SessionHint::Known(key)));
        let found = place(&sessions, &Method::GET, "/mcp", Some("abd"));
        assert_eq!(found, SessionHint::Known(key));
        // Not if it was deleted unseen, nor if sessions have no ids.
        sessions.ended_unseen("o", b"abe");
        assert_eq!(joined("abe", true), None);
        sessions.unnamed("p");
        assert_eq!(sessions.joined("p", b"abc", true, Offset(1)), None);
    }

    #[test]
    fn a_stream_is_found_by_the_address_that_it_announced() {
        for (endpoint, target) in [
            ("/message?sessionId=7", "/message?sessionId=7"),
            ("http://h:1/m?x=1", "/m?x=1"),
            ("m?x=1", "/m?x=1"),
        ] {
            let sessions = Sessions::default();
            assert_eq!(
                place(&sessions, &Method::GET, "/sse", None),
                SessionHint::AskResponse
            );
            let key = sessions.stream();
            sessions.announced("o", endpoint, key, Offset(1));
            assert_eq!(
                place(&sessions, &Method::POST, target, None),
                SessionHint::Known(key)
            );
        }
    }

    #[test]
    fn where_sessions_have_no_ids_everything_is_in_the_lane() {
        let sessions = Sessions::default();
        assert!(sessions.initialize("o").is_some());
        sessions.unnamed("o");
        assert_eq!(sessions.initialize("o"), None);
        assert!(sessions.initialize("p").is_some());
        assert!(sessions.named("o", b"x", SESSIONLESS, Offset(1)));
        assert!(sessions.initialize("o").is_some());
    }

    #[test]
    fn old_sessions_are_forgotten_before_memory_is_exhausted() {
        let sessions = Sessions::default();
        for at in 0..MOST as u64 + 10 {
            sessions.named("o", &at.to_be_bytes(), SESSIONLESS, Offset(at));
        }
        assert!(sessions.count() <= MOST);
        let last = (MOST as u64 + 9).to_be_bytes();
        assert!(!sessions.named("o", &last, SESSIONLESS, Offset(1)));
    }
}
