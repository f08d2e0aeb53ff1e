//! The store is unavailable, and the folder is full.

use super::*;

fn tapes(folder: &Folder) -> usize {
    disk::find(folder.path()).unwrap().len()
}

/// Three finished tapes of 50 events, the oldest first, and one that is being written.
fn filled(folder: &Folder) -> Recorder {
    for (age, name) in [(3, "a"), (2, "b"), (1, "c")] {
        let mut recorder = folder.begin(name);
        recorder.events(50);
        let path = recorder.end();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000 - age);
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let mut live = folder.begin("live");
    live.events(50);
    live
}

#[test]
fn nothing_is_deleted_unless_a_size_is_given() {
    let folder = Folder::new();
    let live = filled(&folder);
    let settings = folder.settings();
    run(async {
        flush(&Failing::well(&Arc::default()), &settings)
            .await
            .unwrap();
    });
    assert_eq!(tapes(&folder), 4);
    drop(live);
}

#[test]
fn what_is_in_the_store_is_deleted_first_and_only_as_much_as_needed() {
    let folder = Folder::new();
    let live = filled(&folder);
    let one = fs::metadata(&live.path).unwrap().len();
    let settings = Settings {
        buffer: Some(3 * one + 100),
        ..folder.settings()
    };
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        assert_eq!(tapes(&folder), 3);
        assert!(!folder.path().join("a.tape.jsonl").exists());
        let chains = chains(&well).await;
        assert_eq!(chains.len(), 4);
        for (name, _) in chains {
            assert!(fetched(&well, &name).await.len() > 1_000);
        }
    });
    drop(live);
}

#[test]
fn a_tape_whose_segment_is_gone_is_kept() {
    let folder = Folder::new();
    let live = filled(&folder);
    let settings = folder.settings();
    let tight = Settings {
        buffer: Some(1),
        ..settings.clone()
    };
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        let mut paths = Vec::new();
        well.objects(|one| paths.push(one.path)).await.unwrap();
        for path in paths {
            well.delete(&path).await.unwrap();
        }
        drop(flush(&well, &tight).await);
        assert_eq!(tapes(&folder), 4);
    });
    drop(live);
}

#[test]
fn with_wait_nothing_that_is_not_in_the_store_is_deleted_and_it_is_told_once() {
    let folder = Folder::new();
    let live = filled(&folder);
    let settings = Settings {
        buffer: Some(1),
        ..folder.settings()
    };
    run(async {
        let away = Failing::over(&Arc::default(), 0, false).store();
        let told = std::cell::Cell::new(0);
        let count = |one: &ShipEvent<'_>| {
            told.set(told.get() + u32::from(matches!(one, ShipEvent::Full { .. })));
        };
        let mut shipper = Shipper::new(&away, &settings, &count);
        for _ in 0..5 {
            shipper.round(false).await.unwrap();
        }
        assert_eq!((told.get(), tapes(&folder)), (1, 4));
    });
    drop(live);
}

/// With `drop-oldest` the oldest finished tapes are deleted, the live one stays, and the store
/// learns how much was lost once it is available, even from another process.
#[test]
fn what_was_dropped_is_counted_in_the_store() {
    let folder = Folder::new();
    let live = filled(&folder);
    let one = fs::metadata(&live.path).unwrap().len();
    let settings = Settings {
        buffer: Some(2 * one + 100),
        when_full: WhenFull::DropOldest,
        ..folder.settings()
    };
    run(async {
        let inner: Arc<InMemory> = Arc::default();
        let away = Failing::over(&inner, 0, false).store();
        assert!(flush(&away, &settings).await.is_err());
        assert_eq!(tapes(&folder), 2);
        assert!(live.path.exists() && folder.path().join("c.tape.jsonl").exists());
        let well = Failing::well(&inner);
        flush(&well, &settings).await.unwrap();
        let ended: Vec<_> = chains(&well)
            .await
            .iter()
            .filter_map(|(_, chain)| chain.ended())
            .collect();
        let dropped: Vec<_> = ended
            .iter()
            .filter(|ended| ended.how == How::Dropped)
            .collect();
        assert_eq!((ended.len(), dropped.len()), (3, 2));
        assert!(
            dropped
                .iter()
                .all(|lost| lost.lost_events == 50 && lost.lost_bytes > 1_000)
        );
        assert!(
            disk::find_notes(folder.path(), note::ENDING)
                .unwrap()
                .is_empty()
        );
        flush(&well, &settings).await.unwrap();
        assert_eq!(chains(&well).await.len(), 4);
    });
    drop(live);
}

/// If a tape was shipped in part, only the rest is lost.
#[test]
fn of_a_tape_that_was_shipped_in_part_only_the_rest_is_lost() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(50);
    let settings = folder.settings();
    let tight = Settings {
        buffer: Some(1),
        when_full: WhenFull::DropOldest,
        ..settings.clone()
    };
    run(async {
        let inner: Arc<InMemory> = Arc::default();
        let well = Failing::well(&inner);
        flush(&well, &settings).await.unwrap();
        let shipped = only(&well).await.1.end();
        recorder.events(7);
        let path = recorder.end();
        let len = fs::metadata(&path).unwrap().len();
        let away = Failing::over(&inner, 0, false).store();
        assert!(flush(&away, &tight).await.is_err());
        assert!(!path.exists());
        flush(&well, &settings).await.unwrap();
        let (name, chain) = only(&well).await;
        let ended = chain.ended().unwrap();
        assert_eq!((ended.lost_events, ended.lost_bytes), (7, len - shipped));
        assert_eq!(fetched(&well, &name).await.len() as u64, shipped);
    });
}
