//! Handles keys.

use std::path::Path;

use tapewright_schemas::filter::{Filter, LineKind};
use tapewright_schemas::listing::Wanted;

use super::command::Command;
use super::fault::Fault;
use super::keys::Key;
use super::line::Line;
use super::list::Move;
use super::overlay::{Overlay, OverlayContent};
use super::prompt::{Asks, Prompt, Typed};
use super::state::{Panel, State};
use crate::report::watch as words;

/// A request of the view to its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutsideRequest {
    /// Quit.
    Quit,
    /// Read the messages of the line with this number.
    Read(u64),
    /// Read the active faults.
    Faults,
    /// Activate or deactivate a fault, according to its state.
    Switch(Fault),
    /// Copy this text to the terminal's clipboard.
    Copy(String),
    /// Restore the terminal, and suspend the process.
    Suspend,
}

impl State {
    /// Handles a key.
    pub(crate) fn key(&mut self, key: Key) -> Vec<OutsideRequest> {
        self.message = None;
        if let Some(prompt) = &mut self.prompt {
            let typed = prompt.key(key);
            return self.typed(typed);
        }
        if key == Key::Control('c') {
            return vec![OutsideRequest::Quit];
        }
        if key == Key::Control('z') {
            return vec![OutsideRequest::Suspend];
        }
        if !self.over.is_empty() {
            return self.key_over(key);
        }
        if let Some(by) = key.moves() {
            self.goes(by);
            return Vec::new();
        }
        self.key_on_panel(key)
    }

    fn goes(&mut self, by: Move) {
        let (panel, seen) = (self.panel, self.seen());
        let count = self.count(panel);
        if let Some(list) = self.list_mut(panel) {
            list.go(by, count, seen);
        }
    }

    fn key_on_panel(&mut self, key: Key) -> Vec<OutsideRequest> {
        match key {
            Key::Char('q') => return vec![OutsideRequest::Quit],
            Key::Escape => self.escape(),
            Key::Char('?') => self.open(OverlayContent::Help),
            Key::Char('/') => self.prompt = Some(Prompt::of(self.typed.clone())),
            Key::Char(':') => self.prompt = Some(Prompt::command()),
            Key::Char('s') => return self.turn_to(Panel::Tools),
            Key::Char(digit @ '1'..='7') => {
                let place = u32::from(digit) - u32::from('1');
                let panel = Panel::ALL.get(place as usize).copied();
                return self.turn_to(panel.unwrap_or_default());
            }
            Key::Tab | Key::Right => return self.turn_by(1),
            Key::BackTab | Key::Left => return self.turn_by(Panel::ALL.len() - 1),
            Key::Char(letter) if self.sorts(letter) => {}
            Key::Char('f') => self.follow(),
            Key::Char('p') => self.pause(),
            Key::Char('a') => self.all_kinds(),
            Key::Char('n') => self.next_failure(true),
            Key::Char('N') => self.next_failure(false),
            Key::Char('m') => self.mark(),
            Key::Char('M') => self.only_marked(),
            Key::Char('c') => return self.capabilities(),
            Key::Char('o') => self.in_stream(),
            Key::Char('r') => return self.copy_command(words::replay),
            Key::Char('e') => return self.copy_command(words::export),
            Key::Enter => return self.enter(),
            _ => {}
        }
        Vec::new()
    }

