//! What may be removed, and what never is.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::fetch::fetch;
use crate::list::{Catalogue, State, rows};
use crate::store::failing::Failing;
use crate::testing::{paths, run, settings, ship_folder};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Writes a tape to a folder, with a footer if `is_over`. Returns its bytes.
fn tape(folder: &Path, label: &str, is_over: bool) -> Vec<u8> {
    let mut text = format!(
        "{{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:15:00Z\",\"label\":\"{label}\"}}\n"
    );
    for seq in 1..30 {
        let ask = format!("{{\"jsonrpc\":\"2.0\",\"id\":{seq},\"method\":\"ping\"}}");
        let dir = "\"dir\":\"to_server\"";
        writeln!(
            text,
            "{{\"seq\":{seq},\"at_us\":{seq},{dir},\"message\":{ask}}}"
        )
        .unwrap();
    }
    if is_over {
        text.push_str("{\"end\":{\"at_us\":9}}\n");
    }
    fs::write(folder.join(format!("{label}.tape.jsonl")), &text).unwrap();
    text.into_bytes()
}

async fn ship(store: &Store, folder: &Path) -> bool {
    ship_folder(store, &settings(folder, 300)).await
}

/// A policy that only removes orphans, this long after now.
fn later(by: Duration) -> Policy {
    Policy {
        older_than: None,
        max_size: None,
        orphans_after: DAY,
        is_dry: false,
        now: clock::wall() + by,
    }
}

async fn states(store: &Store) -> Vec<State> {
    let catalogue = Catalogue::read(store, None).await.unwrap();
    let rows = rows(store, &catalogue, false).await.unwrap();
    rows.into_iter().map(|row| row.state).collect()
}

/// Shippers that are killed at every request leave orphans. A sweep removes old ones, no young
/// ones, and never an object with an entry.
#[test]
fn orphans_go_by_age_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = tape(folder.path(), "fs", true);
    run(async {
        let inner: Arc<InMemory> = Arc::default();
        for allowed in 0..30 {
            let failing = Failing::over(&inner, allowed, true).store();
            ship(&failing, folder.path()).await;
        }
        let well = Failing::well(&inner);
        assert!(ship(&well, folder.path()).await);
        let before = paths(&well).await;
        let young = sweep(&well, &later(Duration::from_secs(60))).await.unwrap();
        assert_eq!((young.orphans, young.kept), (0, 1));
        let hasty = Policy {
            orphans_after: Duration::ZERO,
            ..later(YOUNGEST / 2)
        };
        assert_eq!(sweep(&well, &hasty).await.unwrap().orphans, 0);
        assert_eq!(paths(&well).await, before);
        let dry = Policy {
            is_dry: true,
            ..later(2 * DAY)
        };
        let told = sweep(&well, &dry).await.unwrap();
        assert!(told.orphans >= 2, "{told:?}");
        assert_eq!(paths(&well).await, before);
        let swept = sweep(&well, &later(2 * DAY)).await.unwrap();
        assert_eq!(
            (swept.orphans, swept.orphan_bytes),
            (told.orphans, told.orphan_bytes)
        );
        let again = sweep(&well, &later(2 * DAY)).await.unwrap();
        assert_eq!((again.orphans, again.kept), (0, 1));
        fetches(&well, &bytes).await;
    });
}

/// The only tape of a store can be fetched.
async fn fetches(store: &Store, bytes: &[u8]) {
    let catalogue = Catalogue::read(store, None).await.unwrap();
    let (name, entries) = catalogue.tapes.first_key_value().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fetched = fetch(store, name, entries, folder.path()).await.unwrap();
    assert_eq!(fs::read(fetched.file).unwrap(), bytes);
}

