//! Each byte is shipped once, whatever happens to shippers and files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::memory::InMemory;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use tempfile::TempDir;

use super::*;
use crate::chain::Chain;
use crate::entry::How;
use crate::fetch::fetch;
use crate::list::Catalogue;
use crate::names::TapeName;
use crate::store::failing::Failing;
use crate::testing::run;

mod exactly_once;
mod files;
mod full;

/// A folder in which a recorder writes.
struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A tape that is being written, with its header.
    fn begin(&self, name: &str) -> Recorder {
        let path = self.path().join(format!("{name}.tape.jsonl"));
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        let mut recorder = Recorder { path, file, seq: 0 };
        recorder.write(&header(name));
        recorder
    }

    fn settings(&self) -> Settings {
        Settings {
            folder: self.path().to_owned(),
            gateway: "g1".parse().unwrap(),
            segment_bytes: 300,
            segment_age: Duration::from_secs(3_600),
            buffer: None,
            when_full: WhenFull::Wait,
        }
    }
}

fn header(label: &str) -> String {
    format!("{{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:15:00Z\",\"label\":\"{label}\"}}\n")
}

/// Writes a tape like a recorder: under a lock, by appending.
struct Recorder {
    path: PathBuf,
    file: File,
    seq: u64,
}

impl Recorder {
    fn write(&mut self, text: &str) {
        self.file.write_all(text.as_bytes()).unwrap();
    }

    /// Appends this many events.
    fn events(&mut self, count: u64) -> &mut Self {
        for _ in 0..count {
            self.seq += 1;
            let seq = self.seq;
            self.write(&format!(
                "{{\"seq\":{seq},\"at_us\":{},\"stderr\":\"line {seq}\"}}\n",
                seq * 7
            ));
        }
        self
    }

    /// Appends this many calls of a tool, each with its answer, and one that is never answered.
    fn calls(&mut self, count: u64) -> &mut Self {
        for number in 0..=count {
            let id = self.seq;
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{number}\"}}}}"
            );
            self.message("to_server", &call);
            if number < count {
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
                self.message("to_client", &answer);
            }
        }
        self
    }

    fn message(&mut self, dir: &str, message: &str) {
        self.seq += 1;
        let (seq, at) = (self.seq, self.seq * 7);
        let text =
            format!("{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"{dir}\",\"message\":{message}}}\n");
        self.write(&text);
    }

    /// Appends the footer; the lock is released.
    fn end(mut self) -> PathBuf {
        let seq = self.seq;
        self.write(&format!(
            "{{\"end\":{{\"at_us\":9,\"events\":{seq},\"complete\":true}}}}\n"
        ));
        self.path
    }
}

/// Ships everything that exists.
async fn flush(store: &Store, settings: &Settings) -> Result<(), ShipError> {
    let quiet = |_: &ShipEvent<'_>| {};
    let mut shipper = Shipper::new(store, settings, &quiet);
    loop {
        match shipper.round(true).await? {
            Round::Done => return Ok(()),
            Round::More => {}
            Round::Waits => {
                let away = StoreError::unusable("away".to_owned());
                return Err(away.into());
            }
        }
    }
}

/// The tapes of a store with their entries.
async fn chains(store: &Store) -> Vec<(TapeName, Chain)> {
    let catalogue = Catalogue::read(store, None).await.unwrap();
    let mut chains = Vec::new();
    for (name, entries) in catalogue.tapes {
        chains.push((name, Chain::of_names(store, &entries).await.unwrap()));
    }
    chains
}

/// The result of `fetch` for a tape.
async fn fetched(store: &Store, name: &TapeName) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let entries = store.entries(name).await.unwrap();
    let fetched = fetch(store, name, &entries, folder.path()).await.unwrap();
    assert_eq!(fetched.missing, None);
    fs::read(fetched.file).unwrap()
}

/// The numbers of the requests with rows in the store, in order.
async fn rows(store: &Store, chain: &Chain) -> Vec<i64> {
    let mut places = Vec::new();
    for entry in &chain.entries {
        assert_eq!(entry.rows.none_because, None);
        let Some(file) = &entry.rows.exchanges else {
            continue;
        };
        let bytes = store.read(&file.name, 1 << 20).await.unwrap();
        assert_eq!(
            (crate::hash::of(&bytes), bytes.len() as u64),
            (file.sha256.clone(), file.bytes)
        );
        let reader = SerializedFileReader::new(bytes).unwrap();
        let before = places.len() as u64;
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let mut columns = row.get_column_iter();
            let (_, place) = columns.find(|(name, _)| *name == "request_seq").unwrap();
            let Field::Long(place) = place else {
                panic!("{place:?}");
            };
            places.push(*place);
        }
        assert_eq!(places.len() as u64 - before, file.rows);
    }
    places.sort_unstable();
    places
}

/// The only tape of a store, with its entries.
async fn only(store: &Store) -> (TapeName, Chain) {
    let mut chains = chains(store).await;
    assert_eq!(chains.len(), 1, "{chains:?}");
    let (name, chain) = chains.remove(0);
    assert_eq!(chain.missing, None);
    (name, chain)
}