    fn key_over(&mut self, key: Key) -> Vec<OutsideRequest> {
        let seen = self.seen();
        let Some(top) = self.over.last_mut() else {
            return Vec::new();
        };
        if let Some(by) = key.moves() {
            top.list.go(by, top.rows.len(), seen);
            top.list.follows = false;
            return Vec::new();
        }
        match key {
            Key::Char('q') | Key::Escape => {
                self.over.pop();
            }
            Key::Char('?') if top.what != OverlayContent::Help => self.open(OverlayContent::Help),
            Key::Char(':') => self.prompt = Some(Prompt::command()),
            Key::Enter => {
                let jump = top.jump();
                let number = jump.and_then(|to| self.store.of_event(to.part, to.seq));
                return match number {
                    Some(number) if top.what != OverlayContent::Line(number) => self.read(number),
                    _ => Vec::new(),
                };
            }
            Key::Right | Key::Char('n') => return self.beside(true),
            Key::Left | Key::Char('N') => return self.beside(false),
            Key::Char('o') => self.in_stream(),
            Key::Char('m') => self.mark(),
            Key::Char('y') => return self.copy(),
            Key::Char('r') => return self.copy_command(words::replay),
            Key::Char('e') => return self.copy_command(words::export),
            _ => {}
        }
        Vec::new()
    }

    fn escape(&mut self) {
        let is_narrowed = self.stream.only.is_some() || self.stream.only_marked;
        if is_narrowed || !self.typed.is_empty() {
            (self.stream.only, self.stream.only_marked) = (None, false);
            self.typed.clear();
            self.stream.filter = Filter::default();
            self.stream.again();
        } else if self.panel != Panel::Stream {
            self.panel = Panel::Stream;
        }
    }

    pub(super) fn turn_to(&mut self, panel: Panel) -> Vec<OutsideRequest> {
        self.panel = panel;
        let asks = panel == Panel::Faults && self.faults.has_control;
        asks.then_some(OutsideRequest::Faults).into_iter().collect()
    }

    fn turn_by(&mut self, by: usize) -> Vec<OutsideRequest> {
        let place = (self.panel.place() + by) % Panel::ALL.len();
        self.turn_to(Panel::ALL.get(place).copied().unwrap_or_default())
    }

    /// Sorts the tools by a letter. Returns whether it did.
    pub(super) fn sorts(&mut self, letter: char) -> bool {
        let order = self.order.after(letter);
        let Some(order) = order.filter(|_| self.panel == Panel::Tools) else {
            return false;
        };
        self.order = order;
        true
    }

    fn follow(&mut self) {
        let panel = self.panel;
        let follows = self.list(panel).follows;
        if follows {
            if let Some(list) = self.list_mut(panel) {
                list.follows = false;
            }
        } else {
            self.goes(Move::Last);
        }
    }

    fn pause(&mut self) {
        let end = self.store.numbers().end;
        for shown in [&mut self.stream, &mut self.lanes] {
            shown.paused = match shown.paused {
                None => Some(end),
                Some(_) => None,
            };
        }
    }

    fn all_kinds(&mut self) {
        if self.stream.shows(LineKind::Notification) {
            self.stream.set_kinds(Wanted::PLAIN);
        } else {
            self.stream.set_kinds(LineKind::ALL);
        }
    }

    /// Marks the current line, or removes its mark.
    fn mark(&mut self) {
        let Some(number) = self.chosen() else { return };
        self.stream.mark(&self.store, number);
        self.message = Some(words::marked(self.stream.is_marked(number)).to_owned());
    }

    /// Shows only marked lines, or all lines again.
    fn only_marked(&mut self) {
        self.panel = Panel::Stream;
        self.stream.only_marked = !self.stream.only_marked;
        self.stream.again();
    }

    /// Goes to the next or previous failure in the stream.
    fn next_failure(&mut self, forwards: bool) {
        self.panel = Panel::Stream;
        let (count, seen) = (self.stream.count(), self.seen());
        let is_failure = |row: &usize| {
            let number = self.stream.get(*row);
            let line = number.and_then(|number| self.store.get(number));
            line.is_some_and(|line| line.is_failure() || line.has_findings())
        };
        let cursor = self.stream.list.cursor;
        let found = if forwards {
            (cursor.saturating_add(1)..count).find(is_failure)
        } else {
            (0..cursor.min(count)).rev().find(is_failure)
        };
        match found {
            Some(row) => self.stream.list.choose(row, count, seen),
            None => self.message = Some(words::NO_FAILURE.to_owned()),
        }
    }

