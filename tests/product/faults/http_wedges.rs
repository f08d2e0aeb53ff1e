//! Faults that silence a whole session over HTTP.

use super::{PATIENCE, SESSION, begin_session, call, effects};
use crate::support::eventually;
use crate::support::http::{Gateway, Upstream, Wire, find, json, pair, post, request};

/// A call in the session, and the server's answer to it.
fn ask(upstream: &Upstream, gateway: &Gateway, id: u64, tool: &str) -> Wire {
    let mut client = gateway.connect();
    client.send(post(gateway.address, SESSION, &call(id, tool)));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
    server.send(json("200 OK", "Connection: close\r\n", &answer));
    client
}

#[test]
fn what_waits_behind_a_timeout_is_cut_with_it() {
    let fault = "timeout tool=search timeout_ms=4000";
    let (upstream, gateway) = pair(&["--fault", fault]);
    begin_session(&upstream, &gateway);
    let first = ask(&upstream, &gateway, 1, "search");
    let is_told = |what: &str| {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(what)
    };
    assert!(eventually(PATIENCE, || is_told("\"did\":\"held_all\"")));
    let second = ask(&upstream, &gateway, 2, "find");
    for mut cut in [first, second] {
        let (came, _) = cut.rest();
        assert_eq!(String::from_utf8_lossy(&came), "", "no response at all");
    }
    // The session answers again.
    let mut third = ask(&upstream, &gateway, 3, "find");
    let head = third.head();
    assert_eq!(head.status(), 200);
    assert!(third.body(&head).ends_with(b"}"));
    let tape = gateway.stop();
    let told = effects(&tape).join("\n");
    assert_eq!(told.matches("cut_off").count(), 2, "{told}");
    assert!(told.contains("behind"), "{told}");
    let recorded = tape.messages(tapewright_schemas::event::Direction::ToClient);
    assert_eq!(recorded.len(), 1 + 3, "the true answers are on the tape");
}

#[test]
fn a_timeout_cuts_the_streams_of_its_session_on_which_nothing_comes() {
    let (upstream, gateway) = pair(&["--fault", "timeout tool=search timeout_ms=300"]);
    begin_session(&upstream, &gateway);
    let listen = |session: &str| {
        let mut client = gateway.connect();
        let fields = format!("Accept: text/event-stream\r\n{session}");
        client.send(request("GET /mcp", gateway.address, &fields));
        let mut server = upstream.accept();
        server.head();
        server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        assert_eq!(client.head().status(), 200);
        (client, server)
    };
    let (mut own, _own_server) = listen(SESSION);
    let (mut other, mut other_server) = listen("");
    let mut asked = ask(&upstream, &gateway, 1, "search");
    for cut in [&mut asked, &mut own] {
        let (came, _) = cut.rest();
        assert!(find(&came, b"0\r\n\r\n").is_none(), "no proper end");
    }
    // Traffic without a session continues.
    other_server.send("data: {}\n\n");
    assert_eq!(other.chunk(), b"data: {}\n\n");
    // So does the traffic on a stream that is opened afterwards.
    let (mut again, mut again_server) = listen(SESSION);
    again_server.send("data: {}\n\n");
    assert_eq!(again.chunk(), b"data: {}\n\n");
}
