//! A model of the queue: whatever is sent, stalled and drained, nothing is lost silently.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Wake;
use std::thread;

use bytes::Bytes;
use proptest::prelude::*;
use tapewright_schemas::event::{LineEnd, Payload};

use super::cost::OVERHEAD;
use super::*;

fn message(number: u64, size: usize) -> Event {
    let mut text = number.to_string().into_bytes();
    text.resize(size.max(text.len()), b' ');
    let payload = Payload::Whole(Bytes::from(text));
    Event::new(
        Offset(number),
        Direction::ToServer,
        EventBody::message(payload, LineEnd::Lf),
    )
}

fn push(queue: &Queue, event: Event) {
    let mut event = Some(event);
    queue.push(|| event.take());
}

/// What the writer received: the numbers of messages, and the number of events in gaps.
#[derive(Default)]
struct Written {
    numbers: Vec<u64>,
    lost: u64,
    // Numbers and gaps in order: a gap is in place of its messages.
    next: u64,
}

impl Written {
    fn observe(&mut self, batch: Vec<Event>) {
        for event in batch {
            if let EventBody::Gap(gap) = event.body {
                self.lost += gap.events;
                self.next += gap.events;
                continue;
            }
            assert_eq!(
                event.at.0, self.next,
                "out of order, or lost without a word"
            );
            self.next += 1;
            self.numbers.push(event.at.0);
        }
    }

    fn drain(&mut self, queue: &Queue) {
        let mut batch = Vec::new();
        if queue.take(&mut batch) {
            self.observe(batch);
        }
    }
}

proptest! {
    #[test]
    fn a_gap_is_counted_where_it_is(steps in prop::collection::vec((0..3_u8, 1..2_000_000_usize), 1..40)) {
        let queue = Queue::new(WhenFull::Gap);
        let (mut written, mut sent) = (Written::default(), 0);
        for (step, size) in steps {
            let waiting = !queue.lock().events.is_empty();
            if step == 0 && waiting {
                written.drain(&queue);
            } else {
                push(&queue, message(sent, size));
                sent += 1;
            }
        }
        queue.close();
        let mut batch = Vec::new();
        while queue.take(&mut batch) {
            written.observe(std::mem::take(&mut batch));
        }
        prop_assert_eq!(written.next, sent);
        prop_assert_eq!(written.numbers.len() as u64 + written.lost, sent);
    }
}

#[test]
fn one_message_of_any_size_has_room_beside_the_budget() {
    let queue = Queue::new(WhenFull::Gap);
    // Short messages fit before and after it, as do its head and its end.
    for (number, size) in [(0, 10), (1, 30 * CAPACITY), (2, CAPACITY / 2), (3, 10)] {
        push(&queue, message(number, size));
    }
    // A second one does not fit, nor does anything beyond the capacity.
    push(&queue, message(4, 30 * CAPACITY));
    push(&queue, message(5, CAPACITY / 2));
    let mut written = Written::default();
    written.drain(&queue);
    assert_eq!((&written.numbers[..], written.lost), (&[0, 1, 2, 3][..], 0));
    push(&queue, message(6, 10));
    written.drain(&queue);
    assert_eq!((written.numbers.len(), written.lost), (5, 2));
    let [waiting, most, lost] = queue.figures();
    assert_eq!(waiting, Amount::default());
    assert_eq!(most.events, 4);
    assert!(most.bytes > 30 * CAPACITY as u64);
    let bytes = (30 * CAPACITY + CAPACITY / 2) as u64;
    assert_eq!(lost, Amount { events: 2, bytes });
}

#[test]
fn waiting_loses_nothing_and_bounds_what_waits() {
    let queue = Arc::new(Queue::new(WhenFull::Wait));
    let sender = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            for number in 0..500 {
                push(&queue, message(number, 100_000));
                queue.keep_pace();
                // At most one event above the limit, however slow the writer is.
                assert!(queue.lock().bytes <= CAPACITY + 100_000 + OVERHEAD);
            }
            queue.close();
        })
    };
    let (mut written, mut batch) = (Written::default(), Vec::new());
    while queue.take(&mut batch) {
        written.observe(std::mem::take(&mut batch));
        thread::yield_now();
    }
    sender.join().unwrap();
    assert_eq!(written.numbers, (0..500).collect::<Vec<u64>>());
}

#[test]
fn a_closed_queue_holds_nobody_up() {
    let queue = Queue::new(WhenFull::Wait);
    push(&queue, message(0, 3 * CAPACITY));
    queue.close();
    queue.keep_pace();
    push(&queue, message(1, 1));
    let mut written = Written::default();
    written.drain(&queue);
    assert_eq!(written.numbers, [0]);
}

