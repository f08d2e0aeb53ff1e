//! Turns selected events into lines.

use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata};

use super::filter::Filter;
use super::line::{Fields, Writer};
use super::queue::Queue;

/// Turns selected events into lines. There are no spans: fields connect related events.
#[derive(Debug)]
pub(super) struct Subscriber {
    queue: Arc<Queue>,
    filter: Filter,
    writer: Writer,
}

impl Subscriber {
    pub(super) fn new(queue: Arc<Queue>, filter: Filter, writer: Writer) -> Self {
        Self {
            queue,
            filter,
            writer,
        }
    }
}

impl tracing::Subscriber for Subscriber {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Asked once per call site, so that disabled events cost nothing later.
        if self.enabled(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.is_span() && self.filter.takes(metadata.target(), *metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter.most())
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        // Never enabled.
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let line = self.writer.line(metadata, &fields);
        self.queue.push(line, *metadata.level());
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
