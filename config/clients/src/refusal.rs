//! What is not done, and what to do by hand instead.

use crate::format::Unreadable;
use crate::node::{Held, Twice};

/// An entry that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// Why.
    pub why: Why,
    /// The change to make by hand, as lines of text; nothing where there is none.
    pub by_hand: Vec<String>,
}

impl From<Why> for Refusal {
    fn from(why: Why) -> Self {
        Self {
            why,
            by_hand: Vec::new(),
        }
    }
}

/// Why an entry stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The file is not of its format.
    #[error("the file cannot be read: {0}")]
    Unreadable(Unreadable),
    /// There is no such server.
    #[error("there is no server `{0}` in it")]
    NoSuchServer(String),
    /// A name is there twice, and clients disagree on which one counts.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// Two members of which the client takes one.
    #[error("it has both `{0}` and `{1}`")]
    Both(String, String),
    /// It names neither a command nor a URL.
    #[error("it starts no process and names no URL that could be recorded")]
    NoProcess,
    /// A member has a value of another type.
    #[error("`{0}` is not what it should be: a text, or a list of texts")]
    BadType(String),
    /// Something stands elsewhere, or elsewhere depends on it.
    #[error("{}", held(*.0))]
    Held(Held),
    /// The entry is spread over names with dots.
    #[error("it is written with dotted keys")]
    Dotted,
    /// A remote server is sent something that a bridge could only copy.
    #[error("`{0}` is sent to the server, and is copied nowhere")]
    Credentials(String),
    /// A gateway stands in front of servers on HTTP.
    #[error("it starts a process, and a gateway's URL replaces a URL")]
    NotRemote,
    /// What wrapping wrote was changed since.
    #[error("`{0}` was changed since it was wrapped")]
    Edited(String),
    /// The changed file would not say what it should.
    #[error("the changed file would not mean the wrapped command")]
    Unsure,
}

fn held(held: Held) -> &'static str {
    match held {
        Held::Anchor => "it has an anchor that other places may refer to",
        Held::Alias => "it is an alias of another place",
        Held::Merge => "it takes members from another place with `<<`",
        Held::Tag => "it has a tag",
        Held::Block => "it is a text of several lines",
    }
}

impl From<Unreadable> for Why {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

impl From<Twice> for Why {
    fn from(Twice(key): Twice) -> Self {
        Self::Twice(key)
    }
}
