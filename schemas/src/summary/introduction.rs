//! How the two sides introduce themselves.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::report::Peer;
use crate::era::{mentions_version, own_version};
use crate::json;

/// The `_meta` member with the name of a server of the stateless era.
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Built once: building it costs more than using it on a small message.
static SERVER_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SERVER));

/// The client, the server, and their revision.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    /// The client, as it named itself.
    pub client: Option<Peer>,
    /// The server, as it named itself.
    pub server: Option<Peer>,
    negotiated: Option<String>,
    offered: Option<String>,
}

impl Introduction {
    /// Handles a request of the client.
    pub fn request(&mut self, method: &str, params: Option<&[u8]>) {
        let Some(params) = params else { return };
        if method == "initialize" {
            self.client = self.client.take().or_else(|| peer(params, "clientInfo"));
            let version = json::find(params, &["protocolVersion"]).and_then(string);
            self.offered = self.offered.take().or(version);
        } else if mentions_version(params) {
            let key = "io.modelcontextprotocol/clientInfo";
            self.client = self.client.take().or_else(|| stateless_peer(params, key));
            let version = own_version(params).and_then(string);
            self.offered = self.offered.take().or(version);
        }
    }

    /// Handles the answer to a request with this method.
    pub fn answer(&mut self, method: &str, result: &[u8]) {
        if is_handshake(method) {
            self.server = self.server.take().or_else(|| peer(result, "serverInfo"));
            let version = json::find(result, &["protocolVersion"]).and_then(string);
            self.negotiated = self.negotiated.take().or(version);
        }
        if self.server.is_none() {
            self.server = SERVER_FINDER
                .find(result)
                .and_then(|_| stateless_peer(result, SERVER));
        }
    }

    /// The negotiated revision of MCP, or else the requested one.
    #[must_use]
    pub fn protocol_version(&self) -> Option<&str> {
        self.negotiated.as_deref().or(self.offered.as_deref())
    }
}

/// Whether the answer to this method identifies the server.
fn is_handshake(method: &str) -> bool {
    method == "initialize" || method == "server/discover"
}

fn peer(text: &[u8], name: &str) -> Option<Peer> {
    json::find(text, &[name]).and_then(implementation)
}

/// A side that names itself in `_meta`, as the stateless era has it.
fn stateless_peer(text: &[u8], name: &str) -> Option<Peer> {
    json::find(text, &["_meta", name]).and_then(implementation)
}

fn implementation(text: &[u8]) -> Option<Peer> {
    Some(Peer {
        name: json::find(text, &["name"]).and_then(string)?,
        version: json::find(text, &["version"])
            .and_then(string)
            .unwrap_or_default(),
    })
}

fn string(text: &[u8]) -> Option<String> {
    let [b'"', content @ .., b'"'] = text else {
        return None;
    };
    let mut meaning = Vec::new();
    json::unescape(content, &mut meaning);
    Some(String::from_utf8_lossy(&meaning).into_owned())
}
