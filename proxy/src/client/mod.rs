//! An MCP client over any [`Upstream`]: a child process, an HTTP server behind a bridge, a
//! recording.
//!
//! For code that asks a server something and judges its answers: `verify` and the
//! suites. Nothing that the server says is parsed into types, dropped or repaired; a
//! [`Reply`] is the text of the envelope and all that came before it, each with its time.
//!
//! ```text
//! Client ──put──▶ writer ──▶ server            a thread each for writing, reading, the
//!   ▲                          │               log and the server's end; what waits to
//!   └── Inbox ◀── reader ◀─────┘               be taken is bounded in bytes
//! ```
//!
//! One request is under way at a time: the order of what is sent is the caller's order.
//! While it waits, requests of the server are answered by the caller's [`Answers`].
//! Nothing that a server does can block a caller beyond the time it gave, or use more than
//! [`MOST_BYTES`] of memory.
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

/// A conversation with a server, seen from the client's side.
///
/// Dropping it ends the server at once; [`close`](Self::close) lets it end in order.
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
    // Lines that came while something was written.
    early: VecDeque<Passed>,
    // What came since the last reply, or while one is awaited.
    passed: Vec<Passed>,
    passed_bytes: usize,
}

/// How a server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its status; `None` when it outlived every deadline.
    pub exit: Option<Exit>,
    /// What it said last beside the protocol, redacted.
    pub log: String,
}

impl Client {
    /// Opens a link. Nothing is sent yet; requests of the server get the default answers
    /// until [`answer_with`](Self::answer_with).
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

    /// Who answers requests of the server from now on.
    pub fn answer_with(&mut self, answers: impl Answers + 'static) {
        self.answers = Box::new(answers);
    }

    /// Who is at the other end.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What [`greet`](Self::greet) has agreed on.
    #[must_use]
    pub fn greeting(&self) -> Option<&Greeting> {
        self.greeting.as_ref()
    }

    /// Sends a request and waits for its reply, which may be an error of the server.
    ///
    /// `params` is the source text of a JSON object. In the stateless era the members of
    /// `_meta` that the revision demands are added where they are absent. When `timeout`
    /// passes, the request is cancelled as its era demands and the error tells what came
    /// until then.
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

    /// An id that no request of this client has had: for envelopes of the caller's.
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

    /// Sends one message as it stands, whatever it is. Line ends between its tokens become
    /// spaces, since the transport is made of lines.
    pub fn send(&mut self, message: &[u8]) -> Result<(), ClientError> {
        let until = self.clock.elapsed().saturating_add(self.settings.patience);
        let Some(line) = one_line(&Bytes::copy_from_slice(message)) else {
            return Ok(());
        };
        self.put(line, "a message", until)
    }

    /// Sends a whole request envelope as it stands, and waits for the reply to its id.
    pub fn exchange(&mut self, message: &[u8], timeout: Duration) -> Result<Reply, ClientError> {
        let line = one_line(&Bytes::copy_from_slice(message)).unwrap_or_default();
        let Kind::Request { id, method, .. } = Envelope::parse(&line).kind else {
            return Err(ClientError::NotARequest);
        };
        let until = self.clock.elapsed().saturating_add(timeout);
        let sent = self.clock.now();
        // A server that takes nothing more may still have something to say.
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

    /// Takes what the server says unasked, until `enough` says so or `time` has passed.
    /// The end of the server ends it too.
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

    /// What the server has said last beside the protocol, redacted; empty for a server
    /// without such a stream.
    #[must_use]
    pub fn log(&self) -> String {
        self.wires.inbox.log(&self.settings.rules)
    }

    /// Ends the conversation in order: the server's input ends, and when it does not end
    /// within the grace of the settings, it is told to, and then made to.
    pub fn close(mut self) -> Ended {
        let exit = self.wires.close(self.settings.grace, self.clock);
        Ended {
            exit,
            log: self.log(),
        }
    }

    /// A message of ours. The stateless era describes itself in each request.
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

    /// Hands a line to the writer and waits until it is written; what comes meanwhile is
    /// kept, so that a server that waits for us to read gets on.
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

    /// Takes a line of the server: answers its requests, notes the rest; the response to
    /// the awaited id, when it is among it.
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
                // Its time is before what the server says in return.
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

    /// Gives a request up; a server that takes nothing more needs no telling.
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
        // The status and the last words come a moment after the end of the output.
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
        // What was said may hold secrets.
        out.debug_struct("Client")
            .field("peer", &self.peer)
            .field("greeting", &self.greeting)
            .finish_non_exhaustive()
    }
}

/// How long a cancellation is waited for to leave.
const CANCEL_TIME: Duration = Duration::from_secs(1);

/// How long the status of a server is waited for whose output has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);
