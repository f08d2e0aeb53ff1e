//! Metrics add up, and the health is reported.

use tapewright_schemas::event::EventBody;

use crate::support::eventually;
use crate::support::http::{Gateway, PATIENCE, Strict, Wire, chunk, json, pair, post, request};

/// A figure at this moment.
fn figure(gateway: &Gateway, name: &str) -> f64 {
    let url = gateway.line["metrics"]
        .as_str()
        .expect("figures are served");
    let authority = url.split('/').nth(2).unwrap();
    let mut wire = Wire::connect(authority.parse().unwrap());
    wire.send(request("GET /metrics", authority.parse().unwrap(), ""));
    let head = wire.head();
    assert_eq!(head.get("content-type"), Some("text/plain; version=0.0.4"));
    let text = String::from_utf8(wire.body(&head)).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("tapewright_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}"))
        .parse()
        .unwrap()
}

#[test]
fn figures_add_up() {
    let (upstream, gateway) = pair(&["--metrics", "127.0.0.1:0", "--max-exchanges", "2"]);
    let mut client = gateway.connect();
    let mut server = None;
    for number in 0..10 {
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"x\"}}");
        client.send(post(gateway.address, "", &call));
        let server = server.get_or_insert_with(|| upstream.accept());
        let head = server.head();
        server.body(&head);
        let session = format!("Mcp-Session-Id: {number}\r\n");
        server.send(json("200 OK", &session, "0123456789"));
        let head = client.head();
        client.body(&head);
    }
    let sent = 10.0 * "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"x\"}".len() as f64;
    assert_eq!(figure(&gateway, "exchanges_total"), 10.0);
    assert_eq!(figure(&gateway, "exchanges_in_flight"), 0.0);
    assert_eq!(figure(&gateway, "refused_total"), 0.0);
    assert_eq!(
        figure(&gateway, "body_bytes_total{direction=\"to_server\"}"),
        sent
    );
    assert_eq!(
        figure(&gateway, "body_bytes_total{direction=\"to_client\"}"),
        100.0
    );
    assert_eq!(figure(&gateway, "added_latency_seconds_count"), 10.0);
    for cause in ["queue_full", "disk", "encoding", "too_long", "memory"] {
        for kind in ["events", "bytes"] {
            let name = format!("lost_{kind}_total{{cause=\"{cause}\"}}");
            assert_eq!(figure(&gateway, &name), 0.0);
        }
    }
    assert!(figure(&gateway, "queue_peak_bytes") > 0.0);
    assert!(figure(&gateway, "queue_peak_events") >= 1.0);
    let (p50, p99) = (
        figure(&gateway, "added_latency_seconds{quantile=\"0.5\"}"),
        figure(&gateway, "added_latency_seconds{quantile=\"0.99\"}"),
    );
    assert!(p50 > 0.0 && p50 <= p99, "{p50} {p99}");
    assert!(figure(&gateway, "added_latency_seconds_sum") > 0.0);

    // Only two streams are allowed; a third is refused, and one that leaves is gone.
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut client = gateway.connect();
        client.send(request("GET /", gateway.address, "Mcp-Session-Id: 1\r\n"));
        let mut server = match server.take() {
            Some(server) => server,
            None => upstream.accept(),
        };
        server.head();
        server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.head();
        server.send(chunk("x"));
        client.chunk();
        streams.push((client, server));
    }
    assert_eq!(figure(&gateway, "exchanges_in_flight"), 2.0);
    client.send(request("GET /", gateway.address, ""));
    assert_eq!(client.head().status(), 503);
    assert_eq!(figure(&gateway, "refused_total"), 1.0);
    assert_eq!(figure(&gateway, "exchanges_total"), 12.0);
    drop(streams);
    assert!(eventually(PATIENCE, || figure(
        &gateway,
        "exchanges_in_flight"
    ) == 0.0));
    assert!(eventually(PATIENCE, || figure(&gateway, "queue_bytes") == 0.0));
    drop((client, server));
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 13);
    let added: Vec<usize> = exchanges
        .iter()
        .map(|exchange| {
            exchange
                .find(|body| matches!(body, EventBody::Added(_)).then_some(()))
                .len()
        })
        .collect();
    assert_eq!(added.iter().sum::<usize>(), 12);
    assert_eq!(added[12], 0, "what went nowhere was not delayed");
}

