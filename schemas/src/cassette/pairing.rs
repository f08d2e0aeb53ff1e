//! Which response answers which request.
//!
//! By session, direction, id and type of the id; in the lane of what belongs to no session
//! by exchange instead of session. A message with a `method` is never a response, and
//! `null` names nobody. When an id is used again while its first request
//! still waits, the first response answers the first request.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

use crate::envelope::RequestId;
use crate::era::Era;
use crate::event::{CloseReason, ConduitId, Offset, Scope};

/// The client's requests that await their response.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    open: BTreeMap<u64, Open>,
    // First and last ordinal with this key; between them `Open::next` leads.
    waiting: HashMap<Arc<[u8]>, (u64, u64)>,
    tokens: HashMap<Arc<[u8]>, u64>,
    // The requests that unaddressed messages may belong to.
    current: BTreeSet<(Scope, u64)>,
    answered: Answered,
    // Scratch for a key.
    key: Vec<u8>,
}

/// A request that awaits its response.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) at: Offset,
    pub(crate) scope: Scope,
    pub(crate) conduit: ConduitId,
    /// How the HTTP exchange that carried it ended, and with what status.
    pub(crate) over: Option<(CloseReason, u16)>,
    pub(crate) era: Option<Era>,
    pub(crate) marks: Marks,
    /// It is an `initialize`.
    pub(crate) handshake: bool,
    /// It has been said what a fault did to it.
    pub(crate) faulted: bool,
    key: Option<Arc<[u8]>>,
    token: Option<Arc<[u8]>>,
    next: Option<u64>,
}

/// What is odd about an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) const ID_REUSED: Self = Self(1);
    pub(crate) const ID_TYPE_CHANGED: Self = Self(2);
    pub(crate) const BATCH: Self = Self(4);
    pub(crate) const CANCELLED: Self = Self(8);
    pub(crate) const NULL_ID: Self = Self(16);
    pub(crate) const HTTP_ERROR: Self = Self(32);

    pub(crate) fn add(&mut self, mark: Self) {
        self.0 |= mark.0;
    }

    pub(crate) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    /// The words for a cassette.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (Self::ID_REUSED, "id reused"),
            (Self::ID_TYPE_CHANGED, "id type changed"),
            (Self::BATCH, "batch"),
            (Self::CANCELLED, "cancelled"),
            (Self::NULL_ID, "null id"),
            (Self::HTTP_ERROR, "http error"),
        ];
        all.into_iter()
            .filter(move |(mark, _)| self.has(*mark))
            .map(|(_, word)| word)
    }
}

/// Whom a response answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// This request.
    Pairs(u64, Open),
    /// A request that had its response before.
    Duplicate,
    /// A request whose id has the same text and another type; it goes on waiting.
    TypeChanged,
    /// No request that is known.
    Nobody,
}

/// How many requests are followed at once; beyond that the oldest counts as never
/// answered.
pub(crate) const OPEN_LIMIT: usize = 65_536;

impl Open {
    pub(crate) fn new(at: Offset, scope: Scope, conduit: ConduitId, era: Option<Era>) -> Self {
        Self {
            at,
            scope,
            conduit,
            over: None,
            era,
            marks: Marks::default(),
            handshake: false,
            faulted: false,
            key: None,
            token: None,
            next: None,
        }
    }
}

impl Pairing {
    /// Follows a request.
    pub(crate) fn ask(
        &mut self,
        ordinal: u64,
        mut open: Open,
        id: &RequestId<'_>,
        token: Option<&[u8]>,
    ) {
        if !id.pairs() {
            open.marks.add(Marks::NULL_ID);
            self.open.insert(ordinal, open);
            return;
        }
        self.set_key(open.scope, id);
        if let Some((key, (_, last))) = self.waiting.get_key_value(self.key.as_slice()) {
            let (key, last) = (Arc::clone(key), *last);
            if let Some(before) = self.open.get_mut(&last) {
                before.next = Some(ordinal);
                before.marks.add(Marks::ID_REUSED);
            }
            open.marks.add(Marks::ID_REUSED);
            if let Some((_, last)) = self.waiting.get_mut(&key) {
                *last = ordinal;
            }
            open.key = Some(key);
        } else {
            let key: Arc<[u8]> = self.key.as_slice().into();
            self.waiting.insert(Arc::clone(&key), (ordinal, ordinal));
            open.key = Some(key);
        }
        if let Some(token) = token {
            self.set_key(open.scope, &RequestId::of_source(token));
            let token: Arc<[u8]> = self.key.as_slice().into();
            self.tokens.insert(Arc::clone(&token), ordinal);
            open.token = Some(token);
        }
        self.current.insert((open.scope, ordinal));
        self.open.insert(ordinal, open);
    }

