//! From the lists of a cassette to one course of events.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::Span;
use tapewright_schemas::recording::FileKind;

use crate::script::{
    Aside, Cue, MethodId, Methods, Moment, Response, Script, Take, TakePlace, Words,
};

/// The lists, as they stand in the file.
#[derive(Default)]
pub(super) struct Parts {
    /// In pieces, as they were read.
    pub(super) exchanges: Vec<Vec<Draft>>,
    pub(super) unanswered: Vec<Draft>,
    pub(super) probes: Vec<Draft>,
    pub(super) messages: Vec<Entry>,
    pub(super) meta: Vec<(String, String)>,
    pub(super) incomplete: Option<String>,
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
pub(super) fn arrange(text: Bytes, parts: Parts, methods: Methods) -> Script {
    let initialize = methods.find("initialize");
    let opens = |draft: &Draft| Some(draft.method) == initialize;
    let opened = |draft: &Draft| opens(draft) && !draft.http_error;
    // A client that looks for the transport posts `initialize` where nobody takes it, and
    // begins again. Here the transport is ours, and nobody looks for it.
    let found = parts.exchanges.iter().flatten().any(opened);
    let last = parts.exchanges.iter().map(Vec::len).sum();
    let looks = |draft: &Draft| found && opens(draft) && draft.http_error;
    let mut stage = Stage {
        script: Script {
            text,
            kind: FileKind::Cassette,
            takes: Vec::with_capacity(last + parts.unanswered.len()),
            cues: Vec::new(),
            asides: Vec::new(),
            methods,
            sessions: Vec::new(),
            incomplete: parts.incomplete,
            meta: parts.meta,
        },
        known: HashSet::new(),
        has_loose: false,
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
    let mut exchanges = parts.exchanges.into_iter().flatten();
    for place in 0..=last {
        let is_due = |after: Option<usize>| place == last || after.is_some_and(|at| at <= place);
        while let Some((at, draft)) = unanswered.next_if(|(_, draft)| is_due(draft.after)) {
            let why = draft.why.clone();
            stage.take(draft, TakePlace::Unanswered(at, why));
        }
        while let Some(entry) = messages.next_if(|entry| is_due(entry.after)) {
            stage.aside(entry);
        }
        if let Some(draft) = exchanges.next().filter(|draft| !looks(draft)) {
            stage.take(draft, TakePlace::Exchange(place));
        }
    }
    stage.finish()
}

struct Stage {
    script: Script,
    // The sessions that are on it.
    known: HashSet<u32>,
    // Some cues wait for what the client said before them.
    has_loose: bool,
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
            self.has_loose |= loose;
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
        if self.script.asides.is_empty() && !self.has_loose {
            return self.script;
        }
        let mut said: HashMap<u32, Vec<Moment>> = HashMap::new();
        for take in &self.script.takes {
            let moments = said.entry(take.session).or_default();
            moments.push(take.asked);
            let cues = self.script.cues(take).iter();
            let client = cues.filter(|cue| cue.dir == Direction::ToServer);
            moments.extend(client.map(|cue| cue.when));
        }
        for aside in &self.script.asides {
            if aside.dir == Direction::ToServer {
                said.entry(aside.session).or_default().push(aside.when);
            }
        }
        for moments in said.values_mut() {
            moments.sort_unstable();
        }
        let before = |session: u32, when: Moment| {
            let moments = said.get(&session).map_or(&[][..], Vec::as_slice);
            let count = moments.partition_point(|moment| *moment < when);
            count.checked_sub(1).and_then(|at| moments.get(at)).copied()
        };
        for aside in &mut self.script.asides {
            aside.after = before(aside.session, aside.when);
        }
        for take in &self.script.takes {
            let cues = self.script.cues.get_mut(take.cues.clone());
            for cue in cues.unwrap_or_default().iter_mut().filter(|cue| cue.loose) {
                cue.after = before(take.session, cue.when);
            }
        }
        self.script.asides.sort_by_key(|aside| aside.when);
        self.script
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
    match Envelope::of_json(message).kind {
        Kind::Notification { method, .. } => {
            method != "notifications/progress"
                && memchr::memmem::find(message, b"subscriptionId").is_none()
        }
        _ => true,
    }
}
