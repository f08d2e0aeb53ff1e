//! The state of a connection: pending requests, and answers that were not read yet.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tapewright_proxy::system::{Signal, ends_within};
use tapewright_proxy::upstream::{Life, ReadResult};
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::Exit;
use tapewright_schemas::slices::Front as _;

use super::conversation::AnswerWork;
use super::refusal::Refusal;

/// Shared by the input of a client, the workers that answer, and the output.
#[derive(Clone, Default)]
pub(super) struct Desk(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests that are being answered, or wait for a worker.
    pending: Vec<PendingRequest>,
    /// How many there have been.
    count: u64,
    /// Lines that were not read yet; the first may have been read in part.
    answers: VecDeque<u8>,
    /// The client closed its input.
    is_input_over: bool,
    /// The client closed its output.
    is_unheard: bool,
    /// How it was ended from outside.
    ended: Option<Exit>,
}

struct PendingRequest {
    number: u64,
    /// The id of the request, as its source text.
    id: String,
    /// How long the request is, in bytes.
    bytes: usize,
    /// False after a cancellation.
    is_wanted: bool,
}

/// The most pending requests of a connection; beyond that its input is not read.
const MOST_PENDING: usize = 1_024;
/// The same for their bytes together with those of unread answers.
const MOST_BYTES: usize = 16 << 20;

impl State {
    fn has_room(&self) -> bool {
        let pending: usize = self.pending.iter().map(|it| it.bytes).sum();
        let is_full =
            self.pending.len() >= MOST_PENDING || pending + self.answers.len() >= MOST_BYTES;
        !is_full || self.ended.is_some()
    }

    /// How many answers are still to come.
    fn owed(&self) -> usize {
        self.pending.iter().filter(|it| it.is_wanted).count()
    }

    /// Whether all answers were read, or the reader is gone.
    fn is_over(&self) -> bool {
        let is_told = self.answers.is_empty() || self.is_unheard;
        self.ended.is_some() || self.is_input_over && self.owed() == 0 && is_told
    }

    fn answer(&mut self, line: &str) {
        if !self.is_unheard && self.ended.is_none() {
            self.answers.extend(line.as_bytes());
            self.answers.push_back(b'\n');
        }
    }
}

