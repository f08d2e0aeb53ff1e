//! An MCP client over any [`Upstream`]: a child process, an HTTP server behind a bridge, a
//! recording.
//!
//! For code that sends requests to a server and judges its answers: `verify` and the suites. The
//! server's messages are not parsed into types, dropped or repaired; a [`Reply`] is the text of the
//! response and all messages before it, with their times.
//!
//! ```text
//! Client ──put──▶ writer ──▶ server            a thread each for writing, reading, the
//!   ▲                          │               log and the server's end; what waits to
//!   └── Inbox ◀── reader ◀─────┘               be taken is bounded in bytes
//! ```
//!
//! One request is in progress at a time, so messages are sent in the caller's order. While it
//! waits, requests of the server are answered by the caller's [`Answers`]. No server can block a
//! caller beyond its timeout, or use more than [`MOST_BYTES`] of memory.
//!
//! ```no_run
//! # use std::{sync::Arc, time::Duration};
//! # use tapewright_proxy::{client::*, clock::Clock, stdio::ChildProcess};
//! # use tapewright_schemas::redact::{self, Rules};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ChildProcess::new("my-server".into(), vec![]);
//! let rules = Arc::new(Rules::new(&redact::Settings::default())?);
//! let mut client = Client::open(&server, Settings::new(rules), Clock::start())?;
//! client.greet(&Opening::default(), Duration::from_secs(10))?;
//! let reply = client.request("tools/list", None, Duration::from_secs(30))?;
//! assert!(reply.result().is_some());
//! client.close();
//! # Ok(())
//! # }
//! ```

mod answer;
mod error;
mod greeting;
mod inbox;
mod meta;
mod reply;
mod settings;
mod tail;
mod wires;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind, for_each_message};
use tapewright_schemas::event::{Direction, Exit, Peer};
use tapewright_schemas::json;

use self::inbox::{Inbox, Taken};
use self::wires::Wires;
use crate::bridge::line::{id_source, one_line};
use crate::clock::Clock;
use crate::upstream::Upstream;

pub use self::answer::{Answer, Answers, NoAnswers, ServerRequest};
pub use self::error::ClientError;
pub use self::greeting::{FIRST_STATELESS, Greeting, LATEST_HANDSHAKE, Opening, Revision};
pub use self::reply::{Passed, Reply};
pub use self::settings::{MOST_BYTES, MOST_MESSAGES, Settings};

/// A conversation with a server, from the client's side.
///
/// Dropping it ends the server immediately; [`close`](Self::close) lets it end in an orderly way.
pub struct Client {
    wires: Wires,
    peer: Peer,
    clock: Clock,
    settings: Settings,
    answers: Box<dyn Answers>,
    greeting: Option<Greeting>,
    // Members of `_meta` that every request of the stateless era needs, as source text.
    meta: Vec<(String, String)>,
    next_id: u64,
    // Lines that were received during a write.
    early: VecDeque<Passed>,
    // Messages since the last reply, or during the wait for one.
    passed: Vec<Passed>,
    passed_bytes: usize,
}

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status; `None` if it outlived every deadline.
    pub exit: Option<Exit>,
    /// The end of its log, redacted.
    pub log: String,
}

impl Client {
    /// Opens a link without sending anything; requests of the server get the default answers until
    /// [`answer_with`](Self::answer_with).
    pub fn open(
        upstream: &(impl Upstream + ?Sized),
        settings: Settings,
        clock: Clock,
    ) -> Result<Self, ClientError> {
        let link = upstream.open()?;
        let peer = link.peer.clone();
        let inbox = Inbox::new(settings.limit_bytes, settings.stop.clone());
        let wires = Wires::connect(link, inbox, clock).map_err(ClientError::Thread)?;
        Ok(Self {
            wires,
            peer,
            clock,
            settings,
            answers: Box::new(NoAnswers),
            greeting: None,
            meta: Vec::new(),
            next_id: 1,
            early: VecDeque::new(),
            passed: Vec::new(),
            passed_bytes: 0,
        })
    }

    /// Sets who answers requests of the server from now on.
    pub fn answer_with(&mut self, answers: impl Answers + 'static) {
        self.answers = Box::new(answers);
    }

    /// The peer.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The result of [`greet`](Self::greet).
    #[must_use]
    pub fn greeting(&self) -> Option<&Greeting> {
        self.greeting.as_ref()
    }

