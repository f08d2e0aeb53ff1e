//! Peers that use HTTP/1.1 or HTTP/2, with TLS or without, in one script.

use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::tls::Certificates;
use super::{Head, PATIENCE, Upstream, Wire, chunk};

/// The protocol of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Http1,
    Http2,
    Http2OverTls,
}

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Properly, with these trailers.
    Properly(Vec<(String, String)>),
    BrokenOff,
}

/// Waits for one step of a peer.
pub(crate) fn step<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    runtime
        .block_on(async { tokio::time::timeout(PATIENCE, future).await })
        .expect("it comes in time")
}

pub(crate) fn runtime() -> Arc<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Arc::new(
        builder
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime"),
    )
}

/// One exchange of a client or a server.
pub(crate) struct Exchange {
    runtime: Arc<Runtime>,
    side: Side,
}

enum Side {
    Http1(Wire),
    Http2(Box<Flow>),
}

/// Both directions of a stream of HTTP/2.
struct Flow {
    out: Option<SendStream<Bytes>>,
    input: Option<RecvStream>,
    held: Vec<u8>,
    response: Option<ResponseFuture>,
    respond: Option<SendResponse<Bytes>>,
    // A client's connection ends with its exchange.
    connection: Option<(SendRequest<Bytes>, JoinHandle<()>)>,
}

impl Exchange {
    /// Begins a request whose body follows.
    pub(crate) fn ask(
        runtime: &Arc<Runtime>,
        speaks: Speaks,
        gateway: SocketAddr,
        certificates: &Certificates,
        fields: &[(&str, &str)],
    ) -> Self {
        let runtime = Arc::clone(runtime);
        if speaks == Speaks::Http1 {
            let mut wire = Wire::connect(gateway);
            let mut text = String::new();
            for (name, value) in fields {
                for part in [name, ": ", value, "\r\n"] {
                    text.push_str(part);
                }
            }
            text += "Transfer-Encoding: chunked\r\n";
            wire.send(super::request("POST /mcp?q", gateway, &text));
            return Self {
                runtime,
                side: Side::Http1(wire),
            };
        }
        let (scheme, connector) = match speaks {
            Speaks::Http2OverTls => (
                "https",
                Some(TlsConnector::from(certificates.client_config(&["h2"]))),
            ),
            _ => ("http", None),
        };
        let mut request = http::Request::builder()
            .method("POST")
            .uri(format!("{scheme}://localhost:{}/mcp?q", gateway.port()));
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(()).expect("a request");
        let flow = step(&runtime, async {
            let tcp = tokio::net::TcpStream::connect(gateway)
                .await
                .expect("a connection");
            tcp.set_nodelay(true).expect("an option");
            let (mut send, task) = match connector {
                None => handshake(tcp).await,
                Some(connector) => {
                    let name = "localhost".try_into().expect("a name");
                    handshake(connector.connect(name, tcp).await.expect("TLS")).await
                }
            };
            let (response, out) = send.send_request(request, false).expect("a stream");
            Flow {
                out: Some(out),
                input: None,
                held: Vec::new(),
                response: Some(response),
                respond: None,
                connection: Some((send, task)),
            }
        });
        Self {
            runtime,
            side: Side::Http2(Box::new(flow)),
        }
    }

    /// The received head; for HTTP/2 in the form of HTTP/1.1.
    pub(crate) fn head(&mut self) -> Head {
        match &mut self.side {
            Side::Http1(wire) => wire.head(),
            Side::Http2(flow) => {
                let response = flow.response.take().expect("a request was sent");
                let response = step(&self.runtime, response).expect("a response");
                let (parts, body) = response.into_parts();
                flow.input = Some(body);
                Head {
                    line: format!("HTTP/2 {}", parts.status.as_u16()),
                    fields: words(&parts.headers),
                }
            }
        }
    }

