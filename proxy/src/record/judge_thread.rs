//! Runs a judge on a separate thread, behind a bounded queue that never blocks traffic.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Judge, Offset};

use super::queue::Queue;

/// Passes events to a judge on another thread. When the queue is full, the judge gets a gap, and
/// results that depend on it are inconclusive.
#[derive(Debug)]
pub(crate) struct JudgeThread {
    queue: Arc<Queue>,
    found: Arc<Found>,
    thread: Option<JoinHandle<Box<dyn Judge>>>,
    // The judge, after its thread has ended.
    judge: Option<Box<dyn Judge>>,
}

#[derive(Debug, Default)]
struct Found {
    any: AtomicBool,
    events: Mutex<VecDeque<Event>>,
}

impl JudgeThread {
    /// Starts the thread; if that fails, the judge runs on the caller's thread.
    pub(crate) fn start(judge: Box<dyn Judge>) -> Box<dyn Judge> {
        let queue = Arc::new(Queue::aside());
        let found = Arc::new(Found::default());
        // The judge is passed to the thread when it runs.
        let (give, take) = std::sync::mpsc::sync_channel::<Box<dyn Judge>>(1);
        let (events, findings) = (Arc::clone(&queue), Arc::clone(&found));
        let thread = thread::Builder::new()
            .name("judge".to_owned())
            .spawn(move || {
                let mut judge = take.recv().expect("the judge is given at once");
                run(&mut *judge, &events, &findings);
                judge
            });
        let Ok(thread) = thread else { return judge };
        if let Err(refused) = give.send(judge) {
            return refused.0;
        }
        Box::new(Self {
            queue,
            found,
            thread: Some(thread),
            judge: None,
        })
    }
}

fn run(judge: &mut dyn Judge, queue: &Queue, found: &Found) {
    let mut batch = Vec::new();
    while queue.take(&mut batch) {
        for event in &batch {
            judge.observe(event, None);
        }
        if let Some(now) = queue.ticked() {
            judge.tick(now);
        }
        found.collect(judge);
    }
}

impl Found {
    fn collect(&self, judge: &mut dyn Judge) {
        let Some(first) = judge.poll() else { return };
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push_back(first);
        while let Some(event) = judge.poll() {
            events.push_back(event);
        }
        self.any.store(true, Ordering::Release);
    }

    fn next(&self) -> Option<Event> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let next = events.pop_front();
        if events.is_empty() {
            self.any.store(false, Ordering::Release);
        }
        next
    }
}

impl Judge for JudgeThread {
    fn observe(&mut self, event: &Event, _message: Option<&Envelope<'_>>) {
        let mut event = Some(event.clone());
        self.queue.push(|| event.take());
    }

    fn tick(&mut self, now: Offset) {
        self.queue.tick(now);
    }

    fn end(&mut self, now: Offset) {
        self.queue.close();
        // A panicked judge keeps its earlier findings.
        self.judge = self.thread.take().and_then(|thread| thread.join().ok());
        if let Some(judge) = &mut self.judge {
            judge.end(now);
        }
    }

    fn poll(&mut self) -> Option<Event> {
        let later = self.judge.as_mut();
        self.found.next().or_else(|| later?.poll())
    }
}

impl Drop for JudgeThread {
    fn drop(&mut self) {
        // The thread of a tape that is never finished must end as well.
        self.queue.close();
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::{
        Direction, EventBody, Finding, FindingStatus, LineEnd, Payload, Side,
    };

    use super::*;

    /// Reports a finding for every event, and counts gaps.
    #[derive(Debug, Default)]
    struct Picky {
        found: VecDeque<Event>,
    }

    impl Judge for Picky {
        fn observe(&mut self, event: &Event, _message: Option<&Envelope<'_>>) {
            let detail = match &event.body {
                EventBody::Gap(gap) => format!("gap {}", gap.events),
                _ => format!("event {}", event.seq),
            };
            let finding = Finding::new("", FindingStatus::Fail, Side::Server, detail);
            let body = EventBody::Finding(Box::new(finding));
            self.found
                .push_back(Event::new(event.at, Direction::ToClient, body));
        }

        fn tick(&mut self, _now: Offset) {}

        fn end(&mut self, now: Offset) {
            let body = EventBody::Signal("end".to_owned());
            self.found
                .push_back(Event::new(now, Direction::ToClient, body));
        }

        fn poll(&mut self) -> Option<Event> {
            self.found.pop_front()
        }
    }

    fn message(seq: u64, size: usize) -> Event {
        let payload = Payload::Whole(vec![b'x'; size].into());
        let end = LineEnd::Lf;
        let body = EventBody::message(payload, end);
        let mut event = Event::new(Offset(seq), Direction::ToServer, body);
        event.seq = seq;
        event
    }

    #[test]
    fn everything_is_judged_and_told_in_order() {
        let mut aside = JudgeThread::start(Box::<Picky>::default());
        for seq in 1..=100 {
            aside.observe(&message(seq, 10), None);
        }
        aside.end(Offset(7));
        let mut found = Vec::new();
        while let Some(event) = aside.poll() {
            found.push(event);
        }
        assert_eq!(found.len(), 101);
        assert_eq!(
            found.last().unwrap().body,
            EventBody::Signal("end".to_owned())
        );
    }

    #[test]
    fn what_does_not_fit_is_a_gap_and_nobody_waits() {
        let mut aside = JudgeThread::start(Box::<Picky>::default());
        // More than the queue holds, at once: the thread naps while there are no events.
        for seq in 1..=64 {
            aside.observe(&message(seq, 2 << 20), None);
        }
        aside.end(Offset(7));
        let (mut judged, mut lost) = (0, 0);
        while let Some(event) = aside.poll() {
            let EventBody::Finding(finding) = event.body else {
                break;
            };
            match finding.detail.strip_prefix("gap ") {
                Some(count) => lost += count.parse::<u64>().unwrap(),
                None => judged += 1,
            }
        }
        assert_eq!(judged + lost, 64);
    }
}
