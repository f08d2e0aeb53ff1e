//! How to connect to servers with a URL: the options of the suite, and those of the command line,
//! which take precedence.

use std::process::Child;

use crate::suite::stage::{CommandOutput, Stage, said};
use crate::support::http::tls::{Certificates, accept};
use crate::support::http::{Crowded, Gateway, Head, PATIENCE, Upstream, json};
use crate::support::{peer, wait};

/// A suite that sends one request to the server at a URL; `more` is a block of the server.
fn suite(url: &str, more: &str) -> String {
    format!(
        "servers:\n  peer:\n    url: \"{url}\"\n{more}tools:\n  - {{ name: a, server: peer, tool: echo }}\n"
    )
}

fn url(upstream: &Upstream) -> String {
    format!("http://{}/mcp", upstream.address())
}

/// The peer behind HTTP, with further options.
fn front(options: &[&str]) -> (Gateway, String) {
    let peer = peer().display().to_string();
    let all = [
        &["--listen", "127.0.0.1:0"],
        options,
        &["--", peer.as_str(), "suite"],
    ]
    .concat();
    let front = Gateway::start(&all);
    let url = front.line["listening"].as_str().expect("a URL").to_owned();
    (front, url)
}

/// A run in progress.
fn start(stage: &Stage, words: &[&str]) -> Child {
    let errors = std::fs::File::create(stage.path("errors")).expect("a file");
    let mut command = stage.command();
    command.args(["run", "suite.yaml"]).args(words);
    command
        .env("TENANT_KEY", "the-key-of-a-tenant")
        .env("PEER_BEARER", "a-bearer-4711")
        .env("CLIENT_ID", "client/1")
        .env("CLIENT_SECRET", "s3cret-of-client")
        .stdout(std::process::Stdio::null())
        .stderr(errors);
    command.spawn().expect("it starts")
}

/// The head of the first request of a run, which is then refused.
fn first_request(stage: &Stage, upstream: &Upstream, words: &[&str]) -> (Head, String) {
    let mut child = start(stage, words);
    let mut wire = upstream.accept();
    let head = wire.head();
    wire.body(&head);
    wire.send(json("403 Forbidden", "Connection: close\r\n", "{}"));
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(2));
    (head, stage.read("errors"))
}

#[test]
fn headers_of_the_suite_and_of_the_command_line_are_sent() {
    let stage = Stage::new();
    let upstream = Upstream::start();
    let headers = "    headers: { X-Tenant: acme, X-Plan: free, X-Key: { env: TENANT_KEY } }\n";
    stage.write("suite.yaml", &suite(&url(&upstream), headers));
    let (head, _) = first_request(&stage, &upstream, &[]);
    assert_eq!(head.get("x-tenant"), Some("acme"));
    assert_eq!(head.get("x-key"), Some("the-key-of-a-tenant"));
    assert!(
        head.get("user-agent")
            .is_some_and(|name| name.starts_with("tapewright/"))
    );
    let words = [
        ["--header", "x-tenant=other"],
        ["--header-env", "X-Second=TENANT_KEY"],
        ["--server-auth-bearer-env", "PEER_BEARER"],
    ];
    let (head, errors) = first_request(&stage, &upstream, &words.concat());
    assert_eq!(head.all("x-tenant"), ["other"]);
    assert_eq!(head.get("x-plan"), Some("free"));
    assert_eq!(head.get("x-second"), Some("the-key-of-a-tenant"));
    assert_eq!(head.get("authorization"), Some("Bearer a-bearer-4711"));
    let used = "servers changed by --server-auth-bearer-env, --header, --header-env";
    assert!(
        errors.contains(used) && !errors.contains("4711"),
        "{errors}"
    );
}

#[test]
fn a_client_that_is_not_to_name_itself_does_not() {
    let stage = Stage::new();
    let upstream = Upstream::start();
    let http = "    http: { user_agent_override: false }\n";
    stage.write("suite.yaml", &suite(&url(&upstream), http));
    let (head, _) = first_request(&stage, &upstream, &[]);
    assert_eq!(head.get("user-agent"), None);
    let named = "    http: { user_agent_override: false }\n    headers: { User-Agent: mine }\n";
    stage.write("suite.yaml", &suite(&url(&upstream), named));
    let (head, _) = first_request(&stage, &upstream, &[]);
    assert_eq!(head.all("user-agent"), ["mine"]);
}

