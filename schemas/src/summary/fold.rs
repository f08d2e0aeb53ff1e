//! From events to the report.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::hangs::Hangs;
use super::http::HttpFold;
use super::injected::Injected;
use super::introduction::Introduction;
use super::latency::Latencies;
use super::report::{Ended, Gaps, Method, Noise, Notification, Report, Totals, Unanswered};
use super::sessions::SessionsFold;
use super::tools::{Reply, ToolsFold};
use crate::cassette::ends::Ends;
use crate::cassette::{Marks, Open, incomplete};
use crate::conversation::{Answer, IdKey, Pairing, is_about_noise, is_failure};
use crate::envelope::{Envelope, Kind, Malformed, RequestId, for_each_message};
use crate::era::{Era, EraTracker};
use crate::event::{Direction, Event, EventBody, Exit, Finding, Offset, Payload, Scope};
use crate::http_exchange::HttpExchange;
use crate::json;
use crate::recording::FileKind;
use crate::slices::Front as _;
use crate::tape::{Ending, GapTotal, Header};

/// Folds events into a [`Report`].
#[derive(Debug, Default)]
pub struct Fold {
    timed: bool,
    totals: [Totals; 2],
    methods: Vec<Calls>,
    tools: ToolsFold,
    notifications: Vec<Notification>,
    pairing: Pairing<Asked>,
    ends: Ends,
    hangs: Hangs,
    eras: BTreeMap<Scope, EraTracker>,
    seen_eras: Vec<Era>,
    sessions: BTreeSet<u32>,
    by_session: SessionsFold,
    http: HttpFold,
    introduction: Introduction,
    unanswered: u64,
    stray: u64,
    noise_count: u64,
    noise: Vec<Noise>,
    clipped: u64,
    backwards: u64,
    stderr_lines: u64,
    faults: u64,
    injected: Injected,
    findings: u64,
    found: Vec<Finding>,
    gaps: GapTotal,
    exit: Option<Exit>,
    last: Offset,
}

/// The requests of one method.
#[derive(Debug)]
struct Calls {
    dir: Direction,
    shown: Method,
    latencies: Latencies,
}

/// A request that awaits its answer.
#[derive(Debug)]
struct Asked {
    open: Open,
    dir: Direction,
    method: usize,
    tool: Option<usize>,
    id: Vec<u8>,
}

/// How many methods are told apart; the rest counts as one.
const METHOD_LIMIT: usize = 256;
const OTHER_METHODS: &str = "(others)";
/// How many unanswered requests are listed.
const UNANSWERED_LIMIT: usize = 1_000;
/// How many lines of noise are listed, and how much of each.
const NOISE_LIMIT: usize = 5;
const NOISE_LIMIT_BYTES: usize = 200;
/// After what time a request is a hang where nobody says, in microseconds.
const LONG: Offset = Offset(30_000_000);
/// How many findings are listed.
const FOUND_LIMIT: usize = 1_000;

impl Fold {
    /// A fold over nothing yet. Events without times give no durations.
    #[must_use]
    pub fn new(timed: bool) -> Self {
        Self {
            timed,
            hangs: Hangs::new(LONG),
            ..Self::default()
        }
    }

    /// A request that has waited for so long counts as a hang, also when it is answered.
    #[must_use]
    pub fn with_hangs_after(mut self, long: Offset) -> Self {
        self.hangs = Hangs::new(long);
        self
    }

    /// Takes the next event.
    pub fn observe(&mut self, event: &Event) {
        self.observe_message(event, None);
    }

