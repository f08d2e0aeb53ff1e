//! Clients on HTTP in front, servers on stdio behind: any
//! [`Upstream`](crate::upstream::Upstream), a child process or a cassette, served as an MCP
//! server on HTTP.
//!
//! All revisions at one address, the era decided per message:
//!
//! - 2025-03-26 to 2025-11-25 at `/mcp`: a link of its own for each session;
//! - from 2026-07-28 on at `/mcp`: links from a pool, none for a client alone;
//! - 2024-11-05 at `/sse` and `/messages`: a link of its own for each event stream.
//!
//! Lines are carried as they are, ids included. Which stream a line goes to is decided by
//! the switchboard, which knows no socket and no clock. `docs/bridges.md` lists what
//! cannot cross.

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
