//! Collects the findings of a rule.

use std::collections::VecDeque;

use tapewright_schemas::event::{Offset, SessionKey};

use super::results::Results;
use crate::finding::{Doubt, Finding, Place, Severity, Side, Status};
use crate::invariant::{Basis, Invariant};
use crate::message::Message;
use crate::revision::Revisions;
use crate::session::Session;

/// Collects the findings of a rule about one message.
pub(crate) struct Out<'a> {
    pub(super) index: usize,
    pub(super) rule: &'static Invariant,
    pub(super) session: &'a Session,
    pub(super) revisions: Revisions,
    pub(super) mildest: Severity,
    pub(super) at: Offset,
    /// It is about an answer to a request that we tampered with.
    pub(super) tampered: bool,
    /// The recording stops before its subject is over.
    pub(super) cut: bool,
    pub(super) results: &'a mut Results,
    pub(super) found: &'a mut VecDeque<Finding>,
}

/// A violation, before the responsible side is known.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    side: Side,
    detail: String,
    evidence: Vec<Place>,
    severity: Option<Severity>,
    ours: bool,
}

impl Fault {
    /// A fault of one side, in words.
    pub(crate) fn new(side: Side, detail: impl Into<String>) -> Self {
        Self {
            side,
            detail: detail.into(),
            evidence: Vec::new(),
            severity: None,
            ours: false,
        }
    }

    /// The message proves it, at this pointer.
    pub(crate) fn at(self, message: &Message<'_>, pointer: &str) -> Self {
        let pointer = message.pointer(pointer);
        self.place(message.seq, pointer)
    }

    /// An event proves it.
    pub(crate) fn seen(self, seq: u64) -> Self {
        self.place(seq, String::new())
    }

    /// The rule is milder, or more binding, here than elsewhere.
    pub(crate) fn only(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// A fault changed the messages that led to it.
    pub(crate) fn ours_if(mut self, faulted: bool) -> Self {
        self.ours |= faulted;
        self
    }

    fn place(mut self, seq: u64, pointer: String) -> Self {
        if seq != 0 && self.evidence.iter().all(|one| one.seq != seq) {
            self.evidence.push(Place { seq, pointer });
        }
        self
    }
}

impl Out<'_> {
    /// It held here.
    pub(crate) fn pass(&mut self) {
        self.results.exercise(self.index);
    }

    /// It did not hold, unless something that is missing or that we did explains it.
    pub(crate) fn fail(&mut self, fault: Fault) {
        if let Some(doubt) = self.excuse() {
            return self.doubt(doubt);
        }
        self.tell(fault, Status::Fail);
    }

    /// Reports a violation if the sender had known.
    pub(crate) fn race(&mut self, fault: Fault) {
        if let Some(doubt) = self.excuse() {
            return self.doubt(doubt);
        }
        self.tell(fault, Status::Race);
    }

    /// It did not hold if the sender knew of it, and else it was a race.
    pub(crate) fn fail_if_known(&mut self, known: bool, fault: Fault) {
        if known {
            self.fail(fault);
        } else {
            self.race(fault);
        }
    }

    /// Reports that it cannot be decided.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.results.doubt(self.index, doubt);
    }

    /// The revisions that the message may be of.
    pub(crate) fn revisions(&self) -> Revisions {
        self.revisions
    }

    fn excuse(&self) -> Option<Doubt> {
        let session = self.session;
        if self.cut {
            return Some(Doubt::CutShort);
        }
        if matches!(self.rule.basis, Basis::Message | Basis::Exchange) {
            return None;
        }
        if session.gap {
            Some(Doubt::Gap)
        } else if session.unread {
            Some(Doubt::Unread)
        } else if session.start_unknown {
            Some(Doubt::StartUnknown)
        } else {
            None
        }
    }

    fn tell(&mut self, fault: Fault, status: Status) {
        let severity = fault
            .severity
            .unwrap_or_else(|| self.rule.levels.severity(self.revisions));
        if severity < self.mildest {
            return self.pass();
        }
        let received = matches!(self.rule.basis, Basis::Conduit | Basis::Session);
        let misled = received && self.session.misled(fault.side);
        let side = if fault.ours || self.tampered || misled {
            Side::Recorder
        } else {
            fault.side
        };
        let finding = Finding {
            code: self.rule.code,
            status,
            side,
            severity,
            session: self.key(),
            at: self.at,
            detail: fault.detail,
            evidence: fault.evidence,
        };
        if self.results.find(self.index, &finding) {
            self.found.push_back(finding);
        }
    }

    fn key(&self) -> SessionKey {
        self.session.key
    }
}