impl Desk {
    /// Changes the state and wakes all waiting threads.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.lock());
        self.0.changed.notify_all();
        changed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let state = &self.0.state;
        state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while a condition holds, but no longer than `timeout`.
    fn wait_while(
        &self,
        timeout: Option<Duration>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let (state, changed) = (self.lock(), &self.0.changed);
        let Some(timeout) = timeout else {
            let waited = changed.wait_while(state, |state| condition(state));
            return waited.unwrap_or_else(PoisonError::into_inner);
        };
        let waited = changed.wait_timeout_while(state, timeout, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until there is room for one more request.
    pub(super) fn wait_for_room(&self) {
        drop(self.wait_while(None, |state| !state.has_room()));
    }

    /// Waits for the end.
    pub(super) fn exit(&self) -> Exit {
        let state = self.wait_while(None, |state| !state.is_over());
        state.ended.unwrap_or(Exit::Code(0))
    }

    /// Whether it was ended from outside.
    pub(super) fn is_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    /// Closes the input.
    pub(super) fn end_input(&self) {
        self.change(|state| state.is_input_over = true);
    }

    /// Closes the output.
    pub(super) fn hang_up(&self) {
        self.change(|state| {
            state.is_unheard = true;
            state.answers = VecDeque::new();
        });
    }

    /// Adds a line to the output.
    pub(super) fn say(&self, line: &str) {
        self.change(|state| state.answer(line));
    }

    /// Appends the next bytes of the output to `space`, `most` at once; waits for them, but no
    /// longer than `timeout`.
    pub(super) fn read(
        &self,
        space: &mut Vec<u8>,
        most: usize,
        timeout: Option<Duration>,
    ) -> ReadResult {
        let is_quiet = |state: &State| state.answers.is_empty() && !state.is_over();
        let mut state = self.wait_while(timeout, is_quiet);
        let (first, _) = state.answers.as_slices();
        let part = first.front(most);
        let count = part.len();
        space.extend_from_slice(part);
        state.answers.drain(..count);
        let is_over = state.is_over();
        drop(state);
        // There may be room for a request again, or it is the end.
        self.0.changed.notify_all();
        match count {
            0 if is_over => ReadResult::End,
            0 => ReadResult::TimedOut,
            _ => ReadResult::Bytes(count),
        }
    }

    /// Adds a pending request.
    pub(super) fn owe(&self, id: String, bytes: usize) -> Owed {
        Owed {
            number: self.begin(id, bytes),
            desk: self.clone(),
        }
    }

    fn begin(&self, id: String, bytes: usize) -> u64 {
        self.change(|state| {
            state.count += 1;
            state.pending.push(PendingRequest {
                number: state.count,
                id,
                bytes,
                is_wanted: true,
            });
            state.count
        })
    }

    fn is_wanted(&self, number: u64) -> bool {
        let state = self.lock();
        let mut pending = state.pending.iter();
        state.ended.is_none() && pending.any(|it| it.number == number && it.is_wanted)
    }

    /// Answers a pending request, unless it was cancelled.
    fn answer(&self, number: u64, line: impl FnOnce(&str) -> String) {
        self.change(|state| {
            let place = state.pending.iter().position(|it| it.number == number);
            if let Some(place) = place {
                let request = state.pending.swap_remove(place);
                if request.is_wanted {
                    state.answer(&line(&request.id));
                }
            }
        });
    }

    /// Cancels the requests with this id.
    pub(super) fn cancel(&self, id: &str) {
        let cancelled = RequestId::of_source(id.as_bytes());
        self.change(|state| {
            for request in &mut state.pending {
                let id = RequestId::of_source(request.id.as_bytes());
                request.is_wanted &= id != cancelled;
            }
        });
    }

    fn end(&self, exit: Exit) {
        self.change(|state| {
            // The first end counts.
            state.ended.get_or_insert(exit);
            state.answers = VecDeque::new();
        });
    }
}

/// A pending request. It is always answered, even if its work panics.
pub(super) struct Owed {
    desk: Desk,
    number: u64,
}

impl Owed {
    /// Does the work and answers, unless the request was cancelled.
    pub(super) fn work(self, work: AnswerWork) {
        if self.desk.is_wanted(self.number) {
            let line = work();
            self.desk.answer(self.number, |_| line);
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        // Still pending only if the work panicked or never started.
        self.desk.answer(self.number, |id| {
            Refusal::internal("the question could not be answered").line(Some(id))
        });
    }
}

impl Life for Desk {
    fn signal(&self, signal: Signal) {
        if ends_within(signal) {
            self.end(Exit::Signal(signal.as_raw()));
        }
    }

    fn owed(&self) -> usize {
        let state = self.lock();
        match state.ended {
            Some(_) => 0,
            None => state.owed(),
        }
    }

    fn finish(self: Box<Self>) {
        self.end(Exit::Code(0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rest;
    use super::*;

    #[test]
    fn what_is_cancelled_is_not_answered() {
        let desk = Desk::default();
        let numbers = ["1", r#""1""#, "1"].map(|id| desk.begin(id.to_owned(), 1));
        desk.cancel("1");
        assert_eq!(desk.owed(), 1);
        for number in numbers {
            assert_eq!(desk.is_wanted(number), number == 2);
            desk.answer(number, |id| format!("answer to {id}"));
        }
        desk.end_input();
        assert_eq!(rest(|space| desk.read(space, 3, None)), "answer to \"1\"\n");
    }

    #[test]
    fn work_that_panics_is_answered() {
        let desk = Desk::default();
        let owed = desk.owe("7".to_owned(), 1);
        let worker = std::thread::spawn(move || owed.work(Box::new(|| panic!("on purpose"))));
        worker.join().unwrap_err();
        desk.end_input();
        let said = rest(|space| desk.read(space, 3, None));
        assert!(said.contains(r#""id":7,"error":{"code":-32603"#), "{said}");
    }

    #[test]
    fn a_client_that_reads_nothing_is_not_listened_to_until_it_is_over() {
        let desk = Desk::default();
        desk.say(&" ".repeat(MOST_BYTES));
        assert!(!desk.lock().has_room());
        let mut space = Vec::new();
        let read = desk.read(&mut space, 2, Some(Duration::ZERO));
        assert_eq!(read, ReadResult::Bytes(2));
        assert!(desk.lock().has_room());
        let full = Desk::default();
        for _ in 0..MOST_PENDING {
            full.begin("1".to_owned(), 1);
        }
        full.cancel("1");
        assert!(!full.lock().has_room());
        full.signal(Signal::TERM);
        assert!(full.lock().has_room());
        assert_eq!(full.exit(), Exit::Signal(Signal::TERM.as_raw()));
    }
}
