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

/// Splits the bytes of a stream into events and combines them. The result does not depend on how
/// the bytes are chunked.
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
    /// Creates a reader at the start of a response's body.
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

    /// Handles the next bytes of the body, and returns what they added.
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
