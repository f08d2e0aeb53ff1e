//! Changes that are refused, and what to do by hand instead.

use crate::format::Unreadable;
use crate::node::{DuplicateName, Obstacle};

/// An entry that remains unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// Why.
    pub why: RefusalReason,
    /// The change to make by hand, as lines of text; empty if there is none.
    pub by_hand: Vec<String>,
}

impl From<RefusalReason> for Refusal {
    fn from(why: RefusalReason) -> Self {
        Self {
            why,
            by_hand: Vec::new(),
        }
    }
}

/// Why an entry remains unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// The file does not have its format.
    #[error("the file cannot be read: {0}")]
    Unreadable(Unreadable),
    /// There is no server with this name.
    #[error("no server named `{0}` in it")]
    NoSuchServer(String),
    /// A name is there twice, and clients disagree on which one counts.
    #[error("`{0}` is defined twice")]
    Twice(String),
    /// Two members of which the client uses only one.
    #[error("it has both `{0}` and `{1}`")]
    Both(String, String),
    /// It has neither a command nor a URL.
    #[error("it has neither a command nor a URL to record")]
    NoProcess,
    /// A member has a value of another type.
    #[error("`{0}` must be a string or a list of strings")]
    BadType(String),
    /// A part of it is defined elsewhere, or used elsewhere.
    #[error("{}", held(*.0))]
    NotReplaceable(Obstacle),
    /// The entry is spread over names with dots.
    #[error("it is written with dotted keys")]
    Dotted,
    /// A remote server is sent something that a bridge could only copy.
    #[error("`{0}` is a secret for the server and is never copied")]
    Credentials(String),
    /// A gateway only works with servers on HTTP.
    #[error("a gateway's URL can only replace a URL, and this entry has a command")]
    NotRemote,
    /// The wrapped entry was changed since.
    #[error("`{0}` was changed since it was wrapped")]
    Edited(String),
    /// The changed file would not have the intended meaning.
    #[error("the changed file would not mean the wrapped command")]
    Unsure,
}

fn held(held: Obstacle) -> &'static str {
    match held {
        Obstacle::Anchor => "it has an anchor",
        Obstacle::Alias => "it is an alias",
        Obstacle::Merge => "it uses the merge key `<<`",
        Obstacle::Tag => "it has a tag",
        Obstacle::Block => "it is a multi-line string",
    }
}

impl From<Unreadable> for RefusalReason {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

impl From<DuplicateName> for RefusalReason {
    fn from(DuplicateName(key): DuplicateName) -> Self {
        Self::Twice(key)
    }
}
