//! Which answer belongs to which request.
//!
//! An id is valid within a [`Scope`](crate::event::Scope) and a direction: both sides may count
//! from zero, and so may each exchange without a session. Ids of another type or spelling are
//! different ids: `2`, `"2"` and `2.0` are distinct.
//!
//! A [`Pairing`] holds the requests in flight. It does not depend on events, so that it also works
//! where there are none yet. A [`Conversation`] consumes events, reports what each message does to
//! an [`Exchange`], and ends each exchange with one [`Outcome`]. An [`ExchangeRow`] is what is
//! shown of an exchange, and a [`ModelRow`] what is shown of a model call. Code that attaches data
//! to exchanges that other code follows does so by their [`Handle`]s, in a [`PerExchange`] or,
//! where the oldest may have to go, in an [`OldestFirst`]; code that forwards messages between live
//! peers only needs [`Outstanding`]. A [`MessagePairs`] reports the same about messages as a
//! `Conversation`, for code that only sees messages and keeps no exchanges.

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
mod faulted_tests;
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

/// Whether a response without an id is about a message that its sender could not read. It then
/// answers none of the requests that were read, not even one whose id is `null`.
#[must_use]
pub fn is_about_noise(id: &RequestId<'_>, error: Option<&[u8]>) -> bool {
    !id.pairs() && error.is_some_and(|error| json::find(error, &["code"]) == Some(PARSE_ERROR))
}

/// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: &[u8] = b"-32700";
