//! `query`: rows of a folder and of a bucket, and the recording behind a row.

use std::fs;

use serde_json::Value;

use crate::s3::Bucket;
use tapewright_fleet::summary::is_hang;

use crate::support::recorded::recorded;
use crate::support::{Fleet, Recorder};

fn rows(fleet: &Fleet, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["query", "--json"];
    all.extend(arguments);
    let output = fleet.run(&all);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line| serde_json::from_str(line).unwrap();
    text.lines().map(line).collect()
}

/// A canned query finds which tool hangs at which version since when, and the recording of its row
/// is fetched byte for byte.
fn hangs_are_found_and_fetched(fleet: &Fleet) {
    let tapes = recorded(fleet);
    let hangs = rows(fleet, &["--canned", "hangs", "--server", "files"]);
    assert_eq!(hangs.len(), 1, "{hangs:?}");
    let hang = &hangs[0];
    assert_eq!(hang["what"], "search");
    assert_eq!((&hang["hangs"], &hang["calls"]), (&10.into(), &20.into()));
    assert_eq!(hang["server_version"], "2.0.0");
    let since = hang["hangs_since"].as_str().unwrap();
    assert!(since.starts_with("2026-11-26T03:15:00."), "{since}");
    let fetched = fleet.fetch(hang["last_tape"].as_str().unwrap());
    assert!(fetched == tapes[1]);
    // The event that a row names is that call on the tape.
    let sql = "select tape, request_seq, gateway from exchanges where outcome = 'still_pending' order by request_seq limit 1";
    let row = &rows(fleet, &[sql])[0];
    let tape = format!(
        "{}/{}",
        row["gateway"].as_str().unwrap(),
        row["tape"].as_str().unwrap()
    );
    let fetched = String::from_utf8(fleet.fetch(&tape)).unwrap();
    let place = format!("{{\"seq\":{},", row["request_seq"]);
    let line = fetched.lines().find(|line| line.starts_with(&place));
    assert!(line.unwrap().contains("\"search\""), "{line:?}");
}

#[test]
fn a_hang_in_a_folder_is_found_and_its_recording_is_fetched() {
    hangs_are_found_and_fetched(&Fleet::new());
}

#[test]
fn a_hang_in_a_bucket_is_found_and_its_recording_is_fetched() {
    let bucket = Bucket::new();
    let mut fleet = Fleet::new();
    fleet.bucket(&bucket.endpoint(), "canary-4711-secret");
    hangs_are_found_and_fetched(&fleet);
}

#[test]
fn what_changed_with_a_version_is_told() {
    let fleet = Fleet::new();
    recorded(&fleet);
    let changes = rows(&fleet, &["--canned", "drift"]);
    let (drift, defined): (Vec<_>, Vec<_>) = changes.iter().partition(|row| row["what"] == "calls");
    // One of its tools has another definition.
    assert_eq!(defined.len(), 1, "{defined:?}");
    let defined = defined[0];
    assert_eq!(
        (&defined["tool"], &defined["new_version"]),
        (&"search".into(), &"2.0.0".into())
    );
    let hash = |member: &str| defined[member].as_str().unwrap().to_owned();
    assert_eq!(hash("old_definition").len(), 64);
    assert_ne!(hash("old_definition"), hash("new_definition"));
    assert_ne!(defined["old_tape"], defined["first_tape"]);
    let listed = rows(
        &fleet,
        &[
            "select tool, count(distinct definition) as n, count(*) as times from tools group by tool order by tool",
        ],
    );
    let told: Vec<_> = listed
        .iter()
        .map(|row| (&row["n"], &row["times"]))
        .collect();
    let (one, two) = (1.into(), 2.into());
    assert_eq!(told, [(&one, &two), (&two, &two)]);
    let told: Vec<_> = drift
        .iter()
        .map(|row| {
            (
                row["tool"].as_str().unwrap(),
                &row["old_version"],
                &row["new_version"],
            )
        })
        .collect();
    let (old, new) = ("1.0.0".into(), "2.0.0".into());
    assert_eq!(told, [("search", &old, &new), ("read", &old, &new)]);
    assert_eq!(drift[1]["old_median_ms"], 2.0);
    assert_eq!(drift[1]["new_median_ms"], 9.0);
    assert_eq!(drift[0]["new_bad_percent"], 50.0);
    let slow = rows(&fleet, &["--canned", "slow", "--tool", "read"]);
    assert_eq!(slow.len(), 2);
    assert_eq!(
        (&slow[0]["p95_ms"], &slow[0]["calls"]),
        (&9.0.into(), &20.into())
    );
    let none = rows(
        &fleet,
        &["--canned", "slow", "--until", "2026-11-26T03:00:00Z"],
    );
    assert!(none.is_empty());
}

