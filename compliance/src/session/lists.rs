//! Further state of a session: cursors, subscriptions, the log level, results of calls.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Moment;
use crate::id::hash;
use crate::method::Method;
use crate::value::Value;
use tapewright_schemas::slices::Part as _;

/// The cursors that a server has issued.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    // Each with the scope of the page that contained it, and the position of that page.
    issued: HashMap<u64, Option<(Scope, u64)>>,
    order: VecDeque<u64>,
    // The cursors of the current walk, by method.
    walks: HashMap<Method, HashSet<u64>>,
    pub(crate) forgotten: bool,
}

const CURSORS: usize = 16_384;

impl Cursors {
    /// The key of a cursor of one list.
    pub(crate) fn key(method: Method, cursor: &str) -> u64 {
        hash(cursor.as_bytes()) ^ u64::from(method as u8).rotate_left(56)
    }

    pub(crate) fn was_issued(&self, key: u64) -> bool {
        self.issued.contains_key(&key)
    }

    /// The scope of the page that contained a cursor, and the position of that page.
    pub(crate) fn scope(&self, key: u64) -> Option<(Scope, u64)> {
        self.issued.get(&key).copied().flatten()
    }

    /// Whether the current walk already used this cursor.
    pub(crate) fn is_repeated(&self, method: Method, key: u64) -> bool {
        self.walks
            .get(&method)
            .is_some_and(|walk| walk.contains(&key))
    }

    pub(crate) fn begin(&mut self, method: Method) {
        self.walks.remove(&method);
    }

    pub(crate) fn issue(&mut self, method: Method, key: u64, scope: Option<(Scope, u64)>) {
        let walk = self.walks.entry(method).or_default();
        if walk.len() < CURSORS {
            walk.insert(key);
        }
        if self.issued.insert(key, scope).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > CURSORS
            && let Some(oldest) = self.order.pop_front()
        {
            self.issued.remove(&oldest);
            self.forgotten = true;
        }
    }
}

/// The scope of a cached result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Private,
    Public,
}

impl Scope {
    /// The scope that a result has.
    pub(crate) fn of(result: Value<'_>) -> Option<Self> {
        let scope = result.get("cacheScope")?;
        let known = [Self::Private, Self::Public];
        known.into_iter().find(|one| scope.is(one.name()))
    }

    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// The resources that the client has subscribed to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    all: HashMap<String, Subscription>,
    forgotten: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Subscription {
    // When the client gave it up, and whether the server has confirmed that.
    ended: Option<(Moment, bool)>,
}

/// Whether a client is subscribed to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subscribed {
    Yes,
    /// Not any more, since then; and whether the server has confirmed that.
    Ended(Moment, bool),
    Perhaps,
    No,
}

const SUBSCRIPTIONS: usize = 8_192;
const URI_BYTES: usize = 2_048;
/// The maximum number of segments of a URI that are tried.
const SEGMENTS: usize = 64;

impl Subscriptions {
    pub(crate) fn begin(&mut self, uri: &str) {
        if uri.len() > URI_BYTES || self.all.len() >= SUBSCRIPTIONS && !self.all.contains_key(uri) {
            self.forgotten = true;
            return;
        }
        self.all.insert(uri.to_owned(), Subscription::default());
    }

    pub(crate) fn end(&mut self, uri: &str, moment: Moment) {
        if let Some(one) = self.all.get_mut(uri) {
            one.ended = Some((moment, false));
        }
    }

    /// The server has answered the request that ended a subscription.
    pub(crate) fn confirm(&mut self, request: u64) {
        for one in self.all.values_mut() {
            if let Some((moment, confirmed)) = &mut one.ended
                && moment.seq == request
            {
                *confirmed = true;
            }
        }
    }

    /// Whether the client is subscribed to a resource, or to one above it.
    pub(crate) fn find(&self, uri: &str) -> Subscribed {
        let mut best = Subscribed::No;
        let mut here = Some(uri).filter(|uri| uri.len() <= URI_BYTES);
        let mut left = SEGMENTS;
        while let Some(one) = here.filter(|_| left > 0) {
            left -= 1;
            match self.all.get(one) {
                Some(Subscription { ended: None }) => return Subscribed::Yes,
                Some(Subscription {
                    ended: Some((moment, confirmed)),
                }) => best = Subscribed::Ended(*moment, *confirmed),
                None => {}
            }
            here = above(one);
        }
        let deep = uri.len() > URI_BYTES || left == 0;
        if best == Subscribed::No && (self.forgotten || deep && !self.all.is_empty()) {
            return Subscribed::Perhaps;
        }
        best
    }
}