    /// As [`observe`](Self::observe), with the event's message taken apart where somebody did so
    /// already.
    pub fn observe_message(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.backwards += u64::from(event.at < self.last);
        self.last = self.last.max(event.at);
        self.ends.observe(event);
        let pairing = &mut self.pairing;
        self.http
            .observe(event, |exchange| learn(pairing, exchange));
        self.by_session.observe(event);
        if !matches!(event.body, EventBody::Message { .. }) {
            self.hangs.observe(event, None);
        }
        match &event.body {
            EventBody::Message { payload, .. } => {
                self.sessions.insert(event.session.0);
                let totals = match event.dir {
                    Direction::ToServer => &mut self.totals[0],
                    Direction::ToClient => &mut self.totals[1],
                };
                totals.messages += 1;
                totals.bytes += payload.wire_len();
                match payload {
                    Payload::Whole(bytes) => self.payload(event, bytes, message),
                    Payload::Clipped { .. } => self.clipped += 1,
                }
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
                self.gaps.count += 1;
                self.gaps.events = self.gaps.events.saturating_add(gap.events);
                self.gaps.bytes = self.gaps.bytes.saturating_add(gap.bytes);
            }
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

    /// The report of a recording that ends so.
    #[must_use]
    pub fn finish(mut self, kind: FileKind, header: &Header, ending: &Ending) -> Report {
        let pairing = &mut self.pairing;
        let http = std::mem::take(&mut self.http);
        let http = http.finish(self.timed, |exchange| learn(pairing, exchange));
        let unanswered = self.unanswered();
        let (hangs_count, hangs) = self.hangs.finish(self.timed);
        let redactions = match ending {
            Ending::Footer(footer) => footer.redactions.clone(),
            Ending::CutShort { .. } => BTreeMap::new(),
        };
        let timed = self.timed;
        self.methods.sort_by_key(|calls| calls.dir);
        let methods = std::mem::take(&mut self.methods);
        let methods = methods.into_iter().map(|calls| calls.report(timed));
        let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (gaps, ended) = (self.gaps(ending), self.ended(ending));
        let [to_server, to_client] = self.totals;
        Report {
            kind: kind.name(),
            label: filled(&header.label),
            recorded_at: filled(&header.created),
            command: header.command.clone(),
            protocol_version: self.introduction.protocol_version().map(str::to_owned),
            client: self.introduction.client,
            server: self.introduction.server,
            eras: self.seen_eras.iter().map(|era| era.name()).collect(),
            sessions: self.sessions.len(),
            by_session: self.by_session.finish(timed),
            http,
            duration_ms: timed.then(|| self.last.millis()),
            to_server,
            to_client,
            methods: methods.collect(),
            tools: self.tools.finish(timed),
            notifications: self.notifications,
            unanswered_count: self.unanswered,
            unanswered,
            hangs_count,
            hangs,
            stray_responses: self.stray,
            noise_count: self.noise_count,
            noise: self.noise,
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

    /// What is missing: as the footer counts it, or else as far as it was seen.
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
        let why = incomplete(ending, self.gaps);
        let (exit_code, exit_signal) = match self.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        Ended {
            complete: why.is_none(),
            why,
            written_by: None,
            exit_code,
            exit_signal,
        }
    }

    fn unanswered(&mut self) -> Vec<Unanswered> {
        let mut all: Vec<Asked> = std::iter::from_fn(|| self.pairing.pop_oldest()).collect();
        all.sort_by_key(|asked| asked.dir);
        self.unanswered += all.len() as u64;
        all.truncate(UNANSWERED_LIMIT);
        let shown = |asked: Asked| {
            let id = String::from_utf8(asked.id).ok();
            let id = id.and_then(|id| RawValue::from_string(id).ok());
            let method = self.methods.get(asked.method);
            let waited = self.last.since(asked.open.at);
            Unanswered {
                method: method.map_or_else(String::new, |calls| calls.shown.method.clone()),
                from: asked.dir.sender(),
                id: id.unwrap_or_else(|| RawValue::NULL.to_owned()),
                sent_ms: self.timed.then(|| asked.open.at.millis()),
                waited_ms: self.timed.then(|| waited.millis()),
                why: self.ends.why(&asked.open),
            }
        };
        all.into_iter().map(shown).collect()
    }

    fn payload(&mut self, event: &Event, bytes: &[u8], message: Option<&Envelope<'_>>) {
        let parsed;
        let envelope = if let Some(envelope) = message {
            envelope
        } else {
            parsed = Envelope::parse(bytes);
            &parsed
        };
        self.hangs.observe(event, Some(envelope));
        match envelope.kind {
            Kind::Batch { members } if members > 0 => for_each_message(bytes, |one| {
                self.message(event, &Envelope::parse(one), one);
            }),
            _ => self.message(event, envelope, bytes),
        }
    }

    fn message(&mut self, event: &Event, envelope: &Envelope<'_>, text: &[u8]) {
        self.era(event, envelope);
        let bytes = text.len() as u64;
        match &envelope.kind {
            Kind::Request { id, method, params } => {
                self.introduction.request(method, *params);
                self.ask(event, id, method, *params, text);
            }
            Kind::Notification { method, params } => {
                let cancels = method == "notifications/cancelled";
                let named = params
                    .filter(|_| cancels)
                    .and_then(|one| json::find(one, &["requestId"]));
                let (scope, id) = (event.scope(), named.map(IdKey::exact_of));
                let request = id.and_then(|id| self.pairing.cancel(scope, event.dir, id));
                if let Some(asked) = request.and_then(|one| self.pairing.get_mut(one)) {
                    asked.open.marks.add(Marks::CANCELLED);
                }
                self.notification(event.dir, method);
            }
            Kind::Response { id, result, error } => {
                if is_about_noise(id, *error) {
                    self.stray += 1;
                } else {
                    self.answer(event, id, *result, error.is_some(), bytes);
                }
            }
            Kind::Malformed(why) => self.noise(event, text, *why),
            Kind::Batch { .. } => self.noise(event, text, Malformed::NotAnEnvelope),
        }
    }

    fn ask(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        method: &str,
        params: Option<&[u8]>,
        text: &[u8],
    ) {
        let index = self.calls(event.dir, method);
        if let Some(calls) = self.methods.get_mut(index) {
            calls.shown.count += 1;
            calls.shown.request_bytes += text.len() as u64;
        }
        let asked = Asked {
            open: Open::new(0, event, event.era),
            dir: event.dir,
            method: index,
            tool: self.tools.ask(method, params, text.len() as u64),
            id: id.source_in(text).to_vec(),
        };
        let asked = self.pairing.ask(event.scope(), event.dir, id, asked);
        self.unanswered += u64::from(asked.forgotten.is_some());
        if event.dir == Direction::ToServer {
            self.http.carries(event, asked.handle);
        }
    }

    fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        result: Option<&[u8]>,
        error: bool,
        bytes: u64,
    ) {
        let Answer::Pairs(_, asked) = self.pairing.answer(event.scope(), event.dir, id) else {
            self.stray += 1;
            return;
        };
        if let Some(calls) = self.methods.get_mut(asked.method) {
            let tool_error = result.is_some_and(is_failure);
            let took = event.at.since(asked.open.at);
            calls.shown.answered += 1;
            calls.shown.errors += u64::from(error);
            calls.shown.tool_errors += u64::from(tool_error);
            calls.shown.response_bytes += bytes;
            calls.latencies.add(took.0);
            let reply = Reply {
                error,
                tool_error,
                bytes,
                took,
            };
            self.tools.answer(asked.tool, reply);
        }
        if let Some(result) = result {
            let method = self.methods.get(asked.method);
            let method = method.map_or("", |calls| calls.shown.method.as_str());
            self.introduction.answer(method, result);
        }
    }

    fn calls(&mut self, dir: Direction, method: &str) -> usize {
        let full = self.methods.len() >= METHOD_LIMIT;
        for name in [method, OTHER_METHODS] {
            let mut all = self.methods.iter();
            if let Some(index) = all.position(|one| one.dir == dir && one.shown.method == name) {
                return index;
            }
            if !full {
                break;
            }
        }
        let method = if full { OTHER_METHODS } else { method };
        self.methods.push(Calls::new(dir, method));
        self.methods.len() - 1
    }

    fn notification(&mut self, dir: Direction, method: &str) {
        let from = dir.sender();
        let full = self.notifications.len() >= METHOD_LIMIT;
        for name in [method, OTHER_METHODS] {
            let mut all = self.notifications.iter_mut();
            if let Some(known) = all.find(|one| one.from == from && one.method == name) {
                known.count += 1;
                return;
            }
            if !full {
                break;
            }
        }
        let method = if full { OTHER_METHODS } else { method };
        self.notifications.push(Notification {
            method: method.to_owned(),
            from,
            count: 1,
        });
    }

    fn noise(&mut self, event: &Event, text: &[u8], why: Malformed) {
        self.noise_count += 1;
        if self.noise.len() < NOISE_LIMIT {
            let head = text.front(NOISE_LIMIT_BYTES);
            self.noise.push(Noise {
                from: event.dir.sender(),
                why: why.to_string(),
                text: String::from_utf8_lossy(head).into_owned(),
                bytes: text.len() as u64,
            });
        }
    }

    fn era(&mut self, event: &Event, envelope: &Envelope<'_>) {
        let era = event.era.or_else(|| {
            self.eras
                .entry(event.scope())
                .or_default()
                .observe(event.dir, envelope)
        });
        let Some(era) = era else { return };
        self.by_session.era(event.session.0, era);
        if !self.seen_eras.contains(&era) {
            self.seen_eras.push(era);
        }
    }
}

/// The requests of an exchange that is over learn how it ended.
fn learn(pairing: &mut Pairing<Asked>, exchange: &HttpExchange) {
    let reason = exchange.ended.map(|(_, reason)| reason);
    for request in &exchange.requests {
        if let Some(asked) = pairing.get_mut(*request) {
            asked.open.over = reason.map(|reason| (reason, exchange.status()));
        }
    }
}

impl Calls {
    fn new(dir: Direction, method: &str) -> Self {
        let shown = Method {
            method: method.to_owned(),
            from: dir.sender(),
            count: 0,
            answered: 0,
            errors: 0,
            tool_errors: 0,
            delays: None,
            request_bytes: 0,
            response_bytes: 0,
        };
        Self {
            dir,
            shown,
            latencies: Latencies::default(),
        }
    }

    fn report(self, timed: bool) -> Method {
        let delays = self.latencies.delays().filter(|_| timed);
        Method {
            delays,
            ..self.shown
        }
    }
}
