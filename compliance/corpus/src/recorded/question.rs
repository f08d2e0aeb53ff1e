//! Whether a recorded request matches that of an assertion.

use serde_json::{Map, Value};

use crate::inventory::ServerInventory;
use crate::judge::Assertion;
use crate::placeholder::{PlaceholderFit, is_in, stands};

/// The members of parameters that identify what a request is about.
pub(super) const NAMING: [&str; 5] = ["argument", "level", "name", "ref", "uri"];

/// Which of the members are present that identify what a request is about. A request that omits one
/// of the assertion's, or has an additional one, is a different request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NamingMembers([bool; NAMING.len()]);

impl NamingMembers {
    pub(super) fn of(params: &Map<String, Value>) -> Self {
        Self(NAMING.map(|name| params.contains_key(name)))
    }

    /// Those that an assertion writes.
    pub(super) fn by(assertion: &Assertion) -> Self {
        written(assertion).map_or_else(Self::default, Self::of)
    }
}

pub(super) fn written(assertion: &Assertion) -> Option<&Map<String, Value>> {
    assertion.written.call.as_ref()?.params.as_ref()
}

/// Whether parameters match those of an assertion; their naming members must be the same
/// ([`NamingMembers`]).
///
/// They may have additional members, since clients add some: but a cursor that the server has not
/// issued, and arguments other than the assertion's, make it a different request.
pub(super) fn asks(
    assertion: &Assertion,
    params: &Map<String, Value>,
    known: &ServerInventory,
) -> PlaceholderFit {
    let empty = Map::new();
    let written = written(assertion).unwrap_or(&empty);
    if !written.contains_key("cursor")
        && let Some(cursor) = params.get("cursor")
        && !cursor
            .as_str()
            .is_some_and(|one| known.cursors.contains(one))
    {
        return PlaceholderFit::No;
    }
    let mut all = PlaceholderFit::Yes;
    for (name, wanted) in written.iter().filter(|(name, _)| *name != "arguments") {
        let Some(found) = params.get(name) else {
            return PlaceholderFit::No;
        };
        match part(wanted, found, known, 0) {
            PlaceholderFit::Yes => {}
            PlaceholderFit::IfRefused => all = PlaceholderFit::IfRefused,
            PlaceholderFit::No => return PlaceholderFit::No,
        }
    }
    let any = asks_back(assertion, written);
    if !(any || arguments(written, params, known)) || !token(assertion, params) {
        return PlaceholderFit::No;
    }
    all
}

/// Whether an assertion is about requests of the server in return, whatever the arguments of the
/// tool are.
fn asks_back(assertion: &Assertion, written: &Map<String, Value>) -> bool {
    let arguments = written.get("arguments").and_then(Value::as_object);
    assertion.written.expect.server_request.is_some() && arguments.is_none_or(Map::is_empty)
}

/// Whether progress is requested if an assertion is about it, and not requested if it must not
/// come.
fn token(assertion: &Assertion, params: &Map<String, Value>) -> bool {
    let stream = assertion.written.expect.notification_stream.as_ref();
    let has = params
        .get("_meta")
        .is_some_and(|meta| meta.get("progressToken").is_some());
    stream.is_none_or(|stream| stream.method != "notifications/progress" || stream.absent != has)
}

/// Whether an assertion has a `_meta`.
pub(super) fn writes_meta(assertion: &Assertion) -> bool {
    meta_of(assertion).is_some()
}

/// Whether `_meta` has exactly the members of an assertion.
pub(super) fn same_meta(assertion: &Assertion, params: &Map<String, Value>) -> bool {
    let written = meta_of(assertion).and_then(Value::as_object);
    match (written, params.get("_meta").and_then(Value::as_object)) {
        (Some(written), Some(found)) => {
            written.len() == found.len() && written.keys().all(|name| found.contains_key(name))
        }
        (written, found) => written.is_none() && found.is_none(),
    }
}

fn meta_of(assertion: &Assertion) -> Option<&Value> {
    written(assertion)?.get("_meta")
}

/// Whether the arguments match those of the assertion; if it has none, whether there may be some.
fn arguments(
    written: &Map<String, Value>,
    params: &Map<String, Value>,
    known: &ServerInventory,
) -> bool {
    let found = params.get("arguments");
    let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    match (written.get("arguments"), found) {
        (None, None) => true,
        (None, Some(found)) => {
            let name = written.get("name").and_then(Value::as_str);
            let lacks = name.is_some_and(|name| name.ends_with(":needs-arguments}"));
            !lacks || is_empty(found)
        }
        (Some(wanted), None) => is_empty(wanted),
        (Some(Value::Object(wanted)), Some(Value::Object(found))) => {
            wanted.len() == found.len()
                && wanted.iter().all(|(name, wanted)| {
                    let found = if is_in(name) {
                        found
                            .iter()
                            .find(|(one, _)| stands(name, one, known) == PlaceholderFit::Yes)
                            .map(|(_, value)| value)
                    } else {
                        found.get(name)
                    };
                    found.is_some_and(|found| part(wanted, found, known, 0) == PlaceholderFit::Yes)
                })
        }
        (Some(wanted), Some(found)) => wanted == found,
    }
}

/// The maximum depth of comparison.
const DEPTH: usize = 64;

/// Whether the assertion's value is contained in the recorded one.
fn part(wanted: &Value, found: &Value, known: &ServerInventory, depth: usize) -> PlaceholderFit {
    let holds = |is: bool| {
        if is {
            PlaceholderFit::Yes
        } else {
            PlaceholderFit::No
        }
    };
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) if is_in(wanted) => {
            stands(wanted, found, known)
        }
        (Value::Object(wanted), Value::Object(found)) if depth < DEPTH => {
            let each = wanted.iter().map(|(name, wanted)| match found.get(name) {
                // Every client chooses its own token.
                Some(Value::String(_) | Value::Number(_)) if name == "progressToken" => {
                    PlaceholderFit::Yes
                }
                Some(found) => part(wanted, found, known, depth + 1),
                None => PlaceholderFit::No,
            });
            each.fold(PlaceholderFit::Yes, |all, one| match (all, one) {
                (PlaceholderFit::No, _) | (_, PlaceholderFit::No) => PlaceholderFit::No,
                (PlaceholderFit::IfRefused, _) | (_, PlaceholderFit::IfRefused) => {
                    PlaceholderFit::IfRefused
                }
                _ => PlaceholderFit::Yes,
            })
        }
        (wanted, found) => holds(wanted == found),
    }
}
