//! Everything that is shown, and what changes it from the outside.

use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Wanted};
use tapewright_schemas::order::Order as _;

use super::fault::{Fault, Faults};
use super::list::List;
use super::message_texts::MessageTexts;
use super::order::{NamedTool, Order};
use super::overlay::{Overlay, OverlayContent};
use super::parts::{Introduced, Part, PartState};
use super::prompt::Prompt;
use super::store::{Store, Touched};
use super::visible::VisibleLines;
use crate::report::watch as words;

/// What is watched, and how it is looked at.
#[derive(Debug)]
pub(crate) struct State {
    /// What is known.
    pub(crate) store: Store,
    /// The panel that is seen.
    pub(crate) panel: Panel,
    /// The lines of the stream.
    pub(crate) stream: VisibleLines,
    /// The lines beside the exchanges.
    pub(crate) lanes: VisibleLines,
    /// The cursors of the other panels.
    pub(crate) lists: [List; Panel::ALL.len()],
    /// What lies over the panel, the last on top.
    pub(crate) over: Vec<Overlay>,
    /// The line in which a filter is typed.
    pub(crate) prompt: Option<Prompt>,
    /// What the stream was filtered by, as it was typed.
    pub(crate) typed: String,
    /// What is said for once, until the next key.
    pub(crate) message: Option<String>,
    /// Faults with their switches.
    pub(crate) faults: Faults,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    /// How long ago the recording began, in microseconds, where it goes on.
    pub(crate) now_us: Option<u64>,
    /// In which order the tools are.
    pub(super) order: Order,
}

/// What can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    /// Exchanges, and what is odd.
    #[default]
    Stream,
    /// The sessions, on all tapes.
    Sessions,
    /// What waits, and what hung.
    Hangs,
    /// What judges found.
    Findings,
    /// Faults, with switches.
    Faults,
    /// Notifications, progress, cancellations, standard error, faults.
    Lanes,
    /// Calls by tool.
    Tools,
}

/// An update from a source.
#[derive(Debug)]
pub(crate) enum SourceUpdate {
    /// A new tape, under the next number.
    Part(Box<Part>),
    /// A file that cannot be read: which, and why.
    Missing(String),
    /// What became of a tape.
    State(u16, PartState),
    /// What happened on a tape.
    Changes(u16, Vec<Change>),
    /// Who speaks in a session.
    Introduced(u16, u32, Introduced),
    /// A control told so many events faster than they were read.
    Missed(u64),
    /// The faults in force.
    Faults(Vec<Fault>),
    /// A control could not be asked.
    NoFaults(String),
    /// What was said on the line with this number.
    Texts(u64, MessageTexts),
}

/// How many rows are no list: the title, its banner, the headings, the line of filters, the keys.
pub(crate) const FRAME_ROWS: u16 = 4;

impl Panel {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 7] = [
        Self::Stream,
        Self::Sessions,
        Self::Hangs,
        Self::Findings,
        Self::Faults,
        Self::Lanes,
        Self::Tools,
    ];

    /// Its place among them.
    pub(crate) fn place(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }
}

/// What the lanes hold.
const LANES: [LineKind; 6] = [
    LineKind::Notification,
    LineKind::Progress,
    LineKind::Cancellation,
    LineKind::Stderr,
    LineKind::Fault,
    LineKind::Http,
];

impl State {
    /// Nothing was told yet; what waits for so long hangs, in microseconds.
    pub(crate) fn new(hang_after_us: u64, columns: u16, rows: u16) -> Self {
        Self {
            store: Store::new(hang_after_us),
            panel: Panel::Stream,
            stream: VisibleLines::of(Wanted::PLAIN),
            lanes: VisibleLines::of(LANES),
            lists: [List::default(); Panel::ALL.len()],
            over: Vec::new(),
            prompt: None,
            typed: String::new(),
            message: None,
            faults: Faults::default(),
            size: (columns, rows),
            now_us: None,
            order: Order::default(),
        }
    }

    /// A source tells something.
    pub(crate) fn told(&mut self, told: SourceUpdate) {
        match told {
            SourceUpdate::Part(part) => self.begins(*part),
            SourceUpdate::Missing(why) => self.store.parts.missing.push(why),
            SourceUpdate::State(part, state) => self.becomes(part, state),
            SourceUpdate::Changes(part, changes) => {
                for change in changes {
                    let touched = self.store.take(part, change);
                    self.touched(touched);
                }
            }
            SourceUpdate::Introduced(part, session, who) => {
                self.store.parts.introduced(part, session, who);
            }
            SourceUpdate::Missed(count) => self.store.sums.missed += count,
            SourceUpdate::Faults(faults) => self.faults.told(faults),
            SourceUpdate::NoFaults(why) => self.faults.problem = Some(why),
            SourceUpdate::Texts(number, said) => self.said(number, &said),
        }
    }

