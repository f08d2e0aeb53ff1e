//! Counts the instructions for counting an exchange after a tape's encoder, for `benches/metrics`.
//!
//! `metrics CALLS lines|http [count]` encodes this many `tools/call` with their answers and, with
//! `count`, folds over the encoder's output for each, like a recorder with `--metrics`.

use std::env;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use tapewright_schemas::conversation::Conversation;
use tapewright_schemas::event::{
    Added, Carrier, CloseReason, ConduitId, Direction, Event, EventBody, Head, LineEnd, Maker,
    Offset, Origin, Payload, Peer, RequestHead, ResponseHead, SessionKey,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::Encoder;

struct Tape {
    encoder: Encoder,
    conversation: Option<Conversation<()>>,
    out: Vec<u8>,
    at: u64,
    conduit: u32,
    exchanges: u64,
}

impl Tape {
    fn event(&mut self, dir: Direction, body: EventBody) {
        self.at += 10;
        let mut event = Event::new(Offset(self.at), dir, body);
        event.session = SessionKey(1);
        event.conduit = ConduitId(self.conduit);
        if let EventBody::Message { origin, .. } = &mut event.body {
            *origin = Origin {
                carrier: Carrier::Line,
                maker: Maker::Peer,
                ..*origin
            };
        }
        self.encoder.encode(&event, &mut self.out);
    }

    fn message(&mut self, dir: Direction, text: String) {
        let payload = Payload::Whole(text.into_bytes().into());
        self.event(dir, EventBody::message(payload, LineEnd::Lf));
    }

    /// An exchange of a call; over HTTP with its whole HTTP exchange.
    fn exchange(&mut self, call: u64, is_http: bool) {
        let (asked, answered) = ("y".repeat(64), "x".repeat(64));
        let asks = format!(
            r#"{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{{"name":"echo","arguments":{{"msg":"{asked}"}}}}}}"#
        );
        let answers = format!(
            r#"{{"jsonrpc":"2.0","id":{call},"result":{{"content":[{{"type":"text","text":"{answered}"}}]}}}}"#
        );
        if is_http {
            self.conduit += 1;
            self.opens();
        }
        self.message(Direction::ToServer, asks);
        let end = EventBody::Closed(CloseReason::EndOfInput);
        if is_http {
            self.event(Direction::ToServer, end.clone());
            let head = Head::Response(ResponseHead {
                status: 200,
                ..ResponseHead::default()
            });
            self.event(Direction::ToClient, EventBody::Head(Box::new(head)));
        }
        self.message(Direction::ToClient, answers);
        if is_http {
            self.event(Direction::ToClient, end);
            let added = Added {
                request_us: 3,
                response_us: 4,
            };
            self.event(Direction::ToServer, EventBody::Added(added));
        }
    }

    fn opens(&mut self) {
        let client = Peer::Client {
            connection: 1,
            address: "127.0.0.1:4000".to_owned(),
        };
        self.event(Direction::ToServer, EventBody::Opened(client));
        let head = Head::Request(RequestHead {
            method: "POST".into(),
            target: "/mcp".to_owned(),
            ..RequestHead::default()
        });
        self.event(Direction::ToServer, EventBody::Head(Box::new(head)));
    }

    /// The encoded text has been written to the file.
    fn written(&mut self) {
        self.out.clear();
        let Some(conversation) = &mut self.conversation else {
            return;
        };
        for gist in self.encoder.gists().iter() {
            gist.told(|event, message| conversation.hear(event, message));
            while conversation.poll().is_some() {
                self.exchanges += 1;
            }
        }
        self.encoder.gists().clear();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let (calls, is_http, counts) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [calls, way @ ("lines" | "http")] => (calls, way == "http", false),
        [calls, way @ ("lines" | "http"), "count"] => (calls, way == "http", true),
        _ => return Err("metrics CALLS lines|http [count]".into()),
    };
    let calls: u64 = calls.parse()?;
    let encoder = Encoder::new(Redactor::new(Arc::new(Rules::new(&Settings::default())?)));
    let mut tape = Tape {
        encoder: if counts {
            encoder.with_gists()
        } else {
            encoder
        },
        conversation: counts.then(Conversation::default),
        out: Vec::new(),
        at: 0,
        conduit: 1,
        exchanges: 0,
    };
    for call in 1..=calls {
        tape.exchange(call, is_http);
        tape.written();
    }
    writeln!(std::io::stdout(), "{} exchanges", tape.exchanges)?;
    Ok(())
}
