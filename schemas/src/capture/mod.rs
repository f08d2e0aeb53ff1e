//! The capture: what a client asked and a server answered, in the documented input format
//! of the session invariants.
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
//! Client requests and notifications stand in the order in which they crossed the wire;
//! a notification, and a request that never got an answer, has no `response`. What the
//! server sends on its own has no place in this format and is on the tape. A recording of
//! several sessions is an array of these objects, each with its number as `session`. What
//! belongs to no session is one object with `"sessionless": true`.
//!
//! A capture of ours says so: `"recorded": {"by": "tapewright 0.1.0"}` promises that every
//! request and notification of the client is there, and `incomplete` in it says what is
//! missing if something is. A response that did not come at once carries beside it
//! `answered_after`, how many entries of the session had been sent by then; `late`, that it was
//! given up, and answered behind a later request of its id.

mod project;
mod read;

pub use project::Projector;
pub use read::{Capture, CapturedExchange, CapturedSession};
