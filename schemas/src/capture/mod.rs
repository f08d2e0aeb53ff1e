//! The capture: what a client asked and a server answered, in the documented input format of the
//! session invariants.
//!
//! ```text
//! {
//!   "server_label": "stdio://my-server",
//!   "server_capabilities": {"tools":{}},
//!   "exchanges": [
//!     {
//!       "request": {"jsonrpc":"2.0","id":1,"method":"initialize"},
//!       "response": {"jsonrpc":"2.0","id":1,"result":{}}
//!     },
//!     {
//!       "request": {"jsonrpc":"2.0","method":"notifications/initialized"}
//!     }
//!   ]
//! }
//! ```
//!
//! Client requests and notifications are listed in the order in which they crossed the wire; a
//! notification, and a request that was never answered, has no `response`. This format has no place
//! for the server's own messages; they are on the tape. A recording of several sessions is an array
//! of these objects, each with its number as `session`. Exchanges without a session form one object
//! with `"sessionless": true`.
//!
//! A capture written by tapewright is marked: `"recorded": {"by": "tapewright 0.1.0"}` promises
//! that it contains every request and notification of the client, and `incomplete` in it lists what
//! is missing, if anything. A response that did not arrive before the next entry has
//! `answered_after`, the number of entries that the session had sent by then; `late` marks an
//! exchange that was given up, and answered after a later request with the same id.

mod project;
mod read;

pub use project::Projector;
pub use read::{Capture, CapturedExchange, CapturedSession};
