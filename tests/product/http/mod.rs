//! The gateway over HTTP, between peers that are scripted byte by byte.
//!
//! A test drives both peers in turns: nothing waits for a time, only for what the other side
//! receives.

mod auth;
mod authority;
mod bodies;
mod bridge;
mod early;
mod encoded_streams;
mod encodings;
mod ends;
mod figures;
mod forward;
mod frames;
mod guard;
mod heads;
mod interims;
mod kill;
mod legacy;
mod limits;
mod loss;
mod models;
mod once;
mod refused;
mod sessions;
mod shutdown;
#[cfg(unix)]
mod socket;
mod time;
mod tls;
mod told;
mod trailers;
mod versions;
