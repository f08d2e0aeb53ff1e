//! Hangs of a session under a fault, judged in virtual time, and as `inspect` lists them.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tapewright_compliance::Facts;
use tapewright_compliance::live::{Live, Watch};
use tapewright_schemas::event::{Event, EventBody, Judge as _, Offset, SessionMark, Side};

use crate::support::{Tape, tapewright};

const HOUR: Offset = Offset::of(Duration::from_secs(3_600));

/// Somebody who is blamed for the call under a fault, which has had no answer for an hour.
pub(super) fn blamed(tape: &Tape) -> Option<String> {
    let watch = Watch {
        selection: None,
        hang_after: Some(HOUR),
    };
    let mut live = Live::new(Facts::live(), &watch);
    let mut now = Offset::default();
    for event in tape.events.iter().take_while(|event| !ends(event)) {
        now = event.at;
        live.observe(event, None);
    }
    live.tick(now.plus(HOUR).plus(HOUR));
    std::iter::from_fn(|| live.poll()).find_map(|event| match event.body {
        // The client leaves before a later one is answered.
        EventBody::Finding(found) => {
            let is_blame = found.side != Side::Recorder && found.detail.contains("id `2`");
            is_blame.then(|| format!("{found:?}"))
        }
        _ => None,
    })
}

/// Whether nothing can be answered from here on.
fn ends(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::Exited(_) | EventBody::Session(SessionMark::Ended(_))
    )
}

/// A hang without a fault, although nothing hangs by itself here.
pub(super) fn without_fault(tape: &Path) -> Option<String> {
    let mut command = tapewright();
    let command = command.args(["inspect", "--json", "--hang-after", "1h"]);
    let done = command.arg(tape).output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let mut hangs = report["hangs"].as_array().unwrap().iter();
    // The client itself gives these up.
    let is_left = |hang: &Value| hang["closed"] == "client gone" || hang["closed"] == "cancelled";
    let is_it = |hang: &Value| hang["id"] == "2" && hang["fault"].is_null();
    let unnamed = hangs.find(|hang| is_it(hang) && !is_left(hang));
    unnamed.map(ToString::to_string)
}
