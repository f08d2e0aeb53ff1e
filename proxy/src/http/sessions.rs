//! Which exchange belongs to which session.
//!
//! A session is what the wire says it is: a `Mcp-Session-Id` (2025-03-26 to 2025-11-25,
//! basic/transports, Session Management), or the event stream of 2024-11-05 with the
//! address that it announced. What belongs to none is of session 0; revision
//! 2026-07-28 knows nothing else.
//!
//! Only a server opens a session: by the response that names it, or, where its beginning was not
//! seen, by a successful answer to a request that named it. An id that a client made up, that
//! the server refuses, or that comes after the end of its session opens none.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, Method};
use tapewright_schemas::event::{Offset, SessionKey};
use tapewright_schemas::slices::Part as _;

use super::tap::is_event_stream_wanted;

/// The field that names a session.
pub(crate) const SESSION_ID: &str = "mcp-session-id";

/// The session of what belongs to none.
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
    // Names of sessions that are over.
    over: HashSet<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
struct SessionEntry {
    key: SessionKey,
    used: Offset,
    // An exchange stands in it.
    begun: bool,
}

/// What a request's head says about its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionHint {
    /// It is this one.
    Known(SessionKey),
    /// It is this one, in which no exchange stands so far.
    New(SessionKey),
    /// Its first message will tell: it is an `initialize`, or belongs to none.
    AskMessage,
    /// The response will tell.
    AskResponse,
}

/// How many sessions are known at once.
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
        let id = head.get(SESSION_ID);
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

    /// The session that an `initialize` opens; `None` where sessions have no ids.
    pub(crate) fn initialize(&self, origin: &str) -> Option<SessionKey> {
        let mut table = self.lock();
        (!table.without.contains(origin)).then(|| table.next())
    }

    /// A session that an event stream opens.
    pub(crate) fn stream(&self) -> SessionKey {
        self.lock().next()
    }

    /// The response to an `initialize` named its session; whether it is new. Where the
    /// exchange belongs to none already, the session begins with what follows.
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

    /// The server took a request of a session whose beginning was not seen, or named one in
    /// its answer. The session of this exchange where that `is_open`; otherwise the
    /// session begins with what follows. None where it is over, and where the server tells
    /// no sessions apart.
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

    /// The response to an `initialize` named no session.
    pub(crate) fn unnamed(&self, origin: &str) {
        let mut table = self.lock();
        if table.without.len() < MOST {
            table.without.insert(origin.to_owned());
        }
    }

    /// An event stream announced where its messages are to be posted.
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

    /// The session of this name is over, if there was one.
    pub(crate) fn ended_unseen(&self, origin: &str, id: &[u8]) {
        self.lock().note_over(name(origin, b'i', id));
    }

    /// Whether a stream that is over announced this address: what is posted there comes late.
    pub(crate) fn was_announced(&self, origin: &str, target: &str) -> bool {
        let name = name(origin, b'e', target.as_bytes());
        self.lock().over.contains(&name)
    }

    /// How many sessions are known.
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
            // The older half goes: most sessions are never closed by anybody.
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
            // What comes as late as this finds a server that has forgotten it, too.
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
            head.insert(SESSION_ID, id.parse().unwrap());
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
        // An id that was never minted is in no session, and neither is one that is over.
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
        // Unless the server mints it again.
        let key = sessions.initialize("o").unwrap();
        assert!(sessions.named("o", b"abc", key, Offset(3)));
        let found = place(&sessions, &Method::POST, "/mcp", Some("abc"));
        assert_eq!(found, SessionHint::Known(key));
    }

    #[test]
    fn a_session_whose_beginning_was_not_seen_is_opened_by_the_servers_consent() {
        let sessions = Sessions::default();
        // Its first exchange belongs to none, and it begins with the second.
        let joined = |id: &str, is_open| sessions.joined("o", id.as_bytes(), is_open, Offset(1));
        let Some(SessionHint::New(key)) = joined("abc", false) else {
            panic!("it is new");
        };
        assert_eq!(joined("abc", false), None);
        for expected in [SessionHint::New(key), SessionHint::Known(key)] {
            let found = place(&sessions, &Method::POST, "/mcp", Some("abc"));
            assert_eq!(found, expected);
        }
        // Or with the first, and those beside it belong to it as well.
        let Some(SessionHint::New(key)) = joined("abd", true) else {
            panic!("it is new");
        };
        assert_eq!(joined("abd", true), Some(SessionHint::Known(key)));
        let found = place(&sessions, &Method::GET, "/mcp", Some("abd"));
        assert_eq!(found, SessionHint::Known(key));
        // Not where it was deleted unseen, nor where sessions have no ids.
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
