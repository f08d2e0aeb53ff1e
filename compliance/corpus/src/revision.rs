//! The revision of a recording, and the version by which it is judged.

use serde_json::Value;
use tapewright_schemas::envelope::{Envelope, Kind, for_each_message};
use tapewright_schemas::era::own_version;
use tapewright_schemas::event::{Direction, Event, EventBody, Payload};
use tapewright_schemas::json;

/// Finds the revision of a recording: the one chosen by the first answer to `initialize`, or named
/// in the first request that describes itself.
#[derive(Debug, Default)]
pub struct Finder {
    asked: Option<Vec<u8>>,
    found: Option<String>,
}

impl Finder {
    /// Handles the next event; returns true once the revision is known.
    pub fn observe(&mut self, event: &Event) -> bool {
        if let EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } = &event.body
            && self.found.is_none()
        {
            for_each_message(bytes, |message| self.message(event.dir, message));
        }
        self.found.is_some()
    }

    /// The revision.
    #[must_use]
    pub fn found(self) -> Option<String> {
        self.found
    }

    fn message(&mut self, dir: Direction, message: &[u8]) {
        match (dir, Envelope::parse(message).kind) {
            (Direction::ToServer, Kind::Request { method, params, .. }) => {
                let own = params.and_then(own_version);
                if let Some(own) = own.and_then(|own| serde_json::from_slice(own).ok()) {
                    self.found.get_or_insert(own);
                } else if method == "initialize" {
                    self.asked = json::find(message, &["id"]).map(<[u8]>::to_vec);
                }
            }
            (
                Direction::ToClient,
                Kind::Response {
                    result: Some(result),
                    ..
                },
            ) if self.asked.is_some() && json::find(message, &["id"]) == self.asked.as_deref() => {
                let version = json::find(result, &["protocolVersion"]);
                let version: Option<Value> =
                    version.and_then(|version| serde_json::from_slice(version).ok());
                if let Some(Value::String(version)) = version {
                    self.found.get_or_insert(version);
                }
            }
            _ => {}
        }
    }
}

/// The version whose corpus judges a revision: its own, or the latest before it. `versions` are names of folders.
#[must_use]
pub fn version_for<'v>(
    revision: &str,
    versions: impl IntoIterator<Item = &'v str>,
) -> Option<&'v str> {
    let dated = versions
        .into_iter()
        .filter(|version| version.starts_with('v'));
    let not_later = dated.filter(|version| version.get(1..).is_some_and(|date| date <= revision));
    not_later.max()
}