    /// Opens the exchange in which the peers of the current session declared their capabilities.
    fn capabilities(&mut self) -> Vec<OutsideRequest> {
        let here = self.chosen().and_then(|number| self.store.get(number));
        let session = here.map(|line| (line.part, line.session));
        let introduces = |number: &u64| {
            self.store.get(*number).is_some_and(|line: &Line| {
                let method = self.store.words.get(line.method);
                let is_one = matches!(method, "initialize" | "server/discover");
                is_one && session.is_none_or(|one| one == (line.part, line.session))
            })
        };
        let found = self.store.numbers().find(introduces);
        if let Some(number) = found {
            return self.read(number);
        }
        self.message = Some(words::NO_CAPABILITIES.to_owned());
        Vec::new()
    }

    /// The selected line of the current panel.
    pub(crate) fn chosen(&self) -> Option<u64> {
        if let Some(top) = self.over.last() {
            return match top.what {
                OverlayContent::Line(number) => Some(number),
                OverlayContent::Finding(at) => {
                    let found = self.store.findings.get(at)?;
                    let first = found.finding.evidence.first()?;
                    self.store.of_event(found.part, first.seq)
                }
                OverlayContent::Help => None,
            };
        }
        match self.panel {
            Panel::Stream => self.stream.chosen(),
            Panel::Lanes => self.lanes.chosen(),
            Panel::Hangs => self.hangs().get(self.list(Panel::Hangs).cursor).copied(),
            Panel::Findings => {
                let found = self.store.findings.get(self.list(Panel::Findings).cursor)?;
                let first = found.finding.evidence.first()?;
                self.store.of_event(found.part, first.seq)
            }
            Panel::Faults | Panel::Sessions | Panel::Tools => None,
        }
    }

    /// Goes to the selected line in the stream.
    fn in_stream(&mut self) {
        if let Some(number) = self.chosen() {
            self.show_in_stream(number);
        }
    }

    /// Goes to a line in the stream.
    pub(super) fn show_in_stream(&mut self, number: u64) {
        let row = self.stream.row_of(number);
        if self.stream.get(row) != Some(number) {
            // A filter hides the line.
            self.message = Some(words::HIDDEN.to_owned());
            return;
        }
        let (count, seen) = (self.stream.count(), self.seen());
        self.stream.list.choose(row, count, seen);
        self.panel = Panel::Stream;
        self.over.clear();
    }

    fn enter(&mut self) -> Vec<OutsideRequest> {
        let cursor = self.list(self.panel).cursor;
        match self.panel {
            Panel::Stream | Panel::Lanes | Panel::Hangs => {
                let number = self.chosen();
                number.map_or_else(Vec::new, |number| self.read(number))
            }
            Panel::Findings => {
                if cursor < self.store.findings.len() {
                    self.open(OverlayContent::Finding(cursor));
                }
                Vec::new()
            }
            Panel::Sessions => {
                if let Some(session) = self.session(cursor) {
                    self.stream.only = Some(session);
                    self.stream.again();
                    self.panel = Panel::Stream;
                }
                Vec::new()
            }
            Panel::Faults => {
                if !self.faults.has_control {
                    self.message = Some(words::NO_CONTROL.to_owned());
                    return Vec::new();
                }
                let fault = self.faults.switch(cursor);
                fault.map(OutsideRequest::Switch).into_iter().collect()
            }
            Panel::Tools => {
                let tool = self.tools().get(cursor).copied();
                let name = tool.map(|tool| self.store.words.get(tool).to_owned());
                if let Some(name) = name.filter(|name| !name.is_empty()) {
                    self.filter(&shell_words::quote(&format!("tool:{name}")));
                    self.panel = Panel::Stream;
                }
                Vec::new()
            }
        }
    }

