//! Who may use the recorder, and its limits.

use std::io::{Read as _, Write as _};

use serde_json::Value;
use tapewright_proxy::system::sockets;
use tapewright_schemas::event::InPlace;

use crate::support::http::{Gateway, PATIENCE, Strict, Upstream, Wire, find, json, pair, request};
use crate::support::{eventually, tapewright};

fn strict() -> Strict {
    Strict::start(|_| json("200 OK", "", "{}").into_bytes())
}

fn get(client: &mut Wire, host: &str, fields: &str) -> (u16, Option<String>, Vec<u8>) {
    client.send(format!("GET /x HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
    let head = client.head();
    let mark = head.get("x-tapewright").map(str::to_owned);
    (head.status(), mark, client.body(&head))
}

#[test]
fn a_foreign_host_or_origin_is_refused_with_an_error_without_an_id() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &[]);
    let mut client = gateway.connect();
    let own = gateway.address.to_string();
    for (host, fields) in [
        ("evil.example.com", ""),
        (own.as_str(), "Origin: http://evil.example.com\r\n"),
        (own.as_str(), "Origin: null\r\n"),
        (
            own.as_str(),
            "Origin: http://localhost\r\nOrigin: http://evil.example.com\r\n",
        ),
        // `Connection` does not hide it from the recorder either.
        (
            own.as_str(),
            "Connection: origin\r\nOrigin: http://evil.example.com\r\n",
        ),
    ] {
        let (status, mark, body) = get(&mut client, host, fields);
        assert_eq!(status, 403, "{host} {fields}");
        assert!(mark.is_some());
        let error: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(error["jsonrpc"], "2.0");
        assert!(error.get("id").is_none());
        assert!(
            error["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with("tapewright: ")
        );
        assert!(error["error"]["code"].is_i64());
    }
    assert!(server.seen().is_empty());
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 5);
    assert_eq!(exchanges[0].ours(), "host");
    assert_eq!(exchanges[0].in_place(), Some(InPlace::NotAllowed));
    assert_eq!(exchanges[1].ours(), "origin");
}

