//! Delivers answers that a fault changed in another way than as a message on their stream.

use bytes::Bytes;
use tapewright_engine::policy::Delivery;
use tapewright_schemas::event::{Unable, What};

use super::route::Loss;
use super::switchboard::{GENERAL, Switchboard};
use crate::bridge::line::one_line;

/// How a stream ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AbnormalEnd {
    /// The connection is cut, after these bytes of the answer; if `None`, there is no response at
    /// all.
    Cut(Option<Bytes>),
    /// The response has this status, with `Retry-After` in seconds.
    Status(u16, Option<u64>),
}

impl Switchboard {
    /// Handles an answer with another delivery; returns the losses, and the effect to record.
    pub(crate) fn give(&mut self, line: &Bytes, given: &Delivery) -> (Loss, Option<What>) {
        let Some(line) = one_line(line) else {
            return (Loss::default(), None);
        };
        let (mut message, mut told) = (None, None);
        match self.place(&line) {
            Err(why) => message = Some(why),
            Ok(stream) => {
                let times = match given {
                    Delivery::Again(times) => usize::from(*times) + 1,
                    Delivery::Behind(noise) => {
                        for noise in noise.split(|byte| matches!(byte, b'\n' | b'\r')) {
                            self.push(stream, Bytes::copy_from_slice(noise));
                        }
                        1
                    }
                    Delivery::Status { .. } if stream == GENERAL || self.has_begun(stream) => {
                        let why = Unable::HasBegun;
                        told = Some(What::NotDone { why });
                        1
                    }
                    Delivery::Instead(text) => {
                        self.push(stream, text.clone());
                        0
                    }
                    Delivery::Cut(_) | Delivery::Status { .. } => 0,
                };
                for _ in 0..times {
                    message = message.or(self.push(stream, line.clone()));
                }
                let fate = match given {
                    Delivery::Cut(length) => {
                        let part = length.map(|length| line.slice(..line.len().min(length)));
                        Some(AbnormalEnd::Cut(part))
                    }
                    Delivery::Status {
                        status,
                        retry_after,
                    } => Some(AbnormalEnd::Status(*status, *retry_after)),
                    Delivery::Again(_) | Delivery::Behind(_) | Delivery::Instead(_) => None,
                };
                if let Some(fate) = fate.filter(|_| times == 0) {
                    self.doom(stream, fate);
                }
            }
        }
        self.answered(&line);
        let loss = Loss {
            message,
            earlier: self.tidy(),
        };
        (loss, told)
    }
}