#[test]
fn redirects_are_followed_as_often_as_the_suite_says() {
    for (most, requests, part) in [(0, 1, "307"), (2, 3, "redirects more than 2 times")] {
        let stage = Stage::new();
        let upstream = Upstream::start();
        let http = format!("    http: {{ max_redirects: {most} }}\n");
        stage.write("suite.yaml", &suite(&url(&upstream), &http));
        let mut child = start(&stage, &[]);
        for number in 0..requests {
            let mut wire = upstream.accept();
            let head = wire.head();
            wire.body(&head);
            let to = format!("Location: /mcp/{number}\r\nConnection: close\r\n");
            wire.send(json("307 Temporary Redirect", &to, ""));
        }
        assert_eq!(wait(&mut child, PATIENCE).code(), Some(2));
        let errors = stage.read("errors");
        assert!(errors.contains(part), "{part}: {errors}");
        assert_eq!(upstream.waiting(), 0);
    }
}

#[test]
fn a_server_is_asked_nothing_before_it_is_ready() {
    let stage = Stage::new();
    let (server, url) = front(&["--durability", "written"]);
    let ready = Upstream::start();
    let wait_for = format!(
        "    wait_for_ready: \"http://{}/ready?now\"\n",
        ready.address()
    );
    stage.write("suite.yaml", &suite(&url, &wait_for));
    let mut child = start(&stage, &[]);
    for status in ["503 Service Unavailable", "404 Not Found", "204 No Content"] {
        let mut wire = ready.accept();
        let head = wire.head();
        assert_eq!(head.line, "GET /ready?now HTTP/1.1");
        let tape = std::fs::read_to_string(server.tape()).expect("a tape");
        assert!(!tape.contains("initialize"), "{tape}");
        wire.send(format!(
            "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ));
    }
    assert_eq!(
        wait(&mut child, PATIENCE).code(),
        Some(0),
        "{}",
        stage.read("errors")
    );
}

const OAUTH: &str = "    auth:\n      oauth:\n        client_id_env: CLIENT_ID\n        client_secret_env: CLIENT_SECRET\n        authorization_url: http://127.0.0.1:1/authorize\n        token_url: \"TOKEN_URL\"\n        scopes: [\"mcp:read\", \"mcp:invoke\"]\n";

#[test]
fn a_token_is_fetched_with_the_credentials_of_a_client() {
    let stage = Stage::new();
    let (server, tokens) = (Upstream::start(), Upstream::start());
    let oauth = OAUTH.replace("TOKEN_URL", &format!("http://{}/token", tokens.address()));
    stage.write("suite.yaml", &suite(&url(&server), &oauth));
    let mut child = start(&stage, &["--record=rec"]);
    let mut wire = tokens.accept();
    let head = wire.head();
    assert_eq!(head.line, "POST /token HTTP/1.1");
    assert_eq!(
        head.get("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    let form = String::from_utf8(wire.body(&head)).expect("text");
    assert_eq!(
        form,
        "grant_type=client_credentials&client_id=client%2F1&client_secret=s3cret-of-client&scope=mcp%3Aread+mcp%3Ainvoke"
    );
    let granted = r#"{"access_token":"granted-0815","token_type":"Bearer"}"#;
    wire.send(json("200 OK", "Connection: close\r\n", granted));
    let mut wire = server.accept();
    let head = wire.head();
    wire.body(&head);
    assert_eq!(head.get("authorization"), Some("Bearer granted-0815"));
    // A server that repeats the token must not make the runner print it.
    let echo = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"bad granted-0815"}}"#;
    wire.send(json("200 OK", "Connection: close\r\n", echo));
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(2));
    let errors = stage.read("errors");
    assert!(
        errors.contains("cannot connect to the server `peer`"),
        "{errors}"
    );
    assert!(!errors.contains("granted-0815"), "{errors}");
    for entry in std::fs::read_dir(stage.path("rec")).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("text");
        assert!(!text.contains("granted-0815"), "{text}");
    }
}

#[test]
fn a_token_that_is_not_granted_is_told_without_secrets() {
    let stage = Stage::new();
    let tokens = Upstream::start();
    let oauth = OAUTH.replace("TOKEN_URL", &format!("http://{}/token", tokens.address()));
    stage.write("suite.yaml", &suite("http://127.0.0.1:1/mcp", &oauth));
    let mut child = start(&stage, &[]);
    let mut wire = tokens.accept();
    let head = wire.head();
    wire.body(&head);
    let refused = r#"{"error":"invalid_client","error_description":"s3cret-of-client is wrong"}"#;
    wire.send(json("401 Unauthorized", "Connection: close\r\n", refused));
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(2));
    let errors = stage.read("errors");
    assert!(
        errors.contains("the endpoint answers 401 Unauthorized (invalid_client)"),
        "{errors}"
    );
    assert!(!errors.contains("s3cret"), "{errors}");
}