#[test]
fn further_names_and_origins_can_be_allowed() {
    let server = strict();
    let options = [
        "--allow-host",
        "Dev.Box",
        "--allow-origin",
        "https://app.example/",
    ];
    let gateway = Gateway::to(server.address(), &options);
    let mut client = gateway.connect();
    assert_eq!(get(&mut client, "dev.box:1234", "").0, 200);
    assert_eq!(
        get(&mut client, "localhost", "Origin: https://app.example\r\n").0,
        200
    );
    assert_eq!(
        get(&mut client, "localhost", "Origin: http://dev.box\r\n").0,
        200
    );
    assert_eq!(get(&mut client, "box", "").0, 403);
    assert_eq!(
        get(&mut client, "localhost", "Origin: http://app.example\r\n").0,
        403
    );
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn pages_of_other_sites_get_nothing_from_any_listener() {
    let image =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n";
    let link =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    let inspector = "Sec-Fetch-Site: same-site\r\nOrigin: http://localhost:6274\r\n";
    // A gateway lets people follow links to sign-in pages, unless it would add its own credentials.
    for (options, followed) in [
        (&[][..], 200),
        (&["--header", "Authorization: Bearer canary"], 403),
    ] {
        let server = strict();
        let gateway = Gateway::to(server.address(), options);
        let mut client = gateway.connect();
        assert_eq!(get(&mut client, "localhost", image).0, 403);
        assert_eq!(get(&mut client, "localhost", link).0, followed);
        assert_eq!(get(&mut client, "localhost", inspector).0, 200);
        assert_eq!(
            get(&mut client, "localhost", "Sec-Fetch-Site: none\r\n").0,
            200
        );
        assert_eq!(server.seen().len(), if followed == 200 { 3 } else { 2 });
    }
    // A bridge starts no process for them.
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let touch = format!("touch '{}'; cat", started.display());
    let bridge = Gateway::start(&["--listen", "127.0.0.1:0", "--", "sh", "-c", &touch]);
    for fields in [image, link] {
        for path in ["/sse", "/mcp"] {
            let mut client = bridge.connect();
            client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{fields}\r\n"));
            assert_eq!(client.head().status(), 403, "{path} {fields}");
        }
    }
    assert!(!started.exists());
}

#[test]
fn pages_of_other_sites_get_nothing_of_a_replay_a_proxy_the_figures_or_the_control() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("made.tape.jsonl");
    let bridge = ["--listen", "127.0.0.1:0", "--", "cat"];
    let mut made = tapewright();
    made.args(["record", "-o"]).arg(&tape).args(bridge);
    Gateway::of(tempfile::tempdir().unwrap(), &mut made).stop_quietly();
    let mut replay = tapewright();
    replay
        .arg("replay")
        .arg(&tape)
        .args(["--listen", "127.0.0.1:0"]);
    let replay = Gateway::of(tempfile::tempdir().unwrap(), &mut replay);
    let server = strict();
    let socket = folder.path().join("control");
    let control = format!("unix:{}", socket.display());
    let options = ["--metrics", "127.0.0.1:0", "--control", &control];
    let gateway = Gateway::to(server.address(), &options);
    let forward = Gateway::forward(&[]);
    let url = gateway.line["metrics"].as_str().expect("a URL");
    let figures = url.split('/').nth(2).expect("an address");
    for (address, line) in [
        (replay.address, "GET /mcp"),
        (forward.address, "GET /healthz"),
        (figures.parse().expect("an address"), "GET /metrics"),
    ] {
        for site in ["cross-site", "same-site"] {
            for mode in [
                "no-cors\r\nSec-Fetch-Dest: image",
                "navigate\r\nSec-Fetch-Dest: iframe",
            ] {
                let mut client = Wire::connect(address);
                let fields = format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\n");
                client.send(request(line, address, &fields));
                assert_eq!(client.head().status(), 403, "{line} {site} {mode}");
            }
        }
    }
    for (fields, status) in [("", "200"), ("Sec-Fetch-Site: same-site\r\n", "401")] {
        let mut client = sockets::connect(&socket, PATIENCE).unwrap();
        let asked = format!("GET /sessions HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        client.write_all(asked.as_bytes()).unwrap();
        let mut line = [0; 12];
        client.read_exact(&mut line).unwrap();
        assert_eq!(&line, format!("HTTP/1.1 {status}").as_bytes());
    }
    assert!(server.seen().is_empty());
}

/// A token that no header of the tests contains by chance.
const TOKEN: &str = "4711-canary-of-a-client-token";

fn guarded(options: &[&str]) -> Gateway {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command.env("MINE", TOKEN).args(["record", "-o"]);
    command.arg(folder.path().join("run.tape.jsonl"));
    command.args(["--client-token", "MINE"]).args(options);
    Gateway::of(folder, &mut command)
}

#[test]
fn who_shows_no_token_gets_nothing_from_any_listener() {
    let server = strict();
    let upstream = format!("http://{}/mcp", server.address());
    let reverse = ["--listen", "127.0.0.1:0", "--upstream", &upstream];
    let forward = ["--forward-proxy", "127.0.0.1:0"];
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let touch = format!("touch '{}'; cat", started.display());
    let bridge = ["--listen", "127.0.0.1:0", "--", "sh", "-c", &touch];
    let right = format!("Proxy-Authorization: Bearer {TOKEN}\r\n");
    let absolute = format!("GET {upstream}");
    let connect = format!("CONNECT {}", server.address());
    let mut seen = Vec::new();
    for (options, asked, passed) in [
        (&reverse[..], vec!["GET /x"], 200),
        (&forward[..], vec![&absolute, &connect], 200),
        (&bridge[..], vec!["GET /mcp", "GET /sse"], 400),
    ] {
        let mut gateway = guarded(options);
        let ask = |line: &str, fields: &str| {
            let mut client = gateway.connect();
            client.send(request(line, gateway.address, fields));
            let head = client.head();
            (head.status(), head.get("proxy-authenticate").is_some())
        };
        let wrong = "Proxy-Authorization: Bearer 4711-canary-of-a-client-tokeX\r\n";
        let other = format!("Authorization: Bearer {TOKEN}\r\n");
        for line in &asked {
            for fields in ["", wrong, &other] {
                assert_eq!(ask(line, fields), (407, true), "{line} {fields}");
            }
        }
        assert!(server.seen().is_empty());
        assert!(!started.exists());
        assert_eq!(ask(asked[0], &right), (passed, false), "{options:?}");
        seen.extend(server.seen());
        gateway.signal("TERM");
        gateway.ended();
        let kept = gateway.bytes_on_disk();
        assert!(find(&kept, TOKEN.as_bytes()).is_none());
    }
    assert_eq!(seen.len(), 2);
    assert!(
        seen.iter()
            .all(|one| one.head.get("proxy-authorization").is_none())
    );
}

#[test]
fn a_token_that_can_be_guessed_is_refused_as_is_an_open_forward_proxy_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |options: &[&str]| {
        let mut command = tapewright();
        command.env("SHORT", "canary").args(["record", "-o"]);
        let command = command.arg(folder.path().join("x.json")).args(options);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let forward = ["--forward-proxy", "0.0.0.0:0", "--danger-listen-anywhere"];
    assert!(refused(&forward).contains("--client-token"));
    let listen = ["--listen", "0", "--upstream", "http://127.0.0.1:9/mcp"];
    for variable in ["SHORT", "UNSET_4711"] {
        let told = refused(&[&listen[..], &["--client-token", variable]].concat());
        assert!(
            told.contains(variable) && !told.contains("canary"),
            "{told}"
        );
    }
}

#[test]
fn the_figures_are_for_those_who_name_them_rightly() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &["--metrics", "127.0.0.1:0"]);
    let url = gateway.line["metrics"].as_str().expect("a URL");
    let address = url.strip_prefix("http://").expect("http");
    let address = address.split('/').next().expect("an address");
    let mut client = Wire::connect(address.parse().expect("an address"));
    for (host, status) in [(address, 200), ("evil.example.com", 403)] {
        client.send(format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let head = client.head();
        assert_eq!(head.status(), status, "{host}");
        client.body(&head);
    }
}