    fn begins(&mut self, part: Part) {
        // Without a control the faults that it began with are all that is known.
        if !self.faults.has_control {
            self.faults.began_with(&part.faults);
        }
        self.store.parts.all.push(part);
    }

    fn touched(&mut self, touched: Touched) {
        if let Touched::Changed(number) = touched {
            self.stream.changed(&self.store, number);
            self.lanes.changed(&self.store, number);
        }
    }

    fn becomes(&mut self, part: u16, state: PartState) {
        let is_over = !matches!(state, PartState::Reading | PartState::Live);
        if let Some(part) = self.store.parts.all.get_mut(usize::from(part)) {
            part.state = state;
        }
        if is_over {
            for number in self.store.closes(part) {
                self.touched(Touched::Changed(number));
            }
        }
    }

    fn said(&mut self, number: u64, said: &MessageTexts) {
        let mut over = std::mem::take(&mut self.over);
        for one in &mut over {
            if one.what == OverlayContent::Line(number) && one.said.is_none() {
                one.said = Some(said.clone());
                one.rows = words::rows(self, one);
            }
        }
        self.over = over;
    }

    /// Looks at lines that were not looked at yet; whether there are more.
    pub(crate) fn work(&mut self) -> bool {
        let seen = self.seen();
        let stream = self.stream.work(&self.store, seen);
        let lanes = self.lanes.work(&self.store, seen);
        let count = self.count(self.panel);
        if let Some(list) = self.lists.get_mut(self.panel.place()) {
            list.show(count, seen);
        }
        stream || lanes
    }

    /// It is so late, in microseconds since the recording began.
    pub(crate) fn tick(&mut self, now_us: u64) {
        self.now_us = Some(now_us);
    }

    /// Whether a clock on the screen goes on.
    pub(crate) fn has_clock(&self) -> bool {
        self.store.parts.is_live() && self.store.has_waiting()
    }

    /// The terminal has another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        let seen = self.seen();
        for shown in [&mut self.stream, &mut self.lanes] {
            let count = shown.count();
            shown.list.show(count, seen);
        }
        let mut over = std::mem::take(&mut self.over);
        for one in &mut over {
            one.rows = words::rows(self, one);
            one.list.show(one.rows.len(), seen);
        }
        self.over = over;
    }

    /// How many rows of a list are seen.
    pub(crate) fn seen(&self) -> usize {
        let banner = u16::from(words::banner(self).is_some());
        usize::from(self.size.1.saturating_sub(FRAME_ROWS + banner)).max(1)
    }

    /// How many rows a panel has.
    pub(crate) fn count(&self, panel: Panel) -> usize {
        match panel {
            Panel::Stream => self.stream.count(),
            Panel::Lanes => self.lanes.count(),
            Panel::Sessions => self.store.parts.sessions.len(),
            Panel::Hangs => self.hangs().len(),
            Panel::Findings => self.store.findings.len(),
            Panel::Faults => self.faults.all.len(),
            Panel::Tools => self.store.sums.tools.len(),
        }
    }

    /// The cursor of a panel.
    pub(crate) fn list(&self, panel: Panel) -> List {
        match panel {
            Panel::Stream => self.stream.list,
            Panel::Lanes => self.lanes.list,
            _ => self.lists.get(panel.place()).copied().unwrap_or_default(),
        }
    }

    /// The same, to be moved.
    pub(super) fn list_mut(&mut self, panel: Panel) -> Option<&mut List> {
        match panel {
            Panel::Stream => Some(&mut self.stream.list),
            Panel::Lanes => Some(&mut self.lanes.list),
            _ => self.lists.get_mut(panel.place()),
        }
    }

    /// What waits, the oldest first, and then what hung, the latest first.
    pub(crate) fn hangs(&self) -> Vec<u64> {
        let mut all = self.store.waiting();
        all.extend(self.store.hung.iter().rev());
        all
    }

    /// The session of a row of their panel, with its tape.
    pub(crate) fn session(&self, row: usize) -> Option<(u16, u32)> {
        self.store.parts.sessions.keys().nth(row).copied()
    }

    /// The tools in the order that was asked for; at first, those first that were called most.
    pub(crate) fn tools(&self) -> Vec<super::Word> {
        let named = self.store.sums.tools.iter().map(|(word, tool)| {
            let name = self.store.words.get(*word);
            (NamedTool { name, tool }, *word)
        });
        let mut all: Vec<_> = named.collect();
        all.order_by(|(one, _), (other, _)| self.order.compare(one, other));
        all.into_iter().map(|(_, word)| word).collect()
    }
}
