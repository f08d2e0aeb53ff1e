//! The tape: an append-only journal of one recording, as JSON Lines.
//!
//! ```text
//! {"tape":"2.4","created":"…","transport":"stdio","command":["npx","-y","…"],…}
//! {"seq":1,"at_us":812,"opened":{"pid":4711}}
//! {"seq":2,"at_us":990,"dir":"to_server","number":1,"era":"handshake","message":{"jsonrpc":"2.0",…}}
//! {"seq":3,"at_us":1500,"dir":"to_client","number":1,"text":"Listening…","why":"not_json"}
//! {"seq":4,"at_us":1501,"stderr":"starting"}
//! {"end":{"at_us":90210,"events":4,"complete":true,…}}
//! ```
//!
//! The first line is the [`Header`], the last the [`Footer`]; each line in between is one event
//! with its number on the tape (`seq`, from 1) and its time (`at_us`, microseconds since `created`,
//! on a monotonic clock). Everything is redacted before it is written. Any prefix of a tape is
//! readable: a recorder that was killed leaves no footer and at most one line cut short.
//!
//! A message is recorded as `message`, with its original text: member order, white space inside,
//! duplicate keys and numbers are as they crossed the wire. A message that cannot be written as
//! JSON in one line is recorded as `text` or `base64` with a `why`; a message over the recorder's
//! limit as `clipped`, its length and its head. `eol` is a line end other than a line feed.
//!
//! `number` counts the messages of one conduit and direction from 1; a batch is one message. `via`
//! is what carried a message, as a token of [`Carrier`](crate::event::Carrier), and is omitted for
//! a line; `by` is who made it, as a token of [`Maker`](crate::event::Maker), and is omitted for
//! the peer.
//!
//! # Faults
//!
//! What was done to a message other than forwarding it follows the message, as tokens:
//!
//! ```text
//! {"seq":9,…,"dir":"to_client","faulted":{"message":3,"fault":"slow-1","kind":"slow","did":"delayed","by_us":50000}}
//! {"seq":11,…,"dir":"to_client","faulted":{"message":4,"fault":"w","kind":"wedged","did":"held_all"}}
//! {"seq":13,…,"dir":"to_client","faulted":{"message":5,"did":"behind","behind":4}}
//! {"seq":14,…,"dir":"to_client","faulted":{"message":4,"fault":"w","kind":"wedged","did":"released","after_us":235440,"why":"removed","all":true}}
//! ```
//!
//! `message` is the number of the message, of the same conduit and direction; `fault` and `kind`
//! name the fault, if the effect is its own. [`What`](crate::event::What) lists what `did` can be,
//! with its members. The message itself is what the peer sent, never what the fault made of it.
//!
//! # HTTP
//!
//! Over HTTP every exchange is a separate `conduit`, and `session` is the session that it belongs
//! to, or 0 for none (see [`event`](crate::event)).
//!
//! ```text
//! {"seq":1,"at_us":7,"conduit":1,"client":{"connection":1,"address":"127.0.0.1:5432"}}
//! {"seq":2,…,"conduit":1,"dir":"to_server","request":{"method":"POST","target":"/mcp","version":"HTTP/1.1","fields":[["accept","…"],…]}}
//! {"seq":3,…,"conduit":1,"dir":"to_server","message":{"jsonrpc":"2.0",…},"eol":"none"}
//! {"seq":4,…,"conduit":1,"dir":"to_server","closed":"end of input"}
//! {"seq":5,…,"conduit":1,"dir":"to_client","response":{"status":200,"version":"HTTP/1.1","fields":[…]}}
//! {"seq":6,…,"session":1,"began":"session_id"}
//! {"seq":7,…,"conduit":1,"dir":"to_client","sse":{"id":"1","retry_ms":500,"message":false}}
//! {"seq":8,…,"conduit":1,"dir":"to_client","sse":{"id":"2","message":true}}
//! {"seq":9,…,"conduit":1,"dir":"to_client","event":"message","message":{"jsonrpc":"2.0",…},"eol":"none"}
//! {"seq":10,…,"conduit":1,"dir":"to_client","closed":"end of input"}
//! {"seq":11,…,"conduit":1,"added":{"request_us":60,"response_us":21}}
//! ```
//!
//! With a bridge from a client on stdio to a server on HTTP, the first event is
//! `"server":"https://host/mcp"` in place of `opened`.
//!
//! - `request`, `interim` (1xx) and `response` are heads; `fields` are pairs in order. The values
//!   of fields that carry credentials are never written, and `ours` is why an answer is not the
//!   server's.
//! - `body` is content that is not an MCP message, without content encodings: as `json`, `text`,
//!   `base64` or `clipped`.
//! - `sse` has the fields of a stream's event other than its data; with `"message":true` the
//!   message follows, and with `"cut":true` the stream ended before the event did.
//! - `event` of a message is set if its event in the stream had `event: message`, which is also the
//!   default name of an event.
//! - `edited` is what the recorder changed on the way, `before` and `after`; `trailers` are fields.
//! - `closed` with `"aborted":true` was broken off in the middle, and with `"stopped":true` by the
//!   end of the recorder.
//! - `began` and `ended` are about a session, `added` is how long the recorder held an exchange.
//!
//! # Findings
//!
//! A recording that is judged while it is written contains the judge's findings, each where it was
//! found. A finding is not a message and belongs to no conversation.
//!
//! ```text
//! {"seq":9,…,"finding":{"code":"INV-012","status":"fail","side":"server","severity":"must","detail":"…","evidence":[{"seq":8,"pointer":"/id"}]}}
//! {"seq":12,…,"finding":{"code":"HANG","status":"open","side":"server","detail":"…","evidence":[{"seq":4}],"processes":[…]}}
//! ```
//!
//! - `status` is `fail`, or `race` where the sender may not have known; for a hang `open`, and
//!   `closed` when the request was answered or given up after all.
//! - `evidence` names the events that prove it, with a JSON pointer into the message.
//! - `processes` describes what the server's processes were doing: `pid`, `name`, `state`,
//!   `cpu_ms`, and open `files`.
//!
//! # Versions
//!
//! 1.1 added HTTP, 1.2 findings. 2.0 added numbers of messages, and tokens for what 1.x wrote in
//! sentences; tapes of 1.x can be read. 2.1 added who made a message, and tokens for why something
//! is missing and what was changed. 2.2 added interim responses, and for how long the recorder held
//! the end of a process (`ours_us`). 2.3 added tokens for why a recorder answered in the server's
//! place and why a tape is incomplete. 2.4 has no sentences at all: `ours_cause` is the precise
//! reason why the recorder answered, `ours_about` its subject (a name, an address, the system's
//! error) and `why` of a `text` the reason, as a token, why it is not a `message`.
//!
//! `tape` is `major.minor`. A reader accepts any minor of its major and ignores unknown members and
//! events; it rejects other majors, and its error names the version.

mod bodies;
mod encode;
mod facts;
mod footer;
mod head;
mod header;
mod http;
mod incomplete;
mod known;
mod line;
pub(crate) mod old;
mod prefix;
mod proof;
mod read;
mod record;
mod seen;
mod watch;

pub use encode::Encoder;
pub use facts::LineFacts;
pub use footer::{Footer, GapTotal, TapeFailure};
pub use header::{Header, VERSION};
pub(crate) use http::{redacted_edit, redacted_note, redacted_request, redacted_response};
pub use incomplete::Incomplete;
pub use read::{Ending, Read, ReadError, Reader};
