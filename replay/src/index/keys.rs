//! The keys of a whole recording, made when it is loaded.

use std::ops::Range;
use std::thread;

use super::chains::{Link, in_order};
use super::{Index, Level, is_by_method, key, method_key};
use crate::load::threads;
use crate::script::MethodId;
use crate::takes::TakeQuery;

/// The cost of finding the key of a request, as the number of bytes that are read in the same time.
const TAKE: usize = 400;

impl Index {
    /// The takes that can be matched, with their ordinals.
    fn sought(&self, among: Range<usize>) -> impl Iterator<Item = (u32, TakeQuery<'_>)> {
        among.filter_map(|at| {
            let take = self.script.takes.sought(at)?;
            let is_skipped = take.take.is_some_and(|take| self.is_skipped(take));
            Some((u32::try_from(at).ok()?, take)).filter(|_| !is_skipped)
        })
    }

    /// The keys of all takes by method.
    pub(super) fn method_keys(&self) -> impl Iterator<Item = (u64, u32)> {
        let all = self.sought(0..self.script.takes.len());
        all.flat_map(|(ordinal, take)| {
            let sessions = self.sessions_of(take.session);
            sessions.map(move |session| (method_key(take.method, session), ordinal))
        })
    }

    /// The keys of all takes that are matched by their parameters, for consecutive parts of the
    /// recording. Several threads share the work of a long one.
    pub(super) fn exact_keys(&self) -> Vec<Vec<Link>> {
        let count = self.script.takes.len();
        let threads = threads(count * TAKE);
        let share = count.div_ceil(threads).max(1);
        let mut shares = (0..count)
            .step_by(share)
            .map(|first| first..(first + share).min(count));
        let Some(first) = shares.next() else {
            return Vec::new();
        };
        thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|share| scope.spawn(|| in_order(self.exact_keys_of(share))))
                .collect();
            let mut keys = vec![in_order(self.exact_keys_of(first))];
            for worker in others {
                match worker.join() {
                    Ok(found) => keys.push(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            keys
        })
    }

    pub(super) fn exact_keys_of(&self, takes: Range<usize>) -> Vec<Link> {
        let mut keys = Vec::with_capacity(takes.len());
        let mut form = Vec::new();
        // Many recordings repeat the same call.
        let mut last: Option<LastCall> = None;
        let mut reader = self.script.text.reader();
        for (ordinal, take) in self.sought(takes) {
            if is_by_method(self.script.method_name(take.method)) {
                continue;
            }
            let params = take.params.map(|span| reader.read(span));
            let is_same = |last: &LastCall| last.is(take.method, params);
            let known = last.as_ref().filter(|last| is_same(last));
            let any = if let Some(any) = known.map(|last| last.any) {
                any
            } else {
                form.clear();
                self.write_form(Level::Exact, take.method, params, None, None, &mut form);
                let any = key(Level::Exact, None, take.method, 0, &form);
                LastCall::set(&mut last, take.method, params, any);
                any
            };
            for session in self.sessions_of(take.session) {
                let key = match session {
                    None => any,
                    Some(_) => key(Level::Exact, session, take.method, 0, &form),
                };
                keys.push(Link::new(key, ordinal));
            }
        }
        keys
    }
}

/// The previous call, and its key in any session.
struct LastCall {
    method: MethodId,
    // Empty without parameters, which is not valid JSON.
    params: Vec<u8>,
    any: u64,
}

impl LastCall {
    fn is(&self, method: MethodId, params: Option<&[u8]>) -> bool {
        self.method == method && self.params == params.unwrap_or_default()
    }

    /// Replaces the previous call, and reuses its memory.
    fn set(last: &mut Option<Self>, method: MethodId, params: Option<&[u8]>, any: u64) {
        let mut kept = last.take().map(|last| last.params).unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(params.unwrap_or_default());
        *last = Some(Self {
            method,
            params: kept,
            any,
        });
    }
}
