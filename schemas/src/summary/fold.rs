//! From events to the report.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::hangs::Hangs;
use super::http::HttpFold;
use super::injected::Injected;
use super::messages::MessagesFold;
use super::report::{Ended, Gaps, Method, Report, Tool, Totals};
use crate::envelope::Envelope;
use crate::event::{
    ConduitId, Direction, Event, EventBody, Exit, Finding, GapReason, Offset, Payload, Peer,
};
use crate::recording::FileKind;
use crate::tape::{Ending, GapTotal, Header, Incomplete, TapeFailure};

/// Folds events into a [`Report`].
#[derive(Debug, Default)]
pub struct Fold {
    timed: bool,
    totals: [Totals; 2],
    messages: MessagesFold,
    hangs: Hangs,
    sessions: BTreeSet<u32>,
    http: HttpFold,
    clipped: u64,
    backwards: u64,
    stderr_lines: u64,
    faults: u64,
    injected: Injected,
    findings: u64,
    found: Vec<Finding>,
    gaps: GapTotal,
    // Why the disk did not take events, by the last gap of this kind.
    disk: Option<String>,
    exit: Option<Exit>,
    // The conduits to servers over HTTP, which have no process whose status could be told.
    remote: HashSet<ConduitId>,
    last: Offset,
}

/// Time after which a request is a hang by default, in microseconds.
const LONG: Offset = Offset(30_000_000);
/// The maximum number of findings that are listed.
const FOUND_LIMIT: usize = 1_000;
/// The maximum number of conduits that are remembered.
const REMOTE_LIMIT: usize = 65_536;

impl Fold {
    /// An empty fold. Events without times yield no durations.
    #[must_use]
    pub fn new(timed: bool) -> Self {
        Self {
            timed,
            hangs: Hangs::new(LONG),
            ..Self::default()
        }
    }

    /// Sets how long a request must be pending to count as a hang, even if it is answered later.
    #[must_use]
    pub fn with_hangs_after(mut self, long: Offset) -> Self {
        self.hangs = Hangs::new(long);
        self
    }

    /// Handles the next event.
    pub fn observe(&mut self, event: &Event) {
        self.observe_message(event, None);
    }

    /// Like [`observe`](Self::observe), with the event's message if it is already parsed.
    pub fn observe_message(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.backwards += u64::from(event.at < self.last);
        self.last = self.last.max(event.at);
        self.http.observe(event);
        self.messages.observe(event);
        let messages = &mut self.messages;
        self.hangs
            .observe(event, message, |step| messages.step(event, &step));
        self.hangs.collect(|over| messages.over(over));
        match &event.body {
            EventBody::Message { payload, .. } => {
                self.sessions.insert(event.session.0);
                let totals = match event.dir {
                    Direction::ToServer => &mut self.totals[0],
                    Direction::ToClient => &mut self.totals[1],
                };
                totals.messages += 1;
                totals.bytes += payload.wire_len();
                self.clipped += u64::from(matches!(payload, Payload::Clipped { .. }));
            }
            EventBody::Stderr { .. } => self.stderr_lines += 1,
            EventBody::Faulted(faulted) => {
                self.faults += 1;
                self.injected.observe(event, faulted, self.timed);
            }
            EventBody::Finding(finding) => {
                self.findings += 1;
                if self.found.len() < FOUND_LIMIT {
                    self.found.push((**finding).clone());
                }
            }
            EventBody::Gap(gap) => {
                self.gaps.add(gap);
                if gap.why == GapReason::Disk {
                    self.disk = Some(gap.detail.clone().unwrap_or_default());
                }
            }
            EventBody::Opened(Peer::Server { .. }) if self.remote.len() < REMOTE_LIMIT => {
                self.remote.insert(event.conduit);
            }
            EventBody::Exited(_) if self.remote.contains(&event.conduit) => {}
            EventBody::Exited(exited) => self.exit = Some(exited.how),
            EventBody::Added(_)
            | EventBody::Body { .. }
            | EventBody::Closed(_)
            | EventBody::Edited(_)
            | EventBody::Head(_)
            | EventBody::Opened(_)
            | EventBody::Part { .. }
            | EventBody::Session(_)
            | EventBody::Signal(_)
            | EventBody::Sse(_)
            | EventBody::Trailers(_) => {}
        }
    }

    /// The report of a recording with this ending.
    #[must_use]
    pub fn finish(mut self, kind: FileKind, header: &Header, ending: &Ending) -> Report {
        let timed = self.timed;
        let http = std::mem::take(&mut self.http).finish(timed);
        let messages = &mut self.messages;
        let (hangs_count, hangs) = self.hangs.finish(timed, |over| messages.over(over));
        let unanswered = self.messages.unanswered(timed, self.last);
        let redactions = match ending {
            Ending::Footer(footer) => footer.redactions.clone(),
            Ending::CutShort { .. } => BTreeMap::new(),
        };
        let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (gaps, ended) = (self.gaps(ending), self.ended(ending));
        let [to_server, to_client] = self.totals;
        let messages = self.messages;
        Report {
            kind: kind.name(),
            label: filled(&header.label),
            recorded_at: filled(&header.created),
            command: header.command.clone(),
            protocol_version: messages.introduction.protocol_version().map(str::to_owned),
            client: messages.introduction.client,
            server: messages.introduction.server,
            eras: messages.seen_eras.iter().map(|era| era.name()).collect(),
            sessions: self.sessions.len(),
            by_session: messages.by_session.finish(timed),
            http,
            duration_ms: timed.then(|| self.last.millis()),
            to_server,
            to_client,
            methods: messages.calls.finish(timed, Method::new),
            tools: messages.tools.finish(timed, Tool::new),
            notifications: messages.notifications,
            unanswered_count: messages.unanswered_count,
            unanswered,
            hangs_count,
            hangs,
            stray_responses: messages.stray,
            noise_count: messages.noise_count,
            noise: messages.noise,
            clipped: self.clipped,
            backwards: match kind {
                FileKind::Tape => self.backwards,
                FileKind::Capture | FileKind::Cassette => 0,
            },
            stderr_lines: self.stderr_lines,
            faults: self.faults,
            injected: self.injected.report(&header.faults),
            effects: self.injected.take_effects(),
            findings: self.findings,
            found: self.found,
            redactions,
            gaps,
            ended,
        }
    }

    /// What is missing: according to the footer, or else as far as it was seen.
    fn gaps(&self, ending: &Ending) -> Gaps {
        let gaps = match ending {
            Ending::Footer(footer) if footer.gaps.count > 0 => footer.gaps,
            _ => self.gaps,
        };
        Gaps {
            count: gaps.count,
            events: gaps.events,
            bytes: gaps.bytes,
        }
    }

    fn ended(&self, ending: &Ending) -> Ended {
        let mut lacks = Incomplete::of(ending, self.gaps);
        if let Some(lacks) = lacks
            .as_mut()
            .filter(|one| one.why == TapeFailure::CutShort)
            && let Some(detail) = &self.disk
        {
            // The recorder was not stopped: the disk had no room for the footer, either.
            lacks.why = TapeFailure::NotWritten;
            lacks.detail = Some(detail.clone()).filter(|detail| !detail.is_empty());
        }
        let (exit_code, exit_signal) = match self.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        Ended {
            complete: lacks.is_none(),
            why: lacks.as_ref().map(|lacks| lacks.why),
            last_seq: lacks.as_ref().and_then(|lacks| lacks.last_seq),
            detail: lacks.and_then(|lacks| lacks.detail),
            written_by: None,
            exit_code,
            exit_signal,
        }
    }
}
