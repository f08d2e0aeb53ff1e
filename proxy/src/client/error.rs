//! Why a server could not be asked.

use std::fmt;
use std::io;
use std::time::Duration;

use tapewright_schemas::event::Exit;

use super::reply::Passed;
use crate::upstream::OpenError;

/// Why a server could not be asked, or what was asked got no answer.
///
/// An error that the server answers with is none of these: it is a reply. Texts hold
/// nothing that the server said but its log and the error of a refused opening, redacted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The answer to the opening is not one.
    #[error("the server's answer to `{method}` cannot be used: {why}")]
    BadOpening {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The HTTP server behind the bridge could not be reached, or answered with no message
    /// of MCP.
    #[error("{why}")]
    Bridge {
        /// What the bridge says, which holds no secret.
        why: String,
        /// The HTTP status of the server's answer, when there was one.
        status: Option<u16>,
    },
    /// The output of the server ended before the answer.
    #[error("the server ended before it answered `{what}`{}", Last { exit: *exit, log })]
    Ended {
        /// The method.
        what: String,
        /// How its process ended, when that is known.
        exit: Option<Exit>,
        /// What it said last beside the protocol, redacted.
        log: String,
    },
    /// More came before an answer than is kept.
    #[error("the server sent too many messages before the answer")]
    Flooded,
    /// What is to be sent as a request is none.
    #[error("this is not a JSON-RPC request with an id")]
    NotARequest,
    /// What is to be sent is not JSON.
    #[error("the parameters of `{method}` are not JSON")]
    NotJson {
        /// The method.
        method: String,
    },
    /// The server takes no more input.
    #[error("the server did not accept {what}{}", Last { exit: *exit, log })]
    NotTaken {
        /// A method, or what was sent.
        what: String,
        /// How its process ended, when that is known.
        exit: Option<Exit>,
        /// What it said last beside the protocol, redacted.
        log: String,
    },
    /// No link could be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The server refused the opening.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// The code of its error, when it has one.
        code: Option<i64>,
        /// Source text of its error, redacted.
        error: String,
    },
    /// A thread could not be had.
    #[error("cannot connect to the server")]
    Thread(#[source] io::Error),
    /// No answer came in time. The request was cancelled.
    #[error("no answer to `{what}` within {after:?}{}", Last { exit: None, log })]
    TimedOut {
        /// The method.
        what: String,
        /// How long it was waited for.
        after: Duration,
        /// What came until then.
        between: Vec<Passed>,
        /// What the server said last beside the protocol, redacted.
        log: String,
    },
    /// A message of the server is longer than is taken.
    #[error("the server sent a message of more than {limit_bytes} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
}

/// How a server ended, and its last words.
struct Last<'a> {
    exit: Option<Exit>,
    log: &'a str,
}

impl fmt::Display for Last<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exit {
            Some(Exit::Code(code)) => write!(out, ": it exited with status {code}")?,
            Some(Exit::Signal(signal)) => write!(out, ": it was killed by signal {signal}")?,
            None => {}
        }
        if self.log.is_empty() {
            return Ok(());
        }
        out.write_str("; its last output on stderr:")?;
        for line in self.log.lines() {
            write!(out, "\n    {line}")?;
        }
        Ok(())
    }
}
