//! Over HTTP it is protected like every listener of tapewright.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use super::{PATIENCE, library};
use crate::replay::replay_server::listening;
use crate::support::system::STOPPED;
use crate::support::tapewright;

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// The status of a request with these fields.
fn status(address: SocketAddr, host: &str, fields: &[&str]) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let fields: String = fields.iter().flat_map(|field| [*field, "\r\n"]).collect();
    let length = BODY.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n{BODY}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn pages_of_others_other_names_and_clients_without_the_token_are_refused() {
    let folder = library();
    let serve = |token: bool| {
        let mut command = tapewright();
        command
            .arg("mcp")
            .arg(folder.path())
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if token {
            command
                .env("MCP_TOKEN", "0123456789abcdef0123456789abcdef")
                .args(["--client-token", "MCP_TOKEN"]);
        }
        listening(&mut command)
    };
    let replay_server = serve(false);
    let ours = replay_server.address.to_string();
    assert_eq!(status(replay_server.address, &ours, &[]), 200);
    for fields in [
        &["Origin: http://attacker.example"][..],
        &["Origin: null"],
        &["Sec-Fetch-Site: cross-site"],
        &["Sec-Fetch-Site: same-site"],
    ] {
        assert_eq!(
            status(replay_server.address, &ours, fields),
            403,
            "{fields:?}"
        );
    }
    for host in ["attacker.example", "attacker.example:80"] {
        let refused = status(replay_server.address, host, &[]);
        assert!((400..500).contains(&refused), "{host}: {refused}");
    }
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let replay_server = serve(true);
    let ours = replay_server.address.to_string();
    assert_eq!(status(replay_server.address, &ours, &[]), 407);
    let token = "Proxy-Authorization: Bearer 0123456789abcdef0123456789abcdef";
    assert_eq!(status(replay_server.address, &ours, &[token]), 200);
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}

#[test]
fn it_listens_on_this_machine_alone_unless_told_otherwise() {
    let folder = library();
    let output = tapewright()
        .arg("mcp")
        .arg(folder.path())
        .args(["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--danger-listen-anywhere"), "{said}");
}
