//! Connects to the first address of a server that answers.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// How long one address is tried alone (RFC 8305 §5, the least). Windows takes 2 s to find that
/// nothing listens at `[::1]`, to which `localhost` leads first.
const ALONE: Duration = Duration::from_millis(100);

/// The maximum number of addresses that are tried.
const MOST: usize = 16;

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// Connects to the first of these addresses that accepts. The next one is tried when the one before
/// has failed, or has not answered for a while.
pub(super) async fn first(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    if let [only] = addresses {
        return TcpStream::connect(only).await;
    }
    let mut dial = Dial {
        attempts: Vec::new(),
        failure: io::Error::new(io::ErrorKind::NotFound, "the name has no address"),
    };
    for address in addresses.iter().take(MOST) {
        dial.attempts.push(Box::pin(TcpStream::connect(*address)));
        let mut alone = pin!(sleep(ALONE));
        let next = poll_fn(|context| match dial.poll(context) {
            Poll::Pending => alone.as_mut().poll(context).map(|()| None),
            Poll::Ready(dialled) => Poll::Ready(Some(dialled)),
        });
        if let Some(Some(stream)) = next.await {
            return Ok(stream);
        }
    }
    let connected = poll_fn(|context| dial.poll(context)).await;
    connected.ok_or(dial.failure)
}

/// Attempts that are under way.
struct Dial {
    attempts: Vec<Attempt>,
    // The last one.
    failure: io::Error,
}

impl Dial {
    /// Ready with the first connection, or with `None` if all have failed.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<TcpStream>> {
        let mut connected = None;
        self.attempts
            .retain_mut(|attempt| match attempt.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(Ok(stream)) => {
                    connected = Some(stream);
                    false
                }
                Poll::Ready(Err(error)) => {
                    self.failure = error;
                    false
                }
            });
        if connected.is_some() || self.attempts.is_empty() {
            return Poll::Ready(connected);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::net::TcpListener;

    use super::*;

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn the_first_address_that_accepts_is_taken() {
        let (_one, one) = listener().await;
        let (_two, two) = listener().await;
        let (gone, nobody) = listener().await;
        drop(gone);
        for (addresses, taken) in [
            (vec![one], one),
            (vec![one, two], one),
            (vec![nobody, two, one], two),
            (vec![nobody, nobody, one], one),
        ] {
            let stream = first(&addresses).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), taken);
        }
        for addresses in [vec![nobody], vec![nobody, nobody]] {
            let error = first(&addresses).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        }
        assert!(first(&[]).await.is_err());
    }

    #[tokio::test]
    async fn an_address_that_does_not_answer_holds_up_no_other() {
        let mut dial = Dial {
            attempts: vec![Box::pin(std::future::pending())],
            failure: io::ErrorKind::Other.into(),
        };
        let (_one, one) = listener().await;
        let now = poll_fn(|context| Poll::Ready(dial.poll(context)));
        assert!(now.await.is_pending());
        dial.attempts.push(Box::pin(TcpStream::connect(one)));
        let stream = poll_fn(|context| dial.poll(context)).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), one);
    }
}
