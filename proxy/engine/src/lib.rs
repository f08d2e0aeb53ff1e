//! One conversation between a client and a server, as a state machine without IO.
//!
//! A [`Conduit`] has two [`Lane`]s, one per direction. The driver passes input and the time to a
//! lane, and gets the bytes to send, the events, and the time of the next call. A lane owns no
//! socket, file or clock, so every test here is a function call. The lanes share nothing but their
//! policy, so a driver may use one thread for each, and a stalled direction never blocks the other.
//!
//! # The transparency law
//!
//! While no policy rule applies, the output bytes equal the input bytes: same order, same
//! direction, independent of chunk boundaries. The property tests in `tests/law.rs` check this; a
//! change that requires a weaker law is wrong.
//!
//! # Driving a lane
//!
//! Read into [`Lane::space`], then call [`Lane::handle_input`]. After each `handle_*` call drain
//! [`Lane::poll_event`], then [`Lane::poll_transmit`], until both are empty, and arm
//! [`Lane::poll_timeout`]. Events come first, so that no answer can be on the tape before its
//! request; a driver passes them on without waiting, and waits, if necessary, after it has
//! forwarded the bytes.
//!
//! # Elsewhere
//!
//! [`policy`] decides about messages, [`fault`] has the faults; `proxy::record` records the events,
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
