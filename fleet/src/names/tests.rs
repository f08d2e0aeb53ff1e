//! Valid and invalid names.

use super::*;

fn entry() -> EntryName {
    EntryName::read(
        "manifests/ci-7.example/20261126T031500Z-0123456789abcdef0123.2/00000000000000004711.json",
    )
    .unwrap()
}

#[test]
fn names_are_read_as_they_are_written() {
    let entry = entry();
    assert_eq!(entry.start, 4711);
    assert_eq!(EntryName::read(&entry.path()), Ok(entry.clone()));
    let segment = ObjectName::fresh(&entry);
    assert_eq!(ObjectName::read(&segment.path()), Ok(segment.clone()));
    assert_ne!(ObjectName::fresh(&entry), segment);
    assert!(segment.made_ms() > 1_700_000_000_000);
    for kind in Kind::ALL {
        let name = segment.of_kind(kind);
        assert_eq!(ObjectName::read(&name.path()), Ok(name));
    }
}

#[test]
fn of_the_entries_of_a_range_the_latest_counts() {
    let first = entry();
    let second = first.next();
    assert!(second.path().ends_with("/00000000000000004711.1.json"));
    assert_eq!(EntryName::read(&second.path()), Ok(second.clone()));
    let other = EntryName::first(&first.tape, 9);
    let mut names = vec![second.next(), first.clone(), other.clone(), second.clone()];
    EntryName::keep_latest(&mut names);
    assert_eq!(names, [other, second.next()]);
    for name in ["4711.0", "4711.01", "4711.x", "4711.", "4711.4294967296"] {
        let path = first.path().replace("4711", name);
        assert!(EntryName::read(&path).is_err(), "{path}");
    }
    let segment = ObjectName::fresh(&second);
    assert_eq!(
        (segment.of.version, segment.of.is_of_same(&second)),
        (0, true)
    );
}

#[test]
fn foreign_names_are_none() {
    let long = "g".repeat(65);
    for name in ["", ".", "..", "-a", "a/b", "a b", "ä", "a\n", long.as_str()] {
        assert_eq!(name.parse::<Gateway>(), Err(NameError::Gateway), "{name:?}");
    }
    let id = "20261126T031500Z-0123456789abcdef0123";
    for name in [
        "",
        "20261126T031500Z",
        "20261126T03150Z-0123456789abcdef0123",
        "20261126T031500Z-0123456789ABCDEF0123",
        "20261126T031500Z-0123456789abcdef012",
        "20261126T031500Z-0123456789abcdef0123.1",
        "20261126T031500Z-0123456789abcdef0123.02",
        "20261126T031500Z-0123456789abcdef0123.1001",
        "20261126T031500Z-0123456789abcdef0123.+2",
        "../20261126T031500Z-0123456789abcdef0123",
    ] {
        assert_eq!(name.parse::<TapeId>(), Err(NameError::Tape), "{name:?}");
    }
    for path in [
        format!("manifests/a/{id}/4711.json"),
        format!("manifests/a/{id}/+0000000000000004711.json"),
        format!("manifests/a/{id}/00000000000000004711.json/x"),
        format!("manifests/a/../{id}/00000000000000004711.json"),
        format!("manifests/{id}/00000000000000004711.json"),
        format!("elsewhere/a/{id}/00000000000000004711.json"),
        format!("manifests/a/{id}/99999999999999999999.json"),
    ] {
        assert!(EntryName::read(&path).is_err(), "{path}");
    }
}

#[test]
fn a_segment_has_one_spelling() {
    let path = ObjectName::fresh(&entry()).path();
    assert!(ObjectName::read(&path).is_ok());
    for other in [
        path.to_uppercase(),
        path.replace("segments/2", "segments/3"),
        path.replace("segments/", "segments/../segments/"),
        path.replace(".jsonl.zst", ".json"),
        format!("{path}x"),
        "segments/x/a/.jsonl.zst".to_owned(),
        "segments/x/a/äääääääääääääääääääääääääääääääääääääää.jsonl.zst".to_owned(),
    ] {
        assert!(ObjectName::read(&other).is_err(), "{other}");
    }
}

#[test]
fn a_tape_is_named_by_its_time_and_its_first_line() {
    let hash = "0123456789abcdef0123456789abcdef";
    let id = TapeId::new("2026-11-26T03:15:00.123Z", hash);
    assert_eq!(id.to_string(), "20261126T031500Z-0123456789abcdef0123");
    assert_eq!(
        id.copy(3).to_string(),
        "20261126T031500Z-0123456789abcdef0123.3"
    );
    for odd in ["", "../../etc", "yesterday", "2026-11-26T03:15:00+01:00"] {
        let id = TapeId::new(odd, hash).to_string();
        assert_eq!(id, "00000000T000000Z-0123456789abcdef0123", "{odd}");
    }
    for id in [id.clone(), id.copy(2), id.copy(COPIES)] {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}

#[test]
fn any_host_is_a_gateway() {
    for (host, name) in [
        ("ci-7", "ci-7"),
        ("", "gateway"),
        ("..", "gateway"),
        ("ä b/c", "b-c"),
    ] {
        let gateway = Gateway::of_host(host);
        assert_eq!(gateway.as_str(), name);
        assert_eq!(gateway.as_str().parse(), Ok(gateway.clone()));
    }
}
