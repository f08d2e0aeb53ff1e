//! How a view gets to see a recording: as a judge, in front of the judge that there is.

use std::sync::Arc;
use std::time::Duration;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Judge, Offset, Seen};

use super::View;
use crate::record::Judging;

/// Shows a view what a judge sees.
#[derive(Debug)]
struct Seeing {
    view: Arc<View>,
    judge: Option<Box<dyn Judge>>,
}

/// How often a view is told the time.
const BEAT: Duration = Duration::from_millis(500);

impl View {
    /// Judges as `judging` does, and lets the view see everything.
    #[must_use]
    pub fn watching(self: &Arc<Self>, judging: Option<Judging>) -> Judging {
        let (view, told) = (Arc::clone(self), Arc::clone(self));
        let (make, feeds, tell, beat) = match judging {
            Some(one) => (one.judge, one.feeds, Some(one.tell), one.beat),
            None => (None, Vec::new(), None, None),
        };
        Judging {
            judge: Some(Arc::new(move |header| {
                Box::new(Seeing {
                    view: Arc::clone(&view),
                    judge: make.as_ref().map(|make| make(header)),
                })
            })),
            feeds,
            tell: Arc::new(move |event, finding| {
                told.found(event, finding);
                if let Some(tell) = &tell {
                    tell(event, finding);
                }
            }),
            beat: Some(beat.map_or(BEAT, |beat| beat.min(BEAT))),
        }
    }
}

impl Judge for Seeing {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.view.observe(event, message);
        if let Some(judge) = &mut self.judge {
            judge.observe(event, message);
        }
    }

    fn message(&mut self, seen: &Seen<'_>) {
        self.view.observe(&seen.to_event(), Some(seen.message));
        if let Some(judge) = &mut self.judge {
            judge.message(seen);
        }
    }

    fn tick(&mut self, now: Offset) {
        self.view.tick(now);
        if let Some(judge) = &mut self.judge {
            judge.tick(now);
        }
    }

    fn end(&mut self, now: Offset) {
        // One tape of many may end; what its session owes is known from its events.
        if let Some(judge) = &mut self.judge {
            judge.end(now);
        }
    }

    fn poll(&mut self) -> Option<Event> {
        self.judge.as_mut()?.poll()
    }
}
