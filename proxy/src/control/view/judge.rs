//! Connects a view to a recording: as a judge, in front of the existing judge.

use std::sync::Arc;
use std::time::Duration;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Judge, Offset, Seen};

use super::View;
use crate::record::Judging;

/// Passes a judge's input to a view as well.
#[derive(Debug)]
struct ViewedJudge {
    view: Arc<View>,
    judge: Option<Box<dyn Judge>>,
}

/// How often the view gets the time.
const BEAT: Duration = Duration::from_millis(500);

impl View {
    /// Judges like `judging`, and passes everything to the view.
    #[must_use]
    pub fn watching(self: &Arc<Self>, judging: Option<Judging>) -> Judging {
        let (view, told) = (Arc::clone(self), Arc::clone(self));
        let (make, feeds, tell, beat) = match judging {
            Some(one) => (one.judge, one.feeds, Some(one.tell), one.beat),
            None => (None, Vec::new(), None, None),
        };
        Judging {
            judge: Some(Arc::new(move |header| {
                Box::new(ViewedJudge {
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

impl Judge for ViewedJudge {
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
        // A single tape may end; the view already knows the pending requests of its session from
        // its events.
        if let Some(judge) = &mut self.judge {
            judge.end(now);
        }
    }

    fn poll(&mut self) -> Option<Event> {
        self.judge.as_mut()?.poll()
    }
}
