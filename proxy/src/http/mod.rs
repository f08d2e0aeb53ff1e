//! MCP over HTTP: a gateway that forwards every exchange unchanged, and records it.
//!
//! Heads are forwarded as parsed, bodies frame by frame as they arrive; the recording uses a copy.
//! A request is sent once. When either side leaves, the other is notified immediately, in the same
//! way.
//!
//! - [`listen`]: the client's leg, with its limits.
//! - [`gateway`]: one exchange, the necessary changes, and how it ends.
//! - [`direct`]: one request verbatim, for code that checks servers.
//! - [`origin`]: the server's leg, with its connections.
//! - [`forward`]: the forward proxy, which changes nothing.
//! - [`models`]: the providers of models behind one gateway.
//! - `wire`: what hyper cannot write, written without it.
//! - `tap`, `sessions`: what is read from the copy.

pub mod body;
pub(crate) mod decode;
pub mod direct;
mod edit;
pub(crate) mod fault;
pub mod fetch;
pub(crate) mod fields;
pub mod forward;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod gateway;
mod joined;
pub mod listen;
mod metrics;
pub mod models;
mod names;
pub mod origin;
pub(crate) mod sessions;
pub(crate) mod tap;
mod wire;
