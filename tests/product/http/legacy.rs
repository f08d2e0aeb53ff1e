//! HTTP with SSE, as revision 2024-11-05 has it.

use tapewright_schemas::event::{Direction, EventBody, SessionEnd, SessionMark, SessionStart};

use crate::support::http::{Gateway, Upstream, Wire, chunk, pair, post, request};

/// Opens the stream of a client and passes the first event.
fn open(upstream: &Upstream, gateway: &Gateway, event: &str) -> (Wire, Wire, String) {
    let mut client = gateway.connect();
    client.send(request(
        "GET /sse",
        gateway.address,
        "Accept: text/event-stream\r\n",
    ));
    let mut server = upstream.accept();
    assert_eq!(server.head().line, "GET /sse HTTP/1.1");
    server.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let head = client.head();
    assert_eq!(head.get("content-length"), None);
    server.send(chunk(event));
    let seen = String::from_utf8(client.chunk()).unwrap();
    (client, server, seen)
}

#[test]
fn the_announced_address_leads_to_us_where_it_led_to_the_server() {
    let (upstream, gateway) = pair(&[]);
    let up = upstream.address();
    let own = gateway.address;
    let https = format!("https://{up}/m");
    let cases = [
        (
            format!("http://{up}/message?sessionId=7"),
            format!("http://{own}/message?sessionId=7"),
        ),
        (
            "/message?sessionId=7".to_owned(),
            "/message?sessionId=7".to_owned(),
        ),
        (
            "messages/?session_id=7".to_owned(),
            "messages/?session_id=7".to_owned(),
        ),
        (
            "http://other.example/message".to_owned(),
            "http://other.example/message".to_owned(),
        ),
        (https.clone(), https),
    ];
    for end in ["\n", "\r\n"] {
        for (announced, seen) in &cases {
            let event = |url: &str| format!("event: endpoint{end}data: {url}{end}{end}");
            let (client, server, came) = open(&upstream, &gateway, &event(announced));
            assert_eq!(came, event(seen));
            drop((client, server));
        }
    }
    let exchanges = gateway.stop().exchanges();
    for (number, exchange) in exchanges.iter().enumerate() {
        let edits = exchange.edits();
        assert_eq!(
            edits.len(),
            usize::from(number % cases.len() == 0),
            "{edits:?}"
        );
        // The tape has what the server sent, except for the session's name, and the edit.
        let announced = &cases[number % cases.len()].0;
        let kept = exchange.bodies(Direction::ToClient);
        let named = |name: &str| format!("{name}=<REDACTED:session-id#1>");
        let expected = announced
            .replace("sessionId=7", &named("sessionId"))
            .replace("session_id=7", &named("session_id"));
        assert_eq!(kept, [expected]);
    }
}

#[test]
fn nothing_after_the_first_event_is_touched_or_held() {
    let (upstream, gateway) = pair(&[]);
    let up = upstream.address();
    let (mut client, mut server, _) = open(&upstream, &gateway, "event: endpoint\ndata: /m\n\n");
    for part in [
        format!("event: endpoint\ndata: http://{up}/m\n\n"),
        format!("data: http://{up}/x"),
        "\n".to_owned(),
        ": ping".to_owned(),
    ] {
        server.send(chunk(&part));
        assert_eq!(client.chunk(), part.as_bytes());
    }
}

#[test]
fn a_stream_and_what_is_posted_to_its_address_are_one_session() {
    let (upstream, gateway) = pair(&[]);
    let mut streams: Vec<(Wire, Wire)> = (0..3)
        .map(|number| {
            let event = format!("event: endpoint\r\ndata: /message?sessionId={number}\r\n\r\n");
            let (client, server, _) = open(&upstream, &gateway, &event);
            (client, server)
        })
        .collect();
    for id in 0..3 {
        for (number, (client, server)) in streams.iter_mut().enumerate() {
            let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"of-{number}\"}}");
            let mut posting = gateway.connect();
            let message = post(gateway.address, "", &call);
            posting.send(message.replace("/mcp", &format!("/message?sessionId={number}")));
            let mut accepting = upstream.accept();
            let head = accepting.head();
            assert_eq!(accepting.body(&head), call.as_bytes());
            accepting.send(
                "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\nConnection: close\r\n\r\nAccepted",
            );
            let head = posting.head();
            assert_eq!(
                (head.status(), posting.text(8)),
                (202, "Accepted".to_owned())
            );
            let answer = format!(
                "event: message\r\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"of\":{number}}}}}\r\n\r\n"
            );
            server.send(chunk(&answer));
            assert_eq!(client.chunk(), answer.as_bytes());
        }
    }
    // One stream ends; later messages for it do not belong to it.
    let (client, mut server) = streams.remove(0);
    drop(client);
    server.ends();
    drop(streams);
    let exchanges = gateway.stop().exchanges();
    let streams: Vec<_> = exchanges
        .iter()
        .filter(|exchange| exchange.request.method == "GET")
        .collect();
    assert_eq!(streams.len(), 3);
    for (number, stream) in streams.iter().enumerate() {
        let marks = stream.find(|body| match body {
            EventBody::Session(mark) => Some(*mark),
            _ => None,
        });
        assert_eq!(
            marks,
            [
                SessionMark::Began(SessionStart::EventStream),
                SessionMark::Ended(SessionEnd::StreamClosed)
            ]
        );
        assert_eq!(stream.messages(Direction::ToClient).len(), 3);
        let posts: Vec<_> = exchanges
            .iter()
            .filter(|exchange| {
                exchange.request.method == "POST" && exchange.session == stream.session
            })
            .flat_map(|exchange| exchange.messages(Direction::ToServer))
            .collect();
        assert_eq!(posts.len(), 3);
        assert!(
            posts
                .iter()
                .all(|post| post.contains(&format!("of-{number}"))),
            "{posts:?}"
        );
        assert_ne!(stream.session, 0);
    }
}

#[test]
fn an_address_is_rewritten_on_any_stream_that_a_get_opens() {
    let (upstream, gateway) = pair(&[]);
    let (up, own) = (upstream.address(), gateway.address);
    let mut client = gateway.connect();
    // A client that still sends the session id of another transport.
    let fields = "Accept: text/event-stream\r\nMcp-Session-Id: left-over\r\n";
    client.send(request("GET /sse", own, fields));
    let mut server = upstream.accept();
    server.head();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    server.send(format!("{head}Transfer-Encoding: chunked\r\n\r\n"));
    client.head();
    server.send(chunk(format!("event: endpoint\ndata: http://{up}/m\n\n")));
    let seen = String::from_utf8(client.chunk()).unwrap();
    assert_eq!(seen, format!("event: endpoint\ndata: http://{own}/m\n\n"));
}