/// Recordings that no recorder checked are checked when they are shipped, and findings of a
/// recorder are reported once.
#[test]
fn findings_are_derived_of_recordings_that_were_not_checked() {
    let fleet = Fleet::new();
    for (name, is_checked) in [("plain", false), ("checked", true)] {
        let mut recorder = Recorder::begin(fleet.tapes.path(), name);
        recorder.introduce("files", "1.0.0");
        recorder.list_tools(&[("read", "path")]);
        recorder.call(1, "read", Some(1_000));
        // A second answer to the same request.
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        recorder.message("to_client", 100, answer);
        if is_checked {
            recorder.finding("INV-013", 1);
        }
        recorder.call(2, "read", Some(1_000));
        recorder.end();
    }
    fleet.ship_all(&["--segment-bytes", "1KiB"]);
    let sql = "select label, code, found_by, evidence_seq, seq, server, tape from findings order by label desc";
    let found = rows(&fleet, &[sql]);
    let told: Vec<_> = found
        .iter()
        .map(|row| {
            (
                row["label"].as_str().unwrap(),
                row["code"].as_str().unwrap(),
                row["found_by"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("plain", "INV-013", "shipper"),
            ("checked", "INV-013", "recorder")
        ]
    );
    // The evidence is the second answer, on the tape of the row.
    let tape = found[0]["tape"].as_str().unwrap();
    let fetched = String::from_utf8(fleet.fetch(tape)).unwrap();
    let place = format!("{{\"seq\":{},", found[0]["evidence_seq"]);
    let line = fetched
        .lines()
        .find(|line| line.starts_with(&place))
        .unwrap();
    assert!(line.contains("\"result\""), "{line}");
    assert_eq!(found[0]["server"], "files");
    let canned = rows(&fleet, &["--canned", "findings"]);
    assert_eq!((canned.len(), &canned[0]["tapes"]), (1, &2.into()));
}

/// A client that gave up, a server that left, a recording that ended: `tail` and `query` count the
/// same hangs.
#[test]
fn a_hang_is_the_same_for_query_and_for_what_is_announced() {
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.introduce("files", "1.0.0");
    recorder.call(1, "read", Some(1_000));
    recorder.call(2, "read", None);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    recorder.message("to_server", 100, cancel);
    recorder.call(3, "read", None);
    recorder.end();
    fleet.ship_all(&[]);
    let hangs = rows(&fleet, &["--canned", "hangs"]);
    assert_eq!(
        (hangs.len(), &hangs[0]["hangs"], &hangs[0]["given_up"]),
        (1, &2.into(), &1.into())
    );
    let outcomes = rows(
        &fleet,
        &["select outcome, count(*) as n from exchanges group by outcome order by outcome"],
    );
    let counted: u64 = outcomes
        .iter()
        .filter(|row| is_hang(row["outcome"].as_str().unwrap()))
        .map(|row| row["n"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, 2, "{outcomes:?}");
}

#[test]
fn findings_and_calls_of_models_have_rows() {
    let fleet = Fleet::new();
    recorded(&fleet);
    let findings = rows(&fleet, &["--canned", "findings", "--tool", "search"]);
    let told: Vec<_> = findings.iter().map(|row| &row["server_version"]).collect();
    assert_eq!(told, ["1.0.0", "2.0.0"]);
    assert_eq!(
        (&findings[0]["code"], &findings[0]["times"]),
        (&"INV-012".into(), &1.into())
    );
    let cost = rows(&fleet, &["--canned", "cost"]);
    assert_eq!(cost.len(), 2, "{cost:?}");
    let of = |model: &str| cost.iter().find(|row| row["model"] == model).unwrap();
    let known = of("claude-sonnet-4-5");
    assert_eq!(
        (&known["calls"], &known["input"], &known["output"]),
        (&2.into(), &3_000.into(), &3_000.into())
    );
    // 3 and 15 dollars per million.
    assert_eq!(known["usd"], 0.054);
    assert_eq!(known["without_price"], 0);
    let unknown = of("of-nobody");
    assert_eq!(
        (&unknown["usd"], &unknown["without_price"]),
        (&Value::Null, &2.into())
    );
    let sql = "select outcome, ended, tool_uses, finish, http_status, stream from model_calls where model = 'of-nobody' limit 1";
    let row = &rows(&fleet, &[sql])[0];
    let wanted = serde_json::json!({
        "outcome": "answered", "ended": "answered", "tool_uses": "read",
        "finish": "tool use", "http_status": 200, "stream": false,
    });
    assert_eq!(row, &wanted);
}

/// The query that is shown is the one that runs, and takes the same options.
#[test]
fn a_canned_query_can_be_gone_on_from() {
    let fleet = Fleet::new();
    recorded(&fleet);
    for name in ["hangs", "slow", "drift", "findings", "cost"] {
        let options = ["--since", "2026-01-01T00:00:00Z", "--gateway", "g1"];
        let mut shown = vec!["query", "--canned", name, "--show-sql"];
        shown.extend(options);
        let sql = String::from_utf8(fleet.run(&shown).stdout).unwrap();
        assert!(sql.contains("$since") && sql.contains("$gateway"), "{sql}");
        let mut own = vec![sql.as_str()];
        own.extend(options);
        let mut canned = vec!["--canned", name];
        canned.extend(options);
        assert_eq!(rows(&fleet, &own), rows(&fleet, &canned), "{name}");
    }
}

#[test]
fn an_answer_is_a_table_or_csv_and_a_plan_says_which_files_are_read() {
    let fleet = Fleet::new();
    recorded(&fleet);
    let sql = "select tool, count(*) as calls from exchanges where tool is not null group by tool order by tool";
    let output = fleet.run(&["query", sql, "--verbose"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "tool    calls\nread    40\nsearch  40\n");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("2 tapes, 0 skipped by name; "), "{told}");
    let csv = fleet.run(&["query", sql, "--csv"]).stdout;
    assert_eq!(csv, b"tool,calls\nread,40\nsearch,40\n");
    let plan = fleet.run(&[
        "query",
        "explain select tape from exchanges where tool = 'search' limit 1",
    ]);
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(
        plan.contains("exchanges/20") && plan.contains("file_groups"),
        "{plan}"
    );
}

#[test]
fn what_cannot_be_answered_is_said_plainly() {
    let fleet = Fleet::new();
    recorded(&fleet);
    for (arguments, words) in [
        (&["selec 1"][..], "error: invalid SQL: "),
        (
            &["select nothing from exchanges"],
            "error: invalid query: No field named nothing",
        ),
        (
            &["select * from elsewhere"],
            "error: invalid query: table 'store.rows.elsewhere' not found",
        ),
        (
            &["drop table exchanges"],
            "error: only queries are answered, and `DropTable` is none",
        ),
        (
            &["select 1; select 2"],
            "error: invalid query: one query is answered at a time",
        ),
        (&[""], "error: invalid query: it is empty"),
        (
            &["--canned", "cost", "--tool", "x"],
            "error: `--server` and `--tool` do not apply to calls of models",
        ),
        (
            &["set a.b = 1"],
            "error: only queries are answered, and `SetVariable` is none",
        ),
        (
            &[
                "select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b where a.value % 7 = b.value % 5",
                "--timeout",
                "300ms",
            ],
            "error: the query took longer than 300 ms; narrow it, or raise `--timeout`",
        ),
    ] {
        let mut all = vec!["query"];
        all.extend(arguments);
        let output = fleet.run(&all);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.starts_with(words), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty());
    }
}

/// A missing part of a tape is reported with the answer from the rest.
#[test]
fn a_damaged_tape_is_told_beside_the_answer() {
    let fleet = Fleet::new();
    recorded(&fleet);
    let manifests = fleet.store.path().join("manifests/g1");
    let tape = fs::read_dir(manifests).unwrap().next().unwrap().unwrap();
    let mut entries: Vec<_> = fs::read_dir(tape.path())
        .unwrap()
        .map(|one| one.unwrap().path())
        .collect();
    entries.sort();
    fs::remove_file(&entries[1]).unwrap();
    let output = fleet.run(&["query", "select count(*) as n from exchanges", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((20..82).contains(&told["n"].as_u64().unwrap()), "{told}");
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        words.contains("is damaged, its rest was not queried: bytes "),
        "{words}"
    );
}
