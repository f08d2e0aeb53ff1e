//! How a session ends.

use std::sync::Arc;

use tapewright_proxy::system::Signal;

use crate::server::{Seen, Server};
use crate::session::welcomes;
use crate::talk::Talk;

#[test]
fn answers_that_are_owed_come_after_the_clients_end() {
    let go = Arc::new(Seen::default());
    let may = Arc::clone(&go);
    let server = Server::start(move |request, reply| {
        if request.body.contains("\"id\":1") {
            may.next();
            reply.json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    talk.leave();
    for _ in 0..4 {
        server.next();
    }
    assert!(!talk.has_ended());
    go.push(());
    assert!(talk.hear().contains("\"id\":1"));
    talk.hears_the_end();
    talk.ends();
    assert_eq!(server.next().method, "DELETE");
}

#[test]
fn a_signal_ends_what_is_under_way_and_the_session() {
    let closed = Arc::new(Seen::default());
    let tell = Arc::clone(&closed);
    let server = Server::start(move |request, reply| {
        if request.body.contains("\"id\":1") {
            reply.until_closed();
            tell.push(());
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    for _ in 0..4 {
        server.next();
    }
    talk.signal(Signal::TERM);
    closed.next();
    assert_eq!(server.next().method, "DELETE");
    talk.hears_the_end();
    talk.ends();
}

#[test]
fn a_server_that_does_not_let_go_cannot_hold_us() {
    let server = Server::start(|request, reply| {
        if request.method == "DELETE" {
            reply.until_closed();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.leave();
    talk.hears_the_end();
    talk.ends();
}

#[test]
fn a_kill_ends_at_once() {
    let server = Server::start(|request, reply| {
        if request.body.contains("\"id\":1") || request.method == "DELETE" {
            reply.until_closed();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    talk.signal(Signal::KILL);
    talk.hears_the_end();
    talk.ends();
}
