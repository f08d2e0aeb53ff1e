//! Recordings for queries.

use super::{Fleet, Recorder};

/// Tapes of two versions of a server: the old one answers; the new one hangs in `search`, which has
/// another parameter, and is slow in `read`.
pub(crate) fn recorded(fleet: &Fleet) -> Vec<Vec<u8>> {
    let mut tapes = Vec::new();
    for (name, version, is_new) in [("old", "1.0.0", false), ("new", "2.0.0", true)] {
        let mut recorder = Recorder::begin(fleet.tapes.path(), name);
        recorder.introduce("files", version);
        recorder.list_tools(&[
            ("read", "path"),
            ("search", if is_new { "pattern" } else { "text" }),
        ]);
        for id in 1..=20 {
            recorder.call(id, "read", Some(if is_new { 9_000 } else { 2_000 }));
            let is_answered = !is_new || id % 2 == 0;
            recorder.call(100 + id, "search", is_answered.then_some(1_000));
        }
        recorder.finding("INV-012", 1);
        recorder.model_call(700, "claude-sonnet-4-5", if is_new { 2_000 } else { 1_000 });
        recorder.model_call(701, "of-nobody", 5);
        tapes.push(recorder.end());
    }
    fleet.ship_all(&["--segment-bytes", "4KiB"]);
    tapes
}
