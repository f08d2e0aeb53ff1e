//! Judges a recording while it is made, and writes the findings to its tape.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    Event, EventBody, Finding, FindingStatus, Judge, Offset, Peer, Process, Seen, SessionKey, Side,
};
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::tape::Header;

use super::Durability;
use super::judge_thread::JudgeThread;
use super::listener::Feed;
use crate::system::processes;

/// Creates the judge of a tape with this header.
pub type MakeJudge = dyn Fn(&Header) -> Box<dyn Judge> + Send + Sync;

/// A callback for a finding, with its event.
pub type Tell = dyn Fn(&Event, &Finding) + Send + Sync;

/// How recordings are judged while they are written.
#[derive(Clone)]
pub struct Judging {
    /// Creates the judge of each tape, if there is to be one.
    pub judge: Option<Arc<MakeJudge>>,
    /// Listeners to all tapes, which may be slow and have no findings.
    pub feeds: Vec<Feed>,
    /// Called for every finding when it is on the tape.
    pub tell: Arc<Tell>,
    /// How often judges get the time even without events, if they need it.
    pub beat: Option<Duration>,
}

/// The counts of findings in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Violations of invariants, each time.
    pub failed: u64,
    /// Hanging requests that were not answered since.
    pub hanging: u64,
}

impl Findings {
    /// Whether there are no findings that a peer is responsible for.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.failed == 0 && self.hanging == 0
    }

    /// Adds the counts of another tape.
    pub(crate) fn add(&mut self, other: Self) {
        self.failed += other.failed;
        self.hanging += other.hanging;
    }

    fn count(&mut self, finding: &Finding) {
        // The recorder's own actions are not a peer's fault.
        if finding.side == Side::Recorder {
            return;
        }
        match finding.status {
            FindingStatus::Open => self.hanging += 1,
            FindingStatus::Closed => self.hanging = self.hanging.saturating_sub(1),
            FindingStatus::Fail => self.failed += 1,
            FindingStatus::Race => {}
        }
    }
}

impl Judging {
    /// Without a judge or a listener so far.
    #[must_use]
    pub fn by_nobody() -> Self {
        Self {
            judge: None,
            feeds: Vec::new(),
            tell: Arc::new(|_, _| ()),
            beat: None,
        }
    }

    /// Adds the listener of `feed`.
    #[must_use]
    pub fn and_heard_by(mut self, feed: Feed) -> Self {
        self.feeds.push(feed);
        self
    }

    /// The judge of a tape. If the forwarding thread writes the tape as well, the judge gets its
    /// own thread.
    pub(crate) fn of(&self, header: &Header, durability: Durability) -> Option<Box<dyn Judge>> {
        let judge = self.judge.as_ref().map(|make| make(header));
        let judge = judge.map(|judge| match durability {
            Durability::Queue => judge,
            Durability::Synced | Durability::Written => JudgeThread::start(judge),
        });
        match (judge, self.feeds.as_slice()) {
            (judge, []) => judge,
            (None, [feed]) => Some(Box::new(feed.clone())),
            (judge, feeds) => Some(Box::new(JudgeAndListeners {
                judge,
                feeds: feeds.to_vec(),
            })),
        }
    }
}

/// An optional judge, and listeners.
#[derive(Debug)]
struct JudgeAndListeners {
    judge: Option<Box<dyn Judge>>,
    feeds: Vec<Feed>,
}

impl Judge for JudgeAndListeners {
    fn wants(&self, event: &Event) -> bool {
        let judge = self.judge.as_ref();
        judge.is_some_and(|judge| judge.wants(event))
            || self.feeds.iter().any(|feed| feed.hears(event))
    }

    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        for feed in &mut self.feeds {
            feed.observe(event, message);
        }
        if let Some(judge) = &mut self.judge {
            judge.observe(event, message);
        }
    }

    fn message(&mut self, seen: &Seen<'_>) {
        let mut event = None;
        let feeds = self.feeds.iter_mut();
        for feed in feeds.filter(|feed| feed.hears(seen.event)) {
            let event = event.get_or_insert_with(|| seen.to_event());
            feed.observe(event, Some(seen.message));
        }
        if let Some(judge) = &mut self.judge {
            judge.message(seen);
        }
    }

    fn tick(&mut self, now: Offset) {
        if let Some(judge) = &mut self.judge {
            judge.tick(now);
        }
    }

    fn end(&mut self, now: Offset) {
        if let Some(judge) = &mut self.judge {
            judge.end(now);
        }
    }

    fn poll(&mut self) -> Option<Event> {
        self.judge.as_mut()?.poll()
    }
}

