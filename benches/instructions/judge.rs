//! Counts the instructions that a judge needs per message, for `benches/judge`.
//!
//! `judge CALLS [none|check|all]` makes a session of this many `tools/call` with their answers, as
//! `drive.c` sends them, and passes each message to a judge like a recorder. `none` makes the
//! session without a judge.

use std::env;
use std::error::Error;
use std::io::Write as _;

use tapewright_compliance::live::{Live, Watch};
use tapewright_compliance::{Facts, Selection};
use tapewright_schemas::era::EraTracker;
use tapewright_schemas::event::{
    Carrier, Direction, Event, EventBody, Judge as _, LineEnd, Maker, Offset, Origin, Payload,
    Seen, SessionKey,
};

const HANDSHAKE: [(Direction, &str); 3] = [
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"drive","version":"1"}}}"#,
    ),
    (
        Direction::ToClient,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}"#,
    ),
    (
        Direction::ToServer,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
];

/// How many calls are open at once.
const WINDOW: u64 = 64;

struct Session {
    judge: Option<Live>,
    eras: EraTracker,
    seq: u64,
    found: u64,
}

impl Session {
    fn message(&mut self, dir: Direction, text: String) {
        self.seq += 1;
        let payload = Payload::Whole(text.into_bytes().into());
        let mut event = Event::new(
            Offset(self.seq),
            dir,
            EventBody::message(payload, LineEnd::Lf),
        );
        event.session = SessionKey(1);
        if let EventBody::Message { origin, .. } = &mut event.body {
            *origin = Origin {
                carrier: Carrier::Line,
                maker: Maker::Peer,
                ..*origin
            };
        }
        let Some(message) = event.envelope() else {
            return;
        };
        let era = self.eras.observe(dir, &message);
        let Some(judge) = &mut self.judge else { return };
        judge.message(&Seen {
            event: &event,
            seq: self.seq,
            era,
            message: &message,
        });
        while judge.poll().is_some() {
            self.found += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let calls: u64 = words
        .next()
        .ok_or("judge CALLS [none|check|all]")?
        .parse()?;
    let selection = match words.next().as_deref() {
        Some("none") => None,
        Some("check") => Some(Selection::documented()),
        _ => Some(Selection::all()),
    };
    let judge = selection.map(|selection| {
        let watch = Watch {
            selection: Some(selection),
            hang_after: None,
        };
        Live::new(Facts::live(), &watch)
    });
    let mut session = Session {
        judge,
        eras: EraTracker::default(),
        seq: 0,
        found: 0,
    };
    for (dir, text) in HANDSHAKE {
        session.message(dir, text.to_owned());
    }
    let (asked, answered) = ("y".repeat(64), "x".repeat(64));
    for call in 1..=calls + WINDOW {
        if call <= calls {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{{"name":"echo","arguments":{{"msg":"{asked}"}}}}}}"#
            );
            session.message(Direction::ToServer, text);
        }
        if call > WINDOW {
            let id = call - WINDOW;
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{answered}"}}]}}}}"#
            );
            session.message(Direction::ToClient, text);
        }
    }
    writeln!(
        std::io::stdout(),
        "{} messages, {} findings",
        session.seq,
        session.found
    )?;
    Ok(())
}
