//! A NATS server, and a tail.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use async_nats::jetstream;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Fleet, eventually};

/// A server that can be stopped, and started again with its data.
pub(super) struct Server {
    child: Child,
    folder: TempDir,
    port: u16,
    more: Vec<String>,
}

impl Server {
    pub(super) fn start(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let more: Vec<String> = more.iter().map(|&one| one.to_owned()).collect();
        let child = spawn(folder.path(), -1, &more);
        let port = port(folder.path(), &child);
        Self {
            child,
            folder,
            port,
            more,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it.
    pub(super) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn again(&mut self) {
        self.child = spawn(self.folder.path(), self.port.into(), &self.more);
        port(self.folder.path(), &self.child);
    }

    /// Does something with a client.
    pub(super) fn with<T>(&self, work: impl AsyncFnOnce(jetstream::Context) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let client = async_nats::connect(self.url()).await.unwrap();
            work(jetstream::new(client)).await
        })
    }

    /// How many messages the stream has.
    pub(super) fn messages(&self) -> u64 {
        self.with(async |context| {
            let stream = context.get_stream("tapewright").await;
            stream.map_or(0, |stream| stream.cached_info().state.messages)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(folder: &Path, port: i32, more: &[String]) -> Child {
    let ports = folder.join("ports");
    drop(fs::remove_dir_all(&ports));
    fs::create_dir(&ports).unwrap();
    Command::new("nats-server")
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(folder.join("kept"))
        .arg("--ports_file_dir")
        .arg(ports)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nats-server is there (apt-get install nats-server)")
}

/// Waits until a server listens, and returns its port.
fn port(folder: &Path, child: &Child) -> u16 {
    let file = folder
        .join("ports")
        .join(format!("nats-server_{}.ports", child.id()));
    let mut port = None;
    eventually("nats-server listens", || {
        let text = fs::read(&file).unwrap_or_default();
        let told: Value = serde_json::from_slice(&text).unwrap_or_default();
        let url = told["nats"][0].as_str().unwrap_or_default();
        port = url.rsplit(':').next().and_then(|port| port.parse().ok());
        port.is_some_and(|port| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok())
    });
    port.unwrap()
}

/// `tail --json`, line by line.
pub(super) struct Tail {
    child: Child,
    pub(super) lines: Receiver<Value>,
}

impl Tail {
    /// Starts with new announcements: waits until it reports that there is no stream yet, or with
    /// `is_there` that there is one.
    pub(super) fn start(fleet: &Fleet, server: &Server, more: &[&str]) -> Self {
        let mut command = fleet.command(&["tail", "--json", "--announce", &server.url()]);
        let mut child = command.args(more).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(10_000);
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                drop(sender.send(serde_json::from_str(&line).unwrap()));
            }
        });
        Self { child, lines }
    }

    /// The next line of a kind.
    pub(super) fn next(&self, what: &str) -> Value {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60)).unwrap();
            if line["what"] == what {
                return line;
            }
        }
    }

    /// Stops it, and returns its counts, and the announcements that were not taken yet.
    pub(super) fn end(mut self) -> (Value, Vec<Value>) {
        signal(&self.child, rustix::process::Signal::TERM);
        let mut rest = Vec::new();
        let end = loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60)).unwrap();
            match line["what"].as_str().unwrap() {
                "end" => break line,
                "announcement" => rest.push(line),
                _ => {}
            }
        };
        assert!(self.child.wait().unwrap().success());
        (end, rest)
    }
}

pub(super) fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
}
