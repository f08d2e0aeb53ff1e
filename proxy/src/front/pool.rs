//! Chooses the server process for a request of the stateless era.
//!
//! Such requests are independent, so any process may answer them. Ids are not rewritten: the server
//! gets what the client sends. Therefore two pending requests with the same id must not be sent to
//! one process; and on stdio it is unknown which request a log message belongs to. So
//!
//! 1. an idle process is used, the one that was started first;
//! 2. if there is none, another one is started, up to a limit;
//! 3. at the limit, the process with the fewest pending requests is shared, unless an id or a
//!    progress token would collide there.
//!
//! Processes are never shared between clients with different credentials.

use std::time::Duration;

/// The processes of the stateless era.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    children: Vec<PooledChild<T>>,
    starting: usize,
    most: usize,
}

#[derive(Debug)]
struct PooledChild<T> {
    who: Credential,
    child: T,
    // When it was last seen busy.
    used: Duration,
}

/// A hash of a client's credentials.
pub(crate) type Credential = u64;

/// The load of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The number of pending requests.
    pub(crate) under_way: usize,
    /// Whether an id or token of the new request would collide.
    pub(crate) collides: bool,
}

/// The process for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice<T> {
    /// This process.
    Use(T),
    /// A new process; its place is reserved until [`Pool::started`].
    Start,
    /// None is available at present.
    Nobody,
}

impl<T: Clone> Pool<T> {
    /// A pool of at most `most` processes.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            children: Vec::new(),
            starting: 0,
            most: most.max(1),
        }
    }

    /// Chooses the process for a request.
    pub(crate) fn choose(&mut self, who: Credential, load: impl Fn(&T) -> Load) -> Choice<T> {
        let own = self.children.iter().filter(|kept| kept.who == who);
        let mut own: Vec<(Load, &T)> = own.map(|kept| (load(&kept.child), &kept.child)).collect();
        own.retain(|(load, _)| !load.collides);
        // The first of those with the lowest load.
        let best = own.iter().min_by_key(|(load, _)| load.under_way);
        if let Some((load, child)) = best
            && load.under_way == 0
        {
            return Choice::Use((*child).clone());
        }
        if self.children.len() + self.starting < self.most {
            self.starting += 1;
            return Choice::Start;
        }
        best.map_or(Choice::Nobody, |(_, child)| Choice::Use((*child).clone()))
    }

    /// Ends the start of a process, which was successful if there is a `child`.
    pub(crate) fn started(&mut self, who: Credential, child: Option<(T, Duration)>) {
        self.starting = self.starting.saturating_sub(1);
        let kept = child.map(|(child, used)| PooledChild { who, child, used });
        self.children.extend(kept);
    }

    /// Removes an idle process, to make room for other credentials.
    pub(crate) fn evict(&mut self, is_free: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.children.iter().position(|kept| is_free(&kept.child))?;
        Some(self.children.remove(at).child)
    }

    /// Removes and returns the processes for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) -> Vec<T> {
        let mut out = Vec::new();
        self.children.retain(|kept| {
            let keeps = keep(&kept.child);
            if !keeps {
                out.push(kept.child.clone());
            }
            keeps
        });
        out
    }

    /// Removes and returns the processes that were not used for `idle`. Busy ones count as used.
    pub(crate) fn expire(
        &mut self,
        now: Duration,
        idle: Duration,
        is_busy: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let mut expired = Vec::new();
        self.children.retain_mut(|kept| {
            if is_busy(&kept.child) {
                kept.used = now;
            }
            let keep = now.saturating_sub(kept.used) < idle;
            if !keep {
                expired.push(kept.child.clone());
            }
            keep
        });
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(under_way: usize) -> Load {
        Load {
            under_way,
            collides: false,
        }
    }

    #[test]
    fn a_free_process_is_used_and_the_first_one_first() {
        let mut pool = Pool::new(3);
        assert_eq!(pool.choose(1, |_: &u8| load(0)), Choice::Start);
        pool.started(1, Some((b'a', Duration::ZERO)));
        pool.started(1, Some((b'b', Duration::ZERO)));
        assert_eq!(pool.choose(1, |_| load(0)), Choice::Use(b'a'));
        let busy = |child: &u8| load(usize::from(*child == b'a'));
        assert_eq!(pool.choose(1, busy), Choice::Use(b'b'));
    }

    #[test]
    fn at_the_limit_a_process_is_shared_unless_ids_meet() {
        let mut pool = Pool::new(2);
        pool.started(1, Some((b'a', Duration::ZERO)));
        assert_eq!(pool.choose(1, |_| load(1)), Choice::Start);
        assert_eq!(
            pool.choose(1, |_| load(1)),
            Choice::Use(b'a'),
            "room is kept"
        );
        pool.started(1, Some((b'b', Duration::ZERO)));
        let two = |child: &u8| load(usize::from(b'c' - *child));
        assert_eq!(pool.choose(1, two), Choice::Use(b'b'));
        let meets = |_: &u8| Load {
            under_way: 0,
            collides: true,
        };
        assert_eq!(pool.choose(1, meets), Choice::Nobody);
    }

    #[test]
    fn other_credentials_get_another_process() {
        let mut pool = Pool::new(2);
        pool.started(1, Some((b'a', Duration::ZERO)));
        assert_eq!(pool.choose(2, |_| load(0)), Choice::Start);
        pool.started(2, None);
        assert_eq!(
            pool.choose(2, |_| load(0)),
            Choice::Start,
            "a failed start keeps no room"
        );
        pool.started(2, Some((b'b', Duration::ZERO)));
        assert_eq!(pool.choose(3, |_| load(0)), Choice::Nobody);
        assert_eq!(pool.evict(|_| true), Some(b'a'));
        assert_eq!(pool.choose(3, |_| load(0)), Choice::Start);
    }
}
