//! The stateless era: everything is in the head, and closing the stream cancels.

use std::sync::Arc;

use crate::server::{Seen, Server};
use crate::talk::Talk;

fn request(id: u32, method: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{more}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

#[test]
fn the_head_repeats_what_the_body_says() {
    let server = Server::start(|request, reply| {
        if request.header("mcp-method") == Some("tools/list") {
            reply.json(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"dep lüy","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}}"#);
        } else {
            reply.json(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.say(&request(1, "tools/list", ""));
    talk.hear();
    let list = server.next();
    assert_eq!(list.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(list.header("mcp-name"), None);
    talk.say(&request(
        2,
        "tools/call",
        r#""name":"dep lüy","arguments":{"region":"eu"},"#,
    ));
    talk.hear();
    let call = server.next();
    assert_eq!(call.header("mcp-method"), Some("tools/call"));
    assert_eq!(call.header("mcp-name"), Some("=?base64?ZGVwIGzDvHk=?="));
    assert_eq!(call.header("mcp-param-region"), Some("eu"));
    assert_eq!(call.header("mcp-session-id"), None);
    talk.leave();
    talk.ends();
    assert!(server.seen.is_empty(), "neither GET nor DELETE");
}

#[test]
fn cancelling_closes_the_stream_and_sends_nothing() {
    let closed = Arc::new(Seen::default());
    let tell = Arc::clone(&closed);
    let server = Server::start(move |request, reply| {
        if request.body.contains("\"id\":1,") {
            // Not even a head: the client must be able to leave before it.
            reply.until_closed();
            tell.push(());
        } else {
            reply.json(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.say(&request(1, "tools/call", r#""name":"slow","#));
    server.next();
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    closed.next();
    talk.say(&request(2, "tools/list", ""));
    assert!(
        talk.hear().contains("\"id\":2"),
        "nothing is heard of the first"
    );
    assert!(server.next().body.contains("\"id\":2"));
    talk.leave();
    talk.hears_the_end();
}

#[test]
fn a_broken_stream_is_never_resumed() {
    let server = Server::start(|_, reply| {
        reply.stream();
        reply.raw("id: 1\nretry: 1\ndata:\n\n");
        reply.close();
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.say(&request(1, "tools/call", r#""name":"x","#));
    assert!(talk.hear().contains("closed the stream before it answered"));
    server.next();
    assert!(server.seen.is_empty());
}

#[test]
fn an_error_keeps_the_servers_words() {
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}"#;
    let server = Server::start(move |_, reply| {
        reply.whole(
            "400 Bad Request",
            "Content-Type: application/json\r\n",
            body,
        );
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.say(&request(1, "server/discover", ""));
    assert_eq!(talk.hear(), body);
}
