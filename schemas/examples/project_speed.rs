//! How fast a tape becomes a cassette, a capture and the numbers of `inspect`.
//!
//! ```text
//! cargo run --release -p tapewright-schemas --example project_speed [EXCHANGES]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock and prints what it found"
)]

use std::io::{self, Cursor};
use std::time::Instant;

use tapewright_schemas::recording::FileKind;
use tapewright_schemas::summary::Fold;
use tapewright_schemas::tape::{Ending, Header, Reader};
use tapewright_schemas::{capture, cassette};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exchanges = std::env::args()
        .nth(1)
        .map_or(Ok(500_000), |text| text.parse::<u64>())?;
    let tape = tape(exchanges);
    let lines = usize::try_from(exchanges * 2 + 2)?;
    println!("{lines} lines, {} MB", tape.len() / 1_000_000);

    let start = Instant::now();
    let mut reader = Reader::open(tape.as_slice())?;
    while reader.next_event()?.is_some() {}
    report("read only", lines, start);

    let start = Instant::now();
    let mut reader = Reader::open(tape.as_slice())?;
    let spool = || Cursor::new(Vec::new());
    let mut projector = cassette::Projector::new(reader.header(), spool(), spool());
    while let Some(event) = reader.next_event()? {
        projector.observe_message(&event, reader.envelope(&event).as_ref())?;
    }
    let ending = reader.ending().cloned().unwrap_or(Ending::CutShort {
        last_seq: 0,
        torn: false,
    });
    let summary = projector.finish(&ending, &mut io::sink())?;
    report("read, project, assemble a cassette", lines, start);
    println!("{summary:?}");

    let start = Instant::now();
    let mut reader = Reader::open(tape.as_slice())?;
    let mut projector = capture::Projector::new(&Header::default(), spool(), spool());
    while let Some(event) = reader.next_event()? {
        projector.observe_message(&event, reader.envelope(&event).as_ref())?;
    }
    projector.finish(&ending, &mut io::sink())?;
    report("read, project, assemble a capture", lines, start);
    summarize(&tape, &ending, lines)
}

fn summarize(tape: &[u8], ending: &Ending, lines: usize) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut reader = Reader::open(tape)?;
    let mut fold = Fold::new(true);
    while let Some(event) = reader.next_event()? {
        fold.observe_message(&event, reader.envelope(&event).as_ref());
    }
    let told = fold.finish(FileKind::Tape, &Header::default(), ending);
    report("read, count for `inspect`", lines, start);
    println!("{} requests unanswered", told.unanswered_count);
    Ok(())
}

fn report(what: &str, lines: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let lines = u32::try_from(lines).map_or(f64::INFINITY, f64::from);
    println!("{what}: {seconds:.3} s, {:.0} lines/s", lines / seconds);
}

/// A tape of small calls, two in flight at any time.
fn tape(exchanges: u64) -> Vec<u8> {
    let mut out = Vec::new();
    Header {
        tape: "1.0".to_owned(),
        ..Header::default()
    }
    .write(&mut out);
    for number in 0..=exchanges {
        let seq = number * 2 + 1;
        let at = number * 200;
        let request = format!(
            "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"to_server\",\"era\":\"handshake\",\"message\":\
             {{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\",\"params\":\
             {{\"name\":\"echo\",\"arguments\":{{\"message\":\"hello there\"}}}}}}}}\n"
        );
        out.extend_from_slice(request.as_bytes());
        let Some(before) = number.checked_sub(1) else {
            continue;
        };
        let (seq, at) = (seq + 1, at + 90);
        let response = format!(
            "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"to_client\",\"era\":\"handshake\",\"message\":\
             {{\"jsonrpc\":\"2.0\",\"id\":{before},\"result\":\
             {{\"content\":[{{\"type\":\"text\",\"text\":\"hello there\"}}]}}}}}}\n"
        );
        out.extend_from_slice(response.as_bytes());
    }
    out
}
