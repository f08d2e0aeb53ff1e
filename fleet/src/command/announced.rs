//! Announces in parallel to shipping.

use std::time::Duration;

use tapewright_fleet::announce::{Access, Address, Announcer, Waiting};
use tapewright_fleet::ship::{Settings, ShipEvent};
use tapewright_fleet::store::Store;

use super::environment;
use crate::cli::Verbosity;
use crate::report;

/// How long waiting announcements are made after shipping.
const GRACE: Duration = Duration::from_secs(5);
/// How long with `--once`.
const PATIENCE: Duration = Duration::from_secs(20);

/// Passes events of a shipper to the operator and the announcer.
pub(super) struct Listener {
    waiting: Waiting,
    verbosity: Verbosity,
}

impl Listener {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        Self {
            waiting: Waiting::default(),
            verbosity,
        }
    }

    pub(super) fn tell(&self, told: &ShipEvent<'_>) {
        match told {
            ShipEvent::Shipped { tape, entry } => self.waiting.shipped(tape, entry),
            ShipEvent::Theirs { tape, .. } => self.waiting.theirs(tape),
            _ => {}
        }
        report::told(told, self.verbosity.json, self.verbosity.verbose);
    }

    pub(super) fn announcer<'a>(
        &'a self,
        store: &'a Store,
        settings: &'a Settings,
        on_event: &'a dyn Fn(&ShipEvent<'_>),
        to: Address,
    ) -> Announcer<'a> {
        let access = Access::of(environment());
        Announcer::new(
            store,
            &settings.gateway,
            &self.waiting,
            on_event,
            to,
            access,
        )
    }

    /// Makes the waiting announcements, within a limit. The next shipper makes the rest.
    pub(super) async fn finish(&self, announcer: Option<&mut Announcer<'_>>, once: bool) {
        let Some(announcer) = announcer else { return };
        let time = if once { PATIENCE } else { GRACE };
        let finished = tokio::time::timeout(time, announcer.finish()).await;
        let waiting = self.waiting.count();
        if finished.is_err() && waiting != Some(0) {
            self.tell(&ShipEvent::LeftUnannounced { waiting });
        }
    }
}

/// Announces forever, if there is an announcer.
pub(super) async fn run(announcer: Option<&mut Announcer<'_>>) {
    match announcer {
        Some(announcer) => announcer.run().await,
        None => std::future::pending().await,
    }
}
