//! From events to lines.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use memchr::memchr2;

use crate::envelope::{Envelope, for_each_message};
use crate::era::EraTracker;
use crate::event::{Direction, Event, EventBody, Exit, LineEnd, Payload, Peer};
use crate::json::{self, Invalid, push_number};
use crate::pending::Pending;
use crate::redact::{LineState, Redactor};
use crate::tape::{Footer, GapTotal};

/// Numbers events, finds their era, redacts them and writes them as lines.
///
/// The one place where events become bytes for a disk; what leaves here holds no secret
/// that the rules know.
#[derive(Debug)]
pub struct Encoder {
    redactor: Redactor,
    eras: EraTracker,
    pending: Pending,
    // Secrets that span lines, per stream: to the server, to the client, standard error.
    streams: [LineState; 3],
    seq: u64,
    gaps: GapTotal,
}

/// Why a message does not stand on the tape as JSON.
const NOT_JSON: &str = "not JSON";
const NOT_UTF8: &str = "not UTF-8";
const SPACED: &str = "white space around the message";
const TOO_DEEP: &str = "nested too deep to be read";
const TOO_LONG: &str = "over the message limit";

impl Encoder {
    /// An encoder at the start of a tape.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            eras: EraTracker::default(),
            pending: Pending::default(),
            streams: Default::default(),
            seq: 0,
            gaps: GapTotal::default(),
        }
    }

    /// Appends one event as one line.
    pub fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        self.seq += 1;
        out.extend_from_slice(b"{\"seq\":");
        push_number(self.seq, out);
        out.extend_from_slice(b",\"at_us\":");
        push_number(event.at.0, out);
        if event.session.0 != 0 {
            out.extend_from_slice(b",\"session\":");
            push_number(event.session.0.into(), out);
        }
        if event.conduit.0 != 0 {
            out.extend_from_slice(b",\"conduit\":");
            push_number(event.conduit.0.into(), out);
        }
        match &event.body {
            EventBody::Message { payload, end } => {
                push_dir(event.dir, out);
                self.message(event, payload, out);
                push_line_end(*end, out);
            }
            EventBody::Stderr { line, end } => {
                self.stderr(line, out);
                push_line_end(*end, out);
            }
            EventBody::Part { bytes } => {
                push_dir(event.dir, out);
                out.extend_from_slice(b",\"part\":{\"bytes\":");
                push_number(*bytes, out);
                out.push(b'}');
            }
            EventBody::Closed(reason) => {
                push_dir(event.dir, out);
                push_text("closed", reason.name(), out);
            }
            EventBody::Faulted { effect } => {
                push_dir(event.dir, out);
                push_text("faulted", effect, out);
            }
            EventBody::Gap(gap) => {
                self.gaps.count += 1;
                self.gaps.events += gap.events;
                self.gaps.bytes += gap.bytes;
                out.extend_from_slice(b",\"gap\":{\"events\":");
                push_number(gap.events, out);
                out.extend_from_slice(b",\"bytes\":");
                push_number(gap.bytes, out);
                push_text("why", &gap.why, out);
                out.push(b'}');
            }
            EventBody::Added(_)
            | EventBody::Body { .. }
            | EventBody::Edited(_)
            | EventBody::Head(_)
            | EventBody::Opened(Peer::Cassette | Peer::Client { .. })
            | EventBody::Session(_)
            | EventBody::Sse(_)
            | EventBody::Trailers(_) => {}
            EventBody::Opened(Peer::Process { pid }) => {
                out.extend_from_slice(b",\"opened\":{\"pid\":");
                push_number((*pid).into(), out);
                out.push(b'}');
            }
            EventBody::Signal(name) => push_text("signal", name, out),
            EventBody::Exited(exit) => push_exit(*exit, out),
        }
        out.extend_from_slice(b"}\n");
    }

    /// How many events were written.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.seq
    }

    /// What is missing so far.
    #[must_use]
    pub fn gaps(&self) -> GapTotal {
        self.gaps
    }

    /// The requests that still await their response.
    #[must_use]
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// The redactor, for what stands in the header.
    pub fn redactor(&mut self) -> &mut Redactor {
        &mut self.redactor
    }

    /// The footer of a tape that ends now.
    #[must_use]
    pub fn footer(&self, at_us: u64, why: Option<String>) -> Footer {
        let redactions: BTreeMap<String, u64> = self.redactor.counts().clone();
        Footer {
            at_us,
            events: self.seq,
            complete: why.is_none() && self.gaps.is_empty(),
            why,
            gaps: self.gaps,
            redactions,
        }
    }

    fn message(&mut self, event: &Event, payload: &Payload, out: &mut Vec<u8>) {
        let bytes = match payload {
            Payload::Whole(bytes) => bytes,
            Payload::Clipped { len, head } => return self.clipped(*len, head, out),
        };
        let why = match self.redactor.json(bytes) {
            Ok(redacted) => {
                self.follow(event, bytes, out);
                if fits_a_line(&redacted) {
                    out.extend_from_slice(b",\"message\":");
                    out.extend_from_slice(&redacted);
                } else {
                    push_bytes("text", &redacted, SPACED, out);
                }
                return;
            }
            Err(Invalid::TooDeep) => TOO_DEEP,
            Err(_) => NOT_JSON,
        };
        let [to_server, to_client, _] = &mut self.streams;
        let state = match event.dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        let redacted = self.redactor.line(state, bytes);
        push_bytes("text", &redacted, why, out);
    }

    /// Follows the conversation: the era of this message, and who awaits an answer.
    fn follow(&mut self, event: &Event, bytes: &Bytes, out: &mut Vec<u8>) {
        let envelope = Envelope::of_json(bytes);
        if let crate::envelope::Kind::Batch { .. } = envelope.kind {
            let mut era = None;
            for_each_message(bytes, |one| {
                let member = Envelope::of_json(one);
                era = self.eras.observe(event.dir, &member);
                self.pending.observe(event.dir, event.at, self.seq, &member);
            });
            return push_era(era, out);
        }
        let era = self.eras.observe(event.dir, &envelope);
        self.pending
            .observe(event.dir, event.at, self.seq, &envelope);
        push_era(era, out);
    }

    fn clipped(&mut self, len: u64, head: &Bytes, out: &mut Vec<u8>) {
        let head = self.redactor.head(head);
        out.extend_from_slice(b",\"clipped\":{\"len\":");
        push_number(len, out);
        out.extend_from_slice(b",\"head\":\"");
        json::escape(&String::from_utf8_lossy(&head), out);
        out.extend_from_slice(b"\"}");
        push_text("why", TOO_LONG, out);
    }

    fn stderr(&mut self, line: &Bytes, out: &mut Vec<u8>) {
        let [_, _, state] = &mut self.streams;
        let redacted = self.redactor.line(state, line);
        match std::str::from_utf8(&redacted) {
            Ok(text) => push_text("stderr", text, out),
            Err(_) => push_base64("stderr_base64", &redacted, out),
        }
    }
}

