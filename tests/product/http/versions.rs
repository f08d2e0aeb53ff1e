//! HTTP/1.1 and HTTP/2 on either leg: the same laws in every combination.

use std::sync::Arc;

use tapewright_schemas::event::{CloseReason, Direction};
use tokio::runtime::Runtime;

use crate::support::http::tls::Certificates;
use crate::support::http::{Exchange, Gateway, Head, Over, Server, Speaks, runtime};

/// A gateway between two peers with these protocols.
struct Between {
    runtime: Arc<Runtime>,
    certificates: Certificates,
    server: Server,
    gateway: Gateway,
    client: Speaks,
}

impl Between {
    fn new(client: Speaks, server_speaks: Speaks) -> Self {
        let runtime = runtime();
        let certificates = Certificates::new();
        let server = Server::start(&runtime, server_speaks, &certificates);
        let (authority, chain, key) = (
            certificates.path("ca.pem"),
            certificates.path("cert.pem"),
            certificates.path("key.pem"),
        );
        let mut options = Vec::new();
        let scheme = match server_speaks {
            Speaks::Http1 => "http",
            Speaks::Http2 => {
                options.push("--upstream-http2");
                "http"
            }
            Speaks::Http2OverTls => {
                options.extend(["--ca-bundle", &authority]);
                "https"
            }
        };
        if client == Speaks::Http2OverTls {
            options.extend(["--tls-cert", &chain, "--tls-key", &key]);
        }
        let url = format!("{scheme}://localhost:{}/mcp", server.address().port());
        let gateway = Gateway::to_url(&url, &options);
        Self {
            runtime,
            certificates,
            server,
            gateway,
            client,
        }
    }

    fn ask(&self, fields: &[(&str, &str)]) -> Exchange {
        Exchange::ask(
            &self.runtime,
            self.client,
            self.gateway.address,
            &self.certificates,
            fields,
        )
    }

    fn accept(&self) -> (Head, Exchange) {
        self.server.accept(&self.runtime)
    }
}

const ALL: [Speaks; 3] = [Speaks::Http1, Speaks::Http2, Speaks::Http2OverTls];

fn in_every_combination(test: impl Fn(Between)) {
    for client in ALL {
        for server in ALL {
            test(Between::new(client, server));
        }
    }
}

const FIELDS: [(&str, &str); 5] = [
    ("content-type", "application/json"),
    ("mcp-session-id", "s-1"),
    ("x-repeated", "one"),
    ("x-repeated", "two"),
    ("te", "trailers"),
];

#[test]
fn heads_bodies_and_trailers_pass_part_by_part() {
    in_every_combination(|between| {
        let fields = [&FIELDS[..], &[("trailer", "x-sum")]].concat();
        let mut client = between.ask(&fields);
        let (head, mut server) = between.accept();
        assert!(head.line.starts_with("POST /mcp?q HTTP/"), "{head:?}");
        assert_eq!(head.all("x-repeated"), ["one", "two"]);
        assert_eq!(head.get("mcp-session-id"), Some("s-1"));
        let authority = head
            .get("host")
            .or_else(|| head.get(":authority"))
            .map(str::to_owned);
        assert_eq!(
            authority,
            Some(format!("localhost:{}", between.server.address().port()))
        );
        let odd = [
            "date",
            "via",
            "forwarded",
            "user-agent",
            "x-forwarded-for",
            "content-length",
        ];
        assert!(odd.iter().all(|name| head.get(name).is_none()), "{head:?}");
        server.answer(&[
            ("trailer", "x-end"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]);
        let head = client.head();
        assert_eq!(head.status(), 200);
        assert_eq!(head.all("set-cookie"), ["a=1", "b=2"]);
        assert!(odd.iter().all(|name| head.get(name).is_none()), "{head:?}");
        for turn in 0..10_u8 {
            let data = vec![turn; 1 + usize::from(turn) * 7_000];
            client.send(&data);
            assert_eq!(server.part(data.len()), data);
            server.send(&data);
            assert_eq!(client.part(data.len()), data);
        }
        client.finish(Some(("x-sum", "7")));
        assert_eq!(
            server.over(),
            Over::Properly(vec![("x-sum".to_owned(), "7".to_owned())])
        );
        server.finish(Some(("x-end", "8")));
        assert_eq!(
            client.over(),
            Over::Properly(vec![("x-end".to_owned(), "8".to_owned())])
        );
        drop((client, server));
        let exchange = between.gateway.stop().only();
        for dir in [Direction::ToServer, Direction::ToClient] {
            assert_eq!(exchange.end(dir), Some(CloseReason::EndOfInput));
            assert_eq!(exchange.trailers(dir).len(), 1);
        }
    });
}

#[test]
fn trailers_pass_that_nobody_announced() {
    in_every_combination(|between| {
        let mut client = between.ask(&[]);
        let (_, mut server) = between.accept();
        client.send(b"a");
        client.finish(Some(("x-sum", "7")));
        assert_eq!(server.part(1), b"a");
        let over =
            |name: &str, value: &str| Over::Properly(vec![(name.to_owned(), value.to_owned())]);
        assert_eq!(server.over(), over("x-sum", "7"));
        server.answer(&[]);
        server.send(b"b");
        server.finish(Some(("x-end", "8")));
        client.head();
        assert_eq!(client.part(1), b"b");
        assert_eq!(client.over(), over("x-end", "8"));
    });
}

#[test]
fn a_response_that_breaks_off_breaks_off() {
    in_every_combination(|between| {
        let mut client = between.ask(&[]);
        client.finish(None);
        let (_, mut server) = between.accept();
        assert_eq!(server.over(), Over::Properly(Vec::new()));
        server.answer(&[]);
        server.send(b"part");
        client.head();
        assert_eq!(client.part(4), b"part");
        server.abort();
        assert_eq!(client.over(), Over::BrokenOff);
        drop(client);
        let exchange = between.gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::Aborted)
        );
    });
}

#[test]
fn a_request_that_breaks_off_breaks_off() {
    in_every_combination(|between| {
        let mut client = between.ask(&[]);
        let (_, mut server) = between.accept();
        client.send(b"part");
        assert_eq!(server.part(4), b"part");
        client.abort();
        assert_eq!(server.over(), Over::BrokenOff);
        drop(server);
        let exchange = between.gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToServer),
            Some(CloseReason::Aborted)
        );
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::ReceiverGone)
        );
    });
}

#[test]
fn a_client_that_leaves_before_the_answer_takes_the_server_with_it() {
    in_every_combination(|between| {
        let mut client = between.ask(&[]);
        client.finish(None);
        let (_, mut server) = between.accept();
        assert_eq!(server.over(), Over::Properly(Vec::new()));
        // On HTTP/2 only the stream: the connection remains.
        let connection = client.leave();
        server.is_left();
        drop((connection, server));
        let exchange = between.gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToServer),
            Some(CloseReason::EndOfInput)
        );
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::ReceiverGone)
        );
    });
}

#[test]
fn a_client_that_leaves_an_idle_stream_takes_the_server_with_it() {
    in_every_combination(|between| {
        let mut client = between.ask(&[("accept", "text/event-stream")]);
        client.finish(None);
        let (_, mut server) = between.accept();
        assert_eq!(server.over(), Over::Properly(Vec::new()));
        server.answer(&[("content-type", "text/event-stream")]);
        client.head();
        server.send(b": hello\n\n");
        assert_eq!(client.part(9), b": hello\n\n");
        let connection = client.leave();
        server.is_left();
        drop((connection, server));
        let exchange = between.gateway.stop().only();
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::ReceiverGone)
        );
    });
}
