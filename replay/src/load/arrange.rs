//! From the lists of a cassette to one course of events.

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::Span;
use tapewright_schemas::recording::FileKind;

use crate::script::{
    Aside, Cue, MethodId, Methods, Moment, Response, Script, Take, TakePlace, Words,
};
use crate::source::Source;
use crate::takes::{NONE, Numbers, Packed, Takes};

/// The lists, as they stand in the file.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) exchanges: Exchanges,
    pub(super) unanswered: Vec<Draft>,
    pub(super) probes: Vec<Draft>,
    pub(super) messages: Vec<Entry>,
    pub(super) meta: Vec<(String, String)>,
    pub(super) incomplete: Option<String>,
}

/// The exchanges, in order. Most are a request and its answer, and are kept as numbers.
#[derive(Default)]
pub(super) struct Exchanges {
    packed: VecDeque<Packed>,
    others: Vec<Draft>,
}

impl Exchanges {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Appends one.
    pub(super) fn push(&mut self, draft: Draft) {
        if let Some(packed) = draft.packed() {
            self.packed.push_back(packed);
        } else {
            self.packed.push_back(Packed::other(self.others.len()));
            self.others.push(draft);
        }
    }

    /// The method and the request of each.
    #[cfg(test)]
    pub(super) fn requests(&self) -> impl Iterator<Item = (MethodId, Span)> + '_ {
        self.packed.iter().map(|packed| {
            let other = packed.is_other().and_then(|at| self.others.get(at));
            other.map_or_else(
                || (packed.method, packed.request()),
                |draft| (draft.method, draft.request),
            )
        })
    }

    /// Appends those of a part of the file, which begins at `base` and has its own `methods`.
    pub(super) fn append(&mut self, mut part: Self, base: usize, methods: &[MethodId]) {
        let here = |there: MethodId| methods.get(there.0 as usize).copied().unwrap_or(there);
        let before = self.others.len();
        for mut packed in part.packed {
            if let Some(place) = packed.is_other() {
                packed = Packed::other(before + place);
            } else {
                packed.shift(base);
                packed.method = here(packed.method);
            }
            self.packed.push_back(packed);
        }
        for draft in &mut part.others {
            draft.shift_from(0, base);
            draft.method = here(draft.method);
        }
        self.others.append(&mut part.others);
    }
}

/// A request, its response if any, and what crossed in between.
pub(super) struct Draft {
    pub(super) request: Span,
    pub(super) id: Option<Span>,
    pub(super) method: MethodId,
    pub(super) params: Option<Span>,
    pub(super) response: Option<Response>,
    pub(super) sent_us: Option<u64>,
    pub(super) took_us: Option<u64>,
    pub(super) head: Option<Span>,
    pub(super) stream: Vec<Entry>,
    pub(super) era: Option<Era>,
    pub(super) session: u32,
    pub(super) after: Option<usize>,
    pub(super) why: String,
    /// The answer was an HTTP error, and no server of MCP may have spoken.
    pub(super) http_error: bool,
}

impl Draft {
    /// Itself in numbers, when nothing is beside its request and its answer.
    fn packed(&self) -> Option<Packed> {
        if self.head.is_some() || !self.stream.is_empty() || self.http_error {
            return None;
        }
        Packed::new(&Numbers {
            request: self.request,
            id: self.id,
            params: self.params,
            response: self.response?,
            method: self.method,
            session: self.session,
            sent_us: self.sent_us,
            took_us: self.took_us,
        })
    }

    /// Moves it, when it was read from a part of its file: what was at `from` is at `to`.
    pub(super) fn shift_from(&mut self, from: usize, to: usize) {
        shift(&mut self.request, from, to);
        let response = self.response.as_mut();
        let (response, id) = response.map(|one| (&mut one.span, &mut one.id)).unzip();
        let spans = [&mut self.id, &mut self.params, &mut self.head];
        let spans = spans.into_iter().chain(id).filter_map(Option::as_mut);
        for span in spans.chain(response) {
            shift(span, from, to);
        }
        for entry in &mut self.stream {
            entry.shift_from(from, to);
        }
    }
}

fn shift(span: &mut Span, from: usize, to: usize) {
    span.start = (span.start + to).saturating_sub(from);
    span.end = (span.end + to).saturating_sub(from);
}

impl Entry {
    /// Moves it, when it was read from a part of its file: what was at `from` is at `to`.
    pub(super) fn shift_from(&mut self, from: usize, to: usize) {
        if let Words::Span(span) = &mut self.words {
            shift(span, from, to);
        }
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            request: Span { start: 0, end: 0 },
            id: None,
            method: MethodId::NONE,
            params: None,
            response: None,
            sent_us: None,
            took_us: None,
            head: None,
            stream: Vec::new(),
            era: None,
            session: 0,
            after: None,
            why: String::new(),
            http_error: false,
        }
    }
}