#[test]
fn an_old_tape_goes_and_is_not_shipped_again() {
    let folder = tempfile::tempdir().unwrap();
    tape(folder.path(), "fs", true);
    run(async {
        let well = Failing::well(&Arc::default());
        ship(&well, folder.path()).await;
        let policy = Policy {
            older_than: Some(30 * DAY),
            ..later(31 * DAY)
        };
        let fresh = Policy {
            older_than: Some(30 * DAY),
            ..later(29 * DAY)
        };
        assert!(sweep(&well, &fresh).await.unwrap().tapes.is_empty());
        let swept = sweep(&well, &policy).await.unwrap();
        assert_eq!((swept.tapes.len(), swept.kept), (1, 0));
        assert_eq!(states(&well).await, [State::Swept]);
        assert_eq!(paths(&well).await.len(), 1);
        assert!(ship(&well, folder.path()).await);
        assert_eq!(paths(&well).await.len(), 1);
        assert!(sweep(&well, &policy).await.unwrap().tapes.is_empty());
    });
}

/// A sweep is stopped at every request, before the store carried it out and after; the next one
/// completes it, and no readable tape is partly removed.
#[test]
fn a_sweep_may_be_killed_at_every_request() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = tape(folder.path(), "fs", true);
    let policy = Policy {
        older_than: Some(DAY),
        ..later(2 * DAY)
    };
    run(async {
        for allowed in 0.. {
            for is_done in [false, true] {
                let inner: Arc<InMemory> = Arc::default();
                let well = Failing::well(&inner);
                ship(&well, folder.path()).await;
                let failing = Failing::over(&inner, allowed, is_done).store();
                let result = sweep(&failing, &policy).await;
                match states(&well).await.as_slice() {
                    [State::Whole] => fetches(&well, &bytes).await,
                    [State::Swept] => {}
                    other => panic!("{other:?} after {allowed} {is_done}"),
                }
                sweep(&well, &policy).await.unwrap();
                assert_eq!(paths(&well).await.len(), 1, "{allowed} {is_done}");
                if result.is_ok() {
                    assert!(allowed > 10);
                    return;
                }
            }
        }
    });
}

#[test]
fn the_oldest_go_until_the_rest_fits() {
    run(async {
        let well = Failing::well(&Arc::default());
        for label in ["a", "b", "c"] {
            let folder = tempfile::tempdir().unwrap();
            tape(folder.path(), label, true);
            ship(&well, folder.path()).await;
            // The store's times have a resolution of a millisecond at best.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let all = sweep(&well, &later(Duration::ZERO))
            .await
            .unwrap()
            .kept_bytes;
        let policy = Policy {
            max_size: Some(all * 2 / 3 + 10),
            ..later(Duration::ZERO)
        };
        let swept = sweep(&well, &policy).await.unwrap();
        assert_eq!((swept.tapes.len(), swept.kept), (1, 2));
        let catalogue = Catalogue::read(&well, None).await.unwrap();
        let rows = rows(&well, &catalogue, true).await.unwrap();
        let left: Vec<&str> = rows
            .iter()
            .filter(|row| row.state == State::Whole)
            .map(|row| row.label.as_str())
            .collect();
        assert!(left.len() == 2 && !left.contains(&"a"), "{left:?}");
    });
}

/// An unfinished tape stays while it may continue; one that continues after it was closed is
/// shipped again from its start.
#[test]
fn a_tape_that_goes_on_after_it_was_given_up_is_shipped_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = tape(folder.path(), "fs", false);
    let path = folder.path().join("fs.tape.jsonl");
    let recorder = fs::File::options().append(true).open(&path).unwrap();
    recorder.try_lock().unwrap();
    run(async {
        let well = Failing::well(&Arc::default());
        ship(&well, folder.path()).await;
        assert_eq!(states(&well).await, [State::Open]);
        let hasty = Policy {
            max_size: Some(1),
            ..later(DAY / 2)
        };
        assert!(sweep(&well, &hasty).await.unwrap().tapes.is_empty());
        let policy = Policy {
            older_than: Some(30 * DAY),
            ..later(31 * DAY)
        };
        assert_eq!(sweep(&well, &policy).await.unwrap().tapes.len(), 1);
        ship(&well, folder.path()).await;
        assert_eq!(states(&well).await, [State::Swept]);
        let more = b"{\"seq\":30,\"at_us\":30,\"stderr\":\"x\"}\n";
        std::io::Write::write_all(&mut &recorder, more).unwrap();
        bytes.extend_from_slice(more);
        assert!(ship(&well, folder.path()).await);
        assert_eq!(states(&well).await, [State::Swept, State::Open]);
        let catalogue = Catalogue::read(&well, None).await.unwrap();
        let (name, entries) = catalogue.tapes.last_key_value().unwrap();
        let out = tempfile::tempdir().unwrap();
        let fetched = fetch(&well, name, entries, out.path()).await.unwrap();
        assert_eq!(fs::read(fetched.file).unwrap(), bytes);
    });
}

