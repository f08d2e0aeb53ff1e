//! TLS on both sides, and which side is responsible if it fails.

use rustls::version::{TLS12, TLS13};

use crate::support::http::tls::{Certificates, accept, alert, connect};
use crate::support::http::{Gateway, Recorded, Upstream, Wire, find, json, post};

/// The result of one exchange with a server that presents a certificate.
struct Met {
    status: u16,
    text: String,
    exchange: Recorded,
    errors: String,
    reached: bool,
}

fn meet(certificates: &Certificates, only_1_2: bool, options: &[&str]) -> Met {
    let upstream = Upstream::start();
    let versions = if only_1_2 {
        &[&TLS12][..]
    } else {
        &[&TLS13, &TLS12][..]
    };
    let config = certificates.server_config_of(&["http/1.1"], versions);
    let url = format!("https://localhost:{}/mcp", upstream.address().port());
    let gateway = Gateway::to_url(&url, options);
    let mut client = gateway.connect();
    client.send(post(
        gateway.address,
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    ));
    // A server that is not trusted gets no request.
    let request = accept(&upstream, &config).ok().and_then(|mut server| {
        let head = server.try_head().ok()?;
        server.body(&head);
        server.send(json("200 OK", "", "{}"));
        Some(server)
    });
    let head = client.head();
    let text = String::from_utf8(client.body(&head)).unwrap();
    assert_eq!(head.get("x-tapewright").is_some(), head.status() == 502);
    let errors = gateway.errors();
    let reached = request.is_some();
    drop((client, request));
    let exchange = gateway.stop().only();
    Met {
        status: head.status(),
        text,
        exchange,
        errors,
        reached,
    }
}

#[test]
fn a_server_of_an_authority_that_we_were_given_is_trusted() {
    let certificates = Certificates::new();
    let authority = certificates.path("ca.pem");
    let met = meet(&certificates, false, &["--ca-bundle", &authority]);
    assert_eq!((met.status, met.errors.as_str()), (200, ""));
}

#[test]
fn a_server_that_is_not_trusted_is_told_as_our_refusal_with_the_reason() {
    let valid = (2020, 2040);
    let stranger = Certificates::new();
    let stranger = stranger.path("ca.pem");
    for (certificates, trusted, reason) in [
        (
            Certificates::of(&["localhost"], valid),
            Some(&stranger),
            "UnknownIssuer",
        ),
        (Certificates::of(&["localhost"], valid), None, ""),
        (
            Certificates::of(&["other.example"], valid),
            None,
            "not valid for name",
        ),
        (
            Certificates::of(&["localhost"], (2020, 2021)),
            None,
            "expired",
        ),
        (
            Certificates::of(&["localhost"], (2090, 2091)),
            None,
            "not valid yet",
        ),
    ] {
        let own = certificates.path("ca.pem");
        let authority = match (trusted, reason) {
            (Some(trusted), _) => Some(trusted),
            (None, "") => None,
            (None, _) => Some(&own),
        };
        let options = authority.map(|path| ["--ca-bundle", path.as_str()]);
        let met = meet(
            &certificates,
            false,
            options.as_ref().map_or(&[], |options| &options[..]),
        );
        assert_eq!((met.status, met.reached), (502, false), "{reason}");
        assert!(
            met.text
                .starts_with("tapewright: TLS handshake with localhost"),
            "{}",
            met.text
        );
        assert!(met.text.contains("TLS handshake with"), "{}", met.text);
        assert!(met.text.contains("certificate"), "{}", met.text);
        assert!(met.text.contains(reason), "{reason}: {}", met.text);
        let ours = met.exchange.ours();
        assert!(ours.starts_with("tls_not_accepted: localhost"), "{ours}");
        assert!(ours.contains(reason), "{ours}");
    }
}

#[test]
fn not_to_verify_is_loud() {
    let certificates = Certificates::of(&["other.example"], (2020, 2021));
    let met = meet(&certificates, false, &["--insecure-skip-verify"]);
    assert_eq!(met.status, 200);
    assert!(
        met.errors.contains("--insecure-skip-verify"),
        "{}",
        met.errors
    );
}

#[test]
fn an_old_version_can_be_refused() {
    let certificates = Certificates::new();
    let authority = certificates.path("ca.pem");
    let met = meet(&certificates, true, &["--ca-bundle", &authority]);
    assert_eq!(met.status, 200);
    let met = meet(
        &certificates,
        true,
        &["--ca-bundle", &authority, "--min-tls", "1.3"],
    );
    assert_eq!((met.status, met.reached), (502, false));
    assert!(
        met.text.contains("TLS handshake with localhost"),
        "{}",
        met.text
    );
}

