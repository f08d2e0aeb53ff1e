//! rmcp, the official Rust SDK, on both sides of both bridges: a client must see the same as
//! without them, in both eras.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../support/front_server.rs"]
mod front_server;
mod peer;
mod roads;
mod transcript;

use rmcp::transport::StreamableHttpClientTransport;

use crate::front_server::FrontServer;
use crate::roads::{Child, HttpServer, Server, over_http, stdio};
use crate::transcript::{Era, transcript};

/// What a client sees with nothing in between.
async fn alone(era: Era) -> Vec<String> {
    let said = transcript(era, stdio(&Child::new(Server::default()))).await;
    let mut expected = vec![
        "three",
        "it always does",
        "it was told",
        "Zürich",
        "counting — 数",
    ];
    match era {
        Era::Handshake => {
            expected.extend([
                "model-1 said",
                "because: 1",
                "Ada",
                "logged",
                "have changed",
            ]);
        }
        Era::Stateless => expected.extend(["far", "Ada"]),
    }
    for part in expected {
        assert!(
            said.iter().any(|line| line.contains(part)),
            "{part}: {said:#?}"
        );
    }
    said
}

async fn a_client_on_http_before_the_front(era: Era) -> Vec<String> {
    let front_server = front_server(Child::new(Server::default()));
    let url = format!("http://{}/mcp", front_server.address);
    transcript(era, StreamableHttpClientTransport::from_uri(url)).await
}

async fn a_server_on_http_behind_the_bridge(era: Era) -> Vec<String> {
    let server = HttpServer::start(Server::default()).await;
    transcript(era, stdio(&over_http(&server.url))).await
}

async fn both_bridges_in_a_row(era: Era) -> Vec<String> {
    let front_server = front_server(Child::new(Server::default()));
    let url = format!("http://{}/mcp", front_server.address);
    transcript(era, stdio(&over_http(&url))).await
}

async fn http_on_both_ends(era: Era) -> Vec<String> {
    let server = HttpServer::start(Server::default()).await;
    let front_server = front_server(over_http(&server.url));
    let url = format!("http://{}/mcp", front_server.address);
    transcript(era, StreamableHttpClientTransport::from_uri(url)).await
}

/// A front, created and later dropped outside of the test's runtime.
fn front_server(upstream: impl tapewright_proxy::upstream::Upstream) -> Outside {
    tokio::task::block_in_place(|| Outside(Some(FrontServer::of(upstream))))
}

/// A front that is dropped where a runtime may be dropped.
struct Outside(Option<FrontServer>);

impl std::ops::Deref for Outside {
    type Target = FrontServer;

    fn deref(&self) -> &FrontServer {
        self.0.as_ref().expect("it is dropped once")
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        tokio::task::block_in_place(|| drop(self.0.take().map(FrontServer::tape)));
    }
}

macro_rules! roads {
    ($($road:ident),*) => {
        mod handshake {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $road() {
                let era = crate::Era::Handshake;
                assert_eq!(crate::$road(era).await, crate::alone(era).await);
            })*
        }
        mod stateless {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $road() {
                let era = crate::Era::Stateless;
                assert_eq!(crate::$road(era).await, crate::alone(era).await);
            })*
        }
    };
}

roads!(
    a_client_on_http_before_the_front,
    a_server_on_http_behind_the_bridge,
    both_bridges_in_a_row,
    http_on_both_ends
);
