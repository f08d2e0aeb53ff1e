//! Spans of a recording, sent to a collector while the recording is made: OTLP over HTTP, in JSON.
//!
//! Spans are made of what is on the tapes, [behind](crate::behind) their writers. They go into a bounded queue, and a thread posts them, a
//! batch at a time. The recorder does nothing for it, and does not wait for it.
//!
//! While the collector takes what it is sent, the reader waits for room in the queue: the tape holds what is still to be read. While it
//! does not, spans that find no room are dropped. Whatever does not arrive is counted, by cause; what was not even read in the time that is
//! left after the recording, as bytes of the tapes.
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

/// Makes spans of what is on one tape.
pub trait Tracer: Send {
    /// Takes the next event; adds the spans that are complete by it, each a JSON text.
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>, out: &mut Vec<Vec<u8>>);

    /// Nothing has come for a while, and everything up to this time has been observed.
    fn tick(&mut self, now: SystemTime, out: &mut Vec<Vec<u8>>);

    /// Nothing more will come.
    fn finish(&mut self, out: &mut Vec<Vec<u8>>);
}

/// What stands around the spans of one resource in a request: the text before the first and behind the last of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// Up to the first span.
    pub before: Vec<u8>,
    /// From the last span on.
    pub after: Vec<u8>,
}

/// Where spans are sent, and how.
#[derive(Debug)]
pub struct Settings {
    /// Who takes them.
    pub collector: Collector,
    /// How many spans wait at most.
    pub queue_spans: usize,
    /// How many spans are in one request at most.
    pub batch_spans: usize,
    /// How long a span waits for others at most.
    pub delay: Duration,
}

/// How long sending goes on at most after the recording has ended.
const FLUSH: Duration = Duration::from_secs(5);
/// For how long spans are counted at most that cannot be sent any more.
const COUNTING: Duration = Duration::from_secs(2);

/// Spans that are being sent.
#[derive(Debug)]
pub struct Traces {
    queue: Arc<Queue>,
    figures: Arc<Figures>,
    sender: Option<JoinHandle<()>>,
}

impl Traces {
    /// Begins to send spans.
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
                // A name that is still being looked up holds up nothing.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            queue,
            figures,
            sender: Some(sender),
        })
    }

    /// How many spans arrived, and how many did not.
    #[must_use]
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// What spans are handed to.
    #[must_use]
    pub fn span_sender(&self) -> SpanSender {
        SpanSender(Arc::clone(&self.queue))
    }

    /// The recording has ended: sends what is left, for five seconds at most, and counts what cannot be sent, for two more.
    pub fn finish(mut self, behind: Behind) {
        self.queue.end(FLUSH);
        behind.end(FLUSH + COUNTING);
        behind.join();
        self.join();
    }

    fn join(&mut self) {
        // One that failed has sent nothing more.
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

/// Where spans are handed to.
#[derive(Clone, Debug)]
pub struct SpanSender(Arc<Queue>);

impl SpanSender {
    /// An observer that hands on the spans of a tracer.
    #[must_use]
    pub fn observer(&self, tracer: Box<dyn Tracer>, frame: Frame) -> Box<dyn Observer> {
        Box::new(Tracing {
            tracer,
            frame: Arc::new(frame),
            spans: Vec::new(),
            span_sender: self.clone(),
        })
    }

    /// Nothing more will be handed on, and so many bytes of the tapes were not read.
    pub fn close(&self, unread_bytes: u64) {
        self.0.set_unread(unread_bytes);
        self.0.close();
    }
}

/// Hands on the spans of one tape.
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