#[test]
fn the_limit_of_a_request_is_that_of_the_suite_or_of_the_command_line() {
    let stage = Stage::new();
    // It accepts connections and sends nothing.
    let silent = Upstream::start();
    stage.write(
        "suite.yaml",
        &suite(&url(&silent), "    http: { timeout: 50ms }\n"),
    );
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("50ms") || said.err.contains("50 ms"),
        "{}",
        said.err
    );
    stage.write("suite.yaml", &suite(&url(&silent), ""));
    let said = stage.run(&["suite.yaml", "--http-timeout", "0.05"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("50ms") || said.err.contains("50 ms"),
        "{}",
        said.err
    );
    // The command line has the last word.
    let (_front, url) = front(&[]);
    stage.write("suite.yaml", &suite(&url, "    http: { timeout: 1ms }\n"));
    let said = stage.run(&["suite.yaml", "--http-timeout", "60"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let said = stage.run(&["suite.yaml", "--http-timeout=-1"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("--http-timeout"), "{}", said.err);
}

#[test]
fn the_limit_of_connecting_is_that_of_the_suite_or_of_the_command_line() {
    let stage = Stage::new();
    let crowded = Crowded::new();
    let place = format!("http://{}/mcp", crowded.address());
    let http = "    http: { connect_timeout: 100ms }\n";
    stage.write("suite.yaml", &suite(&place, http));
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("timed out after 0.1 s"), "{}", said.err);
    let http = "    http: { connect_timeout: 1h }\n";
    stage.write("suite.yaml", &suite(&place, http));
    let said = stage.run(&["suite.yaml", "--connect-timeout", "0.2"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("timed out after 0.2 s"), "{}", said.err);
}

#[test]
fn certificates_are_verified_by_the_authorities_that_were_given() {
    let stage = Stage::new();
    let certificates = Certificates::new();
    let [authority, certificate, key] =
        ["ca.pem", "cert.pem", "key.pem"].map(|name| certificates.path(name));
    let (_front, url) = front(&["--tls-cert", &certificate, "--tls-key", &key]);
    assert!(url.starts_with("https://"), "{url}");
    stage.write("suite.yaml", &suite(&url, ""));
    let refused = stage.run(&["suite.yaml"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("certificate"), "{}", refused.err);
    let trusted = stage.run(&["suite.yaml", "--ca-bundle", &authority]);
    assert_eq!(trusted.status, 0, "{}", trusted.err);
    let CommandOutput { status, err, .. } = stage.run(&["suite.yaml", "--insecure-skip-verify"]);
    assert_eq!(status, 0, "{err}");
    assert!(err.contains("WARNING"), "{err}");
    // The path is relative to the folder of the suite.
    std::fs::copy(&authority, stage.path("ours.pem")).expect("a copy");
    let http = "    http: { tls: { ca_bundle_path: ./ours.pem, min_version: \"1.3\" } }\n";
    stage.write("deep/suite.yaml", &suite(&url, &http.replace("./", "../")));
    let said = stage.run(&["deep/suite.yaml"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let said = stage.run(&["suite.yaml", "--ca-bundle", "nowhere.pem"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("nowhere.pem"), "{}", said.err);
}

#[test]
fn a_server_with_an_older_tls_than_the_suite_takes_is_refused() {
    let stage = Stage::new();
    let certificates = Certificates::new();
    let server = Upstream::start();
    let config = certificates.server_config_of(&["http/1.1"], &[&rustls::version::TLS12]);
    let http = format!(
        "    http: {{ tls: {{ ca_bundle_path: '{}', min_version: \"1.3\" }} }}\n",
        certificates.path("ca.pem")
    );
    let url = format!("https://localhost:{}/mcp", server.address().port());
    stage.write("suite.yaml", &suite(&url, &http));
    let mut child = start(&stage, &[]);
    assert!(accept(&server, &config).is_err());
    assert_eq!(wait(&mut child, PATIENCE).code(), Some(2));
    let errors = stage.read("errors");
    assert!(errors.contains("TLS"), "{errors}");
}

#[test]
fn what_the_command_line_says_about_a_process_is_refused() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        "servers: { peer: { command: [\"true\"] } }\ntools:\n  - { name: a, server: peer, tool: t }\n",
    );
    let said = said(stage.command().args([
        "run",
        "suite.yaml",
        "--server-auth-bearer-env",
        "PEER_BEARER",
    ]));
    assert_eq!(said.status, 2);
    assert!(said.err.contains("does not use HTTP"), "{}", said.err);
}
