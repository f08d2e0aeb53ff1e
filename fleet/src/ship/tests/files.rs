//! Changes of files.

use super::*;

#[test]
fn only_whole_lines_are_shipped_and_a_torn_one_is_counted() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(2);
    let whole = fs::read(&recorder.path).unwrap();
    recorder.write("{\"seq\":3,\"at_us\":21,\"std");
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        let (name, chain) = only(&well).await;
        assert_eq!((chain.end(), chain.ended()), (whole.len() as u64, None));
        // Its recorder is killed.
        drop(recorder);
        flush(&well, &settings).await.unwrap();
        let (_, chain) = only(&well).await;
        let ended = chain.ended().unwrap();
        assert_eq!((ended.how, ended.torn_bytes), (How::CutShort, 24));
        assert_eq!(fetched(&well, &name).await, whole);
        flush(&well, &settings).await.unwrap();
        assert_eq!(only(&well).await.1, chain);
    });
}

/// A tape that ends while its shipper reads it is shipped completely, even if its last line is the
/// first of a segment.
#[test]
fn a_tape_is_followed_to_its_end() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        let quiet = |_: &ShipEvent<'_>| {};
        let mut shipper = Shipper::new(&well, &settings, &quiet);
        for _ in 0..10 {
            recorder.events(5);
            while shipper.round(false).await.unwrap() == Round::More {}
        }
        let (_, chain) = only(&well).await;
        let entries = chain.entries.len();
        assert!(entries > 3 && chain.ended().is_none());
        let path = recorder.end();
        while shipper.round(false).await.unwrap() == Round::More {}
        let (name, chain) = only(&well).await;
        assert_eq!(chain.ended().unwrap().how, How::Footer);
        assert_eq!(fetched(&well, &name).await, fs::read(path).unwrap());
    });
}

/// Waiting bytes are shipped once they are old enough, before the end of their tape.
#[test]
fn what_is_due_is_told_by_bytes_and_by_age() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(1);
    let patient = folder.settings();
    let prompt = Settings {
        segment_age: Duration::ZERO,
        ..patient.clone()
    };
    run(async {
        let well = Failing::well(&Arc::default());
        let quiet = |_: &ShipEvent<'_>| {};
        let mut shipper = Shipper::new(&well, &patient, &quiet);
        while shipper.round(false).await.unwrap() == Round::More {}
        assert!(chains(&well).await.is_empty());
        let mut shipper = Shipper::new(&well, &prompt, &quiet);
        while shipper.round(false).await.unwrap() == Round::More {}
        assert_eq!(only(&well).await.1.entries.len(), 1);
    });
}

#[test]
fn another_tape_with_the_same_first_line_is_another_tape() {
    let folder = Folder::new();
    let mut first = folder.begin("fs");
    first.events(30);
    let first = first.end();
    let first_bytes = fs::read(&first).unwrap();
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        // The file is replaced by one with the same first line.
        fs::remove_file(&first).unwrap();
        let mut second = folder.begin("fs");
        second.seq = 100;
        second.events(3);
        let second = second.end();
        flush(&well, &settings).await.unwrap();
        flush(&well, &settings).await.unwrap();
        let chains = chains(&well).await;
        assert_eq!(chains.len(), 2);
        assert_eq!(fetched(&well, &chains[0].0).await, first_bytes);
        assert_eq!(
            fetched(&well, &chains[1].0).await,
            fs::read(second).unwrap()
        );
    });
}

/// The rest of a truncated file is in the store already. What is written after that is another
/// tape.
#[test]
fn a_truncated_tape_is_not_shipped_twice_and_a_new_one_where_it_goes_on() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(30);
    let path = recorder.path.clone();
    let bytes = fs::read(&path).unwrap();
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        let quiet = |_: &ShipEvent<'_>| {};
        let mut shipper = Shipper::new(&well, &settings, &quiet);
        while shipper.round(true).await.unwrap() == Round::More {}
        let before = only(&well).await;
        let kept = bytes[..500]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap() as u64
            + 1;
        recorder.file.set_len(kept).unwrap();
        while shipper.round(true).await.unwrap() == Round::More {}
        flush(&well, &settings).await.unwrap();
        assert_eq!(only(&well).await, before);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"seq\":900,\"at_us\":900,\"stderr\":\"other\"}\n")
            .unwrap();
        while shipper.round(true).await.unwrap() == Round::More {}
        drop(recorder);
        flush(&well, &settings).await.unwrap();
        let chains = chains(&well).await;
        assert_eq!(chains.len(), 2);
        assert_eq!(fetched(&well, &chains[0].0).await, bytes);
        assert_eq!(fetched(&well, &chains[1].0).await, fs::read(&path).unwrap());
    });
}

#[test]
fn what_is_no_tape_is_told_and_left() {
    let folder = Folder::new();
    fs::write(
        folder.path().join("x.tape.jsonl"),
        "{\"log\":\"entries\"}\n",
    )
    .unwrap();
    fs::write(folder.path().join("empty.tape.jsonl"), "").unwrap();
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        let told = std::cell::Cell::new(0);
        let count = |one: &ShipEvent<'_>| {
            told.set(told.get() + u32::from(matches!(one, ShipEvent::NotATape { .. })));
        };
        let mut shipper = Shipper::new(&well, &settings, &count);
        for _ in 0..5 {
            assert_eq!(shipper.round(true).await.unwrap(), Round::Done);
        }
        assert_eq!(told.get(), 1);
        assert!(chains(&well).await.is_empty());
    });
}

#[test]
fn a_line_that_is_longer_than_a_segment_is_whole_in_one() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(1);
    // It compresses to more than one part of an upload.
    let noise: Vec<String> = (0..200_000_u64)
        .map(|at| crate::hash::of(&at.to_le_bytes()))
        .collect();
    recorder.write(&format!(
        "{{\"seq\":2,\"at_us\":9,\"stderr\":\"{}\"}}\n",
        noise.concat()
    ));
    recorder.seq = 2;
    recorder.events(1);
    let path = recorder.end();
    let settings = Settings {
        segment_bytes: 1_000,
        ..folder.settings()
    };
    run(async {
        let well = Failing::well(&Arc::default());
        flush(&well, &settings).await.unwrap();
        let (name, chain) = only(&well).await;
        assert_eq!(chain.entries.len(), 3);
        assert_eq!(fetched(&well, &name).await, fs::read(path).unwrap());
    });
}

#[test]
fn names_in_the_store_that_are_foreign_change_nothing() {
    let folder = Folder::new();
    let mut recorder = folder.begin("fs");
    recorder.events(3);
    let path = recorder.end();
    let settings = folder.settings();
    run(async {
        let well = Failing::well(&Arc::default());
        let put = async |path: &str| {
            well.put(path, b"x".to_vec(), object_store::PutMode::Overwrite)
                .await
                .unwrap();
        };
        put("manifests/g1/readme.txt").await;
        put("manifests/g1/20261126T031500Z-0123456789abcdef0123/1.json").await;
        put("segments/x").await;
        flush(&well, &settings).await.unwrap();
        let (name, _) = only(&well).await;
        put(&format!("{}/.keep", name.folder())).await;
        flush(&well, &settings).await.unwrap();
        assert_eq!(fetched(&well, &name).await, fs::read(path).unwrap());
        let catalogue = Catalogue::read(&well, None).await.unwrap();
        assert_eq!(catalogue.foreign, 3);
    });
}
