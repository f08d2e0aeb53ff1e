//! Killed and competing shippers.

use super::*;

/// A shipper is stopped at every single request, before the store carried it out and after; the
/// next one continues. In every case the store has each byte once.
#[test]
fn a_shipper_may_be_killed_at_every_request() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(20).calls(9);
    let tape = recorder.end();
    let bytes = fs::read(&tape).unwrap();
    let settings = folder.settings();
    // Every request has one row, including the last, which is never answered.
    let requests: Vec<i64> = (0..10).map(|number| 21 + 2 * number).collect();
    run(async {
        let counted = Failing::over(&Arc::default(), u64::MAX, false);
        flush(&counted.store(), &settings).await.unwrap();
        let all = counted.requests();
        assert!(all > 10, "{all}");
        for allowed in 0..all {
            for is_done in [false, true] {
                let inner: Arc<InMemory> = Arc::default();
                let failing = Failing::over(&inner, allowed, is_done).store();
                assert!(flush(&failing, &settings).await.is_err());
                let well = Failing::well(&inner);
                flush(&well, &settings).await.unwrap();
                let (name, chain) = only(&well).await;
                assert_eq!(
                    chain.ended().unwrap().how,
                    How::Footer,
                    "{allowed} {is_done}"
                );
                assert_eq!(chain.end(), bytes.len() as u64);
                assert_eq!(fetched(&well, &name).await, bytes, "{allowed} {is_done}");
                assert_eq!(rows(&well, &chain).await, requests, "{allowed} {is_done}");
            }
        }
    });
}

/// Like above, while the tape grows: shippers are killed one after the other, each one request
/// later than the one before.
#[test]
fn shippers_are_killed_while_the_tape_grows() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    let settings = folder.settings();
    let inner: Arc<InMemory> = Arc::default();
    run(async {
        for allowed in 0..60 {
            recorder.calls(1);
            let failing = Failing::over(&inner, allowed, allowed % 2 == 0).store();
            // It fails most of the time.
            drop(flush(&failing, &settings).await);
        }
        let tape = recorder.end();
        let well = Failing::well(&inner);
        flush(&well, &settings).await.unwrap();
        let (name, chain) = only(&well).await;
        assert_eq!(fetched(&well, &name).await, fs::read(tape).unwrap());
        let events: u64 = chain.entries.iter().map(|one| one.content.events).sum();
        assert_eq!(events, 180);
        assert_eq!(rows(&well, &chain).await.len(), 120);
    });
}

#[test]
fn two_shippers_of_one_folder_ship_each_byte_once() {
    let folder = Folder::new();
    let mut tapes = Vec::new();
    for name in ["a", "b", "c"] {
        let mut recorder = folder.begin(name);
        recorder.events(60);
        tapes.push(fs::read(recorder.end()).unwrap());
    }
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        let (one, other) = tokio::join!(flush(&well, &settings), flush(&well, &settings));
        one.unwrap();
        other.unwrap();
        let chains = chains(&well).await;
        assert_eq!(chains.len(), 3);
        let mut stored = Vec::new();
        for (name, chain) in &chains {
            assert_eq!(
                (chain.missing.clone(), chain.ended().unwrap().how),
                (None, How::Footer)
            );
            stored.push(fetched(&well, name).await);
        }
        stored.sort();
        tapes.sort();
        assert!(stored == tapes);
    });
}

/// Two shippers at every distance from each other, with ranges of different lengths: the loser of
/// the race for a name continues after the winner's range.
#[test]
fn who_loses_a_race_goes_on_behind_the_winner() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(60).calls(20);
    let bytes = fs::read(recorder.end()).unwrap();
    let short = folder.settings();
    let long = Settings {
        segment_bytes: 700,
        ..short.clone()
    };
    run(async {
        for ahead in 0..20 {
            let well = Failing::well(&Arc::default());
            let losses = std::cell::Cell::new(0);
            let count = |told: &ShipEvent<'_>| {
                losses.set(losses.get() + u32::from(matches!(told, ShipEvent::Theirs { .. })));
            };
            let mut first = Shipper::new(&well, &short, &count);
            let mut second = Shipper::new(&well, &long, &count);
            for _ in 0..ahead {
                first.round(true).await.unwrap();
            }
            let mut is_over = [false, false];
            while is_over != [true, true] {
                is_over[1] = second.round(true).await.unwrap() == Round::Done;
                is_over[0] = first.round(true).await.unwrap() == Round::Done;
            }
            let (name, chain) = only(&well).await;
            assert_eq!(fetched(&well, &name).await, bytes, "{ahead}");
            assert_eq!(rows(&well, &chain).await.len(), 21, "{ahead}");
            if (2..8).contains(&ahead) {
                assert!(losses.get() > 0, "{ahead}");
            }
        }
    });
}

/// A tape that is complete in the store is not changed, and a new shipper reads no segment for it.
#[test]
fn what_is_shipped_is_not_shipped_again() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(10);
    let path = recorder.end();
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        let before = only(&well).await;
        // Under any name, in any folder.
        fs::create_dir(folder.path().join("old")).unwrap();
        fs::rename(&path, folder.path().join("old/other.tape.jsonl")).unwrap();
        flush(&well, &settings).await.unwrap();
        fs::copy(folder.path().join("old/other.tape.jsonl"), &path).unwrap();
        flush(&well, &settings).await.unwrap();
        assert_eq!(only(&well).await, before);
    });
}
