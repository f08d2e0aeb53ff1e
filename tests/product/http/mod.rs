//! The gateway over HTTP, between peers that are scripted byte by byte.
//!
//! A test is both peers and drives them in turns: nothing waits for a time, only for what
//! the other side sees.

mod bodies;
mod ends;
mod heads;
mod once;
mod refused;
