//! One conversation between a client and a server, as a state machine without IO.
//!
//! A [`Conduit`] has two [`Lane`]s, one per direction. A lane is told what arrived and
//! what time it is; it answers what must be sent, what happened, and when to ask again.
//! It owns no socket, file or clock, so every test here is a function call. The lanes
//! share nothing but their policy, so that a driver may run each on a thread of its own
//! and a stalled direction never holds up the other.
//!
//! # The transparency law
//!
//! While no policy rule applies, the bytes that leave are the bytes that arrived: same
//! order, same direction, however the input was cut into chunks. The property tests in
//! `tests/law.rs` hold this; a change that needs it weakened is the wrong change.
//!
//! # Driving a lane
//!
//! Read into [`Lane::space`], then call [`Lane::handle_input`]. After each `handle_*`
//! call drain [`Lane::poll_event`], then [`Lane::poll_transmit`], until both are empty, and
//! arm [`Lane::poll_timeout`]. Events come first so that no answer can be on the tape
//! before its request; a driver hands them over without waiting, and waits, if it must,
//! after it has passed the bytes on.
//!
//! # Elsewhere
//!
//! Deciding the fate of messages is in [`policy`], the faults that can be asked for are in
//! [`fault`]; keeping them is `proxy::record`,
//! behind a bounded queue.

mod assembly;
mod conduit;
pub mod fault;
mod lane;
mod outbox;
pub mod policy;
mod sse;

pub use conduit::Conduit;
pub use lane::{Forward, Lane, Settings};
pub use outbox::Outbox;
pub use sse::{SseEvent, SseFramer, SseItem};