#[test]
fn every_session_is_told_what_it_lacks() {
    let queue = Queue::new(WhenFull::Gap);
    push(&queue, message(0, 3 * CAPACITY));
    push(&queue, message(0, CAPACITY - 2 * OVERHEAD));
    for (number, session) in [(1, 4), (2, 2), (3, 4)] {
        let mut event = message(number, 1000);
        event.session = SessionKey(session);
        push(&queue, event);
    }
    let mut batch = Vec::new();
    assert!(queue.take(&mut batch));
    batch.clear();
    push(&queue, message(4, 10));
    assert!(queue.take(&mut batch));
    let gaps: Vec<_> = batch
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Gap(gap) => Some((event.session.0, gap.events)),
            _ => None,
        })
        .collect();
    assert_eq!(gaps, [(2, 1), (4, 2)]);
    assert_eq!(batch.len(), 3);
}

/// Counts how often it was woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_task_is_woken_when_there_is_room_again() {
    let queue = Queue::new(WhenFull::Wait);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    assert!(queue.poll_pace(&waker).is_ready());
    push(&queue, message(0, 3 * CAPACITY));
    assert!(queue.figures()[0].bytes > CAPACITY as u64);
    assert!(queue.poll_pace(&waker).is_pending());
    assert!(queue.poll_pace(&waker).is_pending());
    assert_eq!(bell.0.load(Ordering::SeqCst), 0);
    let mut batch = Vec::new();
    assert!(queue.take(&mut batch));
    assert_eq!(bell.0.load(Ordering::SeqCst), 1, "one task is woken once");
    assert!(queue.poll_pace(&waker).is_ready());
    assert_eq!(queue.figures()[0], Amount::default());
    // No task waits for a closed queue.
    push(&queue, message(1, 3 * CAPACITY));
    assert!(queue.poll_pace(&waker).is_pending());
    queue.close();
    assert_eq!(bell.0.load(Ordering::SeqCst), 2);
    assert!(queue.poll_pace(&waker).is_ready());
}

#[test]
fn the_writer_hears_the_time_when_nothing_comes() {
    let queue = Arc::new(Queue::new(WhenFull::Wait));
    let writer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            let mut batch = Vec::new();
            while queue.take(&mut batch) {
                assert!(batch.is_empty());
                if let Some(now) = queue.ticked() {
                    return Some(now);
                }
            }
            None
        })
    };
    queue.tick(Offset(5));
    assert_eq!(writer.join().unwrap(), Some(Offset(5)));
}

/// A queue above its limit, with a watchdog for its disk.
fn watched(disk: &Arc<Disk>) -> Arc<Queue> {
    let queue = Arc::new(Queue::new(WhenFull::WaitBriefly));
    let patience = Duration::from_millis(1);
    watch(Arc::clone(&queue), Arc::clone(disk), patience).unwrap();
    push(&queue, message(0, 3 * CAPACITY));
    queue
}

#[test]
fn a_disk_that_stands_still_ends_the_wait_and_not_the_traffic() {
    crate::told::listen();
    let disk = Arc::<Disk>::default();
    let mut written = Written::default();
    let (begin, end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let hanging = {
        let (disk, begin, end) = (Arc::clone(&disk), Arc::clone(&begin), Arc::clone(&end));
        thread::spawn(move || {
            disk.call(|| {
                begin.wait();
                end.wait();
            });
        })
    };
    begin.wait();
    let queue = watched(&disk);
    let bell = Arc::new(Bell::default());
    let task = queue.poll_pace(&Waker::from(Arc::clone(&bell)));
    // Returns although nothing is ever taken, like every later wait.
    queue.keep_pace();
    assert!(task.is_ready() || bell.0.load(Ordering::SeqCst) == 1);
    assert!(crate::told::was("disk_stalled"));
    push(&queue, message(1, CAPACITY - OVERHEAD));
    queue.keep_pace();
    push(&queue, message(2, 10));
    queue.keep_pace();
    assert_eq!(
        queue.figures()[2],
        Amount {
            events: 1,
            bytes: 10
        }
    );
    // The disk responds: later events are waited for again, and the gap is in its place.
    end.wait();
    hanging.join().unwrap();
    written.drain(&queue);
    assert!(crate::told::was("disk_back"));
    push(&queue, message(3, 3 * CAPACITY));
    assert!(queue.is_overfull());
    written.drain(&queue);
    assert_eq!((&written.numbers[..], written.lost), (&[0, 1, 3][..], 1));
    queue.close();
}

#[test]
fn a_writer_that_is_busy_and_a_disk_that_moves_are_waited_for() {
    let disk = Arc::<Disk>::default();
    let queue = watched(&disk);
    for _ in 0..20 {
        assert!(queue.stays_overfull(Duration::from_millis(1)));
    }
    assert!(queue.is_overfull(), "somebody gave up");
    queue.close();
    let [one, next] = [(); 2].map(|()| disk.call(|| disk.under_way()));
    assert!(one.is_some() && next.is_some() && one != next);
    assert_eq!(disk.under_way(), None);
}
