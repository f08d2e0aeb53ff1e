//! Follows the stream of announcements across restarts of its server.

use std::collections::VecDeque;
use std::time::SystemTime;

use async_nats::jetstream;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt as _;

use super::{Counts, Heard, Hearing};
use crate::announce::{Access, Address, Announcement, Link, LinkError, Problem, Start};
use crate::ship::Backoff;

/// The next event of a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A new announcement.
    New(Box<Announcement>),
    /// The stream had dropped this many messages before they were read.
    Missed(u64),
    /// The stream does not exist yet.
    Nothing,
    /// The server is unavailable.
    Away(String),
    /// The server is available again.
    Back,
    /// The stream was created again in the meantime.
    Anew,
}

/// Follows the announcements of every shipper.
pub struct Tail {
    address: Address,
    access: Access,
    /// The time of the oldest announcements to read at first.
    since: Option<SystemTime>,
    hearing: Hearing,
    /// The identity of the stream: when it was created.
    created: Option<i128>,
    messages: Option<(Link, pull::Stream)>,
    backoff: Backoff,
    /// Events to return before the next message.
    told: VecDeque<Next>,
    /// Whether it was reported that there is nothing to read.
    is_told: bool,
}

impl Tail {
    /// Starts without a connection. Without a time, only new announcements are read.
    #[must_use]
    pub fn new(address: Address, access: Access, since: Option<SystemTime>) -> Self {
        Self {
            address,
            access,
            since,
            hearing: Hearing::default(),
            created: None,
            messages: None,
            backoff: Backoff::default(),
            told: VecDeque::new(),
            is_told: false,
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.hearing.counts
    }

    /// Connects to the server. A missing stream is not an error: once it exists, it is read from
    /// its beginning.
    pub async fn open(&mut self) -> Result<(), LinkError> {
        let link = match Link::open(&self.address, &self.access, false).await {
            Err(error) if error.problem == Problem::Nothing => {
                self.nothing();
                return Ok(());
            }
            link => link?,
        };
        let is_other = self
            .created
            .is_some_and(|created| created != link.created());
        let is_shorter = self
            .hearing
            .last()
            .is_some_and(|last| last > link.last_seq());
        if is_other || is_shorter {
            self.told.push_back(Next::Anew);
            self.hearing.begin(0);
        }
        self.created = Some(link.created());
        let start = match (self.hearing.last(), self.since) {
            (Some(last), _) => Start::Behind(last),
            (None, Some(time)) => Start::Since(time),
            (None, None) => {
                self.hearing.begin(link.last_seq());
                Start::Behind(link.last_seq())
            }
        };
        let messages = link.messages(start).await?;
        self.messages = Some((link, messages));
        if self.backoff.went_well().is_some() && self.is_told {
            self.told.push_back(Next::Back);
        }
        self.is_told = false;
        Ok(())
    }

    fn nothing(&mut self) {
        if self.since.is_none() && self.hearing.last().is_none() {
            self.hearing.begin(0);
        }
        self.tell_once(Next::Nothing);
    }

    fn tell_once(&mut self, next: Next) {
        let _wait = self.backoff.failed();
        if !self.is_told {
            self.is_told = true;
            self.told.push_back(next);
        }
    }

    /// Waits for the next event. While the server is unavailable, nothing is lost that the stream
    /// still has afterwards.
    pub async fn next(&mut self) -> Next {
        loop {
            if let Some(told) = self.told.pop_front() {
                return told;
            }
            let Some((_, messages)) = &mut self.messages else {
                tokio::time::sleep(self.backoff.left()).await;
                if let Err(error) = self.open().await {
                    self.tell_once(Next::Away(error.to_string()));
                }
                continue;
            };
            match messages.next().await {
                Some(Ok(message)) => self.take(&message),
                // The server is silent, or has lost our position, so it is asked again from there.
                Some(Err(_)) | None => self.messages = None,
            }
        }
    }

    fn take(&mut self, message: &jetstream::Message) {
        let Ok(info) = message.info() else { return };
        let (missed, heard) = self.hearing.hear(info.stream_sequence, &message.payload);
        if missed > 0 {
            self.told.push_back(Next::Missed(missed));
        }
        if let Heard::New(announcement) = heard {
            self.told.push_back(Next::New(announcement));
        }
    }
}
