//! Clients through a socket in the file system, which its owner alone can open.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::http::{PATIENCE, Strict, json as answer};
use crate::support::{Tape, signal, tapewright, wait};

fn record(folder: &Path, options: &[&str]) -> Command {
    let mut command = tapewright();
    let listen = format!("unix:{}", folder.join("s").display());
    command.current_dir(folder).env("TAPEWRIGHT_HOME", folder);
    command.args(["record", "-o", "run.tape.jsonl", "--listen", &listen]);
    command.args(options);
    command
}

fn get(socket: &Path, host: &str) -> u16 {
    let mut client = UnixStream::connect(socket).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        client,
        "GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap();
    status.parse().unwrap()
}

#[test]
fn a_gateway_and_a_bridge_listen_at_a_socket_that_only_its_owner_can_open() {
    let server = Strict::start(|_| answer("200 OK", "", "{}").into_bytes());
    let url = format!("http://{}/mcp", server.address());
    for (options, status) in [
        (&["--upstream", &url][..], 200),
        // There is no session.
        (&["--", "cat"], 400),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        // A socket that is no longer served does not prevent a new one.
        drop(UnixListener::bind(&socket).unwrap());
        let mut child = record(folder.path(), options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let wanted = json!({ "listening": "http://localhost/mcp", "socket": socket });
        assert_eq!(told, wanted);
        let mode = fs::metadata(&socket).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(get(&socket, "localhost"), status);
        assert_eq!(get(&socket, "evil.example"), 403);
        // A socket that is being served is never replaced.
        assert_eq!(
            record(folder.path(), options)
                .output()
                .unwrap()
                .status
                .code(),
            Some(2)
        );
        signal(child.id(), "TERM");
        assert_eq!(wait(&mut child, PATIENCE).code(), Some(0));
        assert!(!socket.exists());
        let tape = Tape::read(&folder.path().join("run.tape.jsonl"));
        assert_eq!(tape.exchanges().len(), 2);
    }
}

#[test]
fn what_is_no_socket_stays_and_no_tls_is_promised() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s");
    fs::write(&file, "mine").unwrap();
    let refused = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = refused(&mut record(folder.path(), &["--", "cat"]));
    assert!(told.contains("cannot listen on unix:"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let tls = ["--tls-cert", "c.pem", "--tls-key", "k.pem", "--", "cat"];
    assert!(refused(&mut record(folder.path(), &tls)).contains("without TLS"));
    let mut empty = tapewright();
    empty
        .current_dir(folder.path())
        .args(["record", "-o", "x.json"]);
    let told = refused(empty.args(["--listen", "unix:", "--", "cat"]));
    assert!(told.contains("is not a path"), "{told}");
}
