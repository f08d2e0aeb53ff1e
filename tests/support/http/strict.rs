//! A server that reads what HTTP/1.1 allows and nothing else, and notes it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use super::{Head, Upstream, Wire};

/// A request as a strict server reads it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

/// A server that answers every request with what it is told to.
pub(crate) struct Strict {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    broken: Arc<Mutex<Vec<Seen>>>,
}

impl Strict {
    /// One that answers all requests alike.
    pub(crate) fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let upstream = Upstream::start();
        let address = upstream.address();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let broken = Arc::<Mutex<Vec<Seen>>>::default();
        let notes = (Arc::clone(&seen), Arc::clone(&broken));
        let answer = Arc::new(answer);
        let listener = upstream.into_listener();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (notes, answer) = (notes.clone(), Arc::clone(&answer));
                thread::spawn(move || serve(Wire::of(socket), &notes.0, &notes.1, answer.as_ref()));
            }
        });
        Self {
            address,
            seen,
            broken,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that had no end.
    pub(crate) fn broken(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.broken.lock().expect("no panic"))
    }

    /// The whole requests since it was last asked.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().expect("no panic"))
    }
}

fn serve(
    mut wire: Wire,
    seen: &Mutex<Vec<Seen>>,
    broken: &Mutex<Vec<Seen>>,
    answer: &dyn Fn(&Seen) -> Vec<u8>,
) {
    while let Ok(head) = wire.try_head() {
        check(&head);
        match body(&mut wire, &head) {
            Ok(body) => {
                let request = Seen { head, body };
                let answer = answer(&request);
                seen.lock().expect("no panic").push(request);
                if wire.try_send(answer).is_err() {
                    return;
                }
            }
            Err(body) => {
                broken.lock().expect("no panic").push(Seen { head, body });
                return;
            }
        }
    }
}

/// Fails where two readers could read two different messages.
fn check(head: &Head) {
    let lengths = head.all("content-length");
    let codings = head.all("transfer-encoding");
    assert!(lengths.len() + codings.len() <= 1, "two framings: {head:?}");
    assert!(
        lengths.iter().all(|length| length.parse::<u64>().is_ok()),
        "{head:?}"
    );
    assert!(
        codings.iter().all(|coding| *coding == "chunked"),
        "{head:?}"
    );
    assert_eq!(head.all("host").len(), 1, "{head:?}");
    assert!(
        head.line.ends_with(" HTTP/1.1") && head.line.split(' ').count() == 3,
        "{head:?}"
    );
    for (name, value) in &head.fields {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        assert!(!name.is_empty() && name.bytes().all(token), "{head:?}");
        assert!(!value.contains(['\r', '\n', '\0']), "{head:?}");
    }
}

/// The body; what there was of it when it broke off.
fn body(wire: &mut Wire, head: &Head) -> Result<Vec<u8>, Vec<u8>> {
    if let Some(length) = head.get("content-length") {
        let length = length.parse().expect("a length");
        return wire.try_take(length).map_err(|_| wire.rest().0);
    }
    let mut data = Vec::new();
    if head.get("transfer-encoding").is_none() {
        return Ok(data);
    }
    loop {
        let Ok(line) = wire.try_line() else {
            return Err(data);
        };
        let size = usize::from_str_radix(&line, 16).expect("a size and nothing else");
        if size == 0 {
            break;
        }
        let Ok(part) = wire.try_take(size) else {
            return Err(data);
        };
        data.extend(part);
        match wire.try_take(2) {
            Ok(end) => assert_eq!(end, b"\r\n"),
            Err(_) => return Err(data),
        }
    }
    loop {
        match wire.try_line() {
            Ok(line) if line.is_empty() => return Ok(data),
            Ok(_) => {}
            Err(_) => return Err(data),
        }
    }
}
