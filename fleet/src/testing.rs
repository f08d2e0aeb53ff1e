//! Helpers for tests with a store.

use std::path::Path;
use std::time::Duration;

use crate::ship::{Round, Settings, ShipEvent, Shipper, WhenFull};
use crate::store::Store;

/// Runs a test to its end.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Settings for shipping a folder as gateway `g1`, in segments of this size.
pub(crate) fn settings(folder: &Path, segment_bytes: u64) -> Settings {
    Settings {
        folder: folder.to_owned(),
        gateway: "g1".parse().unwrap(),
        segment_bytes,
        segment_age: Duration::ZERO,
        buffer: None,
        when_full: WhenFull::Wait,
    }
}

/// Ships everything that exists. Returns whether that succeeded.
pub(crate) async fn ship(shipper: &mut Shipper<'_>) -> bool {
    loop {
        match shipper.round(true).await.unwrap() {
            Round::More => {}
            round => return round == Round::Done,
        }
    }
}

/// Ships a folder.
pub(crate) async fn ship_folder(store: &Store, settings: &Settings) -> bool {
    let quiet = |_: &ShipEvent<'_>| {};
    ship(&mut Shipper::new(store, settings, &quiet)).await
}

/// The name of every object of a store, sorted.
pub(crate) async fn paths(store: &Store) -> Vec<String> {
    let mut paths = Vec::new();
    let entries = store.manifests(None, |one| paths.push(one.path)).await;
    entries.unwrap();
    store.objects(|one| paths.push(one.path)).await.unwrap();
    paths.sort();
    paths
}
