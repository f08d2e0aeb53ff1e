//! Connects clients on HTTP with servers on stdio: any [`Upstream`](crate::upstream::Upstream), a
//! child process or a cassette, served as an MCP server on HTTP.
//!
//! All revisions are served at one address, and the era is decided per message:
//!
//! - 2025-03-26 to 2025-11-25 at `/mcp`: a separate link for each session;
//! - from 2026-07-28 at `/mcp`: links from a pool, not one for each client;
//! - 2024-11-05 at `/sse` and `/messages`: a separate link for each event stream.
//!
//! Lines are forwarded unchanged, including ids. The switchboard decides about the stream for each
//! line, without a socket or a clock. `docs/bridges.md` lists what cannot be bridged.

mod answer;
mod body;
mod carry;
mod check;
mod child;
mod delivery;
mod endpoint;
mod events;
mod exchange;
mod legacy;
pub mod non_mcp;
mod output;
mod pool;
mod post;
mod reading;
mod route;
mod serve;
mod session;
mod settings;
mod shared;
mod stateless;
mod stateless_post;
mod stream;
mod switchboard;
mod table;
mod token;

pub(crate) use self::token::mint as token;

pub use self::serve::{run, run_beside, serve};
pub use self::settings::FrontSettings;
pub use self::shared::{Behind, Front};
