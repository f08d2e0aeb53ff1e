//! Suggests existing names for filters that matched no line.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tapewright_models::prices::Prices;
use tapewright_schemas::filter::{Filter, Name, Subject};
use tapewright_schemas::listing::{Entry, Wanted};
use tapewright_schemas::near::did_you_mean;

use crate::exit::Exit;
use crate::files::Recording;
use crate::report;

/// How many names are listed.
const LISTED: usize = 8;

/// Prints the names in the recordings for each filter that matched nothing.
pub(super) fn tell(exit: Exit, recordings: &[PathBuf], filter: &Filter) {
    if exit != Exit::Inconclusive || filter.names().next().is_none() {
        return;
    }
    let mut missing: Vec<Missing<'_>> = filter.names().map(Missing::new).collect();
    let wanted = Wanted {
        kinds: Wanted::PLAIN.into(),
        ..Wanted::default()
    };
    for path in recordings {
        // Unreadable files were reported already.
        let Ok(recording) = Recording::open(path) else {
            continue;
        };
        let prices = Prices::built_in();
        let read = super::list(recording, &wanted, &prices, |entry| {
            for one in &mut missing {
                one.observe(entry);
            }
            Ok(())
        });
        drop(read);
    }
    let hints = missing.iter().filter_map(Missing::hint);
    hints.for_each(|hint| report::note(&report::safe(&hint)));
}

/// A name in a filter, and the existing names of its kind.
struct Missing<'f> {
    name: Name<'f>,
    exists: bool,
    known: BTreeSet<String>,
    sessions: BTreeSet<u32>,
}

impl<'f> Missing<'f> {
    fn new(name: Name<'f>) -> Self {
        Self {
            name,
            exists: false,
            known: BTreeSet::new(),
            sessions: BTreeSet::new(),
        }
    }

    fn observe(&mut self, entry: &Entry) {
        let line = match entry {
            Entry::Exchange { row, .. } => Subject::of_row(row),
            Entry::Model { row, .. } => Subject::of_model(row),
            Entry::Beside(_) => return,
        };
        self.exists |= self.name.is_of(&line);
        self.sessions.insert(line.session);
        let uses = line.uses.iter().map(|used| used.name.as_str());
        match self.name {
            Name::Method(_) => self.known.extend([line.method.to_owned()]),
            Name::Model(_) => self.known.extend(line.model.map(str::to_owned)),
            Name::Tool(_) => {
                let tools = line.tool.into_iter().chain(uses);
                self.known.extend(tools.map(str::to_owned));
            }
            Name::Session(_) => {}
        }
    }

    /// The hint for it; `None` if a line has the name.
    fn hint(&self) -> Option<String> {
        if self.exists {
            return None;
        }
        let (kind, part) = match self.name {
            Name::Session(number) => return Some(self.no_session(number)),
            Name::Method(part) => ("method", part),
            Name::Model(part) => ("model", part),
            Name::Tool(part) => ("tool", part),
        };
        let part = String::from_utf8_lossy(part);
        let known = self.known.iter().map(String::as_str);
        let more = match did_you_mean(&part, known.clone()) {
            Some(hint) => hint,
            None if self.known.is_empty() => format!("the recording has no {kind}s"),
            None => format!(
                "the recording has {}",
                listed(known.map(|one| format!("`{one}`")))
            ),
        };
        Some(format!("no {kind} matches `{part}`; {more}"))
    }

    fn no_session(&self, number: u32) -> String {
        let sessions = listed(self.sessions.iter().map(u32::to_string));
        let word = if self.sessions.len() == 1 {
            "session"
        } else {
            "sessions"
        };
        if self.sessions.is_empty() {
            return format!("no session {number}; the recording has no exchanges");
        }
        format!("no session {number}; the recording has {word} {sessions}")
    }
}

/// The first few, separated by commas.
fn listed(all: impl ExactSizeIterator<Item = String>) -> String {
    let left = all.len().saturating_sub(LISTED);
    let first = all.take(LISTED).collect::<Vec<_>>().join(", ");
    if left > 0 {
        format!("{first} and {left} more")
    } else {
        first
    }
}
