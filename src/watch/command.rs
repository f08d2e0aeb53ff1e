//! The input after `:`: the number of a row, or a command.

use crate::command::duration;

use super::OutsideRequest;
use super::keys::Key;
use super::state::{Panel, State};
use crate::report::watch as words;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Goes to a row of the panel; the first one is 1.
    Row(usize),
    /// Goes to the exchange of an event in the stream.
    Event(u64),
    /// Goes to the next line of the stream with this id.
    Id(String),
    /// Goes to the first line of the stream that began at least this many microseconds after the
    /// start.
    At(u64),
    /// Shows a panel.
    Panel(Panel),
    /// Sorts the tools by the column with this key.
    Sort(char),
    /// Filters the stream.
    Filter(String),
    /// Does the same as a key.
    Press(Key),
}

/// Why the input is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoCommand {
    /// No command has this name.
    Unknown(String),
    /// Several commands begin like this.
    Several(Vec<&'static str>),
    /// The command has another argument.
    Takes(&'static Named),
}

/// A command by its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name; an unambiguous beginning is enough.
    pub(crate) name: &'static str,
    /// The argument; empty if there is none.
    pub(crate) takes: &'static str,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    At,
    Event,
    Filter,
    Id,
    Press(Key),
    Panel(Panel),
    Sort,
}

macro_rules! named {
    ($($name:literal $takes:literal $what:expr;)*) => {
        &[$(Named { name: $name, takes: $takes, what: $what }),*]
    };
}

/// All commands, by name.
pub(crate) const COMMANDS: &[Named] = named! {
    "all" "" What::Press(Key::Char('a'));
    "at" "TIME" What::At;
    "capabilities" "" What::Press(Key::Char('c'));
    "event" "NUMBER" What::Event;
    "export" "" What::Press(Key::Char('e'));
    "faults" "" What::Panel(Panel::Faults);
    "filter" "WORDS" What::Filter;
    "findings" "" What::Panel(Panel::Findings);
    "follow" "" What::Press(Key::Char('f'));
    "hangs" "" What::Panel(Panel::Hangs);
    "help" "" What::Press(Key::Char('?'));
    "id" "ID" What::Id;
    "lanes" "" What::Panel(Panel::Lanes);
    "marks" "" What::Press(Key::Char('M'));
    "pause" "" What::Press(Key::Char('p'));
    "quit" "" What::Press(Key::Control('c'));
    "replay" "" What::Press(Key::Char('r'));
    "sessions" "" What::Panel(Panel::Sessions);
    "sort" "COLUMN" What::Sort;
    "stream" "" What::Panel(Panel::Stream);
    "tools" "" What::Panel(Panel::Tools);
};

/// The columns by which tools are sorted, with their keys.
const COLUMNS: [(&str, char); 6] = [
    ("calls", 'C'),
    ("failed", 'F'),
    ("p50", 'M'),
    ("p99", 'P'),
    ("bytes", 'B'),
    ("name", 'T'),
];

/// The commands that begin with the input, or the one with that name.
pub(crate) fn meant(typed: &str) -> Vec<&'static Named> {
    let name = typed.split_whitespace().next().unwrap_or_default();
    let all = || COMMANDS.iter();
    match all().find(|one| one.name == name) {
        Some(one) => vec![one],
        None => all().filter(|one| one.name.starts_with(name)).collect(),
    }
}

/// The input, completed to the name of the only command that begins with it.
pub(super) fn completed(typed: &str) -> Option<String> {
    match &*meant(typed) {
        [one] if !typed.contains(' ') => Some(match one.takes {
            "" => one.name.to_owned(),
            _ => format!("{} ", one.name),
        }),
        _ => None,
    }
}

impl Command {
    /// Parses the input; `None` if it is empty.
    pub(super) fn read(typed: &str) -> Result<Option<Self>, NoCommand> {
        let typed = typed.trim();
        let (name, takes) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        if name.is_empty() {
            return Ok(None);
        }
        if let (Ok(row), "") = (name.parse(), takes) {
            return Ok(Some(Self::Row(row)));
        }
        let named = match &*meant(name) {
            [one] => *one,
            [] => return Err(NoCommand::Unknown(name.to_owned())),
            several => {
                let names = several.iter().map(|one| one.name);
                return Err(NoCommand::Several(names.collect()));
            }
        };
        let read = named.what.read(takes.trim());
        read.ok_or(NoCommand::Takes(named)).map(Some)
    }
}

