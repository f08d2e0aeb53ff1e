//! MCP over HTTP: a gateway that passes every exchange on as it came, and records it.
//!
//! Heads are passed on as parsed, bodies frame by frame as they come; what is recorded is
//! a copy. A request is sent once. When either side leaves, the other is told
//! at once, and in the same way.
//!
//! - [`listen`]: the client's leg, with its limits.
//! - [`gateway`]: one exchange, what has to change on its way, and how it all ends.
//! - [`direct`]: one request as it stands, for code that judges servers.
//! - [`origin`]: the server's leg, with its connections.
//! - [`forward`]: the forward proxy, which changes nothing.
//! - [`models`]: the providers of models behind one gateway.
//! - `wire`: what hyper cannot say, written past it.
//! - `tap`, `sessions`: what is read on the copy.

pub mod body;
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
pub mod origin;
mod sessions;
pub(crate) mod tap;
mod wire;
