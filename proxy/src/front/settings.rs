//! What a front allows, and how long it waits.

use std::time::Duration;

use super::non_mcp::NonMcpHandler;
use crate::http::listen::ClientToken;

/// What a front allows, and how long it waits.
#[derive(Clone, Debug)]
pub struct FrontSettings {
    /// Further names under which we are reached, for `Host`.
    pub allow_hosts: Vec<String>,
    /// Further origins whose pages may talk to us.
    pub allow_origins: Vec<String>,
    /// What every client has to show.
    pub client_token: Option<ClientToken>,
    /// The path of the endpoint.
    pub path: String,
    /// Who answers what is no MCP; without it nothing is there.
    pub beside: Option<NonMcpHandler>,
    /// How long an unused session is kept.
    pub idle: Duration,
    /// How many sessions may be open at once.
    pub sessions: usize,
    /// How many processes serve the stateless era at once.
    pub pool: usize,
    /// The longest body of a request, in bytes.
    pub body_bytes: usize,
    /// How many bytes of bodies may be in memory at once.
    pub bodies_bytes: usize,
    /// How long a body may pause.
    pub body_time: Duration,
    /// How many exchanges are served at once.
    pub exchanges: usize,
    /// The longest line of a server that is carried, in bytes.
    pub limit_bytes: usize,
    /// How long the first message of an answer is waited for before the answer becomes an
    /// event stream, so that the client sees a head.
    pub patience: Duration,
    /// After how much silence a stream gets a comment, which also finds out whether its
    /// client is still there.
    pub keep_alive: Duration,
    /// How long a client is asked to wait before it takes up a stream again.
    pub retry: Duration,
    /// How long what is under way may go on after a signal to stop.
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