/// Damaged tapes, and those of a later version, are left for inspection.
#[test]
fn what_cannot_be_read_is_left() {
    let folder = tempfile::tempdir().unwrap();
    tape(folder.path(), "fs", true);
    run(async {
        let well = Failing::well(&Arc::default());
        ship(&well, folder.path()).await;
        let catalogue = Catalogue::read(&well, None).await.unwrap();
        let (_, entries) = catalogue.tapes.first_key_value().unwrap();
        let newer = b"{\"manifest\":\"9.0\"}".to_vec();
        let put = object_store::PutMode::Overwrite;
        well.put(&entries[1].path(), newer, put).await.unwrap();
        let before = paths(&well).await;
        let policy = Policy {
            older_than: Some(DAY),
            max_size: Some(1),
            ..later(99 * DAY)
        };
        let swept = sweep(&well, &policy).await.unwrap();
        assert_eq!((swept.tapes.len(), swept.kept, swept.orphans), (0, 1, 0));
        assert_eq!(paths(&well).await, before);
    });
}

/// For tapes that stay, `ls` and `sweep` read one entry each, with the same result as reading all.
#[test]
fn the_last_entry_of_a_tape_tells_enough() {
    run(async {
        let inner: Arc<InMemory> = Arc::default();
        let folder = tempfile::tempdir().unwrap();
        tape(folder.path(), "a", true);
        tape(folder.path(), "b", false);
        assert!(ship(&Failing::well(&inner), folder.path()).await);
        let counted = Failing::over(&inner, u64::MAX, false);
        let store = counted.store();
        let catalogue = Catalogue::read(&store, None).await.unwrap();
        let entries: usize = catalogue.tapes.values().map(Vec::len).sum();
        assert!(entries > 10);
        let before = counted.requests();
        let brief = rows(&store, &catalogue, false).await.unwrap();
        assert_eq!(counted.requests() - before, 2);
        assert_eq!(rows(&store, &catalogue, true).await.unwrap(), brief);
        let before = counted.requests();
        let policy = later(Duration::ZERO);
        let swept = sweep(&store, &policy).await.unwrap();
        assert_eq!((swept.kept, swept.orphans), (2, 0));
        // Two entries, and the listings.
        let listings = Kind::ALL.len() as u64 + 1;
        assert_eq!(counted.requests() - before, 2 + listings);
    });
}

/// A shipper that is killed while it writes to a folder leaves a temporary file, which no listing
/// shows.
#[test]
fn strays_of_a_folder_go_by_age() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}", folder.path().display());
    let place = crate::store::StoreLocation::read(&url).unwrap();
    let store = Store::open(&place, false, std::iter::empty()).unwrap();
    let deep = folder.path().join("segments/2026-11-26/g1");
    fs::create_dir_all(&deep).unwrap();
    for path in [deep.join("x.jsonl.zst#2"), folder.path().join("mine#2")] {
        fs::write(path, "half").unwrap();
    }
    run(async {
        let young = sweep(&store, &later(Duration::ZERO)).await.unwrap();
        assert_eq!(young.orphans, 0);
        let swept = sweep(&store, &later(2 * DAY)).await.unwrap();
        assert_eq!((swept.orphans, swept.orphan_bytes), (1, 4));
    });
    assert_eq!(fs::read_dir(deep).unwrap().count(), 0);
    assert!(folder.path().join("mine#2").exists());
}
