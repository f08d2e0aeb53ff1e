//! From events to lines.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::facts::{Content, LineFacts, Told};
use super::http::Conduits;
use super::line::{
    NOT_JSON, SPACED, TOO_DEEP, TOO_LONG, fits_a_line, push_base64, push_bytes, push_clipped,
    push_dir, push_era, push_exit, push_line_end, push_origin, push_text, push_value, push_word,
};
use super::seen::SeenFields;
use super::watch::Watch;
use super::{Footer, GapTotal, TapeFailure};
use crate::conversation::{Gist, Owed};
use crate::envelope::{Envelope, Kind, Outline, for_each_message};
use crate::era::{Era, EraTracker};
use crate::event::{
    CloseReason, ConduitId, Direction, Effect, Event, EventBody, FaultKind, FaultRef, Faulted,
    Finding, Gap, Head, Payload, Peer, SessionKey, What,
};
use crate::json::{Invalid, push_number};
use crate::redact::{LineState, Redactor};
use crate::slices::Part as _;

/// Numbers events, finds their era, redacts them and writes them as lines.
///
/// The only place where events become bytes for a disk; its output contains no secret that the
/// rules recognize.
#[derive(Debug)]
pub struct Encoder {
    pub(super) redactor: Redactor,
    eras: EraTracker,
    owed: Owed,
    // Secrets that span lines, per stream: to the server, to the client, standard error.
    streams: [LineState; 3],
    pub(super) seen: SeenFields,
    // The state of HTTP exchanges, and of sessions other than the first.
    pub(super) http: Conduits,
    seq: u64,
    gaps: GapTotal,
    pub(super) watch: Watch,
    // Whether gists are collected, and those that are, each with the number of its event.
    has_gists: bool,
    gists: VecDeque<Gist>,
    // The conduit that was opened last.
    opened: Option<ConduitId>,
    // Whether facts are kept, and those of the current line.
    pub(super) has_facts: bool,
    pub(super) told: Option<Told>,
}

