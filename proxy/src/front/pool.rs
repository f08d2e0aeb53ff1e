//! Which server process answers a request of the stateless era.
//!
//! Such a request stands alone, so any process may answer it. Ids are not rewritten: what
//! a client sends is what its server gets. Two requests with one id under way must then not
//! meet in one process; and on stdio nothing tells which request a log message is for. So
//!
//! 1. a process with nothing under way is taken, the one that was started first;
//! 2. if there is none, another one is started, up to a limit;
//! 3. at the limit, the process with the least under way is shared, if no id and no
//!    progress token would meet there its like.
//!
//! Processes are never shared between clients that show different credentials.

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
    // When it had something to do, as far as was looked.
    used: Duration,
}

/// Stands for the credentials that a client shows.
pub(crate) type Credential = u64;

/// What a process has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// How many requests are under way.
    pub(crate) under_way: usize,
    /// Whether the new request would meet its like.
    pub(crate) collides: bool,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice<T> {
    /// This process.
    Use(T),
    /// One that is to be started; room for it is kept until [`Pool::started`].
    Start,
    /// No client at present.
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

    /// Chooses who answers a request.
    pub(crate) fn choose(&mut self, who: Credential, load: impl Fn(&T) -> Load) -> Choice<T> {
        let own = self.children.iter().filter(|kept| kept.who == who);
        let mut own: Vec<(Load, &T)> = own.map(|kept| (load(&kept.child), &kept.child)).collect();
        own.retain(|(load, _)| !load.collides);
        // The first of those with the least to do.
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

    /// The start of a process is over; it was a success when there is a `child`.
    pub(crate) fn started(&mut self, who: Credential, child: Option<(T, Duration)>) {
        self.starting = self.starting.saturating_sub(1);
        let kept = child.map(|(child, used)| PooledChild { who, child, used });
        self.children.extend(kept);
    }

    /// A process with nothing under way, to make room for other credentials.
    pub(crate) fn evict(&mut self, is_free: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.children.iter().position(|kept| is_free(&kept.child))?;
        Some(self.children.remove(at).child)
    }

    /// Takes out what `keep` does not keep.
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

    /// Takes out what was not used for `idle`. What is busy is in use.
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