impl fmt::Debug for Judging {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Judging")
            .field("beat", &self.beat)
            .finish_non_exhaustive()
    }
}

/// The state that a tape keeps for its judge.
#[derive(Debug)]
pub(crate) struct Bench {
    judging: Judging,
    found: Findings,
    // The servers, by session.
    servers: HashMap<SessionKey, Server>,
}

/// A server, and the last observed state of its processes.
#[derive(Debug)]
struct Server {
    pid: u32,
    seen: Option<(Offset, Vec<Process>)>,
    // The number of hangs reported with that state.
    told: usize,
}

/// How long the state of processes stays valid. An update queries the system for each of them, and
/// a million requests may hang at once.
const FRESH: Offset = Offset(1_000_000);
/// The maximum number of hangs reported with the same processes: more would add nothing.
const TOLD: usize = 16;

impl Server {
    /// The state of its processes at this time.
    fn processes(&mut self, now: Offset, look: impl FnOnce(u32) -> Vec<Process>) -> Vec<Process> {
        let seen = self.seen.take();
        let fresh = seen.filter(|(at, _)| now.since(*at) < FRESH);
        if fresh.is_none() {
            self.told = 0;
        }
        let (_, processes) = self
            .seen
            .insert(fresh.unwrap_or_else(|| (now, look(self.pid))));
        self.told += 1;
        if self.told > TOLD {
            return Vec::new();
        }
        processes.clone()
    }
}

/// The maximum number of remembered servers.
const SERVERS: usize = 4_096;

impl Bench {
    pub(crate) fn new(judging: Judging) -> Self {
        Self {
            judging,
            found: Findings::default(),
            servers: HashMap::new(),
        }
    }

    /// Notes an event that is about to be judged.
    pub(crate) fn note(&mut self, event: &Event) {
        match &event.body {
            EventBody::Opened(Peer::Process { pid }) if self.servers.len() < SERVERS => {
                let server = Server {
                    pid: *pid,
                    seen: None,
                    told: 0,
                };
                self.servers.insert(event.session, server);
            }
            EventBody::Exited(_) => {
                self.servers.remove(&event.session);
            }
            _ => {}
        }
    }

    /// Completes a finding before it is written.
    pub(crate) fn complete(&mut self, event: &mut Event, redactor: &mut Redactor) {
        let EventBody::Finding(finding) = &mut event.body else {
            return;
        };
        self.found.count(finding);
        let hangs = finding.code == Finding::HANG && finding.status == FindingStatus::Open;
        if let Some(server) = self.servers.get_mut(&event.session).filter(|_| hangs) {
            finding.processes = server.processes(event.at, |pid| {
                let mut all = processes::of_group(pid);
                for process in &mut all {
                    redact(process, redactor);
                }
                all
            });
        }
    }

    /// Reports a finding that was written.
    pub(crate) fn tell(&self, event: &Event) {
        if let EventBody::Finding(finding) = &event.body {
            (self.judging.tell)(event, finding);
        }
    }

    pub(crate) fn found(&self) -> Findings {
        self.found
    }
}

/// Names of files may contain secrets, and are reported before the tape redacts them.
fn redact(process: &mut Process, redactor: &mut Redactor) {
    for text in process.files.iter_mut().chain([&mut process.name]) {
        let redacted = redactor.text(text.as_bytes());
        *text = String::from_utf8_lossy(&redacted).into_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_hangs_ask_the_system_about_processes_once_a_second() {
        let mut server = Server {
            pid: 1,
            seen: None,
            told: 0,
        };
        let mut looks = 0;
        let mut told = 0;
        for number in 0..1_000_000 {
            // Three seconds of the session.
            let found = server.processes(Offset(number * 3), |pid| {
                looks += 1;
                vec![Process {
                    pid,
                    ..Process::default()
                }]
            });
            told += found.len();
        }
        assert_eq!((looks, told), (3, 3 * TOLD));
        // Later ones get the state at that time.
        assert_eq!(server.processes(Offset(10_000_000), |_| Vec::new()), []);
    }
}
