//! The transports between a client and a server.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};
use tapewright_proxy::system::Signal;
use tapewright_proxy::upstream::{
    ChunkSink, ChunkSource, Life, Link, OpenError, ReadResult, Upstream,
};
use tapewright_schemas::event::{Exit, Peer};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

pub(crate) use crate::peer::Server;

/// A server on stdio, without a process.
pub(crate) struct Child {
    server: Server,
    runtime: Handle,
}

impl Child {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            runtime: Handle::current(),
        }
    }
}

impl Upstream for Child {
    fn open(&self) -> Result<Link, OpenError> {
        let (ours, theirs) = pair();
        theirs.set_nonblocking(true).unwrap();
        let (tell, told) = sync_channel(1);
        let server = self.server.clone();
        self.runtime.spawn(async move {
            let theirs = tokio::net::TcpStream::from_std(theirs).unwrap();
            if let Ok(service) = server.serve(theirs).await {
                service.waiting().await.ok();
            }
            tell.send(()).ok();
        });
        Ok(Link {
            peer: Peer::Process { pid: 1 },
            to_server: Box::new(Socket(ours.try_clone().unwrap())),
            to_client: Box::new(Socket(ours.try_clone().unwrap())),
            log: None,
            ended: Box::new(move || {
                told.recv().ok();
                Ok(Exit::Code(0))
            }),
            life: Box::new(Killed(ours)),
        })
    }
}

/// The two ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

struct Socket(TcpStream);

impl ChunkSink for Socket {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.write_all(chunk)
    }
}

impl ChunkSource for Socket {
    fn read(&mut self, space: &mut Vec<u8>, _: Option<Duration>) -> io::Result<ReadResult> {
        let mut chunk = vec![0; space.capacity() - space.len()];
        let count = self.0.read(&mut chunk)?;
        space.extend(chunk.drain(..count));
        Ok(match count {
            0 => ReadResult::End,
            count => ReadResult::Bytes(count),
        })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Like a pipe, only one side ends; rmcp treats either as the end.
        self.0.shutdown(Shutdown::Write).ok();
    }
}

struct Killed(TcpStream);

impl Life for Killed {
    fn signal(&self, _: Signal) {
        self.0.shutdown(Shutdown::Both).ok();
    }

    fn finish(self: Box<Self>) {}
}

/// A server on HTTP.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    _serving: JoinSet<()>,
}

impl HttpServer {
    pub(crate) async fn start(server: Server) -> Self {
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", socket.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = socket.accept().await {
                let service = TowerToHyperService::new(service.clone());
                connections.spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    let stream = TokioIo::new(stream);
                    builder.serve_connection(stream, service).await.ok();
                });
            }
        });
        Self {
            url,
            _serving: serving,
        }
    }
}

/// The bridge to a server on HTTP.
pub(crate) fn over_http(url: &str) -> Remote {
    let origin = Origin::new(
        OriginUrl::parse(url).unwrap(),
        OriginSettings {
            tls: client_config(&TlsSettings::default()).unwrap(),
            connect_timeout: Duration::from_secs(60),
            http2_prior_knowledge: false,
            destinations: None,
        },
    );
    Remote::new(RemoteSettings {
        origin,
        fields: Vec::new(),
        limit_bytes: 64 << 20,
    })
}

/// A client's end of a link, as for a client on stdio.
pub(crate) fn stdio(upstream: &impl Upstream) -> tokio::net::TcpStream {
    let Link {
        mut to_server,
        mut to_client,
        life,
        ..
    } = upstream.open().unwrap();
    let (ours, theirs) = pair();
    let mut input = ours.try_clone().unwrap();
    thread::spawn(move || {
        let mut chunk = [0; 4_096];
        while let Ok(count @ 1..) = input.read(&mut chunk) {
            if to_server.write(chunk.get(..count).unwrap()).is_err() {
                return;
            }
        }
    });
    let mut output = ours;
    thread::spawn(move || {
        let mut space = Vec::with_capacity(4_096);
        while let Ok(ReadResult::Bytes(_)) = to_client.read(&mut space, None) {
            if output.write_all(&space).is_err() {
                break;
            }
            space.clear();
        }
        output.shutdown(Shutdown::Write).ok();
        life.finish();
    });
    theirs.set_nonblocking(true).unwrap();
    tokio::net::TcpStream::from_std(theirs).unwrap()
}
