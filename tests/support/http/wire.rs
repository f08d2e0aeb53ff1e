//! One end of a connection, byte by byte: it can send anything, and sees everything.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};

use crate::support::system::uninherited;

/// The time after which a single step has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The maximum lifetime of a connection: data that keeps a stream alive does not extend it.
const LIFETIME: Duration = Duration::from_secs(180);

/// A byte stream: a socket, or TLS over one.
pub(crate) trait Carrier: Read + Write + Send {}
impl<T: Read + Write + Send> Carrier for T {}

/// One end of a connection.
pub(crate) struct Wire {
    carrier: Box<dyn Carrier>,
    socket: TcpStream,
    buffer: Vec<u8>,
    since: Instant,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Reset,
}

/// A head as received from the wire.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) line: String,
    pub(crate) fields: Vec<(String, String)>,
}

impl Head {
    fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut lines = text.trim_end_matches("\r\n").split("\r\n");
        let line = lines.next().unwrap_or_default().to_owned();
        let fields = lines
            .map(|line| {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                (name.to_owned(), value.trim().to_owned())
            })
            .collect();
        Self { line, fields }
    }

    pub(crate) fn status(&self) -> u16 {
        let status = self.line.split(' ').nth(1);
        status.and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.fields
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }

    /// The names in their order and case.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|(name, _)| name.as_str()).collect()
    }
}

impl Wire {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).expect("a connection"))
    }

    pub(crate) fn of(socket: TcpStream) -> Self {
        let carrier = Box::new(socket.try_clone().expect("a handle"));
        Self::over(socket, carrier)
    }

    /// A connection with `carrier` over `socket`.
    pub(crate) fn over(socket: TcpStream, carrier: Box<dyn Carrier>) -> Self {
        socket.set_nodelay(true).expect("an option");
        socket.set_read_timeout(Some(PATIENCE)).expect("an option");
        socket.set_write_timeout(Some(PATIENCE)).expect("an option");
        Self {
            carrier,
            socket,
            buffer: Vec::new(),
            since: Instant::now(),
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).expect("the other side reads");
    }

    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.carrier.write_all(bytes.as_ref())?;
        self.carrier.flush()
    }

    /// Another handle that can write, for a separate thread. Only without TLS.
    pub(crate) fn writer(&self) -> TcpStream {
        self.socket.try_clone().expect("a handle")
    }

    /// Reads the available bytes; fails at the end.
    fn fill(&mut self) -> Result<(), End> {
        assert!(
            self.since.elapsed() < LIFETIME,
            "what was due never came; so far: {:?}",
            String::from_utf8_lossy(&self.buffer)
        );
        let mut chunk = [0; 64 * 1024];
        loop {
            return match self.carrier.read(&mut chunk) {
                Ok(0) => Err(End::Closed),
                Ok(length) => {
                    self.buffer.extend_from_slice(&chunk[..length]);
                    Ok(())
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => continue,
                    ErrorKind::UnexpectedEof => Err(End::Closed),
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Err(End::Reset),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => panic!(
                        "nothing came; so far: {:?}",
                        String::from_utf8_lossy(&self.buffer)
                    ),
                    _ => panic!("{error}"),
                },
            };
        }
    }

    /// The next head, or what was received instead of one.
    pub(crate) fn try_head(&mut self) -> Result<Head, (Vec<u8>, End)> {
        let mut seen = 0_usize;
        loop {
            let from = seen.saturating_sub(3);
            if let Some(at) = find(&self.buffer[from..], b"\r\n\r\n") {
                let text: Vec<u8> = self.buffer.drain(..from + at + 4).collect();
                return Ok(Head::parse(&text));
            }
            seen = self.buffer.len();
            if let Err(end) = self.fill() {
                return Err((std::mem::take(&mut self.buffer), end));
            }
        }
    }

    pub(crate) fn head(&mut self) -> Head {
        self.try_head().unwrap_or_else(|(came, end)| {
            panic!("no head but {:?}, {end:?}", String::from_utf8_lossy(&came))
        })
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        self.try_take(length).unwrap_or_else(|end| {
            panic!(
                "{length} bytes were due, but {:?}, {end:?}",
                String::from_utf8_lossy(&self.buffer)
            )
        })
    }

    pub(crate) fn try_take(&mut self, length: usize) -> Result<Vec<u8>, End> {
        while self.buffer.len() < length {
            self.fill()?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    /// As text.
    pub(crate) fn text(&mut self, length: usize) -> String {
        String::from_utf8_lossy(&self.take(length)).into_owned()
    }

    fn line(&mut self) -> String {
        self.try_line()
            .unwrap_or_else(|end| panic!("no line but {end:?}"))
    }

    pub(crate) fn try_line(&mut self) -> Result<String, End> {
        loop {
            if let Some(at) = find(&self.buffer, b"\r\n") {
                let line = self.text(at);
                self.take(2);
                return Ok(line);
            }
            self.fill()?;
        }
    }

    /// The data of the next chunk; empty for the last one, whose trailers follow.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let line = self.line();
        let size = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).unwrap_or_else(|_| panic!("no chunk: {line:?}"));
        let data = self.take(size);
        if size > 0 {
            assert_eq!(self.take(2), b"\r\n");
        }
        data
    }

    /// The trailers after the last chunk.
    pub(crate) fn trailers(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                return lines;
            }
            lines.push(line);
        }
    }

    /// Reads chunks until there are this many bytes.
    pub(crate) fn chunks(&mut self, length: usize) -> Vec<u8> {
        let mut data = Vec::new();
        while data.len() < length {
            let chunk = self.chunk();
            assert!(
                !chunk.is_empty(),
                "the body ended after {} bytes",
                data.len()
            );
            data.extend_from_slice(&chunk);
        }
        data
    }

    /// The body that a head announces, with its trailers read.
    pub(crate) fn body(&mut self, head: &Head) -> Vec<u8> {
        if let Some(length) = head.get("content-length") {
            return self.take(length.parse().expect("a length"));
        }
        if head.get("transfer-encoding").is_none() {
            return if head.line.starts_with("HTTP/") {
                self.rest().0
            } else {
                Vec::new()
            };
        }
        let mut data = Vec::new();
        loop {
            let chunk = self.chunk();
            if chunk.is_empty() {
                self.trailers();
                return data;
            }
            data.extend_from_slice(&chunk);
        }
    }

    /// Whether any bytes have arrived, or the end.
    pub(crate) fn has_bytes(&mut self) -> bool {
        self.socket.set_nonblocking(true).expect("an option");
        let came = !self.buffer.is_empty() || self.socket.peek(&mut [0]).is_ok();
        self.socket.set_nonblocking(false).expect("an option");
        came
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, End) {
        loop {
            if let Err(end) = self.fill() {
                return (std::mem::take(&mut self.buffer), end);
            }
        }
    }

    /// Waits for the end of the connection, and fails if anything comes before it.
    pub(crate) fn ends(&mut self) -> End {
        let (rest, end) = self.rest();
        assert_eq!(String::from_utf8_lossy(&rest), "", "nothing was due");
        end
    }

    /// The socket, for another protocol from here on.
    pub(crate) fn into_socket(self) -> TcpStream {
        assert!(self.buffer.is_empty());
        self.socket
    }

    /// Closes this side for writing, and still reads.
    pub(crate) fn close_write(&self) {
        self.socket.shutdown(Shutdown::Write).expect("a socket");
    }

    /// Ends the connection with a reset.
    pub(crate) fn reset(self) {
        let socket = SockRef::from(&self.socket);
        socket.set_linger(Some(Duration::ZERO)).expect("an option");
    }
}

pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|part| part == needle)
}

/// A server driven by the test.
pub(crate) struct Upstream {
    listener: TcpListener,
    /// Connections that were accepted to see whether there are any.
    seen: Mutex<VecDeque<TcpStream>>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("an option");
        Self {
            listener,
            seen: Mutex::default(),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("an address")
    }

    pub(crate) fn accept(&self) -> Wire {
        Wire::of(self.accept_socket())
    }

    pub(crate) fn accept_socket(&self) -> TcpStream {
        let mut found = None;
        let came = crate::support::eventually(PATIENCE, || {
            found = self.seen().pop_front();
            found.is_some()
        });
        assert!(came, "nobody connected");
        let socket = found.expect("a connection");
        socket.set_nonblocking(false).expect("an option");
        socket
    }

    /// The number of connections that wait to be accepted, which are closed.
    pub(crate) fn waiting(&self) -> usize {
        self.seen().drain(..).count()
    }

    /// Whether a connection waits to be accepted, now or after some time.
    pub(crate) fn waiting_after(&self, time: Duration) -> bool {
        crate::support::eventually(time, || !self.seen().is_empty())
    }

    fn seen(&self) -> MutexGuard<'_, VecDeque<TcpStream>> {
        let mut seen = self.seen.lock().expect("no test panicked in it");
        let accepted = std::iter::from_fn(|| self.listener.accept().ok());
        seen.extend(accepted.map(|(socket, _)| uninherited(socket).expect("a copy")));
        seen
    }

    /// The socket itself, for a runtime.
    pub(crate) fn into_listener(self) -> TcpListener {
        assert!(self.seen().is_empty(), "a connection would be lost");
        self.listener.set_nonblocking(false).expect("an option");
        self.listener
    }
}

/// A server that neither accepts nor refuses connections.
pub(crate) struct Crowded {
    listener: TcpListener,
    _filling: Vec<TcpStream>,
}

impl Crowded {
    /// A socket whose backlog is full.
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        socket.bind(&any.into()).expect("a port");
        socket.listen(0).expect("a socket that listens");
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().expect("an address");
        let fill = || TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
        let filling: Vec<_> = std::iter::from_fn(fill).take(8).collect();
        assert!(filling.len() < 8, "it takes every connection");
        Self {
            listener,
            _filling: filling,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("an address")
    }
}
