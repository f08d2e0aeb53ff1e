//! The cassette: one recording as request/response exchanges, in the documented replay format.
//!
//! ```text
//! {
//!   "version": "1",
//!   "meta": {"source_command": "npx -y server", "recorded_by": "tapewright"},
//!   "exchanges": [
//!     {
//!       "request": {"jsonrpc":"2.0","id":1,"method":"tools/list"},
//!       "response": {"jsonrpc":"2.0","id":1,"result":{"tools":[]}},
//!       "timing": {"sent_ms": 1.5, "took_ms": 3.2},
//!       "stream": [
//!         {"from": "server", "at_ms": 2.1, "message": {"jsonrpc":"2.0","method":"…"}}
//!       ],
//!       "era": "handshake",
//!       "marks": ["id reused"]
//!     }
//!   ],
//!   "messages": [{"after": 1, "from": "client", "at_ms": 9, "message": {…}}],
//!   "unanswered": [{"request": {…}, "after": 1, "sent_ms": 9, "why": "cancelled"}],
//!   "probes": [{"request": {…}, "response": {…}}],
//!   "incomplete": "cut_short"
//! }
//! ```
//!
//! `version` and `exchanges` with `request` and `response` are the documented format; every other
//! member is additive, and readers that do not know it ignore it. Every envelope is the original
//! text from the wire: nothing is parsed into a model and serialized again. Exchanges are in the
//! order of their requests.
//!
//! - `stream` contains the messages that crossed while the request was in flight and belong to it:
//!   progress by its token, a cancellation by its id; everything else that the server sends on its
//!   own, and the client's replies to that, belong to the latest request in flight.
//! - `messages` are those that belong to no exchange; `after` counts the exchanges whose request
//!   came before it. A line that is not JSON is recorded there as `text` or `base64`.
//! - `unanswered` lists every client request that never got a response.
//! - `probes` are exchanges of `server/discover` with a separate process, before the session: such
//!   a client starts its server twice to determine its era.
//! - `head` is the head of the HTTP response that carried an answer, if tapewright was the client
//!   and recorded lines: `{"status": …, "version": …, "fields": [[name, value], …]}`.
//! - `fault` is what an injected fault did to a request or its response. The messages next to it
//!   are what the peer sent, never what the fault changed it to. It is an object: `fault` and
//!   `kind` name the fault, `did` and its other members describe what was done, as on a tape (see
//!   [`What`](crate::event::What)), without the number of the message. In `messages` it is
//!   `effect`, with the mark `faulted`. Older recorders wrote a sentence, as `fault` and as `why`;
//!   it is still read.
//!
//! # Without times
//!
//! A recorder omits times and durations unless they are requested
//! ([`without_times`](Projector::without_times)): they are on the tape, and in a file under version
//! control they would change with every recording. Everything else that is specific to one
//! recording is omitted with them: `recorded_at` and tapewright's version in `meta`, the numbers of
//! connections, `added_us`, and edits of fields such as `host`. Where the order of the file does
//! not show what happened first, `seen`, `late` and `unanswered_before` do: see [`Course`].
//!
//! Answers that are lists (such as `tools/list`) have each element on its own line, see
//! [`in_lines`].
//!
//! # HTTP
//!
//! - `http` describes the HTTP exchange that carried a request: method, path, status, how it ended,
//!   redacted fields, edits. `conduit` is its number on the tape.
//! - `via` is the stream on which a response came, if it is not the request's own.
//! - `sse` in an entry has the fields of a stream's event other than its message, or all of them if
//!   it has none; `body` is content that is not a message.
//! - `session` identifies a session, and `sessionless` marks exchanges without one, where an id is
//!   only valid within its exchange. The list `sessions` says how they began and ended.
//! - The list `http` holds the exchanges that carried no request, in the order in which they began.
//! - The body of an HTTP error is the response of the exchange that carried it, whatever its id;
//!   with another id than the request's the exchange is marked `http error`.
//!
//! # Bounded memory
//!
//! A [`Projector`] holds only the exchanges after the oldest open request, and at most a few
//! megabytes of those: a request that stays open for long goes to a spool, and returns to its place
//! when the file is assembled.
//!
//! # Elsewhere
//!
//! Which response answers which request is in [`conversation`](crate::conversation), the order of
//! the exchanges in `exchange_order`; the capture projection uses both.

mod assemble;
mod course;
mod draft;
pub(crate) mod ends;
mod entry;
mod exchange;
mod exchange_order;
mod field_texts;
mod finisher;
mod fresh;
mod http;
mod lines;
mod merge;
mod messages;
mod near;
mod note;
mod open;
mod places;
mod project;
mod read;
mod reader;
mod record;
mod recording;
mod sides;
mod spool;
pub(crate) mod text;
mod timeline;
mod untimed;
mod when;

pub(crate) use assemble::Assembly;
pub use course::{Course, Step};
pub use ends::NoAnswer;
pub use exchange::{Http, Via};
pub(crate) use exchange_order::ExchangeOrder;
pub use lines::{in_lines, is_listing, on_one_line};
pub use merge::{Merged, Unfinished, merge};
pub use places::{Placed, Plain};
pub use project::{Projector, Summary};
pub use read::{BareHttpExchange, Cassette, Entry, RecordedExchange, RecordedSession, Unanswered};
pub use reader::Reader;
pub(crate) use record::Rest;
