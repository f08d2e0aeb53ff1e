//! Serves a recording as a server.
//!
//! ```text
//! tape, cassette, capture ──Script::load──▶ Script ──Index::new──▶ Index (shared)
//!                                                                    │
//! client ──line──▶ Player: Matcher, scenes, asides ──Output──▶ client
//! ```
//!
//! - [`Script`]: a recording as offsets into its file: takes (a request, its cues, its response)
//!   and asides (messages that belong to no request).
//! - [`Index`]: hash tables from requests to takes, from exact to loose.
//! - [`Player`]: one session, without IO or clock.
//! - [`verify`]: compares the recording with a live server; [`diff`]: with another recording.
//! - [`models`]: the model side of a recording, as a provider.
//! - [`CassetteUpstream`]: the player as an upstream of `proxy`, so that the same code forwards and
//!   records a replay and a live server.
//!
//! Nothing is invented: all messages were recorded, except the errors for requests without a
//! recording.

pub mod diff;
mod episodes;
mod era;
mod index;
mod json;
mod load;
mod matcher;
pub mod models;
mod options;
mod paths;
mod player;
mod requests;
mod script;
mod source;
mod takes;
mod tally;
mod upstream;
pub mod verify;

pub use episodes::Episodes;
pub use index::Index;
pub use json::{Difference, Ignore, IgnoreError};
pub use load::{LoadError, Spool, Starts};
pub use matcher::{MISS_CODE, Miss, Near, Reason};
pub use options::{Exhausted, MatchMode, Options, Ordering, Pace, Unanswered};
pub use paths::{Here, PathMap, PathMapError, PathMaps};
pub use player::{Output, OutputKind, Player, Sessionless};
pub use requests::{Requests, Served};
pub use script::{Recorded, Script};
pub use tally::{LearnedMap, Mapped, OtherReply, Report, SoFar, Tally, Tell};
pub use upstream::{CassetteUpstream, Received, ReplaySession};
