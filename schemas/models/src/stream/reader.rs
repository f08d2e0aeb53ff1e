//! A stream as its bytes come.

use bytes::Bytes;
use tapewright_engine::{SseFramer, SseItem};
use tapewright_schemas::event::Payload;

use super::array::Array;
use super::{Ended, Fold};
use crate::Wire;
use crate::conversation::StreamEvent;
use crate::read::{MAX_BYTES, Problem, ReadError};
use crate::recognise::Framing;

/// Cuts the bytes of a stream into events and adds them up. However the bytes are cut, the
/// events are the same.
#[derive(Debug)]
pub struct StreamReader {
    cutter: Cutter,
    fold: Fold,
}

#[derive(Debug)]
enum Cutter {
    Sse(Box<SseFramer>),
    Array(Array),
}

impl StreamReader {
    /// At the start of the body of a response.
    #[must_use]
    pub fn new(wire: Wire, framing: Framing) -> Self {
        let cutter = match framing {
            Framing::Sse => Cutter::Sse(Box::new(SseFramer::new(MAX_BYTES))),
            Framing::JsonArray => Cutter::Array(Array::default()),
        };
        Self {
            cutter,
            fold: Fold::new(wire),
        }
    }

    /// Takes the next bytes of the body, and says what they added.
    pub fn feed(&mut self, chunk: &Bytes) -> Result<Vec<StreamEvent>, ReadError> {
        let mut events = Vec::new();
        match &mut self.cutter {
            Cutter::Sse(framer) => {
                framer.feed(chunk);
                while let Some(item) = framer.poll() {
                    if let SseItem::Event(event) = item {
                        data(&mut self.fold, event.data, &mut events)?;
                    }
                }
            }
            Cutter::Array(array) => {
                for element in array.feed(chunk)? {
                    events.extend(self.fold.event(&element)?);
                }
            }
        }
        Ok(events)
    }

    /// The combined response so far.
    #[must_use]
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    /// The body has ended. An event that was not finished does not count.
    #[must_use]
    pub fn finish(self) -> Ended {
        self.fold.finish()
    }
}

fn data(
    fold: &mut Fold,
    data: Option<Payload>,
    events: &mut Vec<StreamEvent>,
) -> Result<(), ReadError> {
    match data {
        None => Ok(()),
        Some(Payload::Whole(bytes)) => {
            events.extend(fold.event(&bytes)?);
            Ok(())
        }
        Some(Payload::Clipped { .. }) => Err(ReadError::new(Problem::TooLong {
            limit: MAX_BYTES,
            unit: "bytes",
        })),
    }
}
