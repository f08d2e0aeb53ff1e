//! A server that answers as a test specifies, byte by byte.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Longer than any step of a test takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A received request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut head = self.head.iter();
        let (_, value) = head.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

/// The connection on which a request is answered.
pub(crate) struct Reply(TcpStream);

impl Reply {
    /// Writes verbatim.
    pub(crate) fn raw(&mut self, text: &str) {
        // Some tests have a client that leaves.
        self.0.write_all(text.as_bytes()).ok();
    }

    /// Writes a whole answer.
    pub(crate) fn whole(&mut self, status: &str, head: &str, body: &str) {
        let length = body.len();
        self.raw(&format!(
            "HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\n\r\n{body}"
        ));
    }

    pub(crate) fn json(&mut self, body: &str) {
        self.whole("200 OK", "Content-Type: application/json\r\n", body);
    }

    /// Starts an event stream, which ends with the connection.
    pub(crate) fn stream(&mut self) {
        self.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    }

    /// Writes one event of a stream.
    pub(crate) fn event(&mut self, data: &str) {
        self.raw(&format!("data: {data}\n\n"));
    }

    /// Waits until the client closes the connection.
    pub(crate) fn until_closed(&mut self) {
        self.0.set_read_timeout(Some(LIMIT)).unwrap();
        let mut byte = [0];
        while matches!(self.0.read(&mut byte), Ok(1..)) {}
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        self.0.shutdown(std::net::Shutdown::Both).ok();
    }
}

/// A queue on which a test waits.
pub(crate) struct Seen<T>(Mutex<VecDeque<T>>, Condvar);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Mutex::default(), Condvar::new())
    }
}

impl<T: std::fmt::Debug> Seen<T> {
    fn extend(&self, one: Option<&T>)
    where
        T: Clone,
    {
        if let Some(one) = one {
            self.push(one.clone());
        }
    }

    pub(crate) fn push(&self, one: T) {
        self.0.lock().unwrap().push_back(one);
        self.1.notify_all();
    }

    /// The next one; panics if there is none in time.
    pub(crate) fn next(&self) -> T {
        let queue = self.0.lock().unwrap();
        let (mut queue, _) = self
            .1
            .wait_timeout_while(queue, LIMIT, |queue| queue.is_empty())
            .unwrap();
        queue.pop_front().expect("something comes in time")
    }

    /// Waits for this time until there is one, and leaves it.
    pub(crate) fn has_one_within(&self, time: Duration) -> bool {
        let queue = self.0.lock().unwrap();
        let (queue, _) = self
            .1
            .wait_timeout_while(queue, time, |queue| queue.is_empty())
            .unwrap();
        !queue.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

/// A scripted server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// Every request, in the order in which their bodies arrived.
    pub(crate) seen: Arc<Seen<Request>>,
}

impl Server {
    /// Answers every request with `answer`, each connection on a separate thread.
    pub(crate) fn start(answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Self {
        Self::start_slow(|| {}, answer)
    }

    /// Like `start`, but each connection is accepted only when `accepts` returns, and the next one
    /// after its first request was read.
    pub(crate) fn start_slow(
        accepts: impl Fn() + Send + 'static,
        answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static,
    ) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let (answer, all) = (Arc::new(answer), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in socket.incoming().map_while(Result::ok) {
                accepts();
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                let mut input = BufReader::new(stream.try_clone().unwrap());
                let mut reply = Reply(stream);
                let mut next = read(&mut input);
                all.extend(next.as_ref());
                thread::spawn(move || {
                    while let Some(request) = next {
                        answer(&request, &mut reply);
                        next = read(&mut input);
                        all.extend(next.as_ref());
                    }
                });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next request.
    pub(crate) fn next(&self) -> Request {
        self.seen.next()
    }
}

fn read(input: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    if input.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..Request::default()
    };
    loop {
        line.clear();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        request
            .head
            .push((name.to_owned(), value.trim().to_owned()));
    }
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).unwrap();
    Some(request)
}