    /// Takes a response.
    pub(crate) fn answer(&mut self, scope: Scope, id: &RequestId<'_>) -> Answer {
        if !id.pairs() {
            return Answer::Nobody;
        }
        self.set_key(scope, id);
        if let Some((first, _)) = self.waiting.get(self.key.as_slice())
            && let Some(open) = self.remove(*first)
        {
            self.set_key(scope, id);
            self.answered.insert(&self.key);
            return Answer::Pairs(open.0, open.1);
        }
        if self.answered.contains(&self.key) {
            return Answer::Duplicate;
        }
        let other = match id {
            RequestId::Number(text) => RequestId::Text((*text).into()),
            RequestId::Text(text) => RequestId::Number(text),
            _ => return Answer::Nobody,
        };
        self.set_key(scope, &other);
        let found = self
            .waiting
            .get(self.key.as_slice())
            .map(|(first, _)| *first);
        match found.and_then(|first| self.open.get_mut(&first)) {
            Some(open) => {
                open.marks.add(Marks::ID_TYPE_CHANGED);
                Answer::TypeChanged
            }
            None => Answer::Nobody,
        }
    }

    /// Takes a cancellation of the request whose id has this source text; its ordinal.
    pub(crate) fn cancel(&mut self, scope: Scope, id: &[u8]) -> Option<u64> {
        self.set_key(scope, &RequestId::of_source(id));
        let mut next = self
            .waiting
            .get(self.key.as_slice())
            .map(|(first, _)| *first);
        let mut found = next?;
        // Of several requests with this id, the first that is not cancelled yet.
        while let Some(ordinal) = next {
            let open = self.open.get(&ordinal)?;
            found = ordinal;
            next = if open.marks.has(Marks::CANCELLED) {
                open.next
            } else {
                None
            };
        }
        let open = self.open.get_mut(&found)?;
        open.marks.add(Marks::CANCELLED);
        self.current.remove(&(scope, found));
        Some(found)
    }

    /// The request that asked for progress under this token.
    pub(crate) fn by_token(&mut self, scope: Scope, token: &[u8]) -> Option<u64> {
        self.set_key(scope, &RequestId::of_source(token));
        self.tokens.get(self.key.as_slice()).copied()
    }

    /// The latest request of a scope that is in flight.
    pub(crate) fn latest(&self, scope: Scope) -> Option<u64> {
        self.current
            .range((scope, 0)..=(scope, u64::MAX))
            .next_back()
            .map(|(_, one)| *one)
    }

    /// Whether a request still awaits its response.
    pub(crate) fn is_open(&self, ordinal: u64) -> bool {
        self.open.contains_key(&ordinal)
    }

    /// The oldest request, when more are followed than the limit.
    pub(crate) fn pop_excess(&mut self) -> Option<(u64, Open)> {
        if self.open.len() > OPEN_LIMIT {
            self.pop_oldest()
        } else {
            None
        }
    }

    /// The oldest request that still awaits its response.
    pub(crate) fn pop_oldest(&mut self) -> Option<(u64, Open)> {
        let (oldest, _) = self.open.first_key_value()?;
        self.remove(*oldest)
    }

    /// The request that an id names.
    pub(crate) fn find(&mut self, scope: Scope, id: &RequestId<'_>) -> Option<u64> {
        if !id.pairs() {
            return None;
        }
        self.set_key(scope, id);
        self.waiting
            .get(self.key.as_slice())
            .map(|(first, _)| *first)
    }

