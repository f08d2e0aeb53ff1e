//! Heads are forwarded unchanged, except for hop-by-hop parts.

use tapewright_schemas::event::Direction;

use crate::support::http::{json, pair, post, request};

/// The part of a request that reaches the server: its line and its fields.
fn passed(line: &str, fields: &str) -> (String, Vec<(String, String)>) {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request(line, gateway.address, fields));
    let mut server = upstream.accept();
    let head = server.head();
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    gateway.stop();
    (head.line, head.fields)
}

/// The answer that the client receives, without the version of its first line.
fn answered(method: &str, answer: &str) -> (String, Vec<(String, String)>) {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request(&format!("{method} /mcp"), gateway.address, ""));
    let mut server = upstream.accept();
    server.head();
    server.send(answer);
    let head = client.head();
    (head.line, head.fields)
}

#[test]
fn method_and_target_pass_as_they_stand() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for line in [
        "GET /",
        "PUT /a%2Fb/%20%E2%82%AC/../c//d/",
        "PATCH /mcp?",
        "DELETE /mcp?a=1&a=2&b=%26;c+d",
        "QUERY /.well-known/oauth-protected-resource/mcp?x=/?",
        "x-CUSTOM_Method! /authorize?redirect_uri=http%3A%2F%2Flocalhost%2Fcb",
        "OPTIONS *",
        "OPTIONS /mcp",
        "GET //evil.example/path",
        "HEAD /a;b=c:@!$'()*,~_-.|[]{}\"",
    ] {
        client.send(request(line, gateway.address, ""));
        let server = server.get_or_insert_with(|| upstream.accept());
        assert_eq!(server.head().line, format!("{line} HTTP/1.1"));
        server.send("HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(client.head().line, "HTTP/1.1 204 No Content");
    }
}

#[test]
fn fields_keep_their_case_their_order_and_their_repetitions() {
    let fields = "ACCEPT: application/json, text/event-stream\r\n\
                  Mcp-Session-Id: s-1\r\n\
                  mcp-protocol-version: 2025-11-25\r\n\
                  Connection: keep-alive\r\n\
                  MCP-Method: tools/call\r\n\
                  X-Repeated: one\r\n\
                  x-repeated: two\r\n\
                  X-REPEATED: three, four\r\n\
                  Mcp-Param-Region: =?base64?w6k=?=\r\n\
                  Keep-Alive: timeout=5\r\n\
                  Mcp-Unknown-Thing: \t spaced  value\r\n\
                  X-Empty: \r\n\
                  User-Agent: x\r\n\
                  Last-Event-ID: 7\r\n\
                  Authorization: Bearer abc\r\n\
                  Cookie: a=b; c=d\r\n\
                  Accept-Encoding: gzip, deflate, br, zstd\r\n";
    let (_, passed) = passed("GET /mcp", fields);
    let names: Vec<&str> = passed.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "Host",
        "ACCEPT",
        "Mcp-Session-Id",
        "mcp-protocol-version",
        "MCP-Method",
        "X-Repeated",
        "x-repeated",
        "X-REPEATED",
        "Mcp-Param-Region",
        "Mcp-Unknown-Thing",
        "X-Empty",
        "User-Agent",
        "Last-Event-ID",
        "Authorization",
        "Cookie",
        "Accept-Encoding",
    ];
    assert_eq!(names, wanted);
    for line in fields
        .lines()
        .filter(|line| !line.starts_with("Connection") && !line.starts_with("Keep-Alive"))
    {
        let (name, value) = line.split_once(':').unwrap();
        let found = passed.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!(found.1, value.trim(), "{name}");
    }
}

#[test]
fn a_request_without_a_body_gets_no_field_that_it_had_not() {
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "POST"] {
        let (_, passed) = passed(&format!("{method} /mcp"), "");
        let names: Vec<&str> = passed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Host"], "{method}");
    }
    let (_, fields) = passed("POST /mcp", "Content-Length: 0\r\n");
    assert_eq!(fields[1], ("Content-Length".to_owned(), "0".to_owned()));
}

#[test]
fn host_names_the_server_unless_it_is_to_be_kept() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request("GET /", gateway.address, ""));
    let host = upstream.accept().head().get("host").map(str::to_owned);
    assert_eq!(host, Some(upstream.address().to_string()));

    let (upstream, gateway) = pair(&["--preserve-host"]);
    let mut client = gateway.connect();
    client.send(request("GET /", gateway.address, ""));
    let host = upstream.accept().head().get("host").map(str::to_owned);
    assert_eq!(host, Some(gateway.address.to_string()));
}

