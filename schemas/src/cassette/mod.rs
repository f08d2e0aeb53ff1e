//! The cassette: one recording as request/response exchanges, in the documented replay
//! format.
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
//! `version` and `exchanges` with `request` and `response` are the documented format;
//! every other member is additive, and readers that do not know it pass over it. Every
//! envelope is its own text from the wire: nothing is parsed into a model and written
//! again. Exchanges stand in the order of their requests.
//!
//! - `stream` is what crossed while the request was in flight and belongs to it: progress
//!   by its token, a cancellation by its id, everything else that the server sends on its
//!   own, and the client's replies to that, to the latest request in flight.
//! - `messages` is what belongs to no exchange; `after` counts the exchanges whose request
//!   had been seen before it. A line that is no JSON stands there as `text` or `base64`.
//! - `unanswered` is every client request that never got its response.
//! - `probes` are exchanges of `server/discover` that the client had with a process of
//!   their own, before the session: it starts its server twice to learn its era.
//! - `head` is the head of the HTTP response that an answer came in, where we were the
//!   client and recorded its lines: `{"status": …, "version": …, "fields": [[name, value], …]}`.
//! - `fault` is what a fault that was injected did to a request or its response. What stands
//!   beside it is what the peer sent, and never what the fault made of it. It is an object:
//!   `fault` and `kind` name the fault, `did` and the members beside it say what was done, as
//!   on a tape (see [`What`](crate::event::What)), without the number of the message. In
//!   `messages` it stands as `effect`, under the mark `faulted`. Older recorders wrote a
//!   sentence, as `fault` and as `why`; it is read.
//!
//! # Without times
//!
//! A recorder leaves out times and durations unless it is asked for them
//! ([`without_times`](Projector::without_times)): they are on the tape, and in a file that is kept
//! under version control they would change with every recording. With them goes whatever else
//! tells of one recording only: `recorded_at` and the version of ours in `meta`, the numbers of
//! connections, `added_us`, and edits of fields such as `host`. What happened before what is told
//! by `seen`, `late` and `unanswered_before`, where the order of the file does not: see [`Course`].
//!
//! Answers that are lists (`tools/list` and its like) stand an element on each line, see
//! [`in_lines`].
//!
//! # HTTP
//!
//! - `http` tells of the HTTP exchange that carried a request: method, path, status, how it
//!   ended, redacted fields, edits. `conduit` is its number on the tape.
//! - `via` says on which stream a response came, where that is not the request's own.
//! - `sse` in an entry is what an event of a stream says beside its message, or all that
//!   it says; `body` is what crossed and is no message.
//! - `session` names a session and `sessionless` the exchanges without one, where an id means nothing beyond
//!   its exchange. The list `sessions` says how they began and ended.
//! - The list `http` holds the exchanges that carried no request, in the order in which
//!   they began.
//! - The body of an HTTP error is the response of its own exchange, whatever its id; with
//!   another id than the request's the exchange is marked `http error`.
//!
//! # Bounded memory
//!
//! A [`Projector`] holds only the exchanges behind the oldest open request, and no more
//! than a few megabytes of those: a request that stays open for long goes to a spool and
//! comes back at its place when the file is put together.
//!
//! # Elsewhere
//!
//! Which response answers which request is in [`conversation`](crate::conversation), the
//! order of the exchanges in `exchange_order`; the capture projection uses both.

mod assemble;
mod course;
mod draft;
pub(crate) mod ends;
mod entry;
mod exchange;
mod exchange_order;
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
