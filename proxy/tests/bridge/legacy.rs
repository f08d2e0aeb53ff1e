//! Servers of HTTP+SSE, the transport of 2024-11-05.

use std::sync::{Arc, Mutex};

use crate::server::{Reply, Seen, Server};
use crate::talk::{INITIALIZE, INITIALIZED, Talk, WELCOME};

/// A server of the older transport, whose `endpoint` event contains `endpoint`.
fn legacy(endpoint: &'static str, refusal: &'static str) -> (Server, Arc<Seen<()>>) {
    let lines: Arc<Seen<String>> = Arc::default();
    let closed: Arc<Seen<()>> = Arc::default();
    let tell = Arc::clone(&closed);
    let streams = Mutex::new(());
    let server = Server::start(move |request, reply: &mut Reply| {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/sse") => {
                let _one = streams.lock().unwrap();
                reply.stream();
                reply.raw(&format!("event: endpoint\r\ndata: {endpoint}\r\n\r\n"));
                loop {
                    let line = lines.next();
                    if line == "end" {
                        return reply.close();
                    }
                    if line == "wait" {
                        reply.until_closed();
                        tell.push(());
                        return;
                    }
                    reply.raw(&format!("event: message\r\ndata: {line}\r\n\r\n"));
                }
            }
            ("POST", "/messages?s=1") => {
                reply.whole("202 Accepted", "", "Accepted");
                if request.body.contains("initialize\"") {
                    lines.push(WELCOME.to_owned());
                } else if request.body.contains("\"id\":1") {
                    lines.push(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned());
                } else if request.body.contains("hang") {
                    lines.push("wait".to_owned());
                } else if request.body.contains("leave") {
                    lines.push("end".to_owned());
                }
            }
            _ => reply.whole(refusal, "", "no"),
        }
    });
    (server, closed)
}

#[test]
fn a_whole_session_runs_on_the_older_transport() {
    for refusal in ["400 Bad Request", "404 Not Found", "405 Method Not Allowed"] {
        let (server, closed) = legacy("/messages?s=1", refusal);
        let mut talk = Talk::with(&server.url("/sse"));
        talk.begin();
        talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert!(talk.hear().contains("\"id\":1"));
        talk.say(r#"{"jsonrpc":"2.0","method":"hang"}"#);
        let seen = [server.next(), server.next(), server.next(), server.next()];
        assert_eq!(seen[0].body, INITIALIZE);
        assert_eq!(
            (seen[1].method.as_str(), seen[1].path.as_str()),
            ("GET", "/sse")
        );
        assert_eq!(
            (seen[2].path.as_str(), seen[2].body.as_str()),
            ("/messages?s=1", INITIALIZE)
        );
        assert_eq!(seen[3].body, INITIALIZED);
        talk.leave();
        closed.next();
        talk.hears_the_end();
        talk.ends();
    }
}

#[test]
fn the_session_ends_with_its_stream() {
    let (server, _) = legacy("/messages?s=1", "405 No");
    let mut talk = Talk::with(&server.url("/sse"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":"leave","method":"leave"}"#);
    let lost = talk.hear();
    assert!(
        lost.contains("closed the session's stream") && lost.contains("\"id\":\"leave\""),
        "{lost}"
    );
    talk.hears_the_end();
    talk.ends();
}

#[test]
fn messages_are_never_sent_to_another_origin() {
    let (server, _) = legacy("http://localhost:9/messages?s=1", "405 No");
    let mut talk = Talk::with(&server.url("/sse"));
    talk.say(INITIALIZE);
    let error = talk.hear();
    assert!(error.contains("a different origin"), "{error}");
}

#[test]
fn a_server_of_neither_transport_is_told_as_it_answered() {
    let server = Server::start(|_, reply| reply.whole("404 Not Found", "", "no such page"));
    let mut talk = Talk::with(&server.url("/nowhere"));
    talk.say(INITIALIZE);
    let error = talk.hear();
    assert!(
        error.contains("the server answered 404 Not Found"),
        "{error}"
    );
}

#[test]
fn a_server_that_names_the_request_is_taken_at_its_word() {
    let body = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Unsupported protocol version"}}"#;
    let server = Server::start(move |_, reply| {
        reply.whole(
            "400 Bad Request",
            "Content-Type: application/json\r\n",
            body,
        );
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.say(INITIALIZE);
    assert_eq!(talk.hear(), body);
    server.next();
    assert!(server.seen.is_empty(), "no older transport is tried");
}
