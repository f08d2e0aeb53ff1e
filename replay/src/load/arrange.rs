//! Merges the lists of a cassette into one sequence of events.

use std::collections::{HashMap, HashSet};

use tapewright_schemas::cassette::Course;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Incomplete;

use super::parts::{Draft, Entry, Exchanges, Parts};
use crate::script::{
    InFlightMessage, Methods, Moment, Script, Take, TakePlace, UnrelatedMessage, Words,
};
use crate::source::Source;
use crate::takes::{NONE, Packed, Takes};

/// Why the file is incomplete, from the two members for that.
fn lacks(why: Option<String>, detail: Option<String>) -> Option<Incomplete> {
    Some(Incomplete::read(why?, detail))
}

/// Sorts everything in the order in which it happened. Messages without a time follow those before
/// them in the file; if no message has a time, [`Course`] determines the order.
pub(super) fn arrange(text: Source, parts: Parts, methods: Methods) -> Script {
    let initialize = methods.find("initialize");
    let opens = |draft: &Draft| Some(draft.method) == initialize;
    let timed = parts.tells_times();
    // A client that probes for the transport posts `initialize` where no server accepts it, and
    // starts again. In a replay the transport is certain, and no client probes.
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
            timed,
            takes: Takes::made_of(packed, parts.probes.len() + parts.unanswered.len()),
            cues: Vec::new(),
            asides: Vec::new(),
            methods,
            sessions: Vec::new(),
            incomplete: lacks(parts.incomplete, parts.incomplete_detail),
            meta: parts.meta,
        },
        known: HashSet::new(),
        course: (!timed).then(Course::default),
        now_us: 0,
        element: 0,
    };
    for (at, mut probe) in parts.probes.into_iter().enumerate() {
        // Its times are relative to the start of another process.
        (probe.sent_us, probe.took_us) = (None, None);
        stage.take(probe, TakePlace::Probe(at));
    }
    stage.play(others, last, parts.unanswered, parts.messages, looks);
    stage.finish()
}

struct Stage {
    script: Script,
    // Of a recording without times.
    course: Option<Course>,
    // The sessions in the recording.
    known: HashSet<u32>,
    // The latest time so far.
    now_us: u64,
    element: u32,
}

impl Stage {
    /// Takes the exchanges, and inserts the messages between them in their place. Some are skipped.
    fn play(
        &mut self,
        others: Vec<Draft>,
        last: usize,
        unanswered: Vec<Draft>,
        messages: Vec<Entry>,
        is_passed: impl Fn(&Draft) -> bool,
    ) {
        let mut unanswered = unanswered.into_iter().enumerate().peekable();
        let mut messages = messages.into_iter().peekable();
        let mut others = others.into_iter();
        for place in 0..=last {
            let is_due =
                |after: Option<usize>| place == last || after.is_some_and(|at| at <= place);
            while let Some((at, draft)) = unanswered.next_if(|(_, draft)| is_due(draft.after)) {
                // `unanswered_before` tells which messages came before the request.
                let is_first = |entry: &Entry| {
                    let before = entry.unanswered_before;
                    is_due(entry.after) && before.is_some_and(|before| before <= at)
                };
                while let Some(entry) = messages.next_if(is_first) {
                    self.aside(entry);
                }
                let why = draft.why.as_str().into();
                self.take(draft, TakePlace::Unanswered(at, why));
            }
            while let Some(entry) = messages.next_if(|entry| is_due(entry.after)) {
                self.aside(entry);
            }
            if place == last {
                break;
            }
            let Some(packed) = self.script.takes.next_draft() else {
                break;
            };
            if packed.is_other().is_none() {
                self.packed(packed, place);
            } else if let Some(draft) = others.next().filter(|draft| !is_passed(draft)) {
                self.take(draft, TakePlace::Exchange(place));
            }
        }
    }

    fn moment(&mut self, at_us: Option<u64>, step: u32) -> Moment {
        let at_us = at_us.unwrap_or(self.now_us);
        self.now_us = self.now_us.max(at_us);
        Moment {
            at_us,
            element: self.element,
            step,
        }
    }

    /// Like [`take`](Self::take), for a packed exchange.
    fn packed(&mut self, mut packed: Packed, place: usize) {
        self.element = self.element.saturating_add(1);
        if let Some(course) = &mut self.course {
            let (asked, mut step) = course.ask();
            packed.set_course(asked, step.heard(packed.seen()));
        }
        let sent = (packed.asked_us != NONE).then_some(packed.asked_us);
        let asked = self.moment(sent, 0);
        packed.set(asked, place);
        self.moment(Some(packed.answered_us()), u32::MAX);
        if self.known.insert(packed.session) {
            self.script.sessions.push(packed.session);
        }
        self.script.takes.push_packed(packed);
    }

    fn take(&mut self, mut draft: Draft, place: TakePlace) {
        self.element = self.element.saturating_add(1);
        let answered = self.course.as_mut().map(|course| draft.place(course));
        let asked = self.moment(draft.sent_us, 0);
        let first = self.script.cues.len();
        let mut last_us = asked.at_us;
        let unanswered = draft.response.is_none() && draft.era != Some(Era::Stateless);
        for (step, entry) in (1..).zip(draft.stream) {
            let Some(words) = entry.words else {
                continue;
            };
            // Within one stream, the order of the file is the order of events.
            last_us = entry.at_us.unwrap_or(last_us).max(last_us);
            let when = self.moment(Some(last_us), step);
            let loose = unanswered && is_loose(&self.script, entry.dir, &words);
            self.script.cues.push(InFlightMessage {
                when,
                dir: entry.dir,
                words,
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
                let end = took.map(|took| asked.at_us.saturating_add(took));
                let end = answered.or(end).unwrap_or(last_us);
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
        let course = self.course.as_mut();
        let place = course.map(|course| course.beside(entry.dir, entry.seen));
        let Some(words) = entry.words else {
            return;
        };
        self.element = self.element.saturating_add(1);
        let when = self.moment(place.or(entry.at_us), 0);
        self.script.asides.push(UnrelatedMessage {
            when,
            dir: entry.dir,
            words,
            session: entry.session,
            after: None,
        });
    }

    /// Determines the client's last message before each message of the server, and returns the
    /// script.
    fn finish(mut self) -> Script {
        let mut said = LastClientMessages::default();
        for aside in &self.script.asides {
            said.ask(aside.session, aside.when);
        }
        let loose = |takes: &Takes, cues: &[InFlightMessage], said: &mut dyn FnMut(u32, usize)| {
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
        self.script.asides.order_by_key(|aside| aside.when);
        self.script
    }
}

/// The client's last message before each requested moment. Only requested moments are stored, since
/// a client may have sent millions of messages.
#[derive(Default)]
struct LastClientMessages {
    // Per session: the requested moments, and the moment of the last message before each.
    sessions: HashMap<u32, Vec<(Moment, Option<Moment>)>>,
}

impl LastClientMessages {
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

    /// Notes a message of the client.
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

/// Whether a message is in the stream of an unanswered request without certainly belonging to it:
/// stdio does not show which request a message belongs to, so a recorder assigns it to the latest
/// pending one. Such a message follows the last message of the client before it.
fn is_loose(script: &Script, dir: Direction, words: &Words) -> bool {
    if dir == Direction::ToServer {
        return false;
    }
    let Words::Span(span) = words else {
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
