//! Following the stream of announcements, across the ends of its server.

use std::collections::VecDeque;
use std::time::SystemTime;

use async_nats::jetstream;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt as _;

use super::{Counts, Heard, Hearing};
use crate::announce::{Access, Address, Announcement, Link, LinkError, Problem, Start};
use crate::ship::Backoff;

/// What is heard next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// An announcement that was not heard before.
    New(Box<Announcement>),
    /// The stream no longer had so many messages when they were due.
    Missed(u64),
    /// There is no stream yet.
    Nothing,
    /// The server is away.
    Away(String),
    /// It is back.
    Back,
    /// The stream was begun anew while it was not heard.
    Anew,
}

/// Follows the announcements of every shipper.
pub struct Tail {
    address: Address,
    access: Access,
    /// What is heard at first is not older.
    since: Option<SystemTime>,
    hearing: Hearing,
    /// Which stream it is: when it was created.
    created: Option<i128>,
    messages: Option<(Link, pull::Stream)>,
    backoff: Backoff,
    /// What is to be told before anything else is heard.
    told: VecDeque<Next>,
    /// It was told that nothing can be heard.
    is_told: bool,
}

impl Tail {
    /// Nothing is heard yet. Without a time, what comes from now on is.
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

    /// What was heard so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.hearing.counts
    }

    /// Reaches the server. A stream that is not there yet is no error: what comes to it first is heard.
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

    /// Waits for what comes next. The server may be away meanwhile: nothing is lost with it that the stream still has.
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
                // The server is silent, or has forgotten where we were: from there on it is asked anew.
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