#[test]
fn health_is_ours_unless_it_is_the_servers() {
    let server = Strict::start(|_| json("200 OK", "", "\"the server's\"").into_bytes());
    for (options, theirs) in [(&[][..], false), (&["--pass-healthz"][..], true)] {
        let gateway = Gateway::to(server.address(), options);
        let mut client = gateway.connect();
        client.send(request("GET /healthz", gateway.address, ""));
        let head = client.head();
        assert_eq!(head.status(), 200);
        let body = String::from_utf8(client.body(&head)).unwrap();
        assert_eq!(body, if theirs { "\"the server's\"" } else { "ok\n" });
        client.send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        let head = client.head();
        assert_eq!(head.status(), 403);
        client.body(&head);
        for line in ["POST /healthz", "GET /healthz/more", "GET /metrics"] {
            client.send(request(line, gateway.address, ""));
            let head = client.head();
            assert_eq!(client.body(&head), b"\"the server's\"", "{line}");
        }
        assert_eq!(server.seen().len(), 3 + usize::from(theirs));
    }
}

#[test]
fn operations_and_sessions_are_counted_in_the_buckets_of_the_conventions() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#;
    let server = Strict::start(move |seen| {
        let asked: serde_json::Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let session = match asked["method"].as_str() {
            Some("initialize") => "Mcp-Session-Id: a\r\n",
            _ => "",
        };
        json("200 OK", session, answer).into_bytes()
    });
    let gateway = Gateway::to(server.address(), &["--metrics", "127.0.0.1:0"]);
    let mut client = gateway.connect();
    let mut send = |line: &str, method: &str, params: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let field = if method == "initialize" {
            ""
        } else {
            "Mcp-Session-Id: a\r\n"
        };
        let body = if line.is_empty() {
            post(gateway.address, field, &body)
        } else {
            request(line, gateway.address, field)
        };
        client.send(body);
        let head = client.head();
        client.body(&head);
    };
    send("", "initialize", "{}");
    for _ in 0..3 {
        send("", "tools/call", r#"{"name":"read \"it\""}"#);
    }
    send("DELETE /mcp", "", "");
    let labels = r#"{mcp_method_name="tools/call",gen_ai_tool_name="read \"it\"",error_type="tool_error",network_transport="tcp"}"#;
    let all = labels.replace('}', r#",le="+Inf"}"#);
    let lasted = r#"{network_transport="tcp"}"#;
    let text = || text_of(&gateway);
    // They are read from the tape, a bit later.
    assert!(eventually(PATIENCE, || {
        let text = text();
        let session = format!("mcp_server_session_duration_seconds_count{lasted} 1\n");
        let calls = format!("mcp_server_operation_duration_seconds_count{labels} 3\n");
        text.contains(&session) && text.contains(&calls)
    }));
    let text = text();
    for of in ["server", "client"] {
        for (part, value) in [
            (format!("operation_duration_seconds_bucket{all}"), 3),
            (format!("operation_duration_seconds_count{labels}"), 3),
            (format!("session_duration_seconds_count{lasted}"), 1),
        ] {
            let line = format!("mcp_{of}_{part} {value}\n");
            assert!(text.contains(&line), "{line} in {text}");
        }
    }
    assert!(text.contains("tapewright_operations_other_total 0\n"));
    is_exposition(&text);
    gateway.stop_quietly();
}

/// Everything that is served at this moment.
fn text_of(gateway: &Gateway) -> String {
    let url = gateway.line["metrics"].as_str().unwrap();
    let address = url.split('/').nth(2).unwrap().parse().unwrap();
    let mut wire = Wire::connect(address);
    wire.send(request("GET /metrics", address, ""));
    let head = wire.head();
    String::from_utf8(wire.body(&head)).unwrap()
}

/// Each family has a help and a type once, before its samples, and each sample belongs to a family.
fn is_exposition(text: &str) {
    let mut family = "";
    let mut known = std::collections::HashSet::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            family = rest.split(' ').next().unwrap();
            assert!(known.insert(family), "{family} twice");
            let kind = lines.next().unwrap();
            assert!(kind.starts_with(&format!("# TYPE {family} ")), "{kind}");
            assert_eq!(
                kind.ends_with(" counter"),
                family.ends_with("_total"),
                "{kind}"
            );
        } else {
            assert!(line.starts_with(family), "{line}");
            let value = line.rsplit(' ').next().unwrap();
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
        }
    }
    assert!(known.len() > 15);
}
