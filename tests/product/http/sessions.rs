//! Sessions of the streamable transport, distinguished as on the wire.

use tapewright_schemas::era::Era;
use tapewright_schemas::event::{Direction, Event, EventBody, SessionMark};

use crate::support::http::{
    Recorded, Strict, Upstream, Wire, chunk, find, json, pair, post, request,
};

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}";

fn call(id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{id}\"}}}}"
    )
}

fn result(id: usize) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
}

/// A server that gets one request on a new connection, and closes it.
fn answer(upstream: &Upstream, status: &str, fields: &str, body: &str) {
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(json(
        status,
        &format!("Connection: close\r\n{fields}"),
        body,
    ));
}

fn done(client: &mut Wire) -> u16 {
    let head = client.head();
    client.body(&head);
    head.status()
}

fn marks(exchange: &Recorded) -> Vec<String> {
    exchange.find(|body| match body {
        EventBody::Session(SessionMark::Began(how)) => Some(format!("began: {}", how.name())),
        EventBody::Session(SessionMark::Ended(how)) => Some(format!("ended: {}", how.name())),
        _ => None,
    })
}

#[test]
fn clients_at_once_are_never_mixed() {
    let (upstream, gateway) = pair(&[]);
    let own = gateway.address;
    let mut clients: Vec<Wire> = (0..4).map(|_| gateway.connect()).collect();
    // All requests are sent before any is answered.
    let mut servers = Vec::new();
    for client in &mut clients {
        client.send(post(own, "", INITIALIZE));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        servers.push(server);
    }
    for (number, server) in servers.iter_mut().enumerate().rev() {
        let fields =
            format!("Mcp-Session-Id: the-session-of-client-{number}\r\nConnection: close\r\n");
        server.send(json(
            "200 OK",
            &fields,
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}",
        ));
    }
    for client in &mut clients {
        assert_eq!(done(client), 200);
    }
    // They share their connections, in any order, and use the same ids.
    for id in 1..=3 {
        for number in 0..4 {
            let client = &mut clients[(number + id) % 4];
            client.send(post(
                own,
                &format!("mcp-session-id: the-session-of-client-{number}\r\n"),
                &call(id),
            ));
            answer(&upstream, "200 OK", "", &result(id));
            assert_eq!(done(client), 200);
        }
    }
    drop(clients);
    let mut gateway = gateway;
    gateway.signal("TERM");
    let exchanges = gateway.ended().exchanges();
    assert_eq!(exchanges.len(), 16);
    let of: Vec<u32> = exchanges.iter().map(|exchange| exchange.session).collect();
    let mut sessions = of[..4].to_vec();
    sessions.sort_unstable();
    sessions.dedup();
    assert!(sessions.len() == 4 && !sessions.contains(&0), "{of:?}");
    for turn in 1..4 {
        assert_eq!(of[turn * 4..turn * 4 + 4], of[..4]);
    }
    for exchange in &exchanges[..4] {
        assert_eq!(marks(exchange), ["began: session_id"]);
    }
    assert!(find(&gateway.bytes_on_disk(), b"the-session-of-client").is_none());
}

#[test]
fn a_session_ends_when_it_is_deleted_or_not_found() {
    let (upstream, gateway) = pair(&[]);
    let own = gateway.address;
    let mut client = gateway.connect();
    let mut open = |name: &str| {
        client.send(post(own, "", INITIALIZE));
        answer(
            &upstream,
            "200 OK",
            &format!("Mcp-Session-Id: {name}\r\n"),
            &result(0),
        );
        assert_eq!(done(&mut client), 200);
    };
    open("first");
    open("second");
    let id = |name: &str| format!("Mcp-Session-Id: {name}\r\n");
    for (line, name, status) in [
        ("DELETE /mcp", "first", "405 Method Not Allowed"),
        ("DELETE /mcp", "first", "200 OK"),
        ("DELETE /mcp", "first", "404 Not Found"),
        ("GET /mcp", "second", "404 Not Found"),
    ] {
        client.send(request(line, own, &id(name)));
        answer(&upstream, status, "", "{}");
        assert!(status.starts_with(&done(&mut client).to_string()));
    }
    drop(client);
    let exchanges = gateway.stop().exchanges();
    let marks: Vec<Vec<String>> = exchanges.iter().map(marks).collect();
    assert_eq!(marks[2], [""; 0], "a refused DELETE ends nothing");
    assert_eq!(marks[3], ["ended: deleted"]);
    assert_eq!(marks[5], ["ended: not_found"]);
    let of: Vec<u32> = exchanges.iter().map(|exchange| exchange.session).collect();
    assert_eq!((of[0], of[1]), (of[2], of[5]));
    assert_ne!(of[3], 0);
    assert_eq!(of[4], 0, "what comes after the end opens no session");
}