    /// A request that still awaits its response.
    pub(crate) fn get(&self, ordinal: u64) -> Option<&Open> {
        self.open.get(&ordinal)
    }

    /// A request that still awaits its response.
    pub(crate) fn get_mut(&mut self, ordinal: u64) -> Option<&mut Open> {
        self.open.get_mut(&ordinal)
    }

    /// Takes a request out, whether or not there was a response.
    pub(crate) fn take(&mut self, ordinal: u64) -> Option<Open> {
        self.remove(ordinal).map(|(_, open)| open)
    }

    /// Forgets a request.
    fn remove(&mut self, ordinal: u64) -> Option<(u64, Open)> {
        let open = self.open.remove(&ordinal)?;
        self.current.remove(&(open.scope, ordinal));
        if let Some(key) = &open.key {
            self.unlink(key, ordinal, open.next);
        }
        if let Some(token) = &open.token
            && self.tokens.get(token) == Some(&ordinal)
        {
            self.tokens.remove(token);
        }
        Some((ordinal, open))
    }

    /// Takes a request out of those that wait with the same key.
    fn unlink(&mut self, key: &Arc<[u8]>, ordinal: u64, next: Option<u64>) {
        let Some((first, last)) = self.waiting.get_mut(key) else {
            return;
        };
        if *first == ordinal {
            match next {
                Some(next) => *first = next,
                None => drop(self.waiting.remove(key)),
            }
            return;
        }
        let mut at = Some(*first);
        while let Some(before) = at.and_then(|at| Some((at, self.open.get_mut(&at)?))) {
            let (place, open) = before;
            if open.next == Some(ordinal) {
                open.next = next;
                if *last == ordinal {
                    *last = place;
                }
                return;
            }
            at = open.next;
        }
    }

    fn set_key(&mut self, scope: Scope, id: &RequestId<'_>) {
        write_key(scope, id, &mut self.key);
    }
}

/// The server's requests, and where the client's replies to them belong.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    // The exchange in whose stream the request stands, oldest first.
    homes: HashMap<Vec<u8>, VecDeque<Option<u64>>>,
    answered: Answered,
    key: Vec<u8>,
}

/// Whom a reply of the client answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A request that stands in the stream of an exchange, or in no exchange.
    Pairs(Option<u64>),
    /// A request that had its reply before.
    Duplicate,
    /// No request that is known.
    Nobody,
}

impl Replies {
    /// Follows a request of the server.
    pub(crate) fn ask(&mut self, scope: Scope, id: &RequestId<'_>, home: Option<u64>) {
        if id.pairs() && self.homes.len() < OPEN_LIMIT {
            write_key(scope, id, &mut self.key);
            self.homes
                .entry(self.key.clone())
                .or_default()
                .push_back(home);
        }
    }

    /// Takes a reply of the client.
    pub(crate) fn answer(&mut self, scope: Scope, id: &RequestId<'_>) -> Reply {
        if !id.pairs() {
            return Reply::Nobody;
        }
        write_key(scope, id, &mut self.key);
        let Some(waiting) = self.homes.get_mut(&self.key) else {
            let known = self.answered.contains(&self.key);
            return if known {
                Reply::Duplicate
            } else {
                Reply::Nobody
            };
        };
        let home = waiting.pop_front().flatten();
        if waiting.is_empty() {
            self.homes.remove(&self.key);
        }
        self.answered.insert(&self.key);
        Reply::Pairs(home)
    }
}

/// The ids that were answered last, by their hash.
#[derive(Debug, Default)]
struct Answered {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

/// How many answered ids are remembered. A second response that comes after more
/// exchanges than this counts as a response to nobody.
const ANSWERED_LIMIT: usize = 65_536;

impl Answered {
    fn insert(&mut self, key: &[u8]) {
        if self.known.insert(hash(key)) {
            self.order.push_back(hash(key));
            if self.order.len() > ANSWERED_LIMIT
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.known.contains(&hash(key))
    }
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

fn write_key(scope: Scope, id: &RequestId<'_>, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&scope.session.0.to_le_bytes());
    key.extend_from_slice(&scope.lane.0.to_le_bytes());
    id.write_key(key);
}