/// One message of a stream, or beside all exchanges.
pub(super) struct Entry {
    pub(super) dir: Direction,
    pub(super) words: Words,
    pub(super) at_us: Option<u64>,
    pub(super) session: u32,
    pub(super) after: Option<usize>,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            dir: Direction::ToClient,
            words: Words::Kept(Bytes::new()),
            at_us: None,
            session: 0,
            after: None,
        }
    }
}

/// Puts everything in the order in which it happened. What has no time stands behind
/// what comes before it in the file.
pub(super) fn arrange(text: Source, parts: Parts, methods: Methods) -> Script {
    let initialize = methods.find("initialize");
    let opens = |draft: &Draft| Some(draft.method) == initialize;
    // A client that looks for the transport posts `initialize` where nobody takes it, and
    // begins again. Here the transport is ours, and nobody looks for it.
    let Exchanges { packed, others } = parts.exchanges;
    let found = packed
        .iter()
        .any(|one| one.is_other().is_none() && Some(one.method) == initialize)
        || others.iter().any(|draft| opens(draft) && !draft.http_error);
    let last = packed.len();
    let looks = |draft: &Draft| found && opens(draft) && draft.http_error;
    let mut stage = Stage {
        script: Script {
            text,
            kind: FileKind::Cassette,
            takes: Takes::made_of(packed),
            cues: Vec::new(),
            asides: Vec::new(),
            methods,
            sessions: Vec::new(),
            incomplete: parts.incomplete,
            meta: parts.meta,
        },
        known: HashSet::new(),
        now_us: 0,
        element: 0,
    };
    for (at, mut probe) in parts.probes.into_iter().enumerate() {
        // Its times count from the start of another process.
        (probe.sent_us, probe.took_us) = (None, None);
        stage.take(probe, TakePlace::Probe(at));
    }
    let mut unanswered = parts.unanswered.into_iter().enumerate().peekable();
    let mut messages = parts.messages.into_iter().peekable();
    let mut others = others.into_iter();
    for place in 0..=last {
        let is_due = |after: Option<usize>| place == last || after.is_some_and(|at| at <= place);
        while let Some((at, draft)) = unanswered.next_if(|(_, draft)| is_due(draft.after)) {
            let why = draft.why.as_str().into();
            stage.take(draft, TakePlace::Unanswered(at, why));
        }
        while let Some(entry) = messages.next_if(|entry| is_due(entry.after)) {
            stage.aside(entry);
        }
        if place == last {
            break;
        }
        let Some(packed) = stage.script.takes.next_draft() else {
            break;
        };
        if packed.is_other().is_none() {
            stage.packed(packed, place);
        } else if let Some(draft) = others.next().filter(|draft| !looks(draft)) {
            stage.take(draft, TakePlace::Exchange(place));
        }
    }
    stage.finish()
}

struct Stage {
    script: Script,
    // The sessions that are on it.
    known: HashSet<u32>,
    // The latest time so far.
    now_us: u64,
    element: u32,
}

impl Stage {
    fn moment(&mut self, at_us: Option<u64>, step: u32) -> Moment {
        let at_us = at_us.unwrap_or(self.now_us);
        self.now_us = self.now_us.max(at_us);
        Moment {
            at_us,
            element: self.element,
            step,
        }
    }

    /// As [`take`](Self::take), of one that is numbers.
    fn packed(&mut self, mut packed: Packed, place: usize) {
        self.element = self.element.saturating_add(1);
        let sent = (packed.asked_us != NONE).then_some(packed.asked_us);
        let asked = self.moment(sent, 0);
        packed.set(asked, place);
        self.moment(Some(packed.answered_us()), u32::MAX);
        if self.known.insert(packed.session) {
            self.script.sessions.push(packed.session);
        }
        self.script.takes.push_packed(packed);
    }

