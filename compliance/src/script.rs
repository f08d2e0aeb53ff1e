//! Sessions in a short notation: the examples of the table.
//!
//! One event to a line. `>` is a message to the server, `<` one to the client; text that is not
//! JSON is noise. Everything else is a word with arguments:
//!
//! ```text
//! handshake 2025-06-18 {"tools":{}}       initialize, its result, initialized
//! handshake 2025-06-18 {} {"roots":{}}    the same, with capabilities of the client
//! handshake-http                          session 1 over HTTP, with the id `abc`, 2025-11-25
//! opening-http 2025-06-18 abc             as much of it as comes before `initialized`
//! > {"jsonrpc":"2.0","id":1,"method":"ping"}
//! fault > dropped                         a fault on the message before, as on the tape
//! wait 1500                               milliseconds
//! noend <                                 the message before lacked its line end
//! close >                                 the client closed its end
//! exit 0                                  the server ended; `exit signal 15`, `exit 0 ours 500` (ms)
//! signal SIGTERM                          a signal was forwarded to the server
//! gap 3                                   events are missing
//! session 2                               later events are of this session
//! conduit 4 POST /mcp                     an HTTP exchange begins, with a valid `accept`
//! header accept: text/event-stream        of the request, or of the following response
//! post 4 abc 2025-11-25                   the same with session id (`-`: none) and revision; `get`, `delete`
//! status 200                              the response begins
//! json                                    it begins with 200 and this type; `stream`
//! sse id=3 retry=100                      an event of a stream; `sse id=4 message`
//! body > 12 bytes                         not a message
//! ```

mod short;

use bytes::Bytes;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, Exited, Faulted, Fields, Gap,
    GapReason, Head, LineEnd, Offset, Origin, Origins, Payload, Peer, RequestHead, ResponseHead,
    SessionEnd, SessionKey, SessionMark, SessionStart, SseNote,
};

use crate::facts::{Facts, Transport};

/// A line that is not in the notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is not in the notation of examples")]
pub struct ScriptError {
    /// The line number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// A session that was read from its notation.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its transport: HTTP if it has conduits.
    pub facts: Facts,
    /// The events.
    pub events: Vec<Event>,
}

/// Reads a session.
pub fn read(text: &str) -> Result<Script, ScriptError> {
    let mut draft = Draft::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        draft.line(line).ok_or_else(|| ScriptError {
            line: number,
            text: line.to_owned(),
        })?;
    }
    draft.head();
    let facts = Facts {
        transport: if draft.http {
            Transport::Http
        } else {
            Transport::Stdio
        },
        ..Facts::live()
    };
    Ok(Script {
        facts,
        events: draft.events,
    })
}

#[derive(Default)]
struct Draft {
    events: Vec<Event>,
    origins: Origins,
    at: u64,
    session: u32,
    conduit: u32,
    http: bool,
    // A head whose fields may still follow.
    pending: Option<Head>,
}

/// The time between two events, in microseconds.
const STEP: u64 = 1_000;

impl Draft {
    fn line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        if word == "header" {
            let (name, value) = rest.split_once(':')?;
            self.field(name.trim(), value.trim())?;
            return Some(());
        }
        if let Some(lines) = short::expand(word, rest) {
            return lines.lines().try_for_each(|line| self.line(line));
        }
        self.head();
        match word {
            ">" => self.message(Direction::ToServer, rest),
            "<" => self.message(Direction::ToClient, rest),
            "handshake" => self.handshake(rest)?,
            "fault" => {
                let (way, did) = rest.split_once(' ')?;
                let members = if did.starts_with('{') {
                    did.to_owned()
                } else {
                    format!(r#"{{"did":"{did}"}}"#)
                };
                let faulted: Faulted = serde_json::from_str(&members).ok()?;
                self.push(direction(way)?, EventBody::Faulted(Box::new(faulted)));
            }
            "wait" => self.at += rest.parse::<u64>().ok()? * 1_000,
            "session" => self.session = rest.parse().ok()?,
            "conduit" => self.open(rest)?,
            "status" => {
                let status = rest.parse().ok()?;
                self.pending = Some(Head::Response(ResponseHead {
                    status,
                    ..ResponseHead::default()
                }));
            }
            "sse" => self.sse(rest)?,
            _ => return self.plain(word, rest),
        }
        Some(())
    }

