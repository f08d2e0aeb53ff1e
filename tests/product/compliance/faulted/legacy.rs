//! A session over HTTP+SSE (2024-11-05): answers come on the stream, whichever request they are
//! for.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{Came, Client, INITIALIZE, INITIALIZED, PATIENCE, answer, is_answered};
use crate::support::http::{Gateway, Upstream, Wire, chunk, post, request};
use crate::support::{Tape, eventually};

const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const ENDPOINT: &str = "event: endpoint\ndata: /messages?sessionId=s-1\n\n";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A client with a stream, and its gateway.
pub(super) struct Legacy {
    gateway: Gateway,
    tape: PathBuf,
    came: Came,
    stream: TcpStream,
    /// Its sent requests: hanging up before the status arrives gives a request up.
    posts: Vec<TcpStream>,
}

impl Legacy {
    pub(super) fn start(folder: &Path, options: &[&str]) -> Self {
        let url = format!("http://{}/sse", serve());
        let tape = folder.join("run.tape.jsonl");
        let mut all = vec!["--upstream", &url, "--listen", "127.0.0.1:0"];
        all.extend(["-o", tape.to_str().unwrap()]);
        all.extend(options);
        let mut command = crate::support::tapewright();
        let command = command.arg("record").args(&all);
        let gateway = Gateway::of(tempfile::tempdir().unwrap(), command);
        let mut wire = gateway.connect();
        wire.send(request(
            "GET /sse",
            gateway.address,
            "Accept: text/event-stream\r\n",
        ));
        let (stream, came) = (wire.writer(), Came::default());
        stream.set_read_timeout(None).unwrap();
        came.gather(stream.try_clone().unwrap());
        Self {
            gateway,
            tape,
            came,
            stream,
            posts: Vec::new(),
        }
    }
}

impl Client for Legacy {
    fn open(&mut self) {
        let known = || self.came.text().contains("sessionId=s-1");
        assert!(eventually(PATIENCE, known));
        self.send(INITIALIZE);
        assert!(is_answered(self, 0, PATIENCE));
        self.send(INITIALIZED);
    }

    fn send(&mut self, message: &str) {
        let mut wire = self.gateway.connect();
        let text = post(self.gateway.address, "Connection: close\r\n", message);
        // The fault may have ended everything already.
        wire.try_send(text.replacen("/mcp", "/messages?sessionId=s-1", 1))
            .ok();
        // A later message would overtake it. A fault may hold the status back, or drop it.
        let socket = wire.writer();
        socket.set_read_timeout(Some(super::SHORT)).unwrap();
        std::io::Read::read(&mut &socket, &mut [0; 1024]).ok();
        self.posts.push(socket);
    }

    fn came(&mut self) -> String {
        self.came.text()
    }

    fn leave(&mut self) {
        self.posts.clear();
        self.stream.shutdown(Shutdown::Both).ok();
    }

    fn finish(mut self: Box<Self>) -> Tape {
        self.leave();
        self.gateway.signal("TERM");
        crate::support::wait(&mut self.gateway.child, PATIENCE);
        Tape::read(&self.tape)
    }
}

/// A correct server of HTTP+SSE, for one client.
fn serve() -> SocketAddr {
    let upstream = Upstream::start();
    let address = upstream.address();
    let listener = upstream.into_listener();
    let stream: Arc<Mutex<Option<Wire>>> = Arc::default();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let stream = Arc::clone(&stream);
            thread::spawn(move || one(Wire::of(socket), &stream));
        }
    });
    address
}

fn one(mut wire: Wire, stream: &Mutex<Option<Wire>>) -> Option<()> {
    let head = wire.try_head().ok()?;
    if head.line.starts_with("GET") {
        // After reading the endpoint, the test may post at once, and its answer needs the stream.
        let mut stream = stream.lock().unwrap();
        wire.try_send([STREAM.as_bytes(), &chunk(ENDPOINT)].concat())
            .ok()?;
        *stream = Some(wire);
        return Some(());
    }
    let length: usize = head.get("content-length")?.parse().ok()?;
    let message = String::from_utf8(wire.try_take(length).ok()?).ok()?;
    wire.try_send(ACCEPTED).ok()?;
    let answer = answer(&message)?;
    let event = chunk(format!("event: message\ndata: {answer}\n\n"));
    stream.lock().unwrap().as_mut()?.try_send(event).ok()
}
