//! `snapshot`: the value recorded the first time.

use serde_json::Value;

use super::{Judged, Matcher, exact, nothing_there, object_argument, required, string_argument};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::{Snapshot as Known, World};

#[derive(Debug)]
struct Snapshot {
    key: String,
    update: bool,
}

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "snapshot";
    if let Value::String(key) = value {
        checked(key)?;
        return Ok(Box::new(Snapshot {
            key: key.clone(),
            update: false,
        }));
    }
    let members = object_argument(value, name, &["name", "update"])
        .map_err(|error| error.help("write `snapshot: some-name`"))?;
    let key = string_argument(required(members, "name", name)?, "name")
        .map_err(|error| error.under("name"))?;
    checked(&key).map_err(|error| error.under("name"))?;
    let update = match members.get("update") {
        None => false,
        Some(Value::Bool(update)) => *update,
        Some(other) => {
            let error = LoadError::here(format!("`update` is true or false, not {}", kind(other)));
            return Err(error.under("update"));
        }
    };
    Ok(Box::new(Snapshot { key, update }))
}

/// A key names a file below the folder of snapshots, and nothing outside of it.
fn checked(key: &str) -> Result<(), LoadError> {
    let escapes = key
        .split(['/', '\\'])
        .any(|part| part.is_empty() || part == "." || part == "..");
    let odd = key.contains(|char: char| char.is_control() || char == ':');
    if escapes || odd || key.len() > KEY_BYTES {
        return Err(
            LoadError::here(format!("`{key}` is not a key of a snapshot"))
                .help("write names separated by `/`, as in `tools/echo/baseline`"),
        );
    }
    Ok(())
}

impl Matcher for Snapshot {
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        let Some(actual) = value else {
            return nothing_there(None);
        };
        match world.snapshot(&self.key, actual, self.update) {
            Err(error) => Judged::Unknown(error),
            Ok(Known::Recorded) => Judged::Holds,
            Ok(Known::Missing(why)) => Judged::fails(Failure {
                note: Some(why),
                ..Failure::default()
            }),
            Ok(Known::Known { value: known, file }) => match exact::judge(&known, Some(actual)) {
                Judged::Fails(mut failure) => {
                    failure.note = Some(format!(
                        "snapshot at {file} did not match (run with --update-snapshots to refresh)"
                    ));
                    Judged::Fails(failure)
                }
                other => other,
            },
        }
    }

    fn needs(&self) -> Option<&'static str> {
        Some("a file")
    }
}

const KEY_BYTES: usize = 512;
