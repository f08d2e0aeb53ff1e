//! A bucket of moto, an independent S3 server.

use std::fmt::Write as _;

use crate::support::{Fleet, Recorder, eventually};

/// The address of the server that `.ci/fleet` started.
pub(crate) fn endpoint() -> String {
    std::env::var("TAPEWRIGHT_MOTO").expect("the address of moto")
}

#[test]
fn a_bucket_of_moto_is_a_store() {
    let mut fleet = Fleet::new();
    fleet.bucket(&endpoint(), "canary-4711-secret");
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    let small = ["--segment-bytes", "2KiB", "--segment-age", "1ms", "--json"];
    for _ in 0..20 {
        recorder.events(30);
        let mut shippers = [
            fleet.ship(&small).spawn().unwrap(),
            fleet.ship(&small).spawn().unwrap(),
        ];
        let before = fleet.events();
        eventually("something is shipped", || fleet.events() > before);
        for shipper in &mut shippers {
            shipper.kill().unwrap();
            shipper.wait().unwrap();
        }
    }
    // More than one part of an upload.
    let mut noise = String::new();
    for at in 0..1_500_000_u64 {
        let number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        write!(noise, "{number:016x}").unwrap();
    }
    recorder.write(&format!(
        "{{\"seq\":9999,\"at_us\":9999,\"stderr\":\"{noise}\"}}\n"
    ));
    let bytes = recorder.end();
    fleet.ship_all(&[]);
    let rows = fleet.list();
    assert_eq!((rows.len(), rows[0]["state"].as_str()), (1, Some("whole")));
    assert!(fleet.fetch(rows[0]["tape"].as_str().unwrap()) == bytes);
    let swept = fleet.run(&["sweep", "--max-size", "1"]);
    assert!(swept.status.success(), "{swept:?}");
    assert_eq!(fleet.list()[0]["state"], "swept");
}
