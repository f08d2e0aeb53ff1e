//! The law of transparency over real pipes.

use std::io::Read as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use tapewright_schemas::event::{Direction, Event, EventBody, What};

use crate::support::{Session, Tape, peer, record, stream, tapewright, wait};

/// Lines of every awkward length up to 100 MiB cross in both directions at once, and nothing is
/// changed, added or lost. One run per way of recording.
fn lines_of_every_length_pass_both_ways(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("law.json");
    let peer = peer();
    let mut options = options.to_vec();
    options.extend(["-o", cassette.to_str().unwrap()]);
    let mut session = Session::start(record(&options, &[peer.to_str().unwrap(), "law"]));
    let mut input = session.input.take().unwrap();
    let sender = thread::spawn(move || stream::write(stream::CLIENT, &mut input));
    let received = stream::check(stream::SERVER, &mut session.output);
    sender.join().unwrap().expect("the server read everything");
    received.expect("the server's bytes arrived unchanged");
    let mut complaint = String::new();
    session
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut complaint)
        .unwrap();
    // The peer itself checks what it received.
    assert!(
        wait(&mut session.child, Duration::from_secs(60)).success(),
        "{complaint}"
    );

    let tape = Tape::read(&folder.path().join("law.tape.jsonl"));
    assert!(tape.is_complete());
    for dir in [Direction::ToServer, Direction::ToClient] {
        assert_eq!(
            wire_lengths(&tape.events, dir),
            stream::LENGTHS.map(|length| length as u64)
        );
    }
}

fn wire_lengths(events: &[Event], wanted: Direction) -> Vec<u64> {
    let length = |event: &Event| match &event.body {
        EventBody::Message { payload, .. } if event.dir == wanted => Some(payload.wire_len()),
        _ => None,
    };
    events.iter().filter_map(length).collect()
}

#[test]
fn lines_of_every_length_pass_when_queued() {
    lines_of_every_length_pass_both_ways(&["--no-redact", "--max-message", "1MiB"]);
}

#[test]
fn lines_of_every_length_pass_when_written() {
    lines_of_every_length_pass_both_ways(&[
        "--no-redact",
        "--durability",
        "written",
        "--max-message",
        "11MiB",
    ]);
}

/// Whatever a line contains, the client gets what the server wrote, and the server what the client
/// wrote.
#[test]
fn awkward_lines_pass_unchanged_and_stand_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let awkward: &[&[u8]] = &[
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n",
        b"\n",
        b"\r\n",
        b"Listening on port 3000 \xf0\x9f\x9a\x80\n",
        b"{\"id\":\"\xff\xfe\"}\n",
        b"{\"id\":1,\"text\":\"\\ud83d\"}\n",
        b"{\"id\":6,\"id\":7,\"method\":\"ping\"}\n",
        b"[{\"id\":1,\"method\":\"a\"},{\"id\":2,\"method\":\"b\"}]\n",
        b"{\"id\":9007199254740993,\"n\":1e400,\"m\":-0,\"o\":123456789012345678901234567890}\n",
        b"  {\"id\":1.0}  \n",
        b"\xef\xbb\xbf{\"id\":8}\n",
        b"{\"unterminated\":",
    ];
    let sent: Vec<u8> = awkward.concat();
    for durability in ["queue", "written", "synced"] {
        let cassette = folder.path().join(format!("{durability}.json"));
        let mut command = record(
            &["--durability", durability, "-o", cassette.to_str().unwrap()],
            &["cat"],
        );
        let input = stored(&folder, &sent);
        let output = command.stdin(input).output().unwrap();
        assert_eq!(output.stdout, sent, "{durability}");
        assert_eq!(output.stderr, b"", "{durability}");
        assert!(output.status.success());
        let tape = Tape::read(&cassette.with_extension("tape.jsonl"));
        for dir in [Direction::ToServer, Direction::ToClient] {
            assert_eq!(on_the_wire(&tape.events, dir), sent, "{durability}");
        }
    }
}

/// The bytes of one direction, reconstructed from the tape alone.
fn on_the_wire(events: &[Event], wanted: Direction) -> Vec<u8> {
    use tapewright_schemas::event::LineEnd;
    let mut bytes = Vec::new();
    for event in events {
        if let (EventBody::Message { payload, end, .. }, true) = (&event.body, event.dir == wanted)
        {
            bytes.extend_from_slice(payload.kept());
            bytes.extend_from_slice(match end {
                LineEnd::CrLf => b"\r\n",
                LineEnd::Lf => b"\n",
                LineEnd::None => b"",
            });
        }
    }
    bytes
}

fn stored(folder: &tempfile::TempDir, content: &[u8]) -> std::fs::File {
    let path = folder.path().join("input");
    std::fs::write(&path, content).unwrap();
    std::fs::File::open(path).unwrap()
}

/// Chunks are forwarded as they arrive: a prompt without a line feed is not held back, and neither
/// direction waits for the other.
#[test]
fn an_unfinished_line_arrives_without_its_end() {
    for durability in ["queue", "written"] {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("t.tape.jsonl");
        let script = "printf 'Password? '; read answer; echo \"got $answer\"";
        let mut session = Session::start(record(
            &["--durability", durability, "-o", tape.to_str().unwrap()],
            &["sh", "-c", script],
        ));
        let mut prompt = [0; 10];
        session.output.read_exact(&mut prompt).unwrap();
        assert_eq!(&prompt, b"Password? ");
        session.send("yes");
        assert_eq!(session.line(), "got yes");
        assert!(session.finish(Duration::from_secs(60)).success());
    }
}

/// A server whose output is not read still gets its input, and the other way round.
#[test]
fn a_blocked_direction_does_not_block_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("t.tape.jsonl");
    let marker = folder.path().join("read-everything");
    let mut command = tapewright();
    command
        .args(["record", "-o"])
        .arg(tape)
        .arg("--")
        .arg(peer())
        .arg("blocked")
        .arg(&marker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut session = Session::start(command);
    let mut input = session.input.take().unwrap();
    let sender = thread::spawn(move || {
        use std::io::Write as _;
        input.write_all(&vec![b'x'; 4 << 20]).map(|()| input)
    });
    // Kept open: a server whose input has ended has little time to finish.
    let input = sender
        .join()
        .unwrap()
        .expect("the server took everything while its output was blocked");
    assert!(crate::support::eventually(Duration::from_secs(60), || {
        marker.exists()
    }));
    let mut rest = Vec::new();
    session.output.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 8_000_000);
    drop(input);
    assert!(wait(&mut session.child, Duration::from_secs(60)).success());
}

/// A client that never reads standard error does not block the server forever.
#[test]
fn an_unread_standard_error_never_stops_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("t.tape.jsonl");
    let peer = peer();
    let chatter = [peer.to_str().unwrap(), "chatter", "12000000"];
    let mut session = Session::start(record(&["-o", tape.to_str().unwrap()], &chatter));
    assert_eq!(session.line(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    session.close_input();
    let status = wait(&mut session.child, Duration::from_secs(60));
    assert!(status.success());
    let tape = Tape::read(&tape);
    let lines = tape
        .events
        .iter()
        .filter(|event| matches!(event.body, EventBody::Stderr { .. }));
    assert_eq!(lines.count(), 120_000);
    // Messages that were not forwarded are reported.
    assert!(tape.is_complete());
    let told = |event: &Event| matches!(&event.body, EventBody::Faulted(faulted) if matches!(faulted.effect.what, What::Unread { .. }));
    assert!(tape.events.iter().any(told));
}