    /// Opens the next or previous line of the stream in place of the current one.
    fn beside(&mut self, forwards: bool) -> Vec<OutsideRequest> {
        let Some(OverlayContent::Line(number)) = self.over.last().map(|top| top.what) else {
            return Vec::new();
        };
        let row = self.stream.row_of(number);
        let next = if forwards {
            let is_here = self.stream.get(row) == Some(number);
            row.checked_add(usize::from(is_here))
        } else {
            row.checked_sub(1)
        };
        let Some((row, number)) = next.and_then(|row| Some((row, self.stream.get(row)?))) else {
            return Vec::new();
        };
        let (count, seen) = (self.stream.count(), self.seen());
        self.stream.list.choose(row, count, seen);
        self.over.pop();
        self.read(number)
    }

    /// Opens a line, and requests its messages.
    fn read(&mut self, number: u64) -> Vec<OutsideRequest> {
        self.open(OverlayContent::Line(number));
        vec![OutsideRequest::Read(number)]
    }

    fn open(&mut self, what: OverlayContent) {
        let mut over = Overlay::new(what);
        over.rows = words::rows(self, &over);
        if self.over.len() == DEEPEST {
            self.over.remove(0);
        }
        self.over.push(over);
    }

    /// Copies a command for the recording of the selected line.
    fn copy_command(&mut self, command: fn(&Path) -> String) -> Vec<OutsideRequest> {
        let line = self.chosen().and_then(|number| self.store.get(number));
        let part = line.map_or(0, |line| usize::from(line.part));
        let path = self
            .store
            .parts
            .all
            .get(part)
            .and_then(|part| part.path.as_ref());
        let Some(command) = path.map(|path| command(path)) else {
            self.message = Some(words::NO_RECORDING.to_owned());
            return Vec::new();
        };
        self.message = Some(words::copied(&command));
        vec![OutsideRequest::Copy(command)]
    }

    fn copy(&mut self) -> Vec<OutsideRequest> {
        let said = self.over.last().and_then(|top| top.said.as_ref());
        let texts = said.map(|said| said.all.iter().map(|one| &*one.text));
        let text = texts.map(|texts| texts.map(String::from_utf8_lossy).collect::<Vec<_>>());
        let text = text.unwrap_or_default().join("\n");
        if text.is_empty() || text.len() > COPIED_BYTES {
            self.message = Some(words::NOT_COPIED.to_owned());
            return Vec::new();
        }
        self.message = Some(words::COPIED.to_owned());
        vec![OutsideRequest::Copy(text)]
    }

    fn typed(&mut self, typed: Typed) -> Vec<OutsideRequest> {
        if typed == Typed::On {
            return Vec::new();
        }
        let Some(mut prompt) = self.prompt.take() else {
            return Vec::new();
        };
        match (typed, prompt.asks) {
            (Typed::Done, Asks::Filter) => self.filter(&prompt.text),
            (Typed::Done, Asks::Command) => match Command::read(&prompt.text) {
                Ok(None) => {}
                Ok(Some(command)) => return self.obey(command),
                Err(why) => {
                    prompt.problem = Some(words::no_command(&why));
                    self.prompt = Some(prompt);
                }
            },
            (Typed::Left | Typed::On, _) => {}
        }
        Vec::new()
    }

    /// Filters the stream by words.
    pub(crate) fn filter(&mut self, text: &str) {
        let mut prompt = Prompt::of(text.to_owned());
        let filter = prompt
            .words()
            .and_then(|words| Filter::new(&words).map_err(|error| error.to_string()));
        match filter {
            Ok(filter) => {
                self.stream.filter = filter;
                self.stream.again();
                text.trim().clone_into(&mut self.typed);
                self.prompt = None;
            }
            Err(why) => {
                prompt.problem = Some(why);
                self.prompt = Some(prompt);
            }
        }
    }
}

/// The largest number of stacked overlays.
const DEEPEST: usize = 20;
/// The longest text to copy, in bytes: terminals accept no more.
const COPIED_BYTES: usize = 74_000;
