//! The client's side of the bridge: lines in, lines out.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};
use tapewright_proxy::system::Signal;
use tapewright_proxy::upstream::{ChunkSink, Life, Link, ReadResult, Upstream as _};
use tapewright_schemas::event::Exit;

use crate::server::LIMIT;

pub(crate) struct Talk {
    to_server: Option<Box<dyn ChunkSink>>,
    lines: Receiver<String>,
    ended: Receiver<Exit>,
    life: Box<dyn Life>,
}

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(crate) const WELCOME: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

impl Talk {
    pub(crate) fn with(url: &str) -> Self {
        Self::with_fields(url, &[])
    }

    pub(crate) fn with_fields(url: &str, fields: &[(&'static str, &'static str)]) -> Self {
        let origin = Origin::new(
            OriginUrl::parse(url).unwrap(),
            OriginSettings {
                tls: client_config(&TlsSettings::default()).unwrap(),
                connect_timeout: LIMIT,
                http2_prior_knowledge: false,
                destinations: None,
            },
        );
        let fields = fields
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        Self::over(Arc::clone(&origin), fields)
    }

    fn over(origin: Arc<Origin>, fields: Vec<(http::HeaderName, http::HeaderValue)>) -> Self {
        let remote = Remote::new(RemoteSettings {
            origin,
            fields,
            limit_bytes: 8 << 20,
        });
        let Link {
            to_server,
            mut to_client,
            ended,
            life,
            ..
        } = remote.open().unwrap();
        let (send, lines) = sync_channel(10_000);
        thread::spawn(move || {
            let mut text = Vec::new();
            loop {
                // A small space, so that lines are read in pieces.
                let mut space = Vec::with_capacity(1_000);
                match to_client.read(&mut space, None).unwrap() {
                    ReadResult::Bytes(count) => assert_eq!(count, space.len()),
                    ReadResult::End => return,
                    ReadResult::TimedOut => panic!("no timeout was given"),
                }
                text.extend_from_slice(&space);
                while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let line = String::from_utf8(line).unwrap();
                    if send.send(line.trim_end_matches('\n').to_owned()).is_err() {
                        return;
                    }
                }
            }
        });
        let (tell, told) = sync_channel(1);
        thread::spawn(move || tell.send(ended().unwrap()).ok());
        Self {
            to_server: Some(to_server),
            lines,
            ended: told,
            life,
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let sink = self.to_server.as_mut().expect("the client has not left");
        sink.write(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line of the server.
    pub(crate) fn hear(&self) -> String {
        self.lines.recv_timeout(LIMIT).expect("a line in time")
    }

    /// Checks that the server's side has ended, and there are no more lines.
    pub(crate) fn hears_the_end(&self) {
        assert_eq!(
            self.lines.recv_timeout(LIMIT),
            Err(RecvTimeoutError::Disconnected)
        );
    }

    /// The client leaves.
    pub(crate) fn leave(&mut self) {
        self.to_server = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.life.signal(signal);
    }

    /// Waits until the bridge has ended on its own.
    pub(crate) fn ends(&self) {
        self.ended.recv_timeout(LIMIT).expect("an end in time");
    }

    /// Whether it has ended within a short time.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.recv_timeout(Duration::ZERO).is_ok()
    }

    /// Opens a session of the handshake era.
    pub(crate) fn begin(&mut self) {
        self.say(INITIALIZE);
        assert_eq!(self.hear(), WELCOME);
        self.say(INITIALIZED);
    }
}
