//! The settings of a client.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tapewright_schemas::redact::Rules;

/// The behaviour of a client, independent of its requests.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The redaction rules for the server's log in errors.
    pub rules: Arc<Rules>,
    /// The maximum length of a server's message, in bytes.
    pub limit_bytes: usize,
    /// The timeout for writing a message without an answer.
    pub patience: Duration,
    /// How long the server may take to exit after its input was closed; after half of it again it
    /// is killed.
    pub grace: Duration,
    /// When set, every wait for the server ends with a timeout.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Settings {
    /// Messages of up to 64 MiB, and the grace of the SDKs' clients: two seconds to exit.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Self {
        Self {
            rules,
            limit_bytes: 64 << 20,
            patience: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            stop: None,
        }
    }
}

/// The maximum number of bytes before an answer, beyond which the client gives up.
pub const MOST_BYTES: usize = 256 << 20;

/// The maximum number of messages before an answer.
pub const MOST_MESSAGES: usize = 100_000;
