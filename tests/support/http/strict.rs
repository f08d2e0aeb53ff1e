//! A server that strictly accepts HTTP/1.1, and records its requests.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::ServerConfig;

use super::{Head, Upstream, Wire, tls};

/// A request as a strict server reads it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

/// A server that answers every request as configured.
pub(crate) struct Strict {
    address: SocketAddr,
    notes: Notes,
}

#[derive(Clone, Default)]
struct Notes {
    seen: Arc<Mutex<Vec<Seen>>>,
    broken: Arc<Mutex<Vec<Seen>>>,
    // Messages that two readers could parse differently.
    ambiguous: Arc<Mutex<Vec<String>>>,
}

impl Strict {
    /// A server that answers all requests with the same function.
    pub(crate) fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::over(|socket| Some(Wire::of(socket)), answer)
    }

    /// The same, behind TLS.
    pub(crate) fn start_tls(
        config: Arc<ServerConfig>,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        // A client that does not complete TLS sends no request.
        Self::over(move |socket| tls::served(socket, &config).ok(), answer)
    }

    fn over(
        open: impl Fn(TcpStream) -> Option<Wire> + Send + Sync + 'static,
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let upstream = Upstream::start();
        let address = upstream.address();
        let notes = Notes::default();
        let handle = notes.clone();
        let (open, answer) = (Arc::new(open), Arc::new(answer));
        let listener = upstream.into_listener();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (open, notes) = (Arc::clone(&open), handle.clone());
                let answer = Arc::clone(&answer);
                thread::spawn(move || {
                    if let Some(wire) = open(socket) {
                        serve(wire, &notes, answer.as_ref());
                    }
                });
            }
        });
        Self { address, notes }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that had no end.
    pub(crate) fn broken(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.notes.broken.lock().expect("no panic"))
    }

    /// The complete requests since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        let ambiguous = self.notes.ambiguous.lock().expect("no panic").clone();
        assert!(ambiguous.is_empty(), "{ambiguous:?}");
        std::mem::take(&mut *self.notes.seen.lock().expect("no panic"))
    }
}

fn serve(mut wire: Wire, notes: &Notes, answer: &dyn Fn(&Seen) -> Vec<u8>) {
    let ambiguous = |what: String| notes.ambiguous.lock().expect("no panic").push(what);
    while let Ok(head) = wire.try_head() {
        if !is_clear(&head) {
            return ambiguous(format!("{head:?}"));
        }
        match body(&mut wire, &head) {
            Ok(body) => {
                let request = Seen { head, body };
                let answer = answer(&request);
                notes.seen.lock().expect("no panic").push(request);
                if wire.try_send(answer).is_err() {
                    return;
                }
            }
            Err(Broken::Ambiguous(line)) => return ambiguous(line),
            Err(Broken::Off(body)) => {
                notes
                    .broken
                    .lock()
                    .expect("no panic")
                    .push(Seen { head, body });
                return;
            }
        }
    }
}

/// Whether all readers must parse the same message.
fn is_clear(head: &Head) -> bool {
    let lengths = head.all("content-length");
    let codings = head.all("transfer-encoding");
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    lengths.len() + codings.len() <= 1
        && lengths
            .iter()
            .all(|length| length.bytes().all(|byte| byte.is_ascii_digit()))
        && codings.iter().all(|coding| *coding == "chunked")
        && head.all("host").len() == 1
        && head.line.ends_with(" HTTP/1.1")
        && head.line.split(' ').count() == 3
        && head.fields.iter().all(|(name, value)| {
            let named = !name.is_empty() && name.bytes().all(token);
            named && !value.contains(['\r', '\n', '\0'])
        })
}

/// Why there is no body.
enum Broken {
    Off(Vec<u8>),
    Ambiguous(String),
}

/// The body that a head announces.
fn body(wire: &mut Wire, head: &Head) -> Result<Vec<u8>, Broken> {
    if let Some(length) = head.get("content-length") {
        let length = length.parse().expect("a length");
        return wire
            .try_take(length)
            .map_err(|_| Broken::Off(wire.rest().0));
    }
    let mut data = Vec::new();
    if head.get("transfer-encoding").is_none() {
        return Ok(data);
    }
    loop {
        let Ok(line) = wire.try_line() else {
            return Err(Broken::Off(data));
        };
        let Ok(size) = usize::from_str_radix(&line, 16) else {
            return Err(Broken::Ambiguous(line));
        };
        if size == 0 {
            break;
        }
        let Ok(part) = wire.try_take(size) else {
            return Err(Broken::Off(data));
        };
        data.extend(part);
        match wire.try_take(2).as_deref() {
            Ok(b"\r\n") => {}
            Ok(other) => return Err(Broken::Ambiguous(format!("{other:?}"))),
            Err(_) => return Err(Broken::Off(data)),
        }
    }
    loop {
        match wire.try_line() {
            Ok(line) if line.is_empty() => return Ok(data),
            Ok(_) => {}
            Err(_) => return Err(Broken::Off(data)),
        }
    }
}
