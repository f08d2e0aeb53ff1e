//! The names of log events that any test of this program raised.

use std::sync::{Mutex, Once, PoisonError};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
static HEARD: Once = Once::new();

struct Names;

/// Starts to listen, including events of other threads.
pub(crate) fn listen() {
    HEARD.call_once(|| {
        tracing::subscriber::set_global_default(Names).expect("the only subscriber");
    });
}

/// Whether an event with this name was raised since.
pub(crate) fn was(name: &str) -> bool {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.contains(&name)
}

impl Subscriber for Names {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tapewright::")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(&event.metadata().name()) {
            names.push(event.metadata().name());
        }
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
