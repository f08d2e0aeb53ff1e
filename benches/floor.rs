//! The baseline of `benches/http`: a gateway of the same components that records, changes and
//! refuses nothing.
//!
//! `floor HOST:PORT` with the server's address; prints where it listens. One thread serves all, and
//! connections to the server are kept. The difference to it is the cost of recording; its
//! difference to haproxy is the cost of hyper and tokio.

use std::cell::RefCell;
use std::error::Error;
use std::io::Write as _;
use std::rc::Rc;

use http::header::HOST;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

type Problem = Box<dyn Error + Send + Sync>;

/// The server, and the idle connections to it.
struct Upstream {
    address: String,
    host: HeaderValue,
    idle: RefCell<Vec<SendRequest<Incoming>>>,
}

impl Upstream {
    async fn connection(&self) -> Result<SendRequest<Incoming>, Problem> {
        while let Some(kept) = self.idle.borrow_mut().pop() {
            if !kept.is_closed() {
                return Ok(kept);
            }
        }
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        drop(spawn_local(connection));
        Ok(sender)
    }

    async fn exchange(
        self: Rc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<Response<Incoming>, Problem> {
        request.headers_mut().insert(HOST, self.host.clone());
        let mut sender = self.connection().await?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        // It can be reused once the body is over; `ready` waits for that.
        self.idle.borrow_mut().push(sender);
        Ok(response)
    }
}

async fn serve(upstream: Rc<Upstream>) -> Result<(), Problem> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let upstream = Rc::clone(&upstream);
        let service = service_fn(move |request| Rc::clone(&upstream).exchange(request));
        drop(spawn_local(
            http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        ));
    }
}

fn main() -> Result<(), Problem> {
    let address = std::env::args().nth(1).ok_or("floor HOST:PORT")?;
    let upstream = Rc::new(Upstream {
        host: HeaderValue::try_from(&address)?,
        address,
        idle: RefCell::default(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, serve(upstream))
}