    fn take(&mut self, draft: Draft, place: TakePlace) {
        self.element = self.element.saturating_add(1);
        let asked = self.moment(draft.sent_us, 0);
        let first = self.script.cues.len();
        let mut last_us = asked.at_us;
        let unanswered = draft.response.is_none() && draft.era != Some(Era::Stateless);
        for (step, entry) in (1..).zip(draft.stream) {
            // Within one stream the order of the file is the order of events.
            last_us = entry.at_us.unwrap_or(last_us).max(last_us);
            let when = self.moment(Some(last_us), step);
            let loose = unanswered && is_loose(&self.script, &entry);
            self.script.cues.push(Cue {
                when,
                dir: entry.dir,
                words: entry.words,
                loose,
                after: None,
            });
        }
        let answered = match (draft.response, draft.took_us) {
            (None, _) => Moment {
                at_us: u64::MAX,
                element: u32::MAX,
                step: u32::MAX,
            },
            (Some(_), took) => {
                let end = took.map_or(last_us, |took| asked.at_us.saturating_add(took));
                self.moment(Some(end.max(last_us)), u32::MAX)
            }
        };
        if self.known.insert(draft.session) {
            self.script.sessions.push(draft.session);
        }
        self.script.takes.push(Take {
            request: draft.request,
            id: draft.id,
            method: draft.method,
            params: draft.params,
            response: draft.response,
            cues: first..self.script.cues.len(),
            asked,
            answered,
            took_us: draft.took_us,
            head: draft.head,
            session: draft.session,
            place,
        });
    }

    fn aside(&mut self, entry: Entry) {
        self.element = self.element.saturating_add(1);
        let when = self.moment(entry.at_us, 0);
        self.script.asides.push(Aside {
            when,
            dir: entry.dir,
            words: entry.words,
            session: entry.session,
            after: None,
        });
    }

    /// Finds what the client had said before each message of the server's own.
    fn finish(mut self) -> Script {
        let mut said = Said::default();
        for aside in &self.script.asides {
            said.ask(aside.session, aside.when);
        }
        let loose = |takes: &Takes, cues: &[Cue], said: &mut dyn FnMut(u32, usize)| {
            for take in takes.others() {
                for at in take.cues.clone() {
                    if cues.get(at).is_some_and(|cue| cue.loose) {
                        said(take.session, at);
                    }
                }
            }
        };
        let Script { takes, cues, .. } = &self.script;
        loose(takes, cues, &mut |session, at| {
            if let Some(cue) = cues.get(at) {
                said.ask(session, cue.when);
            }
        });
        if said.is_empty() {
            return self.script;
        }
        said.begin();
        for take in takes.iter() {
            said.hear(take.session, take.asked);
            for cue in self.script.cues(&take) {
                if cue.dir == Direction::ToServer {
                    said.hear(take.session, cue.when);
                }
            }
        }
        for aside in &self.script.asides {
            if aside.dir == Direction::ToServer {
                said.hear(aside.session, aside.when);
            }
        }
        said.end();
        for aside in &mut self.script.asides {
            aside.after = said.before(aside.session, aside.when);
        }
        let mut found = Vec::new();
        let Script { takes, cues, .. } = &self.script;
        loose(takes, cues, &mut |session, at| found.push((session, at)));
        for (session, at) in found {
            if let Some(cue) = self.script.cues.get_mut(at) {
                cue.after = said.before(session, cue.when);
            }
        }
        self.script.asides.sort_by_key(|aside| aside.when);
        self.script
    }
}

/// The last thing that the client had said before each moment that is asked for. Only these
/// moments are kept: a client may have said a million things.
#[derive(Default)]
struct Said {
    // Per session: the moments, and what was heard last before each of them.
    sessions: HashMap<u32, Vec<(Moment, Option<Moment>)>>,
}

impl Said {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn ask(&mut self, session: u32, when: Moment) {
        self.sessions.entry(session).or_default().push((when, None));
    }

    fn begin(&mut self) {
        for asked in self.sessions.values_mut() {
            asked.sort_unstable();
        }
    }

    /// The client said something.
    fn hear(&mut self, session: u32, moment: Moment) {
        let Some(asked) = self.sessions.get_mut(&session) else {
            return;
        };
        let first = asked.partition_point(|(when, _)| *when <= moment);
        if let Some((_, before)) = asked.get_mut(first) {
            *before = (*before).max(Some(moment));
        }
    }

    fn end(&mut self) {
        for asked in self.sessions.values_mut() {
            let mut last = None;
            for (_, before) in asked {
                last = last.max(*before);
                *before = last;
            }
        }
    }

    fn before(&self, session: u32, when: Moment) -> Option<Moment> {
        let asked = self.sessions.get(&session)?;
        let place = asked.partition_point(|(one, _)| *one < when);
        asked.get(place)?.1
    }
}

/// Whether a message stands in the stream of a request that was never answered and need
/// not belong to it: over stdio nothing tells, and a recorder puts it with the latest
/// request that is under way. It follows what the client had said before it.
fn is_loose(script: &Script, entry: &Entry) -> bool {
    if entry.dir == Direction::ToServer {
        return false;
    }
    let Words::Span(span) = &entry.words else {
        return true;
    };
    let message = script.source(*span);
    match Envelope::of_json(&message).kind {
        Kind::Notification { method, .. } => {
            method != "notifications/progress"
                && memchr::memmem::find(&message, b"subscriptionId").is_none()
        }
        _ => true,
    }
}