/// The URI without its last segment; with the slash first, then without it.
fn above(uri: &str) -> Option<&str> {
    let trimmed = uri.strip_suffix('/');
    match trimmed {
        Some(shorter) if !shorter.is_empty() && !shorter.ends_with('/') => Some(shorter),
        Some(_) => None,
        None => {
            let slash = uri.rfind(['/', '?', '#'])?;
            let keep = if uri.as_bytes().get(slash) == Some(&b'/') {
                slash + 1
            } else {
                slash
            };
            Some(uri.part(..keep)).filter(|one| !one.is_empty())
        }
    }
}

/// The level below which the client does not want log messages.
#[derive(Debug, Default)]
pub(crate) struct Logging {
    /// The last level that was set, when, and whether the server has confirmed it.
    pub(crate) level: Option<(u8, Moment, bool)>,
    /// The level before that.
    pub(crate) before: Option<u8>,
}

impl Logging {
    /// The server did not take the level.
    pub(crate) fn refused(&mut self, request: u64) {
        let is_it = |(_, moment, _): &(u8, Moment, bool)| moment.seq == request;
        self.level = self.level.filter(|level| !is_it(level));
    }
}

/// The names of the log levels, the lowest first (2024-11-05, server/utilities/logging).
pub const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The rank of a level.
pub(crate) fn rank(level: &str) -> Option<u8> {
    let at = LEVELS.iter().position(|name| *name == level)?;
    u8::try_from(at).ok()
}

/// The name of a rank.
pub(crate) fn level(rank: u8) -> &'static str {
    LEVELS.get(usize::from(rank)).copied().unwrap_or("?")
}

/// The results of calls for each capability.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uses {
    pub(crate) tools: Use,
    pub(crate) resources: Use,
    pub(crate) prompts: Use,
}

/// The results of calls for one capability.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// The number of answered calls.
    pub(crate) answered: u64,
    /// The number of calls that failed.
    pub(crate) errors: u64,
    /// The position of the last error.
    pub(crate) last_error: u64,
}

impl Uses {
    pub(crate) fn of(&mut self, method: Method) -> Option<&mut Use> {
        Some(match method {
            Method::ToolsList | Method::ToolsCall => &mut self.tools,
            Method::ResourcesList | Method::ResourcesRead => &mut self.resources,
            Method::PromptsList | Method::PromptsGet => &mut self.prompts,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::Offset;

    use super::*;

    #[test]
    fn a_resource_below_a_subscribed_one_counts() {
        let mut all = Subscriptions::default();
        all.begin("file:///a/b");
        all.begin("demo://x/");
        for (uri, expected) in [
            ("file:///a/b", Subscribed::Yes),
            ("file:///a/b/c/d", Subscribed::Yes),
            ("file:///a/bc", Subscribed::No),
            ("file:///a", Subscribed::No),
            ("demo://x/1", Subscribed::Yes),
            ("file:///a/b?x", Subscribed::Yes),
        ] {
            assert_eq!(all.find(uri), expected, "{uri}");
        }
        let end = Moment {
            seq: 9,
            at: Offset(0),
        };
        all.end("file:///a/b", end);
        assert_eq!(all.find("file:///a/b/c"), Subscribed::Ended(end, false));
        all.confirm(9);
        assert_eq!(all.find("file:///a/b"), Subscribed::Ended(end, true));
    }

    #[test]
    fn a_cursor_belongs_to_its_list() {
        let mut cursors = Cursors::default();
        let key = Cursors::key(Method::ToolsList, "2");
        cursors.issue(Method::ToolsList, key, None);
        assert!(cursors.was_issued(key) && cursors.is_repeated(Method::ToolsList, key));
        assert!(!cursors.was_issued(Cursors::key(Method::PromptsList, "2")));
        cursors.begin(Method::ToolsList);
        assert!(cursors.was_issued(key) && !cursors.is_repeated(Method::ToolsList, key));
    }
}
