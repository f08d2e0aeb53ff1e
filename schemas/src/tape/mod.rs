//! The tape: an append-only journal of one recording, as JSON Lines.
//!
//! ```text
//! {"tape":"1.0","created":"…","transport":"stdio","command":["npx","-y","…"],…}
//! {"seq":1,"at_us":812,"opened":{"pid":4711}}
//! {"seq":2,"at_us":990,"dir":"to_server","era":"handshake","message":{"jsonrpc":"2.0",…}}
//! {"seq":3,"at_us":1500,"dir":"to_client","text":"Listening…","why":"not JSON"}
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
//! # Versions
//!
//! `tape` is `major.minor`. A reader takes any minor of its major and passes over
//! members and events that it does not know; a new major is refused by name.

mod encode;
mod footer;
mod header;
mod read;

pub use encode::Encoder;
pub use footer::{Footer, GapTotal};
pub use header::{Header, VERSION};
pub use read::{Ending, ReadError, Reader};
