//! Limits and timeouts of a front.

use std::time::Duration;

use super::non_mcp::NonMcpHandler;
use crate::http::listen::ClientToken;

/// Limits and timeouts of a front.
#[derive(Clone, Debug)]
pub struct FrontSettings {
    /// Additional names of this front, for `Host`.
    pub allow_hosts: Vec<String>,
    /// Additional origins whose pages may use this front.
    pub allow_origins: Vec<String>,
    /// The token that every client must present.
    pub client_token: Option<ClientToken>,
    /// The path of the endpoint.
    pub path: String,
    /// The handler of requests that are not MCP; without it they are not found.
    pub beside: Option<NonMcpHandler>,
    /// How long an unused session is kept.
    pub idle: Duration,
    /// The maximum number of open sessions.
    pub sessions: usize,
    /// The maximum number of processes for the stateless era.
    pub pool: usize,
    /// The maximum length of a request's body, in bytes.
    pub body_bytes: usize,
    /// The maximum total size of bodies in memory, in bytes.
    pub bodies_bytes: usize,
    /// The maximum pause within a body.
    pub body_time: Duration,
    /// The maximum number of concurrent exchanges.
    pub exchanges: usize,
    /// The maximum length of a server's line, in bytes.
    pub limit_bytes: usize,
    /// How long to wait for the first message of an answer before the answer becomes an event
    /// stream, so that the client gets a head.
    pub patience: Duration,
    /// The time without events after which a stream gets a comment, which also detects a client
    /// that is gone.
    pub keep_alive: Duration,
    /// How long clients are asked to wait before they resume a stream.
    pub retry: Duration,
    /// How long exchanges in progress may continue after a signal to stop.
    pub drain: Duration,
}

impl Default for FrontSettings {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            client_token: None,
            path: "/mcp".to_owned(),
            beside: None,
            idle: Duration::from_secs(30 * 60),
            sessions: 256,
            pool: 16,
            body_bytes: 16 << 20,
            bodies_bytes: 256 << 20,
            body_time: Duration::from_secs(30),
            exchanges: 16_384,
            limit_bytes: 256 << 20,
            patience: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            drain: Duration::from_secs(5),
        }
    }
}
