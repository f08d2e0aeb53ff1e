//! Outputs that are made from a recording while it is recorded: traces that are sent, and durations
//! for the metrics of a gateway. A recorder counts durations itself; those of an agent's recording,
//! whose tapes several recorders write, are counted by reading the tapes.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use tapewright_proxy::behind::{self, MakeObserver, Observer};
use tapewright_proxy::operations::{Counting, Operations, Reading};
use tapewright_proxy::page::{Search, TapeFilter};
use tapewright_proxy::record::Settings;
use tapewright_proxy::traces::Figures;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::tape::Header;

use crate::command::otlp::{Exports, Sending, Traces};

/// The outputs that are made from a recording while it is recorded.
#[derive(Debug)]
pub(crate) struct Behind {
    reading: Option<behind::Behind>,
    traces: Option<Traces>,
    exports: Option<Exports>,
    // Exports are counted by reading tapes.
    is_read: bool,
}

/// The metrics of this process that a gateway serves.
#[derive(Debug)]
struct SharedMetrics {
    figures: Option<Arc<Figures>>,
    operations: Option<Arc<Operations>>,
}

/// A process has one recorder.
static TOLD: OnceLock<SharedMetrics> = OnceLock::new();

/// How many spans arrived and how many were lost, if traces are sent.
pub(crate) fn figures() -> Option<Arc<Figures>> {
    TOLD.get()?.figures.clone()
}

/// How long operations and sessions took, if that is counted.
pub(crate) fn operations() -> Option<Arc<Operations>> {
    TOLD.get()?.operations.clone()
}

/// The longest time to spend on reading tapes for the last figures.
const READING: Duration = Duration::from_secs(5);

/// How often tapes are read for figures.
const PACE: Duration = Duration::from_secs(1);

impl Behind {
    /// Starts to read the tapes of a recorder with these settings, for traces and metrics; for an
    /// agent's recording, the tapes in its folder `whole`. Starts nothing if neither is requested.
    pub(crate) fn start(
        sending: Sending,
        has_metrics: bool,
        settings: &mut Settings,
        whole: Option<&Path>,
    ) -> anyhow::Result<Option<Self>> {
        let Sending { traces, metrics } = sending;
        let counts = has_metrics || metrics.is_some();
        let operations = counts.then(Arc::<Operations>::default);
        let told = SharedMetrics {
            figures: traces.as_ref().map(Traces::figures),
            operations: operations.clone(),
        };
        drop(TOLD.set(told));
        let read = operations.clone().filter(|_| whole.is_some());
        settings.operations = operations.clone().filter(|_| whole.is_none());
        let exports = metrics.zip(operations);
        let exports = exports.map(|(to, operations)| to.start(&settings.header, operations));
        let exports = exports.transpose()?;
        if traces.is_none() && read.is_none() {
            return Ok(exports.map(|exports| Self {
                reading: None,
                traces: None,
                exports: Some(exports),
                is_read: false,
            }));
        }
        let (tracing, span_sender) = traces.as_ref().map(Traces::observers).unzip();
        let mut makers: Vec<MakeObserver> = tracing.into_iter().collect();
        makers.extend(read.map(counting));
        let pace = traces.as_ref().map_or(PACE, Traces::pace);
        let make = move |header: &Header| {
            let all: Vec<_> = makers.iter().filter_map(|make| make(header)).collect();
            (!all.is_empty()).then(|| Box::new(All(all)) as Box<dyn Observer>)
        };
        let at_end = move |unread| {
            if let Some(span_sender) = span_sender {
                span_sender.close(unread);
            }
        };
        let behind = behind::Behind::start(search(settings, whole), Box::new(make), pace, at_end);
        let behind = behind.context("cannot start the thread that reads the tape")?;
        Ok(Some(Self {
            reading: Some(behind),
            traces,
            exports,
            is_read: whole.is_some(),
        }))
    }

    /// Ends the outputs after the recording.
    pub(crate) fn finish(self, verbose: bool) {
        if let Some(exports) = self.exports.as_ref().filter(|_| !self.is_read) {
            exports.end();
        }
        match (self.traces, self.reading) {
            (Some(traces), Some(behind)) => traces.finish(behind, verbose),
            (None, Some(behind)) if self.exports.is_some() => {
                behind.end(READING);
                behind.join();
            }
            // Figures are no longer requested.
            (traces, behind) => drop((traces, behind)),
        }
        if let Some(exports) = self.exports {
            exports.finish(verbose);
        }
    }
}

/// Makes observers that count how long everything took.
fn counting(operations: Arc<Operations>) -> MakeObserver {
    Box::new(move |header| {
        let began = header.created.parse::<jiff::Timestamp>().ok()?;
        let began = u64::try_from(began.as_nanosecond()).ok()?;
        let counting = Counting::new(Arc::clone(&operations), header);
        Some(Box::new(Reading::new(counting, began)))
    })
}

/// The tapes of a recorder, or of a whole recording of an agent.
fn search(settings: &Settings, whole: Option<&Path>) -> Search {
    let header = &settings.header;
    if let Some(folder) = whole {
        return Search {
            folder: folder.to_owned(),
            tapes: TapeFilter::PartOf(header.part_of.clone()),
            several: true,
        };
    }
    let (folder, several) = settings.target.place();
    Search {
        folder,
        tapes: TapeFilter::Recorder {
            pid: header.pid,
            created: header.created.clone(),
        },
        several,
    }
}

/// Several observers of one tape.
struct All(Vec<Box<dyn Observer>>);

impl Observer for All {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.0
            .iter_mut()
            .for_each(|one| one.observe(event, message));
    }

    fn tick(&mut self, now: std::time::SystemTime) {
        self.0.iter_mut().for_each(|one| one.tick(now));
    }

    fn finish(&mut self) {
        self.0.iter_mut().for_each(|one| one.finish());
    }
}
