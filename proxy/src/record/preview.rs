//! A recording that is observed but not written.

use std::sync::Arc;

use tapewright_schemas::event::{Direction, Event, Offset};
use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::tape::{Encoder, Header};

use super::Durability;
use super::finish::Finished;
use super::judging::{Bench, Judging};
use super::order::Order;

/// Numbers and redacts events as a tape would, for a judge, and writes nothing.
#[derive(Debug)]
pub(crate) struct Preview {
    encoder: Encoder,
    order: Order,
    bench: Bench,
    line: Vec<u8>,
    finished: bool,
}

/// The length of a line after which the buffer is shrunk, in bytes.
const TRIM_SIZE: usize = 256 * 1024;

impl Preview {
    pub(crate) fn new(rules: Arc<Rules>, judging: Judging) -> Self {
        let judge = judging.of(&Header::default(), Durability::Queue);
        Self {
            encoder: Encoder::new(Redactor::new(rules)).with_judge(judge),
            order: Order::default(),
            bench: Bench::new(judging),
            line: Vec::new(),
            finished: false,
        }
    }

    pub(crate) fn encode(&mut self, event: &mut Event) {
        self.order.set(event);
        self.bench.note(event);
        self.put(event);
        self.found();
    }

    pub(crate) fn tick(&mut self, now: Offset) {
        self.encoder.tick_judge(now);
        self.found();
    }

    /// The number of the client's pending requests.
    pub(crate) fn owed(&self) -> usize {
        self.encoder.owed().count(Direction::ToServer)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(crate) fn finish(&mut self, now: Offset) -> Finished {
        self.finished = true;
        self.encoder.end_judge(now);
        self.found();
        // Without a tape, nothing can be missing on it.
        Finished {
            findings: self.bench.found(),
            ..Finished::default()
        }
    }

    fn found(&mut self) {
        while let Some(mut event) = self.encoder.poll_judge() {
            self.bench.complete(&mut event, self.encoder.redactor());
            self.order.set(&mut event);
            self.put(&event);
            event.seq = self.encoder.events();
            self.bench.tell(&event);
        }
    }

    fn put(&mut self, event: &Event) {
        self.line.clear();
        self.encoder.encode(event, &mut self.line);
        if self.line.capacity() > TRIM_SIZE {
            self.line = Vec::new();
        }
    }
}