impl What {
    /// A command with its argument; `None` if the argument is not valid.
    fn read(self, takes: &str) -> Option<Command> {
        let none = takes.is_empty();
        Some(match self {
            Self::At => {
                // In the form of the stream: `2.296 s`.
                let packed: String = takes.split_whitespace().collect();
                let time = duration::parse(&packed).ok()?;
                Command::At(u64::try_from(time.as_micros()).ok()?)
            }
            Self::Event => Command::Event(takes.parse().ok()?),
            Self::Filter => Command::Filter(takes.to_owned()),
            Self::Id if !none => Command::Id(takes.to_owned()),
            Self::Press(key) if none => Command::Press(key),
            Self::Panel(panel) if none => Command::Panel(panel),
            Self::Sort => {
                let mut columns = COLUMNS.iter();
                Command::Sort(columns.find(|(name, _)| *name == takes)?.1)
            }
            Self::Id | Self::Press(_) | Self::Panel(_) => return None,
        })
    }
}

impl State {
    /// Carries out the input after `:`.
    pub(super) fn obey(&mut self, command: Command) -> Vec<OutsideRequest> {
        match command {
            Command::Press(key) => return self.key(key),
            Command::Panel(panel) => {
                self.over.clear();
                return self.turn_to(panel);
            }
            Command::Sort(key) => {
                self.over.clear();
                self.panel = Panel::Tools;
                self.sorts(key);
            }
            Command::Filter(text) => {
                self.over.clear();
                self.panel = Panel::Stream;
                self.filter(&text);
            }
            Command::Row(row) => {
                self.over.clear();
                let (panel, seen) = (self.panel, self.seen());
                let count = self.count(panel);
                if let Some(list) = self.list_mut(panel) {
                    list.choose(row.saturating_sub(1), count, seen);
                }
            }
            Command::Event(seq) => {
                let found = self.of_event(seq);
                self.goes_to(found);
            }
            Command::Id(id) => {
                let found = self.next_with_id(&id);
                self.goes_to(found);
            }
            Command::At(at_us) => self.goes_to_time(at_us),
        }
        Vec::new()
    }

    fn goes_to(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.show_in_stream(number),
            None => self.message = Some(words::NOT_FOUND.to_owned()),
        }
    }

    /// The line of an event: of the current tape, or else of any.
    fn of_event(&self, seq: u64) -> Option<u64> {
        let here = self.chosen().and_then(|number| self.store.get(number));
        let here = here.map(|line| line.part);
        let parts = u16::try_from(self.store.parts.all.len()).unwrap_or(u16::MAX);
        let mut parts = here.into_iter().chain(0..parts);
        parts.find_map(|part| self.store.of_event(part, seq))
    }

    /// The next line of the stream with an id, after the cursor and then from the beginning.
    fn next_with_id(&self, id: &str) -> Option<u64> {
        let (count, here) = (self.stream.count(), self.stream.list.cursor + 1);
        let rows = (here.min(count)..count).chain(0..here.min(count));
        let mut numbers = rows.filter_map(|row| self.stream.get(row));
        numbers.find(|number| {
            let line = self.store.get(*number);
            let written = line.and_then(|line| self.store.words.texts.get(line.id));
            written.is_some_and(|written| written == id || written.trim_matches('"') == id)
        })
    }

    fn goes_to_time(&mut self, at_us: u64) {
        let began = |row: &usize| {
            let line = self.stream.get(*row);
            let line = line.and_then(|number| self.store.get(number));
            line.is_some_and(|line| line.at_ms().is_some() && line.at_us() >= at_us)
        };
        let found = (0..self.stream.count()).find(began);
        let number = found.and_then(|row| self.stream.get(row));
        self.goes_to(number);
    }
}