#[test]
fn a_server_that_speaks_no_tls_is_told_as_ours() {
    let upstream = Upstream::start();
    let url = format!("https://localhost:{}/mcp", upstream.address().port());
    let gateway = Gateway::to_url(&url, &[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", "{}"));
    let mut server = upstream.accept();
    server.take(5);
    server.try_send("HTTP/1.1 400 Bad Request\r\n\r\n").ok();
    let head = client.head();
    assert_eq!(head.status(), 502);
    assert!(head.get("x-tapewright").is_some());
    let told = String::from_utf8(client.body(&head)).unwrap();
    assert!(told.contains("the server does not speak TLS"), "{told}");
}

/// What a client receives with such a server, and its log.
fn refused(options: &[&str], server: impl FnOnce(&Upstream) + Send + 'static) -> (String, String) {
    let upstream = Upstream::start();
    let url = format!("https://localhost:{}/mcp", upstream.address().port());
    let options = [options, &["--log", "stderr"]].concat();
    let mut gateway = Gateway::to_url(&url, &options);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", "{}"));
    let serving = std::thread::spawn(move || server(&upstream));
    let head = client.head();
    assert_eq!(head.status(), 502);
    let text = String::from_utf8(client.body(&head)).unwrap();
    serving.join().unwrap();
    gateway.signal("TERM");
    let cause = gateway.ended().only().ours();
    let log = gateway.errors();
    assert!(cause.starts_with("tls_"), "{cause}");
    let told = text.strip_prefix("tapewright: ").unwrap().trim_end();
    (told.to_owned(), log)
}

#[test]
fn a_server_that_refuses_us_in_the_handshake_is_told_with_its_alert() {
    for (number, name) in [
        (40, "handshake_failure"),
        (48, "unknown_ca"),
        (49, "access_denied"),
        (70, "protocol_version"),
        (112, "unrecognized_name"),
        (116, "certificate_required"),
        (199, "199"),
    ] {
        let (told, log) = refused(&[], move |upstream| alert(upstream, number));
        let wanted = format!("the server sent the alert `{name}`");
        assert!(told.starts_with("TLS handshake with localhost"), "{told}");
        assert!(told.ends_with(&wanted), "{told}");
        assert!(
            log.contains("cause=tls_refused") && log.contains(&format!(": {name}\"")),
            "{log}"
        );
    }
}

#[test]
fn a_server_that_wants_a_certificate_of_ours_is_told_so_in_every_version() {
    for (version, protocol, alerts) in [
        (
            &TLS12,
            "http/1.1",
            ["handshake_failure", "certificate_required"],
        ),
        (&TLS13, "http/1.1", ["certificate_required"; 2]),
        (&TLS13, "h2", ["certificate_required"; 2]),
    ] {
        let certificates = Certificates::new();
        let config = certificates.demanding(protocol, version);
        let authority = certificates.path("ca.pem");
        let (told, _) = refused(&["--ca-bundle", &authority], move |upstream| {
            // In TLS 1.3 the client has already finished the handshake and sent its request before
            // this fails.
            assert!(accept(upstream, &config).is_err());
        });
        let is_said = |name: &&str| told.ends_with(&format!("sent the alert `{name}`"));
        assert!(alerts.iter().any(is_said), "{version:?} {protocol}: {told}");
    }
}

#[test]
fn a_server_that_leaves_in_the_handshake_says_nothing() {
    let (told, _) = refused(&[], |upstream| {
        upstream.accept().take(5);
    });
    assert!(told.contains("the server closed the connection"), "{told}");
}

#[test]
fn a_server_with_the_certificate_of_an_authority_is_explained() {
    let certificates = Certificates::of_an_authority();
    let bundle = certificates.path("ca.pem");
    let met = meet(&certificates, false, &["--ca-bundle", &bundle]);
    assert_eq!((met.status, met.reached), (502, false));
    for told in [met.text, met.exchange.ours()] {
        assert!(
            told.contains("CA:TRUE") && !told.contains("CaUsed"),
            "{told}"
        );
    }
}

#[test]
fn our_own_listener_speaks_tls_and_survives_what_is_none() {
    let certificates = Certificates::new();
    let (chain, key) = (certificates.path("cert.pem"), certificates.path("key.pem"));
    let upstream = Upstream::start();
    let gateway = Gateway::to(
        upstream.address(),
        &["--tls-cert", &chain, "--tls-key", &key],
    );
    assert!(
        gateway.line["listening"]
            .as_str()
            .unwrap()
            .starts_with("https://")
    );
    let exchange = || {
        let socket = std::net::TcpStream::connect(gateway.address).unwrap();
        let mut client = connect(socket, &certificates.client_config(&["http/1.1"])).unwrap();
        client.send(post(gateway.address, "", "{}"));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        // Addresses of the server are replaced by the recorder's, with its scheme.
        let location = format!(
            "Connection: close\r\nLocation: http://{}/x\r\n",
            upstream.address()
        );
        server.send(json("200 OK", &location, "{}"));
        let head = client.head();
        let ours = format!("https://{}/x", gateway.address);
        assert_eq!(head.get("location"), Some(ours.as_str()));
    };
    exchange();
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x40\x01",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x15\x03\x01\x00\x02\x02\x28",
        b"\x17\x03\x03\xff\xff",
        b"\0\0\0\0\0\0\0\0",
    ] {
        let mut client = Wire::connect(gateway.address);
        client.try_send(bytes).ok();
        client.close_write();
        let (came, _) = client.rest();
        assert!(find(&came, b"HTTP/1.1 200").is_none());
        exchange();
    }

    assert_eq!(upstream.waiting(), 0);
}