#[test]
fn what_belongs_to_one_connection_ends_at_us() {
    let fields = "Connection: keep-alive, X-Of-This-Hop, Upgrade\r\n\
                  X-Of-This-Hop: 1\r\n\
                  Keep-Alive: timeout=5\r\n\
                  Proxy-Connection: keep-alive\r\n\
                  Proxy-Authorization: Basic abc\r\n\
                  Upgrade: websocket\r\n\
                  Sec-WebSocket-Version: 13\r\n\
                  X-Of-All: 2\r\n";
    let (_, fields) = passed("GET /mcp", fields);
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Host", "Sec-WebSocket-Version", "X-Of-All"]);
}

#[test]
fn connection_cannot_take_away_what_is_meant_for_the_server() {
    let fields = "Connection: close, content-length, host, mcp-session-id, origin, authorization, \
                  content-type, content-encoding, mcp-protocol-version, cookie, accept\r\n\
                  Mcp-Session-Id: s\r\n\
                  MCP-Protocol-Version: 2025-11-25\r\n\
                  Origin: http://localhost:1\r\n\
                  Authorization: Bearer x\r\n\
                  Cookie: a=b\r\n\
                  Accept: */*\r\n\
                  Content-Type: application/json\r\n\
                  Content-Length: 0\r\n";
    let (_, fields) = passed("POST /mcp", fields);
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "Host",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Origin",
        "Authorization",
        "Cookie",
        "Accept",
        "Content-Type",
        "Content-Length",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_response_passes_with_its_fields_and_its_reason() {
    let answer = "HTTP/1.1 299 Very Fine Indeed\r\n\
                  MCP-Session-Id: s-1\r\n\
                  Set-Cookie: a=1; Path=/; HttpOnly\r\n\
                  Access-Control-Allow-Origin: http://app\r\n\
                  Access-Control-Expose-Headers: Mcp-Session-Id\r\n\
                  set-cookie: b=2\r\n\
                  Connection: keep-alive, X-Hop\r\n\
                  X-Hop: 1\r\n\
                  Keep-Alive: timeout=5\r\n\
                  X-Accel-Buffering: no\r\n\
                  Cache-Control: no-cache, no-transform\r\n\
                  Content-Length: 2\r\n\r\n{}";
    let (line, fields) = answered("GET", answer);
    assert_eq!(line, "HTTP/1.1 299 Very Fine Indeed");
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    // Fields with the same name are adjacent: their order among others has no meaning (RFC 9110
    // §5.3).
    let wanted = [
        "MCP-Session-Id",
        "Set-Cookie",
        "set-cookie",
        "Access-Control-Allow-Origin",
        "Access-Control-Expose-Headers",
        "X-Accel-Buffering",
        "Cache-Control",
        "Content-Length",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn every_status_passes() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for status in [
        200, 201, 202, 203, 204, 205, 206, 207, 226, 300, 301, 303, 304, 307, 308, 400, 401, 403,
        404, 405, 406, 407, 409, 411, 413, 415, 421, 422, 426, 428, 429, 431, 451, 499, 500, 501,
        502, 503, 504, 511, 599, 600, 999,
    ] {
        client.send(request("GET /", gateway.address, ""));
        let server = server.get_or_insert_with(|| upstream.accept());
        server.head();
        let body = if matches!(status, 204 | 304) {
            ""
        } else {
            "Content-Length: 0\r\n"
        };
        server.send(format!("HTTP/1.1 {status} X\r\n{body}\r\n"));
        assert_eq!(client.head().line, format!("HTTP/1.1 {status} X"));
    }
}

#[test]
fn bodiless_answers_have_no_body_and_keep_their_length() {
    let (line, fields) = answered(
        "HEAD",
        "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nETag: x\r\n\r\n",
    );
    assert_eq!(line, "HTTP/1.1 200 OK");
    assert_eq!(fields[0], ("Content-Length".to_owned(), "1234".to_owned()));

    // After each of them the connection serves another exchange.
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let mut server = None;
    for (method, answer) in [
        (
            "HEAD",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        ),
        ("GET", "HTTP/1.1 304 Not Modified\r\nETag: y\r\n\r\n"),
        ("POST", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("POST", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        (
            "HEAD",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n",
        ),
    ] {
        client.send(request(&format!("{method} /"), gateway.address, ""));
        let server = server.get_or_insert_with(|| upstream.accept());
        server.head();
        server.send(answer);
        let head = client.head();
        assert_eq!(head.line, answer.lines().next().unwrap());
    }
    client.send(request("GET /", gateway.address, ""));
    server.as_mut().unwrap().head();
    server.as_mut().unwrap().send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
    assert_eq!(client.text(2), "{}");
}

#[test]
fn redirects_are_not_followed_and_lead_to_us_where_they_led_to_the_server() {
    let (upstream, gateway) = pair(&[]);
    let up = upstream.address();
    let own = gateway.address;
    let mut client = gateway.connect();
    let mut server = None;
    for (location, seen) in [
        (
            format!("http://{up}/other?a=b#c"),
            format!("http://{own}/other?a=b#c"),
        ),
        (format!("//{up}/x"), format!("http://{own}/x")),
        ("/relative".to_owned(), "/relative".to_owned()),
        (
            "https://login.example/x".to_owned(),
            "https://login.example/x".to_owned(),
        ),
        (format!("https://{up}/tls"), format!("https://{up}/tls")),
    ] {
        client.send(request("GET /mcp", own, ""));
        let server = server.get_or_insert_with(|| upstream.accept());
        server.head();
        server.send(format!("HTTP/1.1 307 Temporary Redirect\r\nX-A: 1\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"));
        let head = client.head();
        assert_eq!(
            (head.status(), head.get("location")),
            (307, Some(seen.as_str()))
        );
        assert_eq!(
            head.names(),
            ["X-A", "Location", "content-length"].map(|name| if name == "content-length" {
                "Content-Length"
            } else {
                name
            })
        );
    }
    assert_eq!(upstream.waiting(), 0);
    let exchanges = gateway.stop().exchanges();
    let edits: Vec<_> = exchanges
        .iter()
        .map(|exchange| exchange.edits().len())
        .collect();
    assert_eq!(edits, [1, 1, 0, 0, 0]);
    assert_eq!(
        exchanges[0].edits()[0].before,
        format!("http://{up}/other?a=b#c")
    );
}

#[test]
fn a_preflight_and_its_answer_pass() {
    let fields = "Origin: http://localhost:6274\r\nAccess-Control-Request-Method: POST\r\n\
                  Access-Control-Request-Headers: mcp-session-id,content-type\r\n";
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(request("OPTIONS /mcp", gateway.address, fields));
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(head.get("origin"), Some("http://localhost:6274"));
    assert_eq!(
        head.get("access-control-request-headers"),
        Some("mcp-session-id,content-type")
    );
    server.send("HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: mcp-session-id\r\nVary: Origin\r\n\r\n");
    let head = client.head();
    assert_eq!(
        head.names(),
        [
            "Access-Control-Allow-Origin",
            "Access-Control-Allow-Headers",
            "Vary"
        ]
    );
}

#[test]
fn a_client_of_http_1_0_is_served() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    client.send(format!(
        "GET /old HTTP/1.0\r\nHost: {}\r\n\r\n",
        gateway.address
    ));
    let mut server = upstream.accept();
    assert_eq!(server.head().line, "GET /old HTTP/1.1");
    server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    let head = client.head();
    assert_eq!(head.get("transfer-encoding"), None);
    assert_eq!(String::from_utf8(client.rest().0).unwrap(), "abc");
}

#[test]
fn a_server_of_http_1_0_is_understood() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    for (answer, body) in [
        ("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        ("HTTP/1.0 200 OK\r\n\r\nup to the end", "up to the end"),
        ("HTTP/1.1 200 OK\r\n\r\nup to the end", "up to the end"),
    ] {
        client.send(request("GET /", gateway.address, ""));
        let mut server = upstream.accept();
        server.head();
        server.send(answer);
        drop(server);
        let head = client.head();
        // The recorder's own version: the client's connection continues.
        assert_eq!(head.line, "HTTP/1.1 200 OK");
        assert_eq!(String::from_utf8(client.body(&head)).unwrap(), body);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (upstream, gateway) = pair(&[]);
    let mut client = gateway.connect();
    let all: String = (0..5)
        .map(|id| {
            post(
                gateway.address,
                "",
                &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"),
            )
        })
        .collect();
    client.send(all);
    let mut server = upstream.accept();
    for id in 0..5 {
        let head = server.head();
        let body = server.body(&head);
        assert!(
            String::from_utf8(body)
                .unwrap()
                .contains(&format!("\"id\":{id},"))
        );
        server.send(json(
            "200 OK",
            "",
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"),
        ));
    }
    for id in 0..5 {
        let head = client.head();
        let body = client.body(&head);
        assert!(
            String::from_utf8(body)
                .unwrap()
                .contains(&format!("\"id\":{id},"))
        );
    }
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 5);
    for (id, exchange) in exchanges.iter().enumerate() {
        assert!(exchange.messages(Direction::ToServer)[0].contains(&format!("\"id\":{id},")));
        assert!(exchange.messages(Direction::ToClient)[0].contains(&format!("\"id\":{id},")));
    }
}
