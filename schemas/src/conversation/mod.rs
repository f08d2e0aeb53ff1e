//! Which answer belongs to which request.
//!
//! An id means something within a [`Scope`](crate::event::Scope) and a direction: both sides
//! may count from zero, and so may each exchange that belongs to no session. Ids of another
//! type or spelling are other ids: `2`, `"2"` and `2.0` stay apart.
//!
//! A [`Pairing`] knows the requests in flight, and nothing of events, so that it serves where
//! there are none yet. A [`Conversation`] takes events, tells of each message what it does to
//! an [`Exchange`], and ends each exchange with one [`Outcome`]. An [`ExchangeRow`] is what is
//! shown of one, and a [`ModelRow`] what is shown of a call of a model beside them. Who notes
//! something of exchanges that somebody else follows does so by their [`Handle`]s, in a
//! [`PerExchange`] or, where the oldest may have to go, in an [`OldestFirst`]; who passes messages on between live peers needs only what is
//! [`Outstanding`]. A [`MessagePairs`] tells of messages what a `Conversation` tells, for who sees messages alone and keeps nothing of
//! exchanges.

mod answers;
mod exchange;
mod flight;
mod fold;
mod gist;
mod key;
mod message_pairs;
mod model_row;
mod oldest_first;
mod outcome;
mod outstanding;
mod owed;
mod paired;
mod pairing;
mod per_exchange;
mod row;
mod scopes;
mod settle;
mod step;
mod used;
mod window;

#[cfg(test)]
mod playbook;
#[cfg(test)]
mod tests;

pub use self::exchange::{Answered, Exchange, name_of, plain_call, shown};
pub use self::flight::Handle;
pub use self::fold::Conversation;
pub use self::gist::Gist;
pub use self::key::IdKey;
pub use self::message_pairs::{MessagePairs, Pair};
pub use self::model_row::{AskedBy, CarriedOut, ModelKind, ModelRow, ToolUseRow};
pub use self::oldest_first::OldestFirst;
pub use self::outcome::Outcome;
pub use self::outstanding::Outstanding;
pub use self::owed::Owed;
pub use self::paired::{Answer, Registered};
pub use self::pairing::Pairing;
pub use self::per_exchange::PerExchange;
pub use self::row::ExchangeRow;
pub use self::step::{Does, Over, Step};

use crate::envelope::RequestId;
use crate::json;

/// Whether a response without an id is about a message that its sender could not read, so
/// that no request which was read is answered by it, also none whose id is `null`.
#[must_use]
pub fn is_about_noise(id: &RequestId<'_>, error: Option<&[u8]>) -> bool {
    !id.pairs() && error.is_some_and(|error| json::find(error, &["code"]) == Some(PARSE_ERROR))
}

/// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: &[u8] = b"-32700";