#[test]
fn an_id_that_no_server_minted_opens_no_session() {
    let (upstream, gateway) = pair(&[]);
    let own = gateway.address;
    let mut client = gateway.connect();
    let named = "Mcp-Session-Id: made-up\r\n";
    let streams = format!("{named}Accept: text/event-stream\r\n");
    for (ask, status) in [
        (post(own, named, &call(1)), "404 Not Found"),
        (post(own, named, &call(2)), "400 Bad Request"),
        (request("GET /mcp", own, &streams), "405 Method Not Allowed"),
        (request("DELETE /mcp", own, named), "404 Not Found"),
    ] {
        client.send(ask);
        answer(&upstream, status, "", "{}");
        assert!(status.starts_with(&done(&mut client).to_string()));
    }
    // It is refused, and then a client that begins again gets another one.
    client.send(post(own, named, INITIALIZE));
    let minted = "Mcp-Session-Id: minted\r\n";
    answer(&upstream, "200 OK", minted, &result(0));
    assert_eq!(done(&mut client), 200);
    client.send(post(own, minted, &call(1)));
    answer(&upstream, "200 OK", "", &result(1));
    assert_eq!(done(&mut client), 200);
    client.send(request("DELETE /mcp", own, minted));
    answer(&upstream, "200 OK", "", "");
    assert_eq!(done(&mut client), 200);
    // Late: even if the server accepts it, and repeats the id.
    client.send(post(own, minted, &call(2)));
    answer(&upstream, "200 OK", minted, &result(2));
    assert_eq!(done(&mut client), 200);
    client.send(post(own, minted, &call(3)));
    answer(&upstream, "200 OK", minted, &result(3));
    assert_eq!(done(&mut client), 200);
    drop(client);
    let exchanges = gateway.stop().exchanges();
    let of: Vec<u32> = exchanges.iter().map(|exchange| exchange.session).collect();
    assert_eq!(of[..4], [0; 4]);
    assert_ne!(of[4], 0);
    assert_eq!(of[4..7], [of[4]; 3]);
    assert_eq!(of[7..], [0; 2]);
    assert_eq!(marks(&exchanges[4]), ["began: session_id"]);
    // A judge sees that a session was named.
    for exchange in exchanges[..4].iter().chain(&exchanges[7..]) {
        assert_eq!(marks(exchange), [""; 0]);
        assert!(exchange.request.fields.get("mcp-session-id").is_some());
    }
}

#[test]
fn a_session_that_had_begun_before_is_followed_once_the_server_takes_a_request_of_it() {
    let (upstream, gateway) = pair(&[]);
    let own = gateway.address;
    let mut client = gateway.connect();
    let named = "Mcp-Session-Id: from-before\r\n";
    for id in 1..=3 {
        client.send(post(own, named, &call(id)));
        answer(&upstream, "200 OK", "", &result(id));
        assert_eq!(done(&mut client), 200);
    }
    // A stream waits for its answer, and is in the session from its beginning.
    let other = "Mcp-Session-Id: other\r\nAccept: text/event-stream\r\n";
    client.send(request("GET /mcp", own, other));
    let mut server = upstream.accept();
    server.head();
    let fields = "Content-Type: text/event-stream\r\nContent-Length: 0\r\nConnection: close\r\n";
    server.send(format!("HTTP/1.1 200 OK\r\n{fields}\r\n"));
    assert_eq!(done(&mut client), 200);
    client.send(post(own, other, &call(9)));
    answer(&upstream, "202 Accepted", "", "");
    assert_eq!(done(&mut client), 202);
    drop(client);
    let exchanges = gateway.stop().exchanges();
    let of: Vec<u32> = exchanges.iter().map(|exchange| exchange.session).collect();
    let (first, second) = (of[1], of[3]);
    assert!(first != 0 && second != 0 && first != second, "{of:?}");
    assert_eq!(of, [0, first, first, second, second]);
    let began: Vec<usize> = exchanges.iter().map(|one| marks(one).len()).collect();
    assert_eq!(began, [0, 1, 0, 1, 0]);
}

#[test]
fn what_has_no_session_is_in_the_lane() {
    let server = Strict::start(|seen| {
        let id = if String::from_utf8_lossy(&seen.body).contains("initialize") {
            0
        } else {
            7
        };
        json("200 OK", "", &result(id)).into_bytes()
    });
    let gateway = crate::support::http::Gateway::to(server.address(), &[]);
    let mut clients = [gateway.connect(), gateway.connect()];
    // The first `initialize` may have opened a session; its answer shows that this server has none.
    for _ in 0..2 {
        for client in &mut clients {
            client.send(post(gateway.address, "", INITIALIZE));
            assert_eq!(done(client), 200);
            client.send(post(gateway.address, "", &call(7)));
            assert_eq!(done(client), 200);
        }
    }
    drop(clients);
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 8);
    assert!(exchanges[1..].iter().all(|exchange| exchange.session == 0));
    assert!(
        exchanges
            .iter()
            .all(|exchange| !marks(exchange).iter().any(|mark| mark.starts_with("began")))
    );
}

