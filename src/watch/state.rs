//! The state of the view, and its updates.

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

/// The recording, and the state of its display.
#[derive(Debug)]
pub(crate) struct State {
    /// The lines and sums.
    pub(crate) store: Store,
    /// The visible panel.
    pub(crate) panel: Panel,
    /// The lines of the stream.
    pub(crate) stream: VisibleLines,
    /// The lines of the lanes.
    pub(crate) lanes: VisibleLines,
    /// The cursors of the other panels.
    pub(crate) lists: [List; Panel::ALL.len()],
    /// The overlays, the last on top.
    pub(crate) over: Vec<Overlay>,
    /// The input line.
    pub(crate) prompt: Option<Prompt>,
    /// The filter of the stream, as typed.
    pub(crate) typed: String,
    /// A message that is shown until the next key.
    pub(crate) message: Option<String>,
    /// Faults with their switches.
    pub(crate) faults: Faults,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    /// How long ago the recording began, in microseconds, if it is live.
    pub(crate) now_us: Option<u64>,
    /// The order of the tools.
    pub(super) order: Order,
}

/// A panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    /// Exchanges and anomalies.
    #[default]
    Stream,
    /// The sessions of all tapes.
    Sessions,
    /// Pending requests, and hangs.
    Hangs,
    /// Findings of judges.
    Findings,
    /// Faults that can be switched.
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
    /// The state of a tape.
    State(u16, PartState),
    /// The changes of a tape's lines.
    Changes(u16, Vec<Change>),
    /// The peers of a session.
    Introduced(u16, u32, Introduced),
    /// A control dropped this many events, since they were not read in time.
    Missed(u64),
    /// The active faults.
    Faults(Vec<Fault>),
    /// The control could not be asked.
    NoFaults(String),
    /// The messages of the line with this number.
    Texts(u64, MessageTexts),
}

/// The rows that do not belong to the list: the title, its banner, the headings, the filter line,
/// the keys.
pub(crate) const FRAME_ROWS: u16 = 4;

impl Panel {
    /// All panels, in the order of their numbers.
    pub(crate) const ALL: [Self; 7] = [
        Self::Stream,
        Self::Sessions,
        Self::Hangs,
        Self::Findings,
        Self::Faults,
        Self::Lanes,
        Self::Tools,
    ];

    /// Its index.
    pub(crate) fn place(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }
}

/// The kinds of lines in the lanes.
const LANES: [LineKind; 6] = [
    LineKind::Notification,
    LineKind::Progress,
    LineKind::Cancellation,
    LineKind::Stderr,
    LineKind::Fault,
    LineKind::Http,
];

impl State {
    /// An empty state; requests that are pending for `hang_after_us` microseconds count as hangs.
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

    /// Applies an update of a source.
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
        // Without a control, only the faults at the beginning are known.
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

    /// Filters further lines. Returns whether there are more.
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

    /// Sets the time, in microseconds since the recording began.
    pub(crate) fn tick(&mut self, now_us: u64) {
        self.now_us = Some(now_us);
    }

    /// Whether a running clock is on the screen.
    pub(crate) fn has_clock(&self) -> bool {
        self.store.parts.is_live() && self.store.has_waiting()
    }

    /// Sets the size of the terminal.
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

    /// The number of visible rows of a list.
    pub(crate) fn seen(&self) -> usize {
        let banner = u16::from(words::banner(self).is_some());
        usize::from(self.size.1.saturating_sub(FRAME_ROWS + banner)).max(1)
    }

    /// The number of rows of a panel.
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

    /// Like `list`, mutable.
    pub(super) fn list_mut(&mut self, panel: Panel) -> Option<&mut List> {
        match panel {
            Panel::Stream => Some(&mut self.stream.list),
            Panel::Lanes => Some(&mut self.lanes.list),
            _ => self.lists.get_mut(panel.place()),
        }
    }

    /// Pending requests, the oldest first, followed by hangs that have ended, the latest first.
    pub(crate) fn hangs(&self) -> Vec<u64> {
        let mut all = self.store.waiting();
        all.extend(self.store.hung.iter().rev());
        all
    }

    /// The session in a row of the sessions panel, with its tape.
    pub(crate) fn session(&self, row: usize) -> Option<(u16, u32)> {
        self.store.parts.sessions.keys().nth(row).copied()
    }

    /// The tools in the selected order; initially those with the most calls come first.
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
