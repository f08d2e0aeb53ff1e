//! Tapewright's own listeners cannot be reached through it.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::PATIENCE;
use crate::support::tapewright;

/// A forward proxy with a page and a control.
struct Proxy {
    child: Child,
    _folder: tempfile::TempDir,
    address: String,
    page: String,
    control: String,
}

impl Proxy {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = tapewright();
        command
            .arg("record")
            .arg("-o")
            .arg(folder.path().join("a.tape.jsonl"));
        command.args([
            "--forward-proxy",
            "127.0.0.1:0",
            "--page",
            "--control",
            "127.0.0.1:0",
        ]);
        let mut child = command
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let control = authority(&mut errors, "control");
        let page = authority(&mut errors, "page");
        let proxy = authority(&mut output, "listening");
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Self {
            child,
            _folder: folder,
            address: proxy,
            page,
            control,
        }
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        // A tunnel that was established would stay open.
        let mut text = vec![0; 4096];
        let mut length = 0;
        loop {
            let read = stream.read(&mut text[length..]).unwrap();
            length += read;
            let told = String::from_utf8_lossy(&text[..length]).into_owned();
            if read == 0 || told.starts_with("HTTP/1.1 2") || told.contains("through it") {
                return told;
            }
        }
    }
}

/// An address in a line of JSON.
fn authority(lines: &mut impl BufRead, name: &str) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let url = told[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name}: {line}"));
    url.split('/').nth(2).unwrap().to_owned()
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_forward_proxy_connects_nobody_to_its_own_page_or_control() {
    let proxy = Proxy::start();
    for there in [&proxy.page, &proxy.control] {
        let port = there.rsplit_once(':').unwrap().1;
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "2130706433"] {
            let plain = format!(
                "GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
            );
            let tunnel = format!(
                "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
            );
            for request in [plain, tunnel] {
                let answer = proxy.ask(&request);
                let status: u16 = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap_or(0);
                assert!((400..600).contains(&status), "{request}{answer}");
                assert!(
                    answer.contains("an address of tapewright itself"),
                    "{request}{answer}"
                );
            }
        }
    }
}
