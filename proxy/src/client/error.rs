//! Errors of requests to a server.

use std::fmt;
use std::io;
use std::time::Duration;

use tapewright_schemas::event::Exit;

use super::reply::Passed;
use crate::upstream::OpenError;

/// Why a request could not be sent, or got no answer.
///
/// An error response of the server is not among them: it is a reply. The only texts of the server
/// in these errors are its log and the error of a refused opening, redacted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The answer to the opening is invalid.
    #[error("the server's answer to `{method}` cannot be used: {why}")]
    BadOpening {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// The error.
        why: &'static str,
    },
    /// The HTTP server behind the bridge could not be reached, or its answer was not an MCP
    /// message.
    #[error("{why}")]
    Bridge {
        /// The bridge's message, which contains no secret.
        why: String,
        /// The HTTP status of the server's answer, if there was one.
        status: Option<u16>,
    },
    /// The output of the server ended before the answer.
    #[error("the server ended before it answered `{what}`{}", Last { exit: *exit, log })]
    Ended {
        /// The method.
        what: String,
        /// How its process ended, if known.
        exit: Option<Exit>,
        /// The end of its log, redacted.
        log: String,
    },
    /// There were too many messages before an answer.
    #[error("the server sent too many messages before the answer")]
    Flooded,
    /// The message to send is not a request.
    #[error("this is not a JSON-RPC request with an id")]
    NotARequest,
    /// The message to send is not JSON.
    #[error("the parameters of `{method}` are not JSON")]
    NotJson {
        /// The method.
        method: String,
    },
    /// The server accepts no more input.
    #[error("the server did not accept {what}{}", Last { exit: *exit, log })]
    NotTaken {
        /// The method, or the message.
        what: String,
        /// How its process ended, if known.
        exit: Option<Exit>,
        /// The end of its log, redacted.
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
        /// The code of its error, if it has one.
        code: Option<i64>,
        /// Source text of its error, redacted.
        error: String,
    },
    /// A thread could not be started.
    #[error("cannot connect to the server")]
    Thread(#[source] io::Error),
    /// There was no answer in time. The request was cancelled.
    #[error("no answer to `{what}` within {after:?}{}", Last { exit: None, log })]
    TimedOut {
        /// The method.
        what: String,
        /// The timeout.
        after: Duration,
        /// The messages until then.
        between: Vec<Passed>,
        /// The end of the server's log, redacted.
        log: String,
    },
    /// A message of the server exceeds the limit.
    #[error("the server sent a message of more than {limit_bytes} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
}

/// How a server ended, and the end of its log.
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
