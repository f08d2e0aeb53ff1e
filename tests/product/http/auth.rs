//! Authorization works through the recorder: unchanged, or with the few requested changes.

use crate::support::http::{Gateway, Upstream, Wire, find, json, pair, request};

/// One exchange: the head and body as the client gets them.
fn get(
    upstream: &Upstream,
    gateway: &Gateway,
    target: &str,
    answer: &str,
) -> (
    crate::support::http::Head,
    String,
    crate::support::http::Head,
) {
    let mut client = gateway.connect();
    client.send(request(
        &format!("GET {target}"),
        gateway.address,
        "Accept-Encoding: gzip\r\n",
    ));
    let mut server: Wire = upstream.accept();
    let asked = server.head();
    server.send(answer.replacen("\r\n", "\r\nConnection: close\r\n", 1));
    drop(server);
    let head = client.head();
    let body = String::from_utf8(client.body(&head)).unwrap();
    (head, body, asked)
}

const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

fn document(origin: &str) -> String {
    format!(
        "{{ \"authorization_servers\" : [\"{origin}\"],\"resource\":\"{origin}/mcp\", \"x\":1.0, \"scopes_supported\":[] }}"
    )
}

fn challenge(origin: &str) -> String {
    format!(
        "Bearer error=\"invalid_token\", resource_metadata=\"{origin}{METADATA}\", scope=\"a b\""
    )
}

fn answers(origin: &str) -> [(&'static str, String); 5] {
    let chunked = {
        let text = document(origin);
        let (one, two) = text.split_at(20);
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
            one.len(),
            two.len()
        )
    };
    let challenge = challenge(origin);
    [
        (
            "/mcp",
            json(
                "401 Unauthorized",
                &format!(
                    "WWW-Authenticate: Basic realm=\"x\"\r\nX-A: 1\r\nWww-Authenticate: {challenge}\r\n"
                ),
                "{}",
            ),
        ),
        (
            "/mcp",
            json(
                "403 Forbidden",
                &format!("WWW-Authenticate: {challenge}\r\n"),
                "{}",
            ),
        ),
        (METADATA, json("200 OK", "", &document(origin))),
        (METADATA, chunked),
        (
            "/.well-known/oauth-authorization-server",
            json(
                "200 OK",
                "",
                &format!("{{\"issuer\":\"{origin}\",\"resource\":\"{origin}/mcp\"}}"),
            ),
        ),
    ]
}

#[test]
fn challenges_and_documents_pass_untouched() {
    let (upstream, gateway) = pair(&[]);
    let origin = format!("http://{}", upstream.address());
    for (target, answer) in answers(&origin) {
        let (head, body, asked) = get(&upstream, &gateway, target, &answer);
        assert!(answer.starts_with(&head.line));
        assert_eq!(asked.get("accept-encoding"), Some("gzip"));
        if let Some(value) = head.all("www-authenticate").last() {
            assert_eq!(*value, challenge(&origin));
        } else {
            assert!(
                answer.contains(&body) || body == document(&origin),
                "{body}"
            );
        }
    }
    assert!(
        gateway
            .stop()
            .exchanges()
            .iter()
            .all(|exchange| exchange.edits().is_empty())
    );
}

#[test]
fn exactly_three_things_are_rewritten_and_each_is_on_the_tape() {
    let (upstream, gateway) = pair(&["--rewrite-auth"]);
    let origin = format!("http://{}", upstream.address());
    let ours = format!("http://{}", gateway.address);
    let mut bodies = Vec::new();
    for (target, answer) in answers(&origin) {
        let (head, body, asked) = get(&upstream, &gateway, target, &answer);
        let accepted = if target == METADATA {
            "identity"
        } else {
            "gzip"
        };
        assert_eq!(asked.get("accept-encoding"), Some(accepted));
        if let Some(value) = head.all("www-authenticate").last() {
            let wanted = challenge(&origin)
                .replace(&format!("{origin}{METADATA}"), &format!("{ours}{METADATA}"));
            assert_eq!(*value, wanted);
        }
        if head.status() == 401 {
            assert_eq!(
                head.names(),
                [
                    "Content-Type",
                    "WWW-Authenticate",
                    "Www-Authenticate",
                    "X-A",
                    "Content-Length"
                ]
            );
            assert_eq!(head.all("www-authenticate")[0], "Basic realm=\"x\"");
        }
        bodies.push(body);
    }
    let rewritten = document(&origin).replace(&format!("{origin}/mcp"), &format!("{ours}/mcp"));
    assert_eq!(bodies[2], rewritten);
    assert_eq!(bodies[3], rewritten);
    assert!(
        bodies[4].contains(&format!("{origin}/mcp")),
        "only metadata of resources"
    );
    let edits: Vec<Vec<&str>> = gateway
        .stop()
        .exchanges()
        .iter()
        .map(|exchange| {
            exchange
                .edits()
                .iter()
                .map(|edit| edit.what.name())
                .collect()
        })
        .collect();
    assert_eq!(
        edits,
        [
            vec!["resource_metadata"],
            vec!["resource_metadata"],
            vec!["accept-encoding", "resource"],
            vec!["accept-encoding", "resource"],
            vec![],
        ]
    );
}

