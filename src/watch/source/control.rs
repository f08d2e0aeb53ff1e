//! Follows a recorder through its control: the traffic without message contents, and its faults.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};
use tapewright_schemas::conversation::ExchangeRow;
use tapewright_schemas::listing::{Change, LinePosition};

use super::bodies::Bodies;
use super::row::{self, number, text, whole};
use super::{Library, Watcher};
use crate::command::control::Remote;
use crate::command::fault::path_of;
use crate::report::watch as words;
use crate::watch::run::Input;
use crate::watch::{Fault, Introduced, Part, PartState, SourceUpdate};

/// A request to the control.
#[derive(Debug)]
pub(in crate::watch) enum Asked {
    /// List the active faults.
    Faults,
    /// Activate or deactivate a fault.
    Switch(Fault),
}

/// How many pending requests are followed.
const OPEN: usize = 65_536;

/// A follower of a control.
struct Follower<'f> {
    remote: &'f Remote,
    watcher: &'f Watcher,
    open: HashMap<LinePosition, ExchangeRow>,
    // Whether pending requests were listed since events arrived.
    is_asked: bool,
}

/// The view was closed.
#[derive(Debug, thiserror::Error)]
#[error("the view was closed")]
struct Gone;

/// Follows the traffic of a recorder until it ends or the view is closed.
pub(super) fn follow(remote: &Remote, address: &str, watcher: &Watcher, library: &Library) {
    let mut all = library.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(Arc::new(Bodies::Nowhere(words::METADATA_ONLY.to_owned())));
    drop(all);
    let mut follower = Follower {
        remote,
        watcher,
        open: HashMap::new(),
        is_asked: false,
    };
    let state = match follower.follow(address) {
        Ok(()) => PartState::Over,
        Err(error) if error.is::<Gone>() => return,
        Err(error) => PartState::Failed(format!("{error:#}")),
    };
    watcher.tell(SourceUpdate::State(0, state));
}

