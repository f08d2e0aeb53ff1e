//! SIGKILL at any instant: the guarantees of the tape, compared with what actually crossed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use tapewright_schemas::event::Direction;
use tapewright_schemas::tape::{Ending, Header};

use crate::support::system::KILLS;
use crate::support::{Tape, eventually, peer, record, tapewright, wait};

/// The maximum number of lines before a kill.
const MOST_LINES: usize = 250;

const PATIENCE: Duration = Duration::from_secs(60);

/// What actually crossed in one killed session.
struct Truth {
    client_received: Vec<String>,
    server_received: Vec<String>,
    tape: Tape,
}

/// Kills the recorder under load: in one round of four while the session starts, else when
/// some lines have crossed, and a moment later.
fn kill_after(durability: &str, folder: &Path, round: u64) -> Truth {
    let tape = folder.join(format!("{round}.tape.jsonl"));
    let log = folder.join(format!("{round}.log"));
    let peer = peer();
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut command = record(
        &["--durability", durability, "-o", tape.to_str().unwrap()],
        &server,
    );
    let mut recorder = command.spawn().unwrap();
    let mut input = recorder.stdin.take().unwrap();
    let output = BufReader::new(recorder.stdout.take().unwrap());
    let sender = thread::spawn(move || {
        for id in 0..1_000_000 {
            let pad = "y".repeat((id * 31) % 300);
            let request = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"pad\":\"{pad}\"}}}}\n"
            );
            if input.write_all(request.as_bytes()).is_err() {
                return;
            }
        }
    });
    let (crossed, lines_came) = sync_channel(MOST_LINES);
    let receiver = thread::spawn(move || {
        let mut lines: Vec<String> = Vec::new();
        for line in output.split(b'\n') {
            let Ok(line) = line else { break };
            crossed.try_send(()).ok();
            lines.push(String::from_utf8(line).unwrap());
        }
        lines
    });
    let number = usize::try_from(round).unwrap();
    let (lines, within) = if number.is_multiple_of(4) {
        (0, 30_000)
    } else {
        (number * 37 % MOST_LINES + 1, 3_000)
    };
    for _ in 0..lines {
        lines_came.recv_timeout(PATIENCE).expect("lines to cross");
    }
    let micros = (round * 7_919) % within;
    thread::sleep(Duration::from_micros(micros));
    recorder.kill().unwrap();
    wait(&mut recorder, PATIENCE);
    sender.join().unwrap();
    let mut client_received = receiver.join().unwrap();
    // The last line may have been cut by the kill, and then it was not received.
    if client_received
        .last()
        .is_some_and(|line| !line.ends_with('}'))
    {
        client_received.pop();
    }
    let logged = std::fs::read_to_string(&log).unwrap_or_default();
    let whole = logged
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let server_received = whole.map(|line| line.trim_end().to_owned()).collect();
    // Killed before the tape was begun: nothing can have crossed.
    let text = std::fs::read(&tape).unwrap_or_default();
    let tape = if text.contains(&b'\n') {
        Tape::read(&tape)
    } else {
        Tape::nothing()
    };
    Truth {
        client_received,
        server_received,
        tape,
    }
}

impl Tape {
    fn nothing() -> Self {
        let ending = Ending::CutShort {
            last_seq: 0,
            torn: true,
        };
        Self {
            events: Vec::new(),
            ending,
            header: Header::default(),
        }
    }
}

/// Kills as many recorders as the system permits in a test. Fails if too few messages crossed in all.
fn kills(durability: &str, check: impl Fn(u64, &Truth)) {
    let folder = tempfile::tempdir().unwrap();
    let mut crossed = 0;
    for round in 0..KILLS {
        let truth = kill_after(durability, folder.path(), round);
        assert!(matches!(truth.tape.ending, Ending::CutShort { .. }));
        check(round, &truth);
        crossed += truth.client_received.len() + truth.server_received.len();
    }
    let least = usize::try_from(KILLS * 50).unwrap();
    assert!(
        crossed > least,
        "only {crossed} messages crossed: the kills came too early"
    );
}

#[test]
fn written_never_misses_a_message_that_a_peer_received() {
    kills("written", |round, truth| {
        for (dir, received) in [
            (Direction::ToClient, &truth.client_received),
            (Direction::ToServer, &truth.server_received),
        ] {
            let on_tape = truth.tape.messages(dir);
            assert!(
                on_tape.len() >= received.len(),
                "round {round}: a peer received {} messages, {} are on the tape",
                received.len(),
                on_tape.len()
            );
            assert_eq!(&on_tape[..received.len()], &received[..], "round {round}");
        }
    });
}

#[test]
fn queue_leaves_a_readable_tape_that_lacks_at_most_the_last_instants() {
    kills("queue", |round, truth| {
        for (dir, received) in [
            (Direction::ToClient, &truth.client_received),
            (Direction::ToServer, &truth.server_received),
        ] {
            // The tape contains the beginning of what crossed, without a gap.
            let on_tape = truth.tape.messages(dir);
            let both = on_tape.len().min(received.len());
            assert_eq!(&on_tape[..both], &received[..both], "round {round}");
        }
        let seqs: Vec<u64> = truth.tape.events.iter().map(|event| event.seq).collect();
        let expected: Vec<u64> = (1..=seqs.len() as u64).collect();
        assert_eq!(seqs, expected, "round {round}");
    });
}

#[test]
fn a_tape_says_what_it_is_before_the_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let peer = peer();
    for durability in ["queue", "written", "synced"] {
        let tape = folder.path().join(format!("{durability}.tape.jsonl"));
        let begun = folder.path().join(format!("{durability}.log"));
        let mut recorder = record(
            &["--durability", durability, "-o", tape.to_str().unwrap()],
            &[peer.to_str().unwrap(), "answer", begun.to_str().unwrap()],
        )
        .spawn()
        .unwrap();
        assert!(eventually(PATIENCE, || begun.exists()));
        recorder.kill().unwrap();
        wait(&mut recorder, PATIENCE);
        let done = tapewright().arg("inspect").arg(&tape).output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{done:?}");
        assert!(text.contains(": tape, recorded "), "{text}");
        assert!(text.contains("incomplete"), "{text}");
        assert_eq!(Tape::read(&tape).header.durability, durability);
    }
}