#[test]
fn the_era_is_that_of_each_message() {
    let (upstream, gateway) = pair(&[]);
    let own = gateway.address;
    let mut client = gateway.connect();
    let modern = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}";
    for body in [modern, INITIALIZE, modern, &call(2)] {
        client.send(post(own, "", body));
        let session = if body == INITIALIZE {
            "Mcp-Session-Id: s\r\n"
        } else {
            ""
        };
        answer(&upstream, "200 OK", session, &result(1));
        assert_eq!(done(&mut client), 200);
    }
    drop(client);
    let exchanges = gateway.stop().exchanges();
    let eras: Vec<Option<Era>> = exchanges
        .iter()
        .map(|exchange| {
            let mut requests = exchange.events.iter().filter(|event| {
                event.dir == Direction::ToServer && matches!(event.body, EventBody::Message { .. })
            });
            requests.next().unwrap().era
        })
        .collect();
    assert_eq!(
        eras[..3],
        [
            Some(Era::Stateless),
            Some(Era::Handshake),
            Some(Era::Stateless)
        ]
    );
    assert_ne!(eras[3], Some(Era::Stateless));
    assert_eq!((exchanges[0].session, exchanges[2].session), (0, 0));
    assert_ne!(exchanges[1].session, 0);
}

#[test]
fn everything_that_a_stream_says_is_recorded() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", INITIALIZE));
    answer(&upstream, "200 OK", "Mcp-Session-Id: s\r\n", &result(0));
    assert_eq!(done(&mut client), 200);
    client.send(post(gateway.address, "Mcp-Session-Id: s\r\n", &call(1)));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.head();
    let progress =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1.0}}";
    let answer = result(1);
    for part in [
        "id: stream-1_0\ndata: \n\n".to_owned(),
        ": keep-alive\n\n".to_owned(),
        format!("event: message\nid: stream-1_1\ndata: {progress}\n\n"),
        "retry: 500\n\n".to_owned(),
        format!("event: other\ndata: {progress}\n\n"),
        format!("data: {}\ndata: {}\n\n", &answer[..10], &answer[10..]),
        "data: {\"never\":\"finished".to_owned(),
    ] {
        server.send(chunk(&part));
        assert_eq!(client.chunks(part.len()), part.as_bytes());
    }
    server.send("0\r\n\r\n");
    assert_eq!(client.chunk(), b"");
    assert_eq!(client.trailers(), Vec::<String>::new());
    // It is resumed later.
    client.send(request(
        "GET /mcp",
        gateway.address,
        "Mcp-Session-Id: s\r\nLast-Event-ID: stream-1_1\r\nAccept: text/event-stream\r\n",
    ));
    assert_eq!(server.head().get("last-event-id"), Some("stream-1_1"));
    server.send(json("405 Method Not Allowed", "", "{}"));
    assert_eq!(done(&mut client), 405);
    drop((client, server));
    let exchanges = gateway.stop().exchanges().split_off(1);
    let split = format!("{}\n{}", &answer[..10], &answer[10..]);
    assert_eq!(
        exchanges[0].messages(Direction::ToClient),
        [progress, &split]
    );
    assert_eq!(exchanges[0].bodies(Direction::ToClient)[0], progress);
    let notes = exchanges[0].notes();
    let ids: Vec<_> = notes.iter().filter_map(|note| note.id.as_deref()).collect();
    assert_eq!(ids, ["stream-1_0", "stream-1_1"]);
    assert_eq!(
        notes
            .iter()
            .filter_map(|note| note.retry_ms)
            .collect::<Vec<_>>(),
        [500]
    );
    let comments: Vec<_> = notes
        .iter()
        .filter_map(|note| note.comment.as_deref())
        .collect();
    assert_eq!(comments, [" keep-alive"]);
    // No client dispatches the last event, and there was no comment about it.
    assert_eq!(notes.iter().filter(|note| note.cut).count(), 1);
    assert!(notes.last().is_some_and(|note| note.cut));
    assert!(!notes[0].message && notes[2].message);
    let named = |event: &Event| match &event.body {
        EventBody::Message { origin, .. } if event.dir == Direction::ToClient => Some(origin.named),
        _ => None,
    };
    let named: Vec<bool> = exchanges[0].events.iter().filter_map(named).collect();
    assert_eq!(named, [true, false]);
    assert_eq!(exchanges[0].session, exchanges[1].session);
}

#[test]
fn an_error_over_http_belongs_to_its_exchange() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let bodies = [
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":-32600,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32001,\"message\":\"x\"}}",
        "<html>no",
    ];
    for body in bodies {
        client.send(post(gateway.address, "Mcp-Session-Id: s\r\n", &call(1)));
        answer(&upstream, "400 Bad Request", "", body);
        assert_eq!(done(&mut client), 400);
    }
    drop(client);
    for (exchange, body) in gateway.stop().exchanges().iter().zip(bodies) {
        assert_eq!(exchange.response.as_ref().unwrap().status, 400);
        let mut found = exchange.messages(Direction::ToClient);
        found.extend(exchange.bodies(Direction::ToClient));
        assert_eq!(found, [body]);
        assert_eq!(exchange.messages(Direction::ToServer), [call(1)]);
    }
}