    /// Sends a request and waits for its reply, which may be an error of the server.
    ///
    /// `params` is the source text of a JSON object. In the stateless era the members of `_meta`
    /// that the revision requires are added where they are absent. On a timeout the request is
    /// cancelled in the way of its era, and the error contains the messages until then.
    pub fn request(
        &mut self,
        method: &str,
        params: Option<&str>,
        timeout: Duration,
    ) -> Result<Reply, ClientError> {
        let id = self.fresh_id();
        let line = self.line(Some(id), method, params)?;
        self.exchange(&line, timeout)
    }

    /// An id that no request of this client has used, for messages made by the caller.
    pub fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), ClientError> {
        let line = self.line(None, method, params)?;
        self.send(&line)
    }

    /// Sends one message verbatim, valid or not. Line ends between its tokens become spaces, since
    /// the transport consists of lines.
    pub fn send(&mut self, message: &[u8]) -> Result<(), ClientError> {
        let until = self.clock.elapsed().saturating_add(self.settings.patience);
        let Some(line) = one_line(&Bytes::copy_from_slice(message)) else {
            return Ok(());
        };
        self.put(line, "a message", until)
    }

    /// Sends a whole request verbatim, and waits for the reply to its id.
    pub fn exchange(&mut self, message: &[u8], timeout: Duration) -> Result<Reply, ClientError> {
        let line = one_line(&Bytes::copy_from_slice(message)).unwrap_or_default();
        let Kind::Request { id, method, .. } = Envelope::parse(&line).kind else {
            return Err(ClientError::NotARequest);
        };
        let until = self.clock.elapsed().saturating_add(timeout);
        let sent = self.clock.now();
        // A server that accepts no more input may still send messages.
        let taken = self.put(line.clone(), &method, until);
        let key = IdKey::exact(&id);
        loop {
            match self.next(until) {
                Taken::Line(passed) => {
                    if let Some(message) = self.hear(&passed, Some(key))? {
                        let reply = Reply {
                            sent,
                            at: passed.at,
                            message,
                            between: self.take_passed(),
                        };
                        return match reply.failure_of_bridge(&self.peer) {
                            Some(failure) => Err(failure),
                            None => Ok(reply),
                        };
                    }
                }
                Taken::TimedOut => {
                    taken?;
                    if method != "initialize" {
                        self.cancel(&id_source(&id));
                    }
                    return Err(ClientError::TimedOut {
                        what: method.into_owned(),
                        after: timeout,
                        between: self.take_passed(),
                        log: self.log(),
                    });
                }
                Taken::End => return Err(self.ended(&method)),
                Taken::TooLong => {
                    return Err(ClientError::TooLong {
                        limit_bytes: self.settings.limit_bytes,
                    });
                }
                Taken::Written => {}
            }
        }
    }

    /// Receives messages of the server without a request, until `enough` returns true or `time` has
    /// passed. Also returns when the server ends.
    pub fn listen(
        &mut self,
        time: Duration,
        mut enough: impl FnMut(&Passed) -> bool,
    ) -> Result<Vec<Passed>, ClientError> {
        let until = self.clock.elapsed().saturating_add(time);
        while let Taken::Line(passed) = self.next(until) {
            let is_enough = enough(&passed);
            self.hear(&passed, None)?;
            if is_enough {
                break;
            }
        }
        Ok(self.take_passed())
    }

    /// The end of the server's log, redacted; empty for a server without one.
    #[must_use]
    pub fn log(&self) -> String {
        self.wires.inbox.log(&self.settings.rules)
    }

    /// Ends the conversation in an orderly way: closes the server's input, and if the server does
    /// not exit within the configured grace, terminates and then kills it.
    pub fn close(mut self) -> Ended {
        let exit = self.wires.close(self.settings.grace, self.clock);
        Ended {
            exit,
            log: self.log(),
        }
    }

    /// A message of this client. In the stateless era each request describes itself.
    fn line(
        &self,
        id: Option<u64>,
        method: &str,
        params: Option<&str>,
    ) -> Result<Bytes, ClientError> {
        let mut params = params.map(str::as_bytes);
        if params.is_some_and(|params| !json::is_valid(params)) {
            return Err(ClientError::NotJson {
                method: method.to_owned(),
            });
        }
        let with_meta;
        if id.is_some() && !self.meta.is_empty() {
            with_meta = meta::with(params, &self.meta);
            params = Some(&with_meta);
        }
        let mut line = b"{\"jsonrpc\":\"2.0\"".to_vec();
        if let Some(id) = id {
            line.extend_from_slice(format!(",\"id\":{id}").as_bytes());
        }
        line.extend_from_slice(b",\"method\":\"");
        json::escape(method, &mut line);
        line.push(b'"');
        if let Some(params) = params {
            line.extend_from_slice(b",\"params\":");
            line.extend_from_slice(params);
        }
        line.push(b'}');
        Ok(line.into())
    }

    /// Passes a line to the writer and waits until it is written; messages received meanwhile are
    /// queued, so that a server that waits for its output to be read can continue.
    fn put(&mut self, line: Bytes, what: &str, until: Duration) -> Result<(), ClientError> {
        if !self.wires.write(line) {
            return Err(self.not_taken(what));
        }
        loop {
            match self
                .wires
                .inbox
                .next(Some(self.wires.sent), until, self.clock)
            {
                Taken::Written => return Ok(()),
                Taken::Line(passed) => {
                    self.count(&passed)?;
                    self.early.push_back(passed);
                }
                Taken::TimedOut | Taken::End | Taken::TooLong => {
                    return Err(self.not_taken(what));
                }
            }
        }
    }

    fn next(&mut self, until: Duration) -> Taken {
        if let Some(passed) = self.early.pop_front() {
            self.uncount(&passed);
            return Taken::Line(passed);
        }
        self.wires.inbox.next(None, until, self.clock)
    }

    /// Handles a line of the server: answers its requests, and records the rest; returns the
    /// response to the awaited id, if it is there.
    fn hear(&mut self, passed: &Passed, key: Option<IdKey>) -> Result<Option<Bytes>, ClientError> {
        let mut found = None;
        let mut messages = Vec::new();
        for_each_message(&passed.message, |message| {
            messages.push(passed.message.slice_ref(message));
        });
        for message in messages {
            let kind = Envelope::parse(&message).kind;
            if let (Kind::Response { id, .. }, Some(key), None) = (&kind, key, &found)
                && IdKey::exact(id) == key
            {
                found = Some(message.clone());
                continue;
            }
            let answer = match &kind {
                Kind::Request { id, method, params } => {
                    let asked = ServerRequest {
                        id: &id_source(id),
                        method,
                        params: *params,
                    };
                    answer::line(&asked, self.answers.as_mut())
                }
                _ => None,
            };
            self.note(Passed {
                message: message.clone(),
                ..passed.clone()
            })?;
            if let Some(answer) = answer {
                let until = self.clock.elapsed().saturating_add(self.settings.patience);
                // Its time is before that of the server's reaction.
                self.note(Passed {
                    at: self.clock.now(),
                    dir: Direction::ToServer,
                    message: answer.clone(),
                })?;
                self.put(answer, "an answer", until)?;
            }
        }
        Ok(found)
    }

    fn note(&mut self, passed: Passed) -> Result<(), ClientError> {
        self.count(&passed)?;
        self.passed.push(passed);
        Ok(())
    }

    fn count(&mut self, passed: &Passed) -> Result<(), ClientError> {
        self.passed_bytes += passed.message.len();
        let many = self.passed.len() + self.early.len() >= MOST_MESSAGES;
        if many || self.passed_bytes > MOST_BYTES {
            return Err(ClientError::Flooded);
        }
        Ok(())
    }

    fn uncount(&mut self, passed: &Passed) {
        self.passed_bytes = self.passed_bytes.saturating_sub(passed.message.len());
    }

    fn take_passed(&mut self) -> Vec<Passed> {
        let passed = std::mem::take(&mut self.passed);
        for one in &passed {
            self.uncount(one);
        }
        passed
    }

    /// Cancels a request, unless the server accepts no more input.
    fn cancel(&mut self, id: &[u8]) {
        let line = [
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#
                .as_slice(),
            id,
            br#","reason":"no answer in time"}}"#,
        ];
        let until = self.clock.elapsed().saturating_add(CANCEL_TIME);
        self.put(line.concat().into(), "a cancellation", until).ok();
    }

    fn ended(&mut self, what: &str) -> ClientError {
        // The exit status and the rest of the log arrive shortly after the end of the output.
        let exit = self.wires.inbox.exit(LAST_WORDS);
        ClientError::Ended {
            what: what.to_owned(),
            exit,
            log: self.log(),
        }
    }

    fn not_taken(&mut self, what: &str) -> ClientError {
        ClientError::NotTaken {
            what: what.to_owned(),
            exit: self.wires.inbox.exit(Duration::ZERO),
            log: self.log(),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Messages may contain secrets.
        out.debug_struct("Client")
            .field("peer", &self.peer)
            .field("greeting", &self.greeting)
            .finish_non_exhaustive()
    }
}

/// The timeout for sending a cancellation.
const CANCEL_TIME: Duration = Duration::from_secs(1);

/// How long to wait for the exit status after the output has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);
