//! How long the end of a session may take: one number for those who wait and those who
//! judge.

use std::time::Duration;

/// How long a client waits for a server to end by itself, once it has closed the server's
/// input: what the TypeScript and the Python SDK wait before they send SIGTERM. (The Rust SDK
/// waits for three seconds, and then sends SIGKILL.)
pub const CLIENT_PATIENCE: Duration = Duration::from_secs(2);

/// How far what is seen here may lie from what client and server see: timers and a loaded
/// machine.
pub const LENIENCY: Duration = Duration::from_millis(100);