    /// A line that is one event, or changes the last.
    fn plain(&mut self, word: &str, rest: &str) -> Option<()> {
        let (dir, body) = match word {
            "noend" => {
                let last = self.events.last_mut()?;
                let EventBody::Message { end, .. } = &mut last.body else {
                    return None;
                };
                *end = LineEnd::None;
                return Some(());
            }
            "close" => {
                let (way, reason) = rest.split_once(' ').unwrap_or((rest, "end of input"));
                let reason = CloseReason::from_name(reason)?;
                (direction(way)?, EventBody::Closed(reason))
            }
            "exit" => (Direction::ToClient, EventBody::Exited(exited(rest)?)),
            "signal" => (Direction::ToServer, EventBody::Signal(rest.to_owned())),
            "gap" => {
                let gap = Gap {
                    events: rest.parse().ok()?,
                    bytes: 0,
                    why: GapReason::QueueFull,
                    detail: None,
                };
                (Direction::ToClient, EventBody::Gap(gap))
            }
            "began" => {
                let mark = SessionMark::Began(SessionStart::from_name(rest)?);
                (Direction::ToServer, EventBody::Session(mark))
            }
            "ended" => {
                let mark = SessionMark::Ended(SessionEnd::from_name(rest)?);
                (Direction::ToServer, EventBody::Session(mark))
            }
            "body" => {
                let (way, content) = rest.split_once(' ')?;
                let payload = Payload::Whole(Bytes::from(content.to_owned()));
                (direction(way)?, EventBody::Body { payload })
            }
            _ => return None,
        };
        self.push(dir, body);
        Some(())
    }

    fn message(&mut self, dir: Direction, text: &str) {
        let payload = Payload::Whole(Bytes::from(text.to_owned()));
        let body = EventBody::Message {
            payload,
            end: LineEnd::Lf,
            origin: Origin::default(),
        };
        self.push(dir, body);
    }

    fn handshake(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.splitn(3, ' ');
        let version = words.next()?;
        let server = words.next().unwrap_or("{}");
        let client = words.next().unwrap_or("{}");
        let ask = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{client},"clientInfo":{{"name":"client","version":"1"}}}}}}"#
        );
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{server},"serverInfo":{{"name":"server","version":"1"}}}}}}"#
        );
        self.message(Direction::ToServer, &ask);
        self.message(Direction::ToClient, &answer);
        let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.message(Direction::ToServer, done);
        Some(())
    }

    fn open(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split(' ');
        self.conduit = words.next()?.parse().ok()?;
        let method = words.next()?.to_owned();
        let target = words.next().unwrap_or("/mcp").to_owned();
        self.http = true;
        let opened = EventBody::Opened(Peer::Client {
            address: "127.0.0.1:40000".to_owned(),
            connection: 1,
        });
        self.push(Direction::ToServer, opened);
        self.pending = Some(Head::Request(RequestHead {
            method: method.into(),
            target,
            version: "HTTP/1.1".into(),
            fields: Fields::default(),
        }));
        Some(())
    }

    fn field(&mut self, name: &str, value: &str) -> Option<()> {
        let fields = match self.pending.as_mut()? {
            Head::Request(head) => &mut head.fields,
            Head::Interim(head) | Head::Response(head) => &mut head.fields,
        };
        fields.push(name, value);
        Some(())
    }

    fn head(&mut self) {
        if let Some(mut head) = self.pending.take() {
            if let Head::Request(head) = &mut head
                && head.fields.get("accept").is_none()
            {
                let accept = match &*head.method {
                    "GET" => "text/event-stream",
                    _ => "application/json, text/event-stream",
                };
                head.fields.push("accept", accept);
            }
            let dir = match &head {
                Head::Request(_) => Direction::ToServer,
                Head::Interim(_) | Head::Response(_) => Direction::ToClient,
            };
            self.push(dir, EventBody::Head(Box::new(head)));
        }
    }

    fn sse(&mut self, rest: &str) -> Option<()> {
        let mut note = SseNote::default();
        for word in rest.split(' ').filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some(("id", id)) => note.id = Some(id.to_owned()),
                Some(("event", event)) => note.event = Some(event.to_owned()),
                Some(("retry", millis)) => note.retry_ms = Some(millis.parse().ok()?),
                None if word == "message" => note.message = true,
                _ => return None,
            }
        }
        self.push(Direction::ToClient, EventBody::Sse(Box::new(note)));
        Some(())
    }

    fn push(&mut self, dir: Direction, body: EventBody) {
        self.at += STEP;
        let seq = self.events.len() as u64 + 1;
        let mut event = Event {
            conduit: ConduitId(self.conduit),
            seq,
            at: Offset(self.at),
            session: SessionKey(self.session),
            dir,
            era: None,
            body,
        };
        self.origins.complete(&mut event);
        self.events.push(event);
    }
}

fn exited(rest: &str) -> Option<Exited> {
    let (how, ours) = rest.split_once(" ours ").unwrap_or((rest, "0"));
    let how = match how.split_once(' ') {
        Some(("signal", number)) => Exit::Signal(number.parse().ok()?),
        _ => Exit::Code(how.parse().ok()?),
    };
    let ours = Offset(ours.parse::<u64>().ok()? * 1_000);
    Some(Exited { how, ours })
}

fn direction(way: &str) -> Option<Direction> {
    match way {
        ">" => Some(Direction::ToServer),
        "<" => Some(Direction::ToClient),
        _ => None,
    }
}
