//! A session whose processes are seen to live and to end.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use tapewright_schemas::tape::Ending;

use crate::support::{Session, Tape, peer, record};

/// When the harness gives up.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// A folder for the recording, and a port that every process of the server connects to.
pub(super) struct Scene {
    folder: tempfile::TempDir,
    address: String,
    living: Receiver<Living>,
}

/// A process of the server: the connection ends with it.
pub(super) struct Living(BufReader<TcpStream>);

impl Living {
    /// Waits for its end.
    pub(super) fn ended(mut self) {
        self.0.get_ref().set_read_timeout(Some(LIMIT)).unwrap();
        let mut rest = Vec::new();
        // A process that is ended resets its connection on some systems.
        match self.0.read_to_end(&mut rest) {
            Ok(0) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            other => panic!("a process of the server is still there: {other:?}"),
        }
    }
}

impl Scene {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (send, living) = sync_channel(8);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut hello = String::new();
                stream.read_line(&mut hello).unwrap();
                assert_eq!(hello, "here\n");
                if send.send(Living(stream)).is_err() {
                    return;
                }
            }
        });
        Self {
            folder: tempfile::tempdir().unwrap(),
            address,
            living,
        }
    }

    /// The port.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Records a server with this role.
    pub(super) fn start(&self, role: &[&str]) -> Session {
        let peer = peer();
        let server = [&[peer.to_str().unwrap(), "processes"], role].concat();
        let cassette = self.file("s.json");
        let mut command = record(&["-o", cassette.to_str().unwrap()], &server);
        command.env("TAPEWRIGHT_TEST_WATCH", &self.address);
        Session::start(command)
    }

    /// A session with a server of two processes that is ready.
    pub(super) fn tree(&self) -> (Session, [Living; 2]) {
        let mut session = self.start(&["tree"]);
        let processes = [self.living(), self.living()];
        assert_eq!(session.line(), "ready");
        (session, processes)
    }

    /// A process of the server that has started.
    pub(super) fn living(&self) -> Living {
        let living = self.living.recv_timeout(LIMIT);
        living.expect("a process of the server has started")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn tape(&self) -> Tape {
        Tape::read(&self.file("s.tape.jsonl"))
    }

    /// Whether a message is on the tape.
    pub(super) fn has_recorded(&self, message: &str) -> bool {
        let text = fs::read_to_string(self.file("s.tape.jsonl"));
        text.is_ok_and(|text| text.contains(message))
    }

    /// The recording is whole, with its footer.
    pub(super) fn assert_finished(&self) {
        let tape = self.tape();
        assert!(tape.is_complete(), "{:?}", tape.ending);
    }

    /// The recording was broken off, and is readable up to there.
    pub(super) fn assert_broken_off(&self) {
        let tape = self.tape();
        assert!(
            !matches!(tape.ending, Ending::Footer(_)),
            "{:?}",
            tape.ending
        );
    }
}