#[test]
fn headers_of_ours_reach_the_server_and_never_a_disk() {
    for durability in ["queue", "written"] {
        let token = "token-of-the-test-8f3a9c1d";
        let (upstream, gateway) = pair(&[
            "--durability",
            durability,
            "--header",
            &format!("Authorization: Bearer {token}"),
            "--header-env",
            "X-Api-Key=TEST_SECRET",
        ]);
        let mut client = gateway.connect();
        client.send(request(
            "GET /mcp",
            gateway.address,
            "Authorization: Bearer of-the-client-77aa\r\nX-Other: 1\r\n",
        ));
        let mut server = upstream.accept();
        let head = server.head();
        assert_eq!(head.all("authorization"), [format!("Bearer {token}")]);
        assert_eq!(
            head.get("x-api-key"),
            Some("Bearer from-the-environment-4711")
        );
        // A server that repeats it.
        let echo = format!(
            "X-Echo: {token}\r\nSet-Cookie: sid=very-secret-cookie-1234\r\nMcp-Session-Id: session-secret-5678\r\n"
        );
        server.send(json(
            "200 OK",
            &echo,
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"said\":\"{token}\"}}}}"),
        ));
        let head = client.head();
        assert_eq!(head.get("x-echo"), Some(token));
        let body = client.body(&head);
        assert!(find(&body, token.as_bytes()).is_some());
        client.send(request(
            "GET /?access_token=in-the-query-9911",
            gateway.address,
            "Mcp-Session-Id: session-secret-5678\r\nCookie: sid=very-secret-cookie-1234\r\n",
        ));
        server.head();
        server.send(json("200 OK", "", "{}"));
        let head = client.head();
        client.body(&head);
        drop((client, server));
        let mut gateway = gateway;
        gateway.signal("TERM");
        assert_eq!(gateway.ended().exchanges().len(), 2);
        let disk = gateway.bytes_on_disk();
        for secret in [
            token,
            "from-the-environment-4711",
            "of-the-client-77aa",
            "very-secret-cookie-1234",
            "session-secret-5678",
            "in-the-query-9911",
        ] {
            assert!(
                find(&disk, secret.as_bytes()).is_none(),
                "{secret} is on the disk"
            );
        }
    }
}

#[test]
fn metadata_is_found_wherever_the_challenge_says() {
    let (upstream, gateway) = pair(&["--rewrite-auth"]);
    let origin = format!("http://{}", upstream.address());
    let ours = format!("http://{}", gateway.address);
    let plain = json("200 OK", "", &document(&origin));
    // Before it is referenced, it is an ordinary document.
    let (_, body, asked) = get(&upstream, &gateway, "/oauth/about?v=1", &plain);
    assert_eq!(body, document(&origin));
    assert_eq!(asked.get("accept-encoding"), Some("gzip"));
    let fields =
        format!("WWW-Authenticate: Bearer resource_metadata=\"{origin}/oauth/about?v=1\"\r\n");
    let refusal = json("401 Unauthorized", &fields, "{}");
    let (head, ..) = get(&upstream, &gateway, "/mcp", &refusal);
    let named = format!("Bearer resource_metadata=\"{ours}/oauth/about?v=1\"");
    assert_eq!(head.get("www-authenticate"), Some(named.as_str()));
    let (_, body, asked) = get(&upstream, &gateway, "/oauth/about?v=1", &plain);
    assert_eq!(asked.get("accept-encoding"), Some("identity"));
    assert!(body.contains(&format!("{ours}/mcp")), "{body}");
}