impl Encoder {
    /// Creates an encoder at the start of a tape.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            eras: EraTracker::default(),
            owed: Owed::default(),
            streams: Default::default(),
            seen: SeenFields::default(),
            http: Conduits::default(),
            seq: 0,
            gaps: GapTotal::default(),
            watch: Watch::default(),
            has_gists: false,
            gists: VecDeque::new(),
            opened: None,
            has_facts: false,
            told: None,
        }
    }

    /// From now on, [`encode`](Self::encode) returns facts about the lines that have any.
    pub fn tell_facts(&mut self) {
        self.has_facts = true;
    }

    /// Collects the gists of events, for [`gists`](Self::gists).
    #[must_use]
    pub fn with_gists(mut self) -> Self {
        self.has_gists = true;
        self
    }

    /// The gists of the events that were written, without their secrets; not every event has one.
    /// The caller that enabled them takes them out.
    pub fn gists(&mut self) -> &mut VecDeque<Gist> {
        &mut self.gists
    }

    /// Appends one event as one line. If facts were requested, returns those about this line, for
    /// [`Reader::next_known`](super::Reader::next_known).
    pub fn encode(&mut self, event: &Event, out: &mut Vec<u8>) -> Option<LineFacts> {
        self.seq += 1;
        self.watch.begin();
        let start = out.len();
        out.extend_from_slice(b"{\"seq\":");
        push_number(self.seq, out);
        out.extend_from_slice(b",\"at_us\":");
        push_number(event.at.0, out);
        if event.session.0 != 0 {
            out.extend_from_slice(b",\"session\":");
            push_number(event.session.0.into(), out);
        }
        if event.conduit.0 != 0 {
            out.extend_from_slice(b",\"conduit\":");
            push_number(event.conduit.0.into(), out);
        }
        self.members(event, out);
        out.extend_from_slice(b"}\n");
        if self.watch.is_on() {
            let line = out.part(start..out.len() - 1);
            self.watch.line(event, line);
        }
        if self.has_gists {
            self.tell_gist(event);
        }
        let told = self.told.take()?;
        let line = start..out.len();
        Some(LineFacts::of(event, self.seq, &line, told))
    }

    /// Appends the members of an event.
    fn members(&mut self, event: &Event, out: &mut Vec<u8>) {
        match &event.body {
            EventBody::Message {
                payload,
                end,
                origin,
            } => {
                push_dir(event.dir, out);
                push_origin(*origin, out);
                self.message(event, payload, out);
                push_line_end(*end, out);
            }
            EventBody::Stderr { line, end } => {
                self.stderr(event, line, out);
                push_line_end(*end, out);
            }
            EventBody::Part { bytes } => {
                push_dir(event.dir, out);
                out.extend_from_slice(b",\"part\":{\"bytes\":");
                push_number(*bytes, out);
                out.push(b'}');
            }
            EventBody::Closed(reason) => {
                push_dir(event.dir, out);
                push_closed(*reason, out);
                self.tell(Content::Closed(*reason));
                self.http.closed(event.conduit, event.dir);
            }
            EventBody::Faulted(faulted) => {
                push_dir(event.dir, out);
                let redacted = redacted_faulted(&mut self.redactor, faulted);
                push_value("faulted", &redacted, out);
                if self.has_gists {
                    let body = EventBody::Faulted(Box::new(redacted));
                    let gist = Gist::with_body(event, self.seq, body);
                    self.gists.push_back(gist);
                }
            }
            EventBody::Finding(finding) => self.finding(finding, out),
            EventBody::Gap(gap) => self.gap(gap, out),
            EventBody::Opened(Peer::Process { pid }) => push_process(*pid, out),
            EventBody::Signal(name) => push_text("signal", name, out),
            EventBody::Exited(exited) => {
                push_exit(*exited, out);
                self.http.exited(event);
            }
            EventBody::Added(_)
            | EventBody::Body { .. }
            | EventBody::Edited(_)
            | EventBody::Head(_)
            | EventBody::Opened(Peer::Cassette | Peer::Client { .. } | Peer::Server { .. })
            | EventBody::Session(_)
            | EventBody::Sse(_)
            | EventBody::Trailers(_) => self.beside_messages(event, out),
        }
    }

    /// Notes that the current line has these contents and no text.
    pub(super) fn tell(&mut self, content: Content) {
        if self.has_facts {
            self.told = Some((0..0, content));
        }
    }

    /// Notes that the current line has a message, which begins at this place and is recorded
    /// unchanged.
    fn tell_message(
        &mut self,
        event: &Event,
        era: Option<Era>,
        outline: Option<Outline>,
        start: usize,
    ) {
        if let EventBody::Message { end, origin, .. } = event.body
            && let Some(outline) = outline
        {
            let text = start..start + outline.length();
            let content = Content::Message {
                end,
                origin,
                era,
                outline,
            };
            self.told = Some((text, content));
        }
    }

    /// Collects the gist of an event that is not a message, if it has one, and that of a message
    /// that is not recorded whole.
    fn tell_gist(&mut self, event: &Event) {
        let is_told = match &event.body {
            EventBody::Faulted(_)
            | EventBody::Message {
                payload: Payload::Whole(_),
                ..
            } => true,
            // Its conduit has begun.
            EventBody::Head(head) => {
                matches!(**head, Head::Request(_)) && self.opened == Some(event.conduit)
            }
            EventBody::Opened(Peer::Client { .. }) => {
                self.opened = Some(event.conduit);
                false
            }
            _ => false,
        };
        if !is_told && let Some(gist) = Gist::of(event, self.seq) {
            self.gists.push_back(gist);
        }
    }

    /// The number of events that were written.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.seq
    }

    /// What is missing so far.
    #[must_use]
    pub fn gaps(&self) -> GapTotal {
        self.gaps
    }

    /// The requests that still await their response.
    #[must_use]
    pub fn owed(&self) -> &Owed {
        &self.owed
    }

    /// The redactor, for the contents of the header.
    pub fn redactor(&mut self) -> &mut Redactor {
        &mut self.redactor
    }

    /// The footer of a tape that ends now.
    #[must_use]
    pub fn footer(&self, at_us: u64, why: Option<(TapeFailure, String)>) -> Footer {
        let redactions: BTreeMap<String, u64> = self.redactor.counts().clone();
        Footer {
            at_us,
            events: self.seq,
            complete: why.is_none() && self.gaps.is_empty(),
            why: why.as_ref().map(|(failure, _)| *failure),
            detail: why.map(|(_, detail)| detail),
            gaps: self.gaps,
            redactions,
        }
    }

    /// Uncounts a gap whose line did not get onto the tape, and will be encoded again.
    pub fn take_back_gap(&mut self, events: u64, bytes: u64) {
        self.gaps.count = self.gaps.count.saturating_sub(1);
        self.gaps.events = self.gaps.events.saturating_sub(events);
        self.gaps.bytes = self.gaps.bytes.saturating_sub(bytes);
    }

    fn gap(&mut self, gap: &Gap, out: &mut Vec<u8>) {
        self.gaps.count += 1;
        self.gaps.events = self.gaps.events.saturating_add(gap.events);
        self.gaps.bytes = self.gaps.bytes.saturating_add(gap.bytes);
        out.extend_from_slice(b",\"gap\":{\"events\":");
        push_number(gap.events, out);
        out.extend_from_slice(b",\"bytes\":");
        push_number(gap.bytes, out);
        push_text("why", gap.why.name(), out);
        if let Some(detail) = &gap.detail {
            push_text("detail", &self.redactor.url(detail), out);
        }
        out.push(b'}');
    }

    /// A judge's text may quote a peer.
    fn finding(&mut self, finding: &Finding, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        push_value("finding", finding, &mut text);
        let (name, value) = text.split_at(NAME_OF_FINDING.min(text.len()));
        out.extend_from_slice(name);
        match self.redactor.json(value) {
            Ok(redacted) => out.extend_from_slice(&redacted),
            Err(_) => out.extend_from_slice(b"null"),
        }
    }

    fn message(&mut self, event: &Event, payload: &Payload, out: &mut Vec<u8>) {
        let bytes = match payload {
            Payload::Whole(bytes) => bytes,
            Payload::Clipped { len, head } => return self.clipped(*len, head, out),
        };
        let why = match self.redactor.json(bytes) {
            Ok(redacted) => {
                let is_plain = matches!(redacted, Cow::Borrowed(_));
                let as_it_came = is_plain && fits_a_line(bytes);
                let outline = self.redactor.outline(bytes);
                let era = self.follow(event, bytes, outline.as_ref(), as_it_came, out);
                if self.has_gists {
                    let gist = if is_plain {
                        let outline = outline.clone();
                        Gist::of_message(event, self.seq, era, bytes.clone(), outline)
                    } else {
                        let text = Bytes::copy_from_slice(&redacted);
                        Gist::of_message(event, self.seq, era, text, None)
                    };
                    self.gists.push_back(gist);
                }
                if fits_a_line(&redacted) {
                    out.extend_from_slice(b",\"message\":");
                    if as_it_came && self.has_facts {
                        self.tell_message(event, era, outline, out.len());
                    }
                    out.extend_from_slice(&redacted);
                } else {
                    push_bytes("text", &redacted, SPACED, out);
                }
                return;
            }
            Err(Invalid::TooDeep) => TOO_DEEP,
            Err(_) => NOT_JSON,
        };
        let redacted = match stream_of(event, &mut self.streams, &mut self.http) {
            Some(state) => self.redactor.line(state, bytes),
            None => self.redactor.text(bytes),
        };
        push_bytes("text", &redacted, why, out);
        if self.has_gists {
            // Whatever it contains, it is not a message.
            let gist = Gist::of_message(event, self.seq, None, Bytes::new(), None);
            self.gists.push_back(gist);
        }
    }

    /// Follows the conversation: the era of this message, and which requests are pending.
    fn follow(
        &mut self,
        event: &Event,
        bytes: &Bytes,
        outline: Option<&Outline>,
        as_it_came: bool,
        out: &mut Vec<u8>,
    ) -> Option<Era> {
        let envelope = match outline {
            Some(outline) => outline.envelope(bytes),
            None => Envelope::of_json(bytes),
        };
        if let Kind::Batch { .. } = envelope.kind {
            let mut era = None;
            for_each_message(bytes, |one| {
                era = self.follow_one(event, &Envelope::of_json(one));
            });
            push_era(era, out);
            return era;
        }
        let era = self.follow_one(event, &envelope);
        push_era(era, out);
        if as_it_came && self.watch.is_on() {
            self.watch.message(event, self.seq, era, &envelope);
        }
        era
    }

    fn follow_one(&mut self, event: &Event, envelope: &Envelope<'_>) -> Option<Era> {
        if (event.session, event.conduit) != FIRST {
            // Over HTTP, the code that holds the connections knows which answers are due.
            return self.http.era(event, envelope);
        }
        let era = self.eras.observe(event.dir, envelope);
        self.owed.observe(event.dir, envelope);
        era
    }

    fn clipped(&mut self, len: u64, head: &Bytes, out: &mut Vec<u8>) {
        push_clipped(len, &self.redactor.head(head), out);
        push_text("why", TOO_LONG, out);
    }

    fn stderr(&mut self, event: &Event, line: &Bytes, out: &mut Vec<u8>) {
        let redacted = match stream_of(event, &mut self.streams, &mut self.http) {
            Some(state) => self.redactor.line(state, line),
            None => self.redactor.text(line),
        };
        match std::str::from_utf8(&redacted) {
            Ok(text) => push_text("stderr", text, out),
            Err(_) => push_base64("stderr_base64", &redacted, out),
        }
    }
}