impl Follower<'_> {
    fn follow(&mut self, address: &str) -> anyhow::Result<()> {
        let sessions = self.remote.ask("GET", "/sessions", None)?;
        let now_ms = number(&sessions, "now_ms").unwrap_or_default();
        self.tell(SourceUpdate::Part(Box::new(Part {
            name: words::address(address),
            age_us: Some(row::micros(now_ms)),
            ..Part::default()
        })))?;
        self.tell(SourceUpdate::State(0, PartState::Live))?;
        for one in list(&sessions, "sessions") {
            self.introduced(one)?;
        }
        self.pending()?;
        let findings = self.remote.ask("GET", "/findings", None)?;
        for one in list(&findings, "findings") {
            self.event(one)?;
        }
        let remote = self.remote;
        remote.follow("/events", |data| {
            // Events between the list and the stream may have been missed.
            if !std::mem::replace(&mut self.is_asked, true) {
                self.pending()?;
            }
            let event: Value = serde_json::from_str(data)?;
            self.event(&event)
        })
    }

    fn tell(&self, told: SourceUpdate) -> anyhow::Result<()> {
        if self.watcher.tell(told) {
            Ok(())
        } else {
            Err(Gone.into())
        }
    }

    fn changes(&self, change: Change) -> anyhow::Result<()> {
        self.tell(SourceUpdate::Changes(0, vec![change]))
    }

    fn introduced(&self, session: &Value) -> anyhow::Result<()> {
        let peer = |name: &str| {
            let peer = session.get(name).filter(|peer| peer.is_object())?;
            let name = format!("{} {}", text(peer, "name"), text(peer, "version"));
            Some(name.trim_end().to_owned())
        };
        let revision = session.get("protocol_version").and_then(Value::as_str);
        let who = Introduced {
            client: peer("client"),
            server: peer("server"),
            revision: revision.map(str::to_owned),
        };
        let number = u32::try_from(whole(session, "session")).unwrap_or_default();
        self.tell(SourceUpdate::Introduced(0, number, who))
    }

    /// Lists pending requests: any others have ended without an event.
    fn pending(&mut self) -> anyhow::Result<()> {
        let answer = self.remote.ask("GET", "/pending", None)?;
        let mut rows = HashMap::new();
        for one in list(&answer, "pending") {
            let row = row::pending(one);
            rows.insert(place(&row), row);
        }
        let count = usize::try_from(whole(&answer, "count")).unwrap_or_default();
        // A truncated list says nothing about requests that are not in it.
        if count == rows.len() {
            let gone = self.open.keys().filter(|place| !rows.contains_key(place));
            for place in gone.copied().collect::<Vec<_>>() {
                self.open.remove(&place);
                self.changes(Change::Gone(place))?;
            }
        }
        for row in rows.into_values() {
            self.opens(row)?;
        }
        Ok(())
    }

    fn opens(&mut self, row: ExchangeRow) -> anyhow::Result<()> {
        let place = place(&row);
        if self.open.contains_key(&place) || self.open.len() >= OPEN {
            return Ok(());
        }
        self.open.insert(place, row.clone());
        self.changes(Change::Open(place, Some(Box::new(row))))
    }

    fn event(&mut self, event: &Value) -> anyhow::Result<()> {
        match &*text(event, "event") {
            "message" if text(event, "kind") == "request" => self.opens(row::request(event)),
            "exchange" => {
                let row = event.get("exchange").map(row::exchange);
                let Some(row) = row else { return Ok(()) };
                let place = place(&row);
                self.open.remove(&place);
                self.changes(Change::Whole(place, row::entry(row)))
            }
            "missed" => {
                self.tell(SourceUpdate::Missed(whole(event, "count")))?;
                self.pending()
            }
            "session" => {
                let sessions = self.remote.ask("GET", "/sessions", None)?;
                let all = list(&sessions, "sessions");
                all.iter().try_for_each(|one| self.introduced(one))
            }
            _ => match row::note(event) {
                Some((place, entry)) => self.changes(Change::Whole(place, entry)),
                None => Ok(()),
            },
        }
    }
}

/// The position of an exchange: those of a batch share an event and differ in their ids.
fn place(row: &ExchangeRow) -> LinePosition {
    let hashed = BuildHasherDefault::<DefaultHasher>::default().hash_one(&row.id);
    LinePosition(
        row.request_seq,
        u32::try_from(hashed >> 32).unwrap_or_default(),
    )
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Handles requests about faults until the view is closed.
pub(in crate::watch) struct Asker {
    /// The recorder.
    pub(in crate::watch) remote: Arc<Remote>,
}

impl Asker {
    /// Answers requests.
    pub(in crate::watch) fn serve(&self, asked: &Receiver<Asked>, send: &SyncSender<Input>) {
        for one in asked {
            let switched = match one {
                Asked::Faults => Ok(()),
                Asked::Switch(fault) => self.switch(&fault),
            };
            let told = match switched.and_then(|()| self.faults()) {
                Ok(faults) => SourceUpdate::Faults(faults),
                Err(error) => SourceUpdate::NoFaults(words::refused(&format!("{error:#}"))),
            };
            if send.send(Input::Told(Box::new(told))).is_err() {
                return;
            }
        }
    }

    fn faults(&self) -> anyhow::Result<Vec<Fault>> {
        let answer = self.remote.ask("GET", "/faults", None)?;
        let faults = answer.get("faults").cloned().unwrap_or_default();
        Ok(serde_json::from_value(faults)?)
    }

    fn switch(&self, fault: &Fault) -> anyhow::Result<()> {
        if fault.is_off {
            self.remote.ask("DELETE", &path_of(&fault.name), None)?;
        } else {
            let spec = json!({ "spec": fault.spec });
            self.remote.ask("POST", "/faults", Some(&spec))?;
        }
        Ok(())
    }
}