/// Whether a JSON text may stand in a line as it is, and come back exactly.
fn fits_a_line(text: &[u8]) -> bool {
    text.trim_ascii().len() == text.len() && memchr2(b'\n', b'\r', text).is_none()
}

fn push_bytes(name: &str, bytes: &[u8], why: &str, out: &mut Vec<u8>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        push_text(name, text, out);
        push_text("why", why, out);
    } else {
        push_base64("base64", bytes, out);
        push_text("why", NOT_UTF8, out);
    }
}

fn push_base64(name: &str, bytes: &[u8], out: &mut Vec<u8>) {
    push_text(name, &STANDARD.encode(bytes), out);
}

fn push_dir(dir: Direction, out: &mut Vec<u8>) {
    out.extend_from_slice(match dir {
        Direction::ToServer => b",\"dir\":\"to_server\"",
        Direction::ToClient => b",\"dir\":\"to_client\"",
    });
}

fn push_era(era: Option<crate::era::Era>, out: &mut Vec<u8>) {
    if let Some(era) = era {
        push_text("era", era.name(), out);
    }
}

fn push_line_end(end: LineEnd, out: &mut Vec<u8>) {
    match end {
        LineEnd::Lf => {}
        LineEnd::CrLf => push_text("eol", "crlf", out),
        LineEnd::None => push_text("eol", "none", out),
    }
}

fn push_exit(exit: Exit, out: &mut Vec<u8>) {
    let (name, number) = match exit {
        Exit::Code(code) => ("code", code),
        Exit::Signal(signal) => ("signal", signal),
    };
    out.extend_from_slice(b",\"exited\":{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    if number < 0 {
        out.push(b'-');
    }
    push_number(number.unsigned_abs().into(), out);
    out.push(b'}');
}

fn push_text(name: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    json::escape(text, out);
    out.push(b'"');
}