/// An effect on a message, without the secrets that the name of a fault may contain.
pub(crate) fn redacted_faulted(redactor: &mut Redactor, faulted: &Faulted) -> Faulted {
    let Faulted { message, effect } = faulted;
    let mut plain = |text: &str| redactor.url(text);
    let fault = effect.fault.as_ref().map(|fault| FaultRef {
        name: plain(&fault.name),
        kind: FaultKind::read(&plain(fault.kind.name())),
    });
    let what = match &effect.what {
        What::Other { text } => What::Other { text: plain(text) },
        known => known.clone(),
    };
    Faulted {
        message: *message,
        effect: Effect { fault, what },
    }
}

/// Length of `,"finding":`.
const NAME_OF_FINDING: usize = 11;

/// The session and conduit of a recording with only one.
const FIRST: (SessionKey, ConduitId) = (SessionKey(0), ConduitId(0));

/// The state that depends on the lines before an event's. `None` for a payload that comes in one
/// piece.
fn stream_of<'a>(
    event: &Event,
    first: &'a mut [LineState; 3],
    others: &'a mut Conduits,
) -> Option<&'a mut LineState> {
    let [to_server, to_client, stderr] =
        if event.session == SessionKey(0) && event.conduit == ConduitId(0) {
            first
        } else {
            others.lines(event)?
        };
    Some(match (&event.body, event.dir) {
        (EventBody::Stderr { .. }, _) => stderr,
        (_, Direction::ToServer) => to_server,
        (_, Direction::ToClient) => to_client,
    })
}

fn push_process(pid: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"opened\":{\"pid\":");
    push_number(pid.into(), out);
    out.push(b'}');
}

fn push_closed(reason: CloseReason, out: &mut Vec<u8>) {
    // Older readers know neither `aborted` nor `stopped`, and treat them as failures.
    let more: &[u8] = match reason {
        CloseReason::Aborted => b",\"aborted\":true",
        CloseReason::Stopped => b",\"stopped\":true",
        _ => return push_word("closed", reason.name(), out),
    };
    push_word("closed", CloseReason::Failed.name(), out);
    out.extend_from_slice(more);
}
