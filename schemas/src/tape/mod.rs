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
//! The first line is the [`Header`], the last the [`Footer`]; each line between is one
//! event with its place on the tape (`seq`, from 1 on) and its time (`at_us`,
//! microseconds since `created`, on a clock that never goes back). Everything is redacted
//! before it is written. Any prefix of a tape is readable: a recorder that was killed
//! leaves no footer and at most one line cut short.
//!
//! A message stands as `message`, with its own text: member order, white space inside,
//! duplicate keys and numbers are as they crossed the wire. What cannot stand as JSON in
//! one line stands as `text` or `base64` with a `why`; a message over the recorder's limit
//! as `clipped`, its length and its head. `eol` tells a line end other than a line feed.
//!
//! `number` counts the messages of one conduit and direction from 1 on; a batch is one
//! message. `via` says what carried a message, in the tokens of
//! [`Carrier`](crate::event::Carrier), and is left out for a line; `by` who made it, in those of
//! [`Maker`](crate::event::Maker), and is left out for the peer.
//!
//! # Faults
//!
//! What was done to a message other than to pass it on stands behind it, as tokens:
//!
//! ```text
//! {"seq":9,…,"dir":"to_client","faulted":{"message":3,"fault":"slow-1","kind":"slow","did":"delayed","by_us":50000}}
//! {"seq":11,…,"dir":"to_client","faulted":{"message":4,"fault":"w","kind":"wedged","did":"held_all"}}
//! {"seq":13,…,"dir":"to_client","faulted":{"message":5,"did":"behind","behind":4}}
//! {"seq":14,…,"dir":"to_client","faulted":{"message":4,"fault":"w","kind":"wedged","did":"released","after_us":235440,"why":"removed","all":true}}
//! ```
//!
//! `message` is the number of the message, of the same conduit and direction; `fault` and `kind`
//! name the fault, where one did it itself. [`What`](crate::event::What) lists what `did` can
//! be, with its members. The message itself is what the peer sent, never what the fault made
//! of it.
//!
//! # HTTP
//!
//! Over HTTP every exchange is a `conduit` of its own, and `session` says to which
//! session it belongs: 0 to none (see [`event`](crate::event)).
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
//! Behind a bridge, a client on stdio and a server on HTTP, the first event is
//! `"server":"https://host/mcp"` in place of `opened`.
//!
//! - `request`, `interim` (1xx) and `response` are heads; `fields` are pairs in order. The values of fields
//!   that carry credentials are never written, and `ours` says why an answer is not the
//!   server's.
//! - `body` holds what is no MCP message, content encodings undone: as `json`, `text`,
//!   `base64` or `clipped`.
//! - `sse` is what an event of a stream says beside its data; with `"message":true` the
//!   message follows, and with `"cut":true` the stream ended before the event did.
//! - `event` of a message stands where its event of a stream said `event: message`, which
//!   is what an event without a name is, too.
//! - `edited` is what we changed on its way, `before` and `after`; `trailers` are fields.
//! - `closed` with `"aborted":true` was broken off in the middle.
//! - `began` and `ended` tell of a session, `added` how long an exchange was in our hands.
//!
//! # Findings
//!
//! A recording that is judged while it is written holds what the judge found, each where
//! it was found. It is no message and belongs to nobody's conversation.
//!
//! ```text
//! {"seq":9,…,"finding":{"code":"INV-012","status":"fail","side":"server","severity":"must","detail":"…","evidence":[{"seq":8,"pointer":"/id"}]}}
//! {"seq":12,…,"finding":{"code":"HANG","status":"open","side":"server","detail":"…","evidence":[{"seq":4}],"processes":[…]}}
//! ```
//!
//! - `status` is `fail`, or `race` where the sender may not have known; of a hang `open`,
//!   and `closed` once the request was answered or given up after all.
//! - `evidence` names the events that prove it, with a JSON pointer into the message.
//! - `processes` tells what the server's processes were doing: `pid`, `name`, `state`,
//!   `cpu_ms`, and open `files`.
//!
//! # Versions
//!
//! 1.1 added HTTP, 1.2 findings. 2.0 gave messages their numbers and says in tokens what 1.x
//! said in sentences; tapes of 1.x are read. 2.1 says who made a message, and in tokens why something
//! is missing and what was changed. 2.2 added interim responses, and says for how long the end of a
//! process was in our hands (`ours_us`). 2.3 says in tokens why a recorder answered in the server's place and why a tape is not
//! whole. 2.4 has no sentences at all: `ours_cause` says precisely why we answered, `ours_about` what it is about (a name, an
//! address, what the system said) and `why` of a `text`, in a token, why it is no `message`.
//!
//! `tape` is `major.minor`. A reader takes any minor of its major and passes over
//! members and events that it does not know; a new major is refused by name.

mod bodies;
mod encode;
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
pub use footer::{Footer, GapTotal, TapeFailure};
pub use header::{Header, VERSION};
pub(crate) use http::{redacted_edit, redacted_note, redacted_request, redacted_response};
pub use incomplete::Incomplete;
pub use read::{Ending, Read, ReadError, Reader};
