//! The processes of a session, on every system: `tests/peer/processes.rs` is the server.

#[cfg(windows)]
mod batch;
mod endings;
mod scene;
mod statuses;
