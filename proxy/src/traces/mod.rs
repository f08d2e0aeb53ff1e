//! Exports spans of a recording to a collector while the recording is made: OTLP over HTTP, as
//! JSON.
//!
//! Spans are made from the tapes [while they are written](crate::behind). They go into a bounded
//! queue, and a thread posts them in batches. The recorder does no work for it, and never waits for
//! it.
//!
//! While the collector accepts requests, the reader waits for space in the queue: the tape has the
//! rest. While it does not, spans without space are dropped. Whatever does not arrive is counted,
//! by cause; what was not even read in the time left after the recording, as bytes of the tapes.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#otlphttp>

pub(crate) mod delivery;
mod figures;
mod post;
mod queue;
pub(crate) mod retry;
mod send;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;

pub use self::delivery::Collector;
pub use self::figures::{Figures, Loss};

use self::queue::{Item, Queue};
use self::send::Sender;
use crate::behind::{Behind, Observer, aside};
use crate::clock::Clock;

/// Makes spans from one tape.
pub trait Tracer: Send {
    /// Handles the next event; adds the spans that it completes, each a JSON text.
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>, out: &mut Vec<Vec<u8>>);

    /// Called after a time without events: everything up to this time was observed.
    fn tick(&mut self, now: SystemTime, out: &mut Vec<Vec<u8>>);

    /// Called after the last event.
    fn finish(&mut self, out: &mut Vec<Vec<u8>>);
}

/// The parts of a request around the spans of one resource.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// The text before the first span.
    pub before: Vec<u8>,
    /// The text after the last span.
    pub after: Vec<u8>,
}

/// The settings of an export.
#[derive(Debug)]
pub struct Settings {
    /// The collector.
    pub collector: Collector,
    /// The capacity of the queue, in spans.
    pub queue_spans: usize,
    /// The maximum number of spans in one request.
    pub batch_spans: usize,
    /// The maximum time that a span waits for others.
    pub delay: Duration,
}

/// The time for sending after the recording has ended.
const FLUSH: Duration = Duration::from_secs(5);
/// The time for counting spans that can no longer be sent.
const COUNTING: Duration = Duration::from_secs(2);

/// A running export.
#[derive(Debug)]
pub struct Traces {
    queue: Arc<Queue>,
    figures: Arc<Figures>,
    sender: Option<JoinHandle<()>>,
}

impl Traces {
    /// Starts the export.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let figures = Arc::<Figures>::default();
        let clock = Clock::start();
        let (most, batch) = (settings.queue_spans, settings.batch_spans);
        let queue = Arc::new(Queue::new(most, batch, clock, Arc::clone(&figures)));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let sender = Sender::new(settings, Arc::clone(&queue), Arc::clone(&figures), clock);
        let sender = thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || {
                aside();
                runtime.block_on(sender.run());
                // A pending name lookup does not delay the end.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            queue,
            figures,
            sender: Some(sender),
        })
    }

    /// The numbers of spans that arrived and that did not.
    #[must_use]
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// The sender for spans.
    #[must_use]
    pub fn span_sender(&self) -> SpanSender {
        SpanSender(Arc::clone(&self.queue))
    }

    /// Ends the export after the recording has ended: sends the rest for at most five seconds, and
    /// counts what cannot be sent for two more.
    pub fn finish(mut self, behind: Behind) {
        self.queue.end(FLUSH);
        behind.end(FLUSH + COUNTING);
        behind.join();
        self.join();
    }

    fn join(&mut self) {
        // A panicked thread sends nothing more.
        drop(self.sender.take().map(JoinHandle::join));
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.queue.end(Duration::ZERO);
        self.queue.close();
        self.join();
    }
}

/// A sender for spans.
#[derive(Clone, Debug)]
pub struct SpanSender(Arc<Queue>);

impl SpanSender {
    /// An observer that sends the spans of a tracer.
    #[must_use]
    pub fn observer(&self, tracer: Box<dyn Tracer>, frame: Frame) -> Box<dyn Observer> {
        Box::new(Tracing {
            tracer,
            frame: Arc::new(frame),
            spans: Vec::new(),
            span_sender: self.clone(),
        })
    }

    /// Ends the spans, with the number of unread bytes of the tapes.
    pub fn close(&self, unread_bytes: u64) {
        self.0.set_unread(unread_bytes);
        self.0.close();
    }
}

/// Sends the spans of one tape.
struct Tracing {
    tracer: Box<dyn Tracer>,
    frame: Arc<Frame>,
    spans: Vec<Vec<u8>>,
    span_sender: SpanSender,
}

impl Tracing {
    fn hand_on(&mut self) {
        for span in self.spans.drain(..) {
            let frame = Arc::clone(&self.frame);
            self.span_sender.0.push(Item { span, frame });
        }
    }
}

impl Observer for Tracing {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.tracer.observe(event, message, &mut self.spans);
        self.hand_on();
    }

    fn tick(&mut self, now: SystemTime) {
        self.tracer.tick(now, &mut self.spans);
        self.hand_on();
    }

    fn finish(&mut self) {
        self.tracer.finish(&mut self.spans);
        self.hand_on();
    }
}
