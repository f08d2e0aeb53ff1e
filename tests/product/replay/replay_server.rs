//! A replay over HTTP, and clients of it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;

use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::client::{Client, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};
use tapewright_schemas::redact::{self, Rules};

use super::{LIMIT, command};
use crate::support::http::{Wire, post};
use crate::support::{signal, wait};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
pub(crate) const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";

/// A replay that serves clients.
pub(crate) struct ReplayServer {
    child: Child,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
}

impl ReplayServer {
    /// Serves this recording.
    pub(crate) fn start(folder: &Path, recording: &str, options: &[&str]) -> Self {
        std::fs::write(folder.join("tape.json"), recording).unwrap();
        let listen = [&["--listen", "127.0.0.1:0"], options].concat();
        listening(&mut command(folder, &listen))
    }

    /// A client of streamable HTTP.
    pub(crate) fn client(&self) -> Client {
        client_at(&self.url)
    }

    /// A client that gets the URL of the older transport.
    pub(crate) fn legacy_client(&self) -> Client {
        client_at(&self.url.replace("/mcp", "/sse"))
    }

    /// A connection on which a test writes HTTP by hand.
    pub(crate) fn connect(&self) -> Wire {
        Wire::connect(self.address)
    }

    /// Ends it; its exit status.
    pub(crate) fn stop(mut self, name: &str) -> Option<i32> {
        signal(self.child.id(), name);
        wait(&mut self.child, LIMIT).code()
    }
}

/// Opens a session by hand; its line of head.
pub(crate) fn opened(address: SocketAddr, wire: &mut Wire) -> String {
    wire.send(post(address, ACCEPT, INITIALIZE));
    let head = wire.head();
    assert_eq!(head.status(), 200);
    let session = head.get("mcp-session-id").unwrap().to_owned();
    wire.body(&head);
    format!("Mcp-Session-Id: {session}\r\n")
}

/// A server for HTTP clients, once it has printed its address.
pub(crate) fn listening(command: &mut Command) -> ReplayServer {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = said["listening"].as_str().unwrap().to_owned();
    let address = url.split('/').nth(2).unwrap().parse().unwrap();
    ReplayServer {
        child,
        url,
        address,
    }
}

fn client_at(url: &str) -> Client {
    let settings = OriginSettings {
        tls: client_config(&TlsSettings {
            ca_bundle: None,
            skip_verify: false,
            only_1_3: false,
        })
        .unwrap(),
        connect_timeout: LIMIT,
        http2_prior_knowledge: false,
        destinations: None,
    };
    let remote = Remote::new(RemoteSettings {
        origin: Origin::new(OriginUrl::parse(url).unwrap(), settings),
        fields: Vec::new(),
        limit_bytes: 64 << 20,
    });
    let rules = Rules::new(&redact::Settings::default()).unwrap();
    Client::open(&remote, Settings::new(Arc::new(rules)), Clock::start()).unwrap()
}

impl Drop for ReplayServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
