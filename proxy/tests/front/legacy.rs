//! HTTP+SSE, the transport of 2024-11-05.

use crate::client::INITIALIZE;
use crate::fake::plain;
use crate::front_server::FrontServer;

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn a_session_is_a_stream_and_a_place_for_messages() {
    let fake = plain("2024-11-05", |out, line| {
        if line.contains("\"ping\"") {
            out.say(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
        }
        false
    });
    let front_server = FrontServer::of(fake.clone());
    let mut stream = front_server.http();
    stream.send("GET /sse", "Accept: text/event-stream\r\n", "");
    assert_eq!(stream.head().get("content-type"), Some("text/event-stream"));
    let endpoint = stream.event().unwrap();
    let place = endpoint
        .strip_prefix("event: endpoint\ndata: /messages?sessionId=")
        .unwrap();
    let place = format!("POST /messages?sessionId={place}");
    let mut http = front_server.http();
    let (head, body) = http.ask(&place, JSON, INITIALIZE);
    assert_eq!((head.status, body.as_str()), (202, "Accepted"));
    assert!(
        stream
            .event()
            .unwrap()
            .starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\"")
    );
    http.ask(&place, JSON, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(stream.data().unwrap().contains("roots/list"));
    assert!(stream.data().unwrap().contains("\"id\":1"));
    assert_eq!(http.ask(&place, JSON, "nonsense").0.status, 400);
    assert!(fake.ended.is_empty());
    drop(stream);
    assert_eq!(fake.ended.next(), 1, "it ends with its stream");
    // Its id is not valid elsewhere, nor afterwards.
    let name = place.rsplit('=').next().unwrap();
    let session = format!("Mcp-Session-Id: {name}\r\n");
    assert_eq!(http.post(&session, INITIALIZE).0.status, 404);
    assert_eq!(http.ask(&place, JSON, INITIALIZE).0.status, 404);
}

#[test]
fn a_session_of_the_newer_transport_is_not_one_of_the_older() {
    let front_server = FrontServer::of(plain("2025-11-25", |_, _| false));
    let mut http = front_server.http();
    let session = http.open();
    let name = session.trim_end().rsplit(' ').next().unwrap();
    let place = format!("POST /messages?sessionId={name}");
    assert_eq!(http.ask(&place, JSON, INITIALIZE).0.status, 404);
}
