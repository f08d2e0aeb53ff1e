//! A client on stdio in front, a server on HTTP behind.
//!
//! A [`Remote`] is an [`Upstream`](crate::upstream::Upstream) like a child process: lines
//! go in, lines come out. Behind it works a correct client of streamable HTTP. Each line
//! is posted once, as the very bytes of the line; session, revision, the GET stream,
//! resumption, the older HTTP+SSE transport and the head of the stateless era are ours to
//! handle. `docs/bridges.md` lists what cannot cross.
//!
//! What to do is decided in `client`, which knows no socket and no clock.

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