#[test]
fn only_this_machine_can_connect_unless_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let listen = |options: &[&str]| {
        let output = tapewright()
            .args([
                "record",
                "--upstream",
                "http://127.0.0.1:9/mcp",
                "-o",
                folder.path().join("x.json").to_str().unwrap(),
            ])
            .args(options)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for address in ["0.0.0.0:0", "[::]:0"] {
        let (code, text) = listen(&["--listen", address]);
        assert_eq!(code, Some(2));
        assert!(text.contains("--danger-listen-anywhere"), "{text}");
    }
    let server = strict();
    let options = ["--listen", "0.0.0.0:0", "--danger-listen-anywhere"];
    let gateway = Gateway::to(server.address(), &options);
    let mut client = Wire::connect(([127, 0, 0, 1], gateway.address.port()).into());
    assert_eq!(get(&mut client, "192.0.2.7:80", "").0, 200);
    assert_eq!(get(&mut client, "evil.example", "").0, 403);
}

#[test]
fn more_connections_than_allowed_wait_while_all_others_have_requests_under_way() {
    let (upstream, gateway) = pair(&["--max-connections", "2"]);
    let mut busy: Vec<_> = (0..2)
        .map(|_| {
            let mut client = gateway.connect();
            client.send(request("GET /x", gateway.address, ""));
            let mut server = upstream.accept();
            server.head();
            (client, server)
        })
        .collect();
    let mut third = gateway.connect();
    third.send(request("GET /third", gateway.address, ""));
    for (client, server) in &mut busy {
        // Before it has its answer: without a pending request, even briefly, it could be closed.
        client.send(request("GET /y", gateway.address, ""));
        server.send(json("200 OK", "", "{}"));
        let head = client.head();
        client.body(&head);
        assert_eq!(upstream.waiting(), 0);
        assert_eq!(server.head().line, "GET /y HTTP/1.1");
    }
    busy.pop();
    let mut server = upstream.accept();
    assert_eq!(server.head().line, "GET /third HTTP/1.1");
    server.send(json("200 OK", "", "{}"));
    assert_eq!(third.head().status(), 200);
}

