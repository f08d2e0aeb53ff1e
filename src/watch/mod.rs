//! `watch`: shows a recording while it grows, or after it has ended.
//!
//! A [`State`] takes keys, updates of its sources, and the time, and returns requests to its
//! environment. It has no terminal, no file and no clock, so that tests can run it. `report::watch`
//! draws it into a buffer of cells. [`source`] reads tapes, cassettes, folders and controls on
//! separate threads; [`run`] connects the three.
//!
//! # Bounded memory
//!
//! A line takes about a hundred bytes and only short texts of a peer; messages are read from the
//! recording again when they are shown. Beyond a million and a half lines, the oldest are dropped.

mod act;
mod command;
mod fault;
pub(crate) mod keys;
mod line;
mod list;
mod message_texts;
mod order;
mod overlay;
mod parts;
mod prompt;
pub(crate) mod run;
pub(crate) mod source;
mod state;
mod store;
mod sums;
mod texts;
mod visible;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use self::act::OutsideRequest;
pub(crate) use self::command::{COMMANDS, Named, NoCommand, meant};
pub(crate) use self::fault::Fault;
pub(crate) use self::line::Line;
pub(crate) use self::list::List;
pub(crate) use self::message_texts::{MessageText, MessageTexts};
pub(crate) use self::overlay::{Jump, Overlay, OverlayContent, Row, Tone};
pub(crate) use self::parts::{Introduced, Part, PartState};
pub(crate) use self::prompt::Asks;
pub(crate) use self::state::{Panel, SourceUpdate, State};
pub(crate) use self::store::Found;
pub(crate) use self::texts::Word;
