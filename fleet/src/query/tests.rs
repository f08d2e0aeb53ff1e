//! Queries read only the necessary files, and have no side effects.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tapewright_fleet::ship::{Settings, ShipEvent, Shipper, WhenFull};
use tapewright_fleet::store::Store;
use tapewright_fleet_query::Cell;

use super::*;

/// A store that counts what is read.
#[derive(Debug, Default)]
struct Counting {
    inner: InMemory,
    read: Mutex<Vec<String>>,
    listed: Mutex<Vec<String>>,
}

impl fmt::Display for Counting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("counting")
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, at: &Path, payload: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(at, payload, how).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, how).await
    }

    async fn get_opts(&self, at: &Path, how: GetOptions) -> Result<GetResult> {
        self.read.lock().unwrap().push(at.to_string());
        self.inner.get_opts(at, how).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix_text = prefix.map(Path::to_string).unwrap_or_default();
        self.listed.lock().unwrap().push(prefix_text);
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, how).await
    }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(8 << 20)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Writes a tape that began at a minute of an hour: one call per second, of the tools in turn.
fn write(folder: &FilePath, name: &str, minute: u32, tools: &[&str]) {
    let mut text = format!(
        "{{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:{minute:02}:00Z\",\"label\":\"{name}\"}}\n"
    );
    let mut seq = 0;
    for (id, tool) in tools.iter().enumerate() {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}}}}"
        );
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
        for (dir, message) in [("to_server", call), ("to_client", answer)] {
            seq += 1;
            let at = id * 1_000_000 + seq;
            writeln!(
                text,
                "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"{dir}\",\"message\":{message}}}"
            )
            .unwrap();
        }
    }
    writeln!(
        text,
        "{{\"end\":{{\"at_us\":9,\"events\":{seq},\"complete\":true}}}}"
    )
    .unwrap();
    std::fs::write(folder.join(format!("{name}.tape.jsonl")), text).unwrap();
}

/// Ships a folder. Segments are so short that each call has its own segment and file.
async fn ship(store: &Store, folder: &FilePath, gateway: &str) {
    let settings = Settings {
        folder: folder.to_owned(),
        gateway: gateway.parse().unwrap(),
        segment_bytes: 150,
        segment_age: Duration::from_secs(3_600),
        buffer: None,
        when_full: WhenFull::Wait,
    };
    let on_event = |_: &ShipEvent<'_>| {};
    let mut shipper = Shipper::new(store, &settings, &on_event);
    while shipper.round(true).await.unwrap() != tapewright_fleet::ship::Round::Done {}
}

/// Two gateways with two tapes each, which began at minutes 0 and 30; `g2` has the tool `delete` once.
async fn filled() -> (Arc<Counting>, Store) {
    let counting = Arc::new(Counting::default());
    let inner = Arc::clone(&counting) as Arc<dyn ObjectStore>;
    let store = Store::over(inner, Duration::from_secs(60));
    for (gateway, odd) in [("g1", "read"), ("g2", "delete")] {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            "early",
            0,
            &["read", "write", "read", "write"],
        );
        write(folder.path(), "late", 30, &["read", "write", odd, "write"]);
        ship(&store, folder.path(), gateway).await;
    }
    counting.read.lock().unwrap().clear();
    counting.listed.lock().unwrap().clear();
    (counting, store)
}

struct Asked {
    rows: Vec<Vec<Cell>>,
    /// Files of rows that were read.
    files: BTreeSet<String>,
    /// Entries that were read.
    entries: Vec<String>,
    listed: Vec<String>,
    counts: Arc<tapewright_fleet_query::Counts>,
}

async fn asked(counting: &Counting, store: &Store, sql: &str) -> Asked {
    counting.read.lock().unwrap().clear();
    counting.listed.lock().unwrap().clear();
    let source = Arc::new(StoreSource::new(store.clone()));
    let question = Question {
        sql: sql.to_owned(),
        parameters: Vec::new(),
    };
    let mut answer = ask(source, question, LIMITS).await.unwrap();
    let mut rows = Vec::new();
    while let Some(more) = answer.next().await.unwrap() {
        rows.extend(more);
    }
    let read = counting.read.lock().unwrap();
    let of = |kind: &'static str| read.iter().filter(move |path| path.starts_with(kind));
    Asked {
        rows,
        files: of("exchanges/").cloned().collect(),
        entries: of("manifests/").cloned().collect(),
        listed: counting.listed.lock().unwrap().clone(),
        counts: answer.counts,
    }
}

const LIMITS: Limits = Limits {
    memory: 64 << 20,
    at_once: 2,
};