#[test]
fn more_exchanges_than_allowed_are_answered_by_us() {
    let (upstream, gateway) = pair(&["--max-exchanges", "1"]);
    let mut first = gateway.connect();
    first.send(request("GET /1", gateway.address, ""));
    let mut server = upstream.accept();
    server.head();
    let mut second = gateway.connect();
    let (status, mark, _) = get(&mut second, "localhost", "");
    assert_eq!((status, mark.is_some()), (503, true));
    server.send(json("200 OK", "", "{}"));
    let head = first.head();
    assert_eq!(first.body(&head), b"{}");
    // Its slot is free again.
    let free = eventually(PATIENCE, || {
        second.send(request("GET /2", gateway.address, ""));
        let came = eventually(PATIENCE, || server.has_bytes() || second.has_bytes());
        assert!(came);
        if server.has_bytes() {
            server.head();
            server.send(json("200 OK", "", "{}"));
        }
        let head = second.head();
        second.body(&head);
        head.status() == 200
    });
    assert!(free);
}

#[test]
fn heads_have_a_limit() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &["--max-head", "16384"]);
    let own = gateway.address;
    let long = "x".repeat(20_000);
    let many = "X-Y: z\r\n".repeat(300);
    for (line, fields, statuses) in [
        ("GET /", format!("X-Long: {long}\r\n"), [431, 431]),
        ("GET /", many, [431, 431]),
        (&format!("GET /{long}"), String::new(), [414, 431]),
    ] {
        let mut client = gateway.connect();
        client.try_send(request(line, own, &fields)).ok();
        let status = client.head().status();
        assert!(statuses.contains(&status), "{status}");
        client.rest();
    }
    let mut client = gateway.connect();
    let fits = format!("X-Long: {}\r\n", "x".repeat(10_000));
    assert_eq!(get(&mut client, "localhost", &fits).0, 200);
    assert_eq!(server.seen().len(), 1);
    // A head without an end, as long as the connection is open.
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
    let mut sent = 0;
    while sent < 64 << 20
        && client
            .try_send("X-More: of the same, and again\r\n".repeat(100))
            .is_ok()
    {
        sent += 3_200;
    }
    assert!(sent < 64 << 20, "nobody stopped it");
    client.rest();
    assert!(gateway.peak_memory_kib() < 60 * 1024);
    assert_eq!(get(&mut gateway.connect(), "localhost", "").0, 200);
}

#[test]
fn who_takes_too_long_over_a_head_is_left() {
    let server = strict();
    let gateway = Gateway::to(server.address(), &["--head-timeout", "0.2"]);
    for part in [
        "",
        "G",
        "GET / HT",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        "PRI * HTTP/2.0\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        let mut client = gateway.connect();
        client.send(part);
        client.rest();
    }
    // Also between two requests, and in the second.
    for part in ["", "G", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let mut client = gateway.connect();
        assert_eq!(get(&mut client, "localhost", "").0, 200);
        client.send(part);
        client.ends();
    }
    assert_eq!(server.seen().len(), 3);
    assert_eq!(get(&mut gateway.connect(), "localhost", "").0, 200);
}

#[test]
fn a_slow_body_and_a_slow_answer_have_all_the_time_they_want() {
    let upstream = Upstream::start();
    let gateway = Gateway::to(upstream.address(), &["--head-timeout", "0.1"]);
    let mut client = gateway.connect();
    client.send(request("POST /", gateway.address, "Content-Length: 2\r\n"));
    let mut server = upstream.accept();
    server.head();
    // Another client runs into the limit meanwhile: the time has passed.
    let wait = || drop(gateway.connect().rest());
    wait();
    client.send("x");
    assert_eq!(server.text(1), "x");
    wait();
    client.send("y");
    server.take(1);
    wait();
    server.send(json("200 OK", "", "{}"));
    assert_eq!(client.head().status(), 200);
}
