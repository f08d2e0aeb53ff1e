//! Connects a client on stdio with a server on HTTP.
//!
//! A [`Remote`] is an [`Upstream`](crate::upstream::Upstream) like a child process: lines go in,
//! lines come out. Internally it is a correct client of streamable HTTP. Each line is posted once,
//! byte for byte; the bridge handles session, revision, the GET stream, resumption, the older
//! HTTP+SSE transport and the header fields of the stateless era. `docs/bridges.md` lists what
//! cannot be bridged.
//!
//! The decisions are in `client`, which has no socket and no clock.

pub(crate) mod client;
mod driver;
mod exchange;
mod legacy;
pub(crate) mod line;
pub mod line_queue;
pub mod lines;
mod listen;
pub(crate) mod mirror;
mod notes;
pub mod ours;
mod remote;
mod send;
mod shared;
pub(crate) mod stream;
mod target;
pub(crate) mod tools;

pub(crate) use self::exchange::chain;
pub use self::remote::{HeadTap, Remote, RemoteSettings};