    /// Answers with a head whose body follows.
    pub(crate) fn answer(&mut self, fields: &[(&str, &str)]) {
        match &mut self.side {
            Side::Http1(wire) => {
                let mut text = String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
                for (name, value) in fields {
                    for part in [name, ": ", value, "\r\n"] {
                        text.push_str(part);
                    }
                }
                wire.send(text + "\r\n");
            }
            Side::Http2(flow) => {
                let mut response = http::Response::builder();
                for (name, value) in fields {
                    response = response.header(*name, *value);
                }
                let response = response.body(()).expect("a response");
                let respond = flow.respond.as_mut().expect("a server");
                // The stream needs a runtime for this.
                let _guard = self.runtime.enter();
                flow.out = Some(respond.send_response(response, false).expect("a stream"));
            }
        }
    }

    pub(crate) fn send(&mut self, data: &[u8]) {
        match &mut self.side {
            Side::Http1(wire) => wire.send(chunk(data)),
            Side::Http2(flow) => {
                let out = flow.out.as_mut().expect("a body");
                out.send_data(Bytes::copy_from_slice(data), false)
                    .expect("an open stream");
            }
        }
    }

    /// Ends the body, with a trailer if there is one.
    pub(crate) fn finish(&mut self, trailer: Option<(&'static str, &'static str)>) {
        match &mut self.side {
            Side::Http1(wire) => {
                let trailer = trailer.map(|(name, value)| format!("{name}: {value}\r\n"));
                wire.send(format!("0\r\n{}\r\n", trailer.unwrap_or_default()));
            }
            Side::Http2(flow) => {
                let out = flow.out.as_mut().expect("a body");
                match trailer {
                    None => out.send_data(Bytes::new(), true),
                    Some((name, value)) => {
                        let mut fields = http::HeaderMap::new();
                        fields.insert(name, value.parse().expect("a value"));
                        out.send_trailers(fields)
                    }
                }
                .expect("an open stream");
            }
        }
    }

    /// The next bytes of the received body.
    pub(crate) fn part(&mut self, length: usize) -> Vec<u8> {
        match &mut self.side {
            Side::Http1(wire) => wire.chunks(length),
            Side::Http2(flow) => step(&self.runtime, flow.part(length)),
        }
    }

    /// How the received body ends.
    pub(crate) fn over(&mut self) -> Over {
        match &mut self.side {
            Side::Http1(wire) => match wire.try_line() {
                Ok(line) => {
                    assert_eq!(line, "0");
                    let split = |line: String| {
                        let (name, value) = line.split_once(": ").expect("a field");
                        (name.to_owned(), value.to_owned())
                    };
                    Over::Properly(wire.trailers().into_iter().map(split).collect())
                }
                Err(_) => Over::BrokenOff,
            },
            Side::Http2(flow) => step(&self.runtime, flow.over()),
        }
    }

    /// Breaks off everything that this side still sends.
    pub(crate) fn abort(mut self) {
        if let Side::Http2(flow) = &mut self.side {
            if let Some(out) = &mut flow.out {
                out.send_reset(Reason::INTERNAL_ERROR);
            } else if let Some(respond) = &mut flow.respond {
                respond.send_reset(Reason::INTERNAL_ERROR);
            }
            // The connection is kept until the peer was notified.
            if let Some((send, task)) = flow.connection.take() {
                drop(send);
                task.abort();
            }
        }
    }

    /// Leaves an exchange without notice: only the stream on HTTP/2, the connection on HTTP/1.1.
    pub(crate) fn leave(mut self) -> Option<(SendRequest<Bytes>, JoinHandle<()>)> {
        match &mut self.side {
            Side::Http1(_) => None,
            Side::Http2(flow) => flow.connection.take(),
        }
    }

    /// Waits until the other side has left without sending anything else.
    pub(crate) fn is_left(&mut self) {
        match &mut self.side {
            Side::Http1(wire) => {
                wire.ends();
            }
            Side::Http2(flow) => {
                let (out, respond) = (flow.out.as_mut(), flow.respond.as_mut());
                let reason = step(&self.runtime, async {
                    match (out, respond) {
                        (Some(out), _) => poll_fn(|context| out.poll_reset(context)).await,
                        (_, Some(respond)) => poll_fn(|context| respond.poll_reset(context)).await,
                        (None, None) => unreachable!("a server has one of both"),
                    }
                });
                match reason {
                    Ok(reason) => assert_eq!(reason, Reason::CANCEL),
                    Err(error) => assert!(error.is_io() || error.is_go_away(), "{error}"),
                }
            }
        }
    }
}

