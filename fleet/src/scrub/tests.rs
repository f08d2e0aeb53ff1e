//! Nothing is lost or duplicated, and no secret is left.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;

use object_store::memory::InMemory;
use tapewright_schemas::redact::{Redactor, Settings};
use tapewright_schemas::scrub::TapeScrubber;
use tempfile::TempDir;

use super::*;
use crate::clock;
use crate::fetch::fetch;
use crate::list::{Catalogue, State, rows};
use crate::names::Kind;
use crate::ship::{Settings as Shipping, ShipEvent, Shipper};
use crate::store::failing::Failing;
use crate::testing::{paths, run, settings, ship, ship_folder};

const SECRET: &str = "ticket-4711-x";

/// A tape that is being written, with a secret in its header, in arguments, in an error and in the
/// name of a tool.
struct Tape {
    folder: TempDir,
    path: PathBuf,
    file: File,
    seq: u64,
}

impl Tape {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fs.tape.jsonl");
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        let mut tape = Self {
            folder,
            path,
            file,
            seq: 0,
        };
        tape.write(&format!(
            "{{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:15:00Z\",\"label\":\"fs {SECRET}\"}}\n"
        ));
        tape
    }

    fn write(&mut self, text: &str) {
        self.file.write_all(text.as_bytes()).unwrap();
    }

    fn message(&mut self, dir: &str, message: &serde_json::Value) {
        self.seq += 1;
        let seq = self.seq;
        self.write(&format!(
            "{{\"seq\":{seq},\"at_us\":{seq},\"dir\":\"{dir}\",\"message\":{message}}}\n"
        ));
    }

    fn calls(&mut self, count: u64) {
        for _ in 0..count {
            let id = self.seq;
            let tool = if id.is_multiple_of(4) { SECRET } else { "read" };
            let arguments = serde_json::json!({"path": format!("/{id}/{SECRET}")});
            self.message(
                "to_server",
                &serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                    "params": {"name": tool, "arguments": arguments}}),
            );
            self.message(
                "to_client",
                &serde_json::json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}),
            );
        }
        // Ranges without a secret stay unchanged.
        for _ in 0..6 {
            self.message(
                "to_client",
                &serde_json::json!({"jsonrpc": "2.0", "method": "notifications/message"}),
            );
        }
    }

    fn end(&mut self) {
        let seq = self.seq;
        self.write(&format!(
            "{{\"end\":{{\"at_us\":9,\"events\":{seq},\"complete\":true}}}}\n"
        ));
        self.file.unlock().unwrap();
    }

    fn settings(&self) -> Shipping {
        settings(self.folder.path(), 600)
    }

    /// The tape without its secret.
    fn clean(&self) -> String {
        let text = fs::read(&self.path).unwrap();
        let mut scrubber = TapeScrubber::new(Redactor::new(what().rules));
        let mut clean = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            clean.extend_from_slice(&scrubber.line(line.trim_ascii_end()));
            clean.push(b'\n');
        }
        String::from_utf8(clean).unwrap()
    }
}

async fn ship_all(store: &Store, tape: &Tape) {
    assert!(ship_folder(store, &tape.settings()).await);
}

fn what() -> Scrub {
    let settings = Settings {
        patterns: vec!["ticket-[0-9]+-x".to_owned()],
        ..Settings::default()
    };
    Scrub {
        rules: Arc::new(Rules::new(&settings).unwrap()),
        gateway: None,
        is_dry: false,
        now: clock::wall(),
    }
}

/// Every object of a store, with its contents.
async fn objects(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let mut objects = BTreeMap::new();
    for path in paths(store).await {
        let bytes = store.read(&path, 1 << 20).await.unwrap();
        let bytes = if path.starts_with(Kind::Segment.folder()) {
            zstd::stream::decode_all(bytes.as_ref()).unwrap()
        } else {
            bytes.to_vec()
        };
        objects.insert(path, bytes);
    }
    objects
}

/// No object holds the secret.
async fn is_clean(store: &Store) {
    for (path, bytes) in objects(store).await {
        let has = memchr::memmem::find(&bytes, SECRET.as_bytes());
        assert!(has.is_none(), "{path}");
    }
}

/// The only tape of a store, as it is fetched, and how many exchanges have rows.
async fn fetched(store: &Store) -> (String, State, u64) {
    let catalogue = Catalogue::read(store, None).await.unwrap();
    assert_eq!((catalogue.tapes.len(), catalogue.foreign), (1, 0));
    let row = rows(store, &catalogue, false).await.unwrap().remove(0);
    let (name, entries) = catalogue.tapes.first_key_value().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fetched = fetch(store, name, entries, folder.path()).await.unwrap();
    assert_eq!(fetched.missing, None);
    let text = fs::read_to_string(fetched.file).unwrap();
    (text, row.state, row.exchanges)
}

