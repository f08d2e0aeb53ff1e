//! Kills a store under load, and starts it again with the contents of its disk.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Fleet, Recorder, eventually};

/// An S3 server over a folder: s3s-fs, which `fleet/chaos` installs.
struct Server {
    child: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tapes")).unwrap();
        // Free a moment ago; if another process takes it, the test fails.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        Self {
            child: spawn(folder.path(), port),
            folder,
            port,
        }
    }

    /// Kills and restarts it.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(self.folder.path(), self.port);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(folder: &Path, port: u16) -> Child {
    let program = std::env::var("TAPEWRIGHT_S3S_FS").expect("the path of s3s-fs");
    let child = Command::new(program)
        .args(["--access-key", "id-s3cr3t", "--secret-key", "s3cr3t"])
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the server listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    child
}

fn kills() -> u64 {
    let asked = std::env::var("TAPEWRIGHT_STORE_KILLS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(50)
}

/// Two shippers of the same folder continue while their store is killed, in the middle of any
/// request.
#[test]
fn a_store_that_is_killed_loses_nothing_and_doubles_nothing() {
    let mut server = Server::start();
    let mut fleet = Fleet::new();
    fleet.bucket(&format!("http://127.0.0.1:{}", server.port), "s3cr3t");
    let is_over = AtomicBool::new(false);
    let tapes: Vec<Vec<u8>> = thread::scope(|scope| {
        let recorders: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let (folder, is_over) = (fleet.tapes.path(), &is_over);
                scope.spawn(move || {
                    let mut recorder = Recorder::begin(folder, name);
                    while !is_over.load(Ordering::Relaxed) {
                        recorder.events(10);
                        thread::sleep(Duration::from_millis(5));
                    }
                    recorder.end()
                })
            })
            .into_iter()
            .collect();
        let small = ["--segment-bytes", "4KiB", "--segment-age", "20ms"];
        let mut shippers: Vec<Child> = (0..2)
            .map(|_| {
                let mut shipper = fleet.ship(&small);
                shipper.stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for kill in 0..kills() {
            let before = entries(server.folder.path());
            eventually("something is shipped", || {
                entries(server.folder.path()) > before
            });
            thread::sleep(Duration::from_micros(kill.wrapping_mul(7_919) % 40_000));
            server.kill();
        }
        for shipper in &mut shippers {
            shipper.kill().unwrap();
            shipper.wait().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        recorders
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    fleet.ship_all(&[]);
    let mut rows = fleet.list();
    rows.sort_by_key(|row| row["label"].to_string());
    assert_eq!(rows.len(), tapes.len());
    for (row, bytes) in rows.iter().zip(&tapes) {
        assert_eq!(row["state"], "whole", "{row}");
        assert!(fleet.fetch(row["tape"].as_str().unwrap()) == *bytes);
    }
    let (bytes, segments) = rows.iter().fold((0, 0), |(bytes, segments), row| {
        let number = |name: &str| row[name].as_u64().unwrap();
        (bytes + number("bytes"), segments + number("segments"))
    });
    eprintln!(
        "{} stores killed; {bytes} bytes in {segments} segments, each once",
        kills()
    );
}

/// How many entries are on a server's disk.
fn entries(folder: &Path) -> usize {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: PathBuf| {
        if path.is_dir() {
            return entries(&path);
        }
        let name = path.to_string_lossy();
        usize::from(name.contains("manifests") && name.ends_with(".json"))
    };
    listed.map(|entry| count(entry.path())).sum()
}
