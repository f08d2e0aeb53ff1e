//! Passes everything that is recorded to a listener on a separate thread, behind a bounded queue
//! that never blocks traffic.
//!
//! Unlike a judge it writes nothing to the tape, so neither the traffic nor the end of a tape waits
//! for it: it may start processes and be slow.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    CloseReason, Direction, Event, EventBody, Head, Judge, Offset, Payload, Seen, Sink,
};

use super::queue::Queue;

/// A thread on which a sink gets the events of all tapes of a recording, as written.
#[derive(Debug)]
pub struct Listener<S> {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<S>>,
}

/// Passes events to a listener.
#[derive(Clone, Debug)]
pub struct Feed {
    queue: Arc<Queue>,
    messages: bool,
}

impl<S: Sink + Send + 'static> Listener<S> {
    /// Starts the thread.
    pub fn start(mut sink: S) -> io::Result<Self> {
        let queue = Arc::new(Queue::aside());
        let events = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("listener".to_owned())
            .spawn(move || {
                let mut batch = Vec::new();
                while events.take(&mut batch) {
                    for event in &batch {
                        sink.record(event);
                    }
                    // It ignores the time, but the value must be taken.
                    events.ticked();
                }
                sink
            })?;
        Ok(Self {
            queue,
            thread: Some(thread),
        })
    }

    /// The feed of this listener, for a recording.
    #[must_use]
    pub fn feed(&self) -> Feed {
        Feed {
            queue: Arc::clone(&self.queue),
            messages: true,
        }
    }

    /// Waits until all events were handled. `None` if the sink has panicked.
    #[must_use]
    pub fn finish(mut self) -> Option<S> {
        self.queue.close();
        self.thread.take()?.join().ok()
    }
}

impl<S> Drop for Listener<S> {
    fn drop(&mut self) {
        // The thread must end even if its result is never taken.
        self.queue.close();
    }
}

impl Feed {
    /// Restricts the feed to events other than the traffic: sessions, processes, effects of faults,
    /// answers in a peer's place, and gaps.
    #[must_use]
    pub fn without_messages(mut self) -> Self {
        self.messages = false;
        self
    }

    /// Whether the listener gets this event.
    pub(crate) fn hears(&self, event: &Event) -> bool {
        self.messages || is_beside_the_traffic(event)
    }
}

fn is_beside_the_traffic(event: &Event) -> bool {
    match &event.body {
        EventBody::Exited(_)
        | EventBody::Faulted(_)
        | EventBody::Gap(_)
        | EventBody::Opened(_)
        | EventBody::Session(_)
        | EventBody::Signal(_) => true,
        // A server broke off in the middle of its answer.
        EventBody::Closed(CloseReason::Aborted) => event.dir == Direction::ToClient,
        EventBody::Head(head) => {
            matches!(head.as_ref(), Head::Response(head) if head.ours.is_some())
        }
        EventBody::Message { payload, .. } | EventBody::Body { payload } => {
            matches!(payload, Payload::Clipped { .. }) || event.is_made_by_us()
        }
        _ => false,
    }
}

impl Judge for Feed {
    fn wants(&self, event: &Event) -> bool {
        self.hears(event)
    }

    fn observe(&mut self, event: &Event, _message: Option<&Envelope<'_>>) {
        if self.hears(event) {
            let mut event = Some(event.clone());
            self.queue.push(|| event.take());
        }
    }

    fn message(&mut self, seen: &Seen<'_>) {
        if self.hears(seen.event) {
            self.observe(&seen.to_event(), Some(seen.message));
        }
    }

    fn tick(&mut self, _now: Offset) {}

    fn end(&mut self, _now: Offset) {}

    fn poll(&mut self) -> Option<Event> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use tapewright_schemas::event::LineEnd;

    use super::*;

    fn message(seq: u64, size: usize) -> Event {
        let payload = Payload::Whole(vec![b'x'; size].into());
        let end = LineEnd::Lf;
        let body = EventBody::message(payload, end);
        let mut event = Event::new(Offset(seq), Direction::ToServer, body);
        event.seq = seq;
        event
    }

    /// Reports its first event, and blocks until it may continue.
    struct Late {
        began: SyncSender<()>,
        go_on: Receiver<()>,
        heard: Vec<Event>,
    }

    impl Sink for Late {
        fn record(&mut self, event: &Event) {
            if self.heard.is_empty() {
                self.began.send(()).expect("somebody to tell");
                self.go_on.recv().expect("the word");
            }
            self.heard.push(event.clone());
        }
    }

    /// A listener that is blocked in event 1, and the sender that lets it continue.
    fn late() -> (Listener<Late>, SyncSender<()>) {
        let (began, has_begun) = sync_channel(1);
        let (word, go_on) = sync_channel(1);
        let heard = Vec::new();
        let late = Late {
            began,
            go_on,
            heard,
        };
        let listener = Listener::start(late).unwrap();
        listener.feed().observe(&message(1, 10), None);
        has_begun.recv().unwrap();
        (listener, word)
    }

    #[test]
    fn several_tapes_are_heard_and_none_of_them_is_waited_for() {
        let (listener, word) = late();
        let mut feeds = [listener.feed(), listener.feed()];
        for seq in 2..=100 {
            for feed in &mut feeds {
                feed.observe(&message(seq, 10), None);
                assert!(feed.poll().is_none());
            }
        }
        for feed in &mut feeds {
            feed.end(Offset(7));
        }
        word.send(()).unwrap();
        let heard = listener.finish().expect("a sink").heard;
        let numbers: Vec<u64> = heard.iter().map(|event| event.seq).collect();
        let twice = (2..=100).flat_map(|seq| [seq, seq]);
        assert_eq!(numbers, [1].into_iter().chain(twice).collect::<Vec<_>>());
    }

    #[test]
    fn messages_are_left_out_for_who_does_not_want_them() {
        let (listener, word) = late();
        let mut feed = listener.feed().without_messages();
        feed.observe(&message(2, 10), None);
        let body = EventBody::Signal("TERM".to_owned());
        feed.observe(&Event::new(Offset(3), Direction::ToServer, body), None);
        word.send(()).unwrap();
        let heard = listener.finish().expect("a sink").heard;
        assert_eq!(
            heard.iter().map(|event| event.at.0).collect::<Vec<_>>(),
            [1, 3]
        );
    }

    #[test]
    fn what_does_not_fit_is_told_as_a_gap() {
        let (listener, word) = late();
        let mut feed = listener.feed();
        for seq in 2..=71 {
            feed.observe(&message(seq, 1 << 20), None);
        }
        word.send(()).unwrap();
        let heard = listener.finish().expect("a sink").heard;
        let count = |event: &Event| match &event.body {
            EventBody::Gap(gap) => gap.events,
            _ => 1,
        };
        assert_eq!(heard.iter().map(count).sum::<u64>(), 71);
        let messages = heard.iter().filter(|event| event.seq > 0).count();
        assert_eq!(
            messages,
            1 + 64,
            "64 MiB less the bookkeeping, and one more"
        );
    }
}
