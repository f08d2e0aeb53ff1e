//! What a client is told about its manners.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tapewright_schemas::redact::Rules;

/// How a client behaves, whatever it asks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is a secret in what the server says beside the protocol: that is shown in
    /// errors.
    pub rules: Arc<Rules>,
    /// The longest message of a server that is taken, in bytes.
    pub limit_bytes: usize,
    /// How long a message without an answer may take to be written.
    pub patience: Duration,
    /// How long the server may take to end once its input has ended; half of it again
    /// before it is killed.
    pub grace: Duration,
    /// Once it is set, everything that waits for the server ends with a timeout.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Settings {
    /// Messages of 64 MiB, and the patience of the SDKs' clients: two seconds to end.
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

/// How much may come before an answer, in bytes. Beyond that the server is given up.
pub const MOST_BYTES: usize = 256 << 20;

/// How many messages may come before an answer.
pub const MOST_MESSAGES: usize = 100_000;