fn count(asked: &Asked) -> i64 {
    match asked.rows.as_slice() {
        [row] => match row.as_slice() {
            [Cell::Long(count)] => *count,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_files_that_may_have_such_rows_are_read() {
    run(async {
        let (counting, store) = filled().await;
        // The condition, and the expected numbers of rows, of files read, and of tapes whose
        // entries are read.
        for (condition, rows, files, tapes) in [
            ("true", 16, 16, 4),
            ("gateway = 'g1'", 8, 8, 2),
            ("gateway in ('g1', 'g3')", 8, 8, 2),
            ("gateway = '../g1'", 0, 0, 0),
            ("tool = 'delete'", 1, 1, 4),
            ("tool in ('delete', 'none')", 1, 1, 4),
            ("tool = 'delete' and gateway = 'g1'", 0, 0, 2),
            ("tool = 'delete' or tool = 'none'", 1, 1, 4),
            ("label = 'late'", 8, 8, 4),
            ("at >= '2026-11-26T03:30:00Z'", 8, 8, 4),
            ("at < timestamp '2026-11-26T03:29:00Z'", 8, 8, 2),
            (
                "at >= '2026-11-26T03:30:01Z' and at < '2026-11-26T03:30:02Z'",
                2,
                2,
                4,
            ),
            (
                "at >= timestamp '2026-11-26T03:30:00Z' + interval '3 seconds' and gateway = 'g2'",
                1,
                1,
                2,
            ),
            ("tape like '20261126T0300%'", 8, 8, 2),
            ("tape like '%zzz'", 0, 16, 4),
            ("tool is null", 0, 16, 4),
        ] {
            let sql = format!("select count(tape) from exchanges where {condition}");
            let asked = asked(&counting, &store, &sql).await;
            assert_eq!(count(&asked), rows, "{condition}");
            assert_eq!(asked.files.len(), files, "{condition}");
            assert_eq!(asked.counts.files_opened(), files as u64, "{condition}");
            assert_eq!(asked.counts.tapes_read(), tapes, "{condition}");
        }
    });
}

#[test]
fn a_gateway_that_is_named_is_all_that_is_listed() {
    run(async {
        let (counting, store) = filled().await;
        let sql = "select count(tape) from exchanges where gateway = 'g2'";
        let asked = asked(&counting, &store, sql).await;
        assert_eq!(asked.listed, ["manifests/g2"]);
        let is_own = |path: &String| path.starts_with("manifests/g2/");
        assert!(!asked.entries.is_empty() && asked.entries.iter().all(is_own));
    });
}

#[test]
fn a_limit_reads_no_more_files_than_it_needs() {
    run(async {
        let (counting, store) = filled().await;
        let one = asked(&counting, &store, "select tape from exchanges limit 3").await;
        assert_eq!((one.rows.len(), one.files.len()), (3, 3));
        // Entries have the number of rows.
        let all = asked(&counting, &store, "select count(*) from exchanges").await;
        assert_eq!((count(&all), all.files.len()), (16, 0));
    });
}

#[test]
fn a_table_that_is_asked_twice_is_looked_at_once() {
    run(async {
        let (counting, store) = filled().await;
        let once = asked(&counting, &store, "select count(*) from exchanges").await;
        let sql = "select count(*) from exchanges a join exchanges b on a.tape = b.tape and a.gateway = b.gateway";
        let asked = asked(&counting, &store, sql).await;
        assert_eq!(count(&asked), 4 * 16);
        assert_eq!(asked.listed, ["manifests"]);
        assert_eq!(asked.entries.len(), once.entries.len());
    });
}

#[test]
fn tapes_are_asked_without_a_file() {
    run(async {
        let (counting, store) = filled().await;
        let sql = "select label, state, events, lost_events from tapes where gateway = 'g1' order by label";
        let asked = asked(&counting, &store, sql).await;
        let row = |label: &str| {
            let (label, state) = (label.to_owned(), "whole".to_owned());
            vec![
                Cell::Text(label),
                Cell::Text(state),
                Cell::Long(8),
                Cell::Long(0),
            ]
        };
        assert_eq!(asked.rows, [row("early"), row("late")]);
        assert!(asked.files.is_empty());
        let sql = "select cast(created as varchar) c, last_at - first_at > interval '3 seconds' from tapes where label = 'late' limit 1";
        let asked = self::asked(&counting, &store, sql).await;
        let created = Cell::Text("2026-11-26T03:30:00Z".to_owned());
        assert_eq!(asked.rows, [[created, Cell::Flag(true)]]);
    });
}

#[test]
fn nothing_but_queries_is_done() {
    run(async {
        let (_, store) = filled().await;
        for sql in [
            "create table t as select * from exchanges",
            "create external table t stored as csv location '/etc/passwd'",
            "create view v as select 1",
            "drop table exchanges",
            "insert into exchanges select * from exchanges",
            "delete from exchanges",
            "update exchanges set tool = 'x'",
            "copy exchanges to '/tmp/tapewright-never.parquet'",
            "copy (select 1) to 'file:///tmp/tapewright-never.csv'",
            "set datafusion.execution.batch_size = 1",
            "explain analyze insert into exchanges select * from exchanges",
            "prepare p as select 1",
            "truncate table exchanges",
        ] {
            let source = Arc::new(StoreSource::new(store.clone()));
            let question = Question {
                sql: sql.to_owned(),
                parameters: Vec::new(),
            };
            let error = ask(source, question, LIMITS).await.unwrap_err();
            let is_refused = matches!(error, QueryError::NotAQuery(_) | QueryError::Query(_));
            assert!(is_refused, "{sql}: {error:?}");
        }
        // No other file is accessible.
        for sql in [
            "select * from '/etc/passwd'",
            "select * from 'file:///etc/passwd'",
            "select 1; select 2",
            "select nothing from exchanges",
            "selec 1",
            "select $other",
            "",
        ] {
            let source = Arc::new(StoreSource::new(store.clone()));
            let question = Question {
                sql: sql.to_owned(),
                parameters: Vec::new(),
            };
            let answer = ask(source, question, LIMITS).await;
            let error = match answer {
                Err(error) => error,
                Ok(mut answer) => answer.next().await.unwrap_err(),
            };
            let text = error.to_string();
            assert!(
                !text.contains("ParserError") && !text.contains("Error during"),
                "{text}"
            );
        }
        assert!(!FilePath::new("/tmp/tapewright-never.parquet").exists());
    });
}

#[test]
fn a_query_that_needs_more_memory_than_it_may_have_fails_plainly() {
    run(async {
        let (_, store) = filled().await;
        let source = Arc::new(StoreSource::new(store));
        let question = Question {
            // A join that keeps all rows.
            sql: "select count(*) from generate_series(1, 3000000) a join generate_series(1, 3000000) b on a.value = b.value".to_owned(),
            parameters: Vec::new(),
        };
        let limits = Limits {
            memory: 16 << 20,
            at_once: 2,
        };
        let mut answer = ask(source, question, limits).await.unwrap();
        let error = answer.next().await.unwrap_err();
        assert!(matches!(error, QueryError::Memory(_)), "{error:?}");
    });
}

/// Writes an object, like an attacker with access to the store.
async fn replace(counting: &Counting, path: &str, bytes: &[u8]) {
    let payload = PutPayload::from(bytes.to_vec());
    counting
        .inner
        .put(&Path::from(path), payload)
        .await
        .unwrap();
}

#[test]
fn a_file_that_is_not_what_its_entry_says_is_told() {
    run(async {
        let (counting, store) = filled().await;
        let all = asked(&counting, &store, "select count(tape) from exchanges").await;
        let path = all.files.first().unwrap();
        for bytes in [&b""[..], b"PAR1", &[0xff; 4096]] {
            replace(&counting, path, bytes).await;
            let source = Arc::new(StoreSource::new(store.clone()));
            let question = Question {
                sql: "select count(tape) from exchanges".to_owned(),
                parameters: Vec::new(),
            };
            let mut answer = ask(source, question, LIMITS).await.unwrap();
            assert!(answer.next().await.is_err());
        }
        counting
            .inner
            .delete(&Path::from(path.as_str()))
            .await
            .unwrap();
        let source = Arc::new(StoreSource::new(store.clone()));
        let question = Question {
            sql: "select count(tape) from exchanges".to_owned(),
            parameters: Vec::new(),
        };
        let mut answer = ask(Arc::clone(&source) as _, question, LIMITS)
            .await
            .unwrap();
        let error = answer.next().await.unwrap_err();
        assert!(matches!(error, QueryError::Source(_)), "{error:?}");
        assert!(error.to_string().contains(path), "{error}");
        assert!(source.missing());
    });
}

#[test]
fn canned_queries_take_every_condition() {
    run(async {
        let (_, store) = filled().await;
        let conditions = Conditions {
            since: Some(When::At(UNIX_EPOCH)),
            until: Some(When::Ago(Duration::from_millis(1))),
            gateway: Some("g1".parse().unwrap()),
            tool: Some("it's; drop table exchanges --".to_owned()),
            server: Some("files".to_owned()),
        };
        for canned in [
            Canned::Hangs,
            Canned::Slow,
            Canned::Drift,
            Canned::Findings,
            Canned::Cost,
        ] {
            let takes = |(condition, _): &(Condition, _)| super::canned(canned).takes(*condition);
            let parameters = parameters(&conditions, clock::wall()).into_iter();
            let parameters: Vec<_> = parameters.filter(takes).collect();
            let given: Vec<Condition> = parameters.iter().map(|(one, _)| *one).collect();
            assert_eq!(given.len(), if canned == Canned::Cost { 3 } else { 5 });
            let values = parameters
                .into_iter()
                .map(|(one, value)| (one.name(), value));
            let question = Question {
                sql: super::canned(canned).sql(&given),
                parameters: values.collect(),
            };
            assert!(!question.sql.contains("drop"));
            let source = Arc::new(StoreSource::new(store.clone()));
            let mut answer = ask(source, question, LIMITS).await.unwrap();
            while let Some(rows) = answer.next().await.unwrap() {
                assert!(rows.is_empty());
            }
        }
    });
}
