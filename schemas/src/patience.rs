//! How long the end of a session may take: one number for waiting and for judging.

use std::time::Duration;

/// How long a client waits for a server to exit by itself after closing the server's input: the
/// time that the TypeScript and the Python SDK wait before they send SIGTERM. (The Rust SDK waits
/// for three seconds, and then sends SIGKILL.)
pub const CLIENT_PATIENCE: Duration = Duration::from_secs(2);

/// How far the times seen here may differ from those that client and server see, because of timers
/// and a loaded machine.
pub const LENIENCY: Duration = Duration::from_millis(100);