#[test]
fn a_secret_is_nowhere_any_more_and_its_shipper_goes_on() {
    run(async {
        let mut tape = Tape::begin();
        tape.calls(8);
        let well = Failing::well(&Arc::default());
        let (settings, quiet) = (tape.settings(), |_: &ShipEvent<'_>| {});
        let mut shipper = Shipper::new(&well, &settings, &quiet);
        assert!(ship(&mut shipper).await);
        let before = objects(&well).await;
        let dry = Scrub {
            is_dry: true,
            ..what()
        };
        let told = scrub(&well, &dry).await.unwrap();
        assert_eq!(objects(&well).await, before);
        let done = scrub(&well, &what()).await.unwrap();
        assert_eq!(
            (done.entries, &done.replaced),
            (told.entries, &told.replaced)
        );
        assert!(done.entries > 3 && done.left.is_empty(), "{done:?}");
        let replaced: u64 = done.replaced.values().sum();
        assert!(replaced >= 8 + 4, "{done:?}");
        assert!(!serde_json::to_string(&done).unwrap().contains(SECRET));
        is_clean(&well).await;
        let clean = tape.clean();
        assert_eq!(fetched(&well).await, (clean, State::Open, 8));
        // There is nothing left to do.
        let before = objects(&well).await;
        let again = scrub(&well, &what()).await.unwrap();
        assert_eq!((again.entries, again.removed), (0, 0));
        assert_eq!(objects(&well).await, before);
        // A running shipper continues after it, and so does a new one that must find out how far
        // the tape is shipped.
        tape.calls(2);
        assert!(ship(&mut shipper).await);
        tape.calls(2);
        tape.end();
        ship_all(&well, &tape).await;
        let (text, state, exchanges) = fetched(&well).await;
        assert_eq!((state, exchanges), (State::Whole, 12));
        assert_eq!(text.matches(SECRET).count(), 4 + 2);
        let more = scrub(&well, &what()).await.unwrap();
        assert!(more.entries > 0);
        is_clean(&well).await;
        let (text, state, exchanges) = fetched(&well).await;
        assert_eq!((state, exchanges), (State::Whole, 12));
        assert_eq!(text.lines().count(), tape.clean().lines().count());
        ship_all(&well, &tape).await;
        assert_eq!(Catalogue::read(&well, None).await.unwrap().tapes.len(), 1);
    });
}

/// A scrub is stopped at every request, before the store carried it out and after. Until the next
/// scrub, each line exists once, either old or new; afterwards, no secret is left.
#[test]
fn it_may_be_killed_at_every_request() {
    let mut tape = Tape::begin();
    tape.calls(5);
    tape.end();
    let (old, clean) = (fs::read_to_string(&tape.path).unwrap(), tape.clean());
    run(async {
        let mut end = None;
        for allowed in 0.. {
            let mut is_over = false;
            for is_done in [false, true] {
                let inner: Arc<InMemory> = Arc::default();
                let well = Failing::well(&inner);
                ship_all(&well, &tape).await;
                let failing = Failing::over(&inner, allowed, is_done).store();
                is_over |= scrub(&failing, &what()).await.is_ok();
                let (text, state, exchanges) = fetched(&well).await;
                assert_eq!((state, exchanges), (State::Whole, 5));
                let is_line = |(line, (old, clean))| line == old || line == clean;
                let wanted = old.lines().zip(clean.lines());
                assert!(text.lines().zip(wanted).all(is_line), "{allowed} {is_done}");
                assert_eq!(text.lines().count(), old.lines().count());
                let again = scrub(&well, &what()).await.unwrap();
                assert_eq!(again.left, []);
                is_clean(&well).await;
                let (text, state, exchanges) = fetched(&well).await;
                assert_eq!((state, exchanges), (State::Whole, 5));
                assert_eq!(text.lines().count(), clean.lines().count());
                let count = objects(&well).await.len();
                assert_eq!(*end.get_or_insert(count), count, "{allowed} {is_done}");
            }
            if is_over {
                assert!(allowed > 20);
                return;
            }
        }
    });
}

#[test]
fn two_at_once_end_as_one() {
    run(async {
        let mut tape = Tape::begin();
        tape.calls(6);
        tape.end();
        let well = Failing::well(&Arc::default());
        ship_all(&well, &tape).await;
        let (a, b) = (what(), what());
        let (first, second) = futures_util::join!(scrub(&well, &a), scrub(&well, &b));
        first.unwrap();
        second.unwrap();
        scrub(&well, &what()).await.unwrap();
        is_clean(&well).await;
        let (text, state, exchanges) = fetched(&well).await;
        assert_eq!((state, exchanges), (State::Whole, 6));
        assert_eq!(text.lines().count(), tape.clean().lines().count());
    });
}

/// A damaged tape is scrubbed up to the damage, and reported.
#[test]
fn what_cannot_be_read_is_said() {
    run(async {
        let mut tape = Tape::begin();
        tape.calls(5);
        tape.end();
        let well = Failing::well(&Arc::default());
        ship_all(&well, &tape).await;
        let catalogue = Catalogue::read(&well, None).await.unwrap();
        let (_, entries) = catalogue.tapes.first_key_value().unwrap();
        well.delete(&entries[2].path()).await.unwrap();
        let done = scrub(&well, &what()).await.unwrap();
        assert!(done.entries > 0);
        assert!(done.left[0].why.contains("are missing"), "{done:?}");
    });
}