impl Flow {
    async fn part(&mut self, length: usize) -> Vec<u8> {
        let input = self.input.as_mut().expect("a head came");
        while self.held.len() < length {
            let data = input
                .data()
                .await
                .expect("a body that goes on")
                .expect("data");
            input
                .flow_control()
                .release_capacity(data.len())
                .expect("capacity");
            self.held.extend_from_slice(&data);
        }
        self.held.drain(..length).collect()
    }

    async fn over(&mut self) -> Over {
        assert!(self.held.is_empty());
        let input = self.input.as_mut().expect("a head came");
        match input.data().await {
            Some(Ok(data)) if !data.is_empty() => panic!("more data: {data:?}"),
            Some(Err(_)) => return Over::BrokenOff,
            Some(Ok(_)) | None => {}
        }
        match input.trailers().await {
            Ok(fields) => Over::Properly(fields.map(|fields| words(&fields)).unwrap_or_default()),
            Err(_) => Over::BrokenOff,
        }
    }
}

async fn handshake<S>(stream: S) -> (SendRequest<Bytes>, JoinHandle<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
    (send, tokio::spawn(async move { drop(connection.await) }))
}

fn words(fields: &http::HeaderMap) -> Vec<(String, String)> {
    let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    };
    fields.iter().map(text).collect()
}

/// A server for either protocol.
pub(crate) enum Server {
    Http1(Upstream),
    Http2 {
        address: SocketAddr,
        streams: Receiver<(Head, Stream)>,
    },
}

type Stream = (RecvStream, SendResponse<Bytes>);

impl Server {
    pub(crate) fn start(
        runtime: &Arc<Runtime>,
        speaks: Speaks,
        certificates: &Certificates,
    ) -> Self {
        let upstream = Upstream::start();
        if speaks == Speaks::Http1 {
            return Self::Http1(upstream);
        }
        let acceptor = (speaks == Speaks::Http2OverTls)
            .then(|| TlsAcceptor::from(certificates.server_config(&["h2"])));
        let address = upstream.address();
        let (found, streams) = sync_channel(64);
        let listener: TcpListener = upstream.into_listener();
        listener.set_nonblocking(true).expect("an option");
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((socket, _)) = listener.accept().await {
                let (found, acceptor) = (found.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(socket, found).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(socket).await {
                                serve(stream, found).await;
                            }
                        }
                    }
                });
            }
        });
        Self::Http2 { address, streams }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match self {
            Self::Http1(upstream) => upstream.address(),
            Self::Http2 { address, .. } => *address,
        }
    }

    /// The next exchange, and the head of its request.
    pub(crate) fn accept(&self, runtime: &Arc<Runtime>) -> (Head, Exchange) {
        let runtime = Arc::clone(runtime);
        match self {
            Self::Http1(upstream) => {
                let mut wire = upstream.accept();
                let head = wire.head();
                (
                    head,
                    Exchange {
                        runtime,
                        side: Side::Http1(wire),
                    },
                )
            }
            Self::Http2 { streams, .. } => {
                let (head, (input, respond)) = streams.recv_timeout(PATIENCE).expect("a stream");
                let flow = Flow {
                    out: None,
                    input: Some(input),
                    held: Vec::new(),
                    response: None,
                    respond: Some(respond),
                    connection: None,
                };
                (
                    head,
                    Exchange {
                        runtime,
                        side: Side::Http2(Box::new(flow)),
                    },
                )
            }
        }
    }
}

async fn serve<S>(stream: S, found: std::sync::mpsc::SyncSender<(Head, Stream)>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (parts, body) = request.into_parts();
        let mut fields = words(&parts.headers);
        let authority = parts.uri.authority().map(ToString::to_string);
        fields.insert(0, (":authority".to_owned(), authority.unwrap_or_default()));
        let path = parts
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default();
        let line = format!("{} {path} HTTP/2", parts.method);
        found
            .try_send((Head { line, fields }, (body, respond)))
            .expect("room");
    }
}
