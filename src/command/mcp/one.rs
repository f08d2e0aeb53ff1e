//! Finds one exchange of a recording, and its messages.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tapewright_models::prices::Prices;
use tapewright_schemas::conversation::ExchangeRow;
use tapewright_schemas::event::{Event, EventBody};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Entry, Listing, Wanted};

use super::Sources;
use super::answer::piece;
use super::asked;
use super::recordings::Found;
use crate::command::show;
use crate::report::{Mistake, safe};

/// How many notifications are told, and how much of each, in bytes.
const NOTES: usize = 20;
const NOTE: usize = 1 << 10;

/// Which exchange is meant.
#[derive(Debug, Hash)]
pub(super) enum ExchangeSelector {
    /// That of this event.
    Seq(u64),
    /// The first with this id, in this session or in any.
    Id(String, Option<u32>),
}

/// An exchange, and the events with its messages.
pub(super) struct ShownExchange {
    pub(super) found: Found,
    pub(super) row: ExchangeRow,
    /// When the recording was begun.
    pub(super) created: String,
    /// Whether the recording has times.
    timed: bool,
    /// The places of others with its id.
    pub(super) others: Vec<u64>,
}

impl ExchangeSelector {
    /// By the place of one of its messages, or by its id.
    pub(super) fn of(
        seq: Option<u64>,
        id: Option<String>,
        session: Option<u32>,
    ) -> Result<Self, Mistake> {
        match (seq, id) {
            (Some(seq), None) => Ok(Self::Seq(seq)),
            (None, Some(id)) => Ok(Self::Id(id, session)),
            _ => Err(Mistake::new(
                "it takes either `seq` or `id` to name an exchange",
                "`find_exchanges` shows both",
            )),
        }
    }

    /// The schema of the arguments that say it, beside those of a tool; `places` says which `seq`
    /// there are.
    pub(super) fn schema(places: &str, mut others: Value) -> Value {
        let own = json!({
            "recording": asked::recording(),
            "seq": { "type": "integer", "minimum": 0, "description": places },
            "id": { "type": "string", "description": "The id of its request, where no `seq` is given." },
            "session": { "type": "integer", "minimum": 0, "description": "With `id`: in which session." },
        });
        if let (Some(members), Value::Object(own)) = (others.as_object_mut(), own) {
            members.extend(own);
        }
        asked::object(&others, &["recording"])
    }

    fn matches(&self, row: &ExchangeRow) -> bool {
        match self {
            Self::Seq(seq) => {
                row.request_seq == *seq
                    || row.answer_seq == Some(*seq)
                    || row.notifications.contains(seq)
            }
            Self::Id(id, session) => {
                let plain = row.id.trim_matches('"');
                (row.id == *id || plain == id) && session.is_none_or(|one| one == row.session)
            }
        }
    }

    fn missing(&self, name: &str) -> Mistake {
        let what = match self {
            Self::Seq(seq) => format!("event {seq} of `{}` belongs to no exchange", safe(name)),
            Self::Id(..) => format!("no exchange with this id in `{}`", safe(name)),
        };
        let hint = "`find_exchanges` lists them; with `kind:` also other lines";
        Mistake::new(what, hint)
    }
}

impl ShownExchange {
    /// Looks for an exchange.
    pub(super) fn find(
        sources: &Sources,
        name: &str,
        which: &ExchangeSelector,
    ) -> anyhow::Result<Self> {
        let (found, recording) = sources.recordings.read(name)?;
        let (created, timed) = (recording.header().created, recording.timed());
        let wanted = Wanted {
            kinds: BTreeSet::from([LineKind::Exchange]),
            timed: true,
            ..Wanted::default()
        };
        let (mut first, mut others): (Option<ExchangeRow>, Vec<u64>) = (None, Vec::new());
        show::list(recording, &wanted, &Prices::built_in(), |entry| {
            if let Entry::Exchange { row, .. } = entry
                && which.matches(row)
            {
                if first.is_none() {
                    first = Some(ExchangeRow::clone(row));
                } else if others.len() < NOTES {
                    others.push(row.request_seq);
                }
            }
            Ok(())
        })?;
        let row = first.ok_or_else(|| which.missing(name))?;
        Ok(Self {
            found,
            row,
            created,
            timed,
            others,
        })
    }

    /// Hands out the events of its messages.
    pub(super) fn events(
        &self,
        sources: &Sources,
        mut each: impl FnMut(&Event),
    ) -> anyhow::Result<()> {
        let (_, recording) = sources.recordings.read(&self.found.name)?;
        let row = &self.row;
        let last = row.notifications.iter().copied().max();
        let last = last.max(row.answer_seq).max(Some(row.request_seq));
        recording.until(|event| {
            let is_its = event.seq == row.request_seq
                || row.answer_seq == Some(event.seq)
                || row.notifications.contains(&event.seq);
            if is_its && matches!(event.body, EventBody::Message { .. }) {
                each(event);
            }
            Some(event.seq) >= last
        })
    }

    /// What was asked and what was answered, and the notifications about it.
    pub(super) fn said(&self, sources: &Sources) -> anyhow::Result<MessageBodies> {
        let mut listing = Listing::new(Wanted {
            kinds: BTreeSet::from([LineKind::Exchange]),
            bodies: true,
            ..Wanted::default()
        });
        let mut said = MessageBodies::default();
        self.events(sources, |event| {
            if self.row.notifications.contains(&event.seq) {
                said.note(event, self.timed);
            } else {
                listing.observe(event, None);
            }
        })?;
        listing.finish();
        while let Some(entry) = listing.poll() {
            if let Entry::Exchange {
                row,
                request,
                answer,
            } = entry
                && row.id == self.row.id
            {
                said.request = request.text().map(<[u8]>::to_vec);
                said.answer = answer.text().map(<[u8]>::to_vec);
            }
        }
        Ok(said)
    }
}

/// The messages of an exchange.
#[derive(Default)]
pub(super) struct MessageBodies {
    pub(super) request: Option<Vec<u8>>,
    pub(super) answer: Option<Vec<u8>>,
    pub(super) notes: Vec<Value>,
}

impl MessageBodies {
    fn note(&mut self, event: &Event, timed: bool) {
        let EventBody::Message { payload, .. } = &event.body else {
            return;
        };
        if self.notes.len() < NOTES {
            let piece = piece(payload.kept(), 0, NOTE);
            self.notes.push(json!({
                "seq": event.seq,
                "at_ms": timed.then(|| event.at.millis()),
                "from": event.dir.sender(),
                "text": piece.text,
            }));
        }
    }
}
