//! Rows depend only on a prefix of the tape.

use std::fs::File;
use std::io::Write as _;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};

use super::*;
use crate::entry::About;

fn tape() -> Tape {
    let path = "manifests/g1/20261126T031500Z-0123456789abcdef0123/00000000000000000000.json";
    Tape {
        name: crate::names::EntryName::read(path).unwrap().tape,
        about: About {
            created: "2026-11-26T03:15:00Z".to_owned(),
            label: "files".to_owned(),
            ..About::default()
        },
    }
}

/// Lines of a tape: a session that begins, a call that is answered, one that fails, one that hangs, a finding, and noise.
fn lines() -> Vec<String> {
    let mut lines =
        vec![r#"{"tape":"2.4","created":"2026-11-26T03:15:00Z","label":"files"}"#.to_owned()];
    let mut event = |rest: &str| {
        let seq = lines.len();
        lines.push(format!("{{\"seq\":{seq},\"at_us\":{}{rest}}}", seq * 1_000));
    };
    let to_server = |number: u32, message: &str| {
        format!(",\"dir\":\"to_server\",\"number\":{number},\"message\":{message}")
    };
    let to_client = |number: u32, message: &str| {
        format!(",\"dir\":\"to_client\",\"number\":{number},\"message\":{message}")
    };
    event(&to_server(
        1,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    ));
    event(&to_client(
        1,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"files","version":"1.2.3"}}}"#,
    ));
    event(&to_server(
        2,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}"#,
    ));
    event(&to_server(
        3,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","arguments":{}}}"#,
    ));
    event(&to_client(
        2,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
    ));
    event(&to_server(
        4,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write","arguments":{}}}"#,
    ));
    event(&to_client(
        3,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}"#,
    ));
    event(
        r#","finding":{"code":"INV-012","status":"fail","side":"server","severity":"must","detail":"bad","evidence":[{"seq":7,"pointer":"/error"}]}"#,
    );
    event(",\"stderr\":\"bye\"");
    lines.push("{\"end\":{\"at_us\":20000,\"events\":9,\"complete\":true}}".to_owned());
    lines
}

fn file(lines: &[String]) -> (File, Vec<u64>) {
    let mut file = tempfile::tempfile().unwrap();
    let (mut ends, mut at) = (Vec::new(), 0);
    for line in lines {
        writeln!(file, "{line}").unwrap();
        at += line.len() as u64 + 1;
        ends.push(at);
    }
    (file, ends)
}

fn read(table: Option<&Table>) -> Vec<Row> {
    let Some(table) = table else {
        return Vec::new();
    };
    let reader = SerializedFileReader::new(bytes::Bytes::from(table.bytes.clone())).unwrap();
    let rows: Vec<Row> = reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len() as u64, table.rows);
    rows
}

/// A row as JSON.
fn json(row: &Row) -> serde_json::Value {
    let value = |field: &Field| match field {
        Field::Str(text) => text.as_str().into(),
        Field::Long(number) | Field::TimestampMicros(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Bool(flag) => (*flag).into(),
        Field::Null => serde_json::Value::Null,
        other => panic!("{other:?}"),
    };
    row.get_column_iter()
        .map(|(name, field)| (name.clone(), value(field)))
        .collect()
}

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| json(row).to_string()).collect()
}

#[test]
fn an_exchange_and_a_finding_are_rows() {
    let (file, ends) = file(&lines());
    let mut deriver = Deriver::new(tape());
    let rows = deriver
        .derive(&file, 0, *ends.last().unwrap(), true)
        .unwrap();
    let table = rows.exchanges.unwrap();
    let told: Vec<serde_json::Value> = read(Some(&table)).iter().map(json).collect();
    let of = |member: &str| -> Vec<serde_json::Value> {
        told.iter().map(|row| row[member].clone()).collect()
    };
    assert_eq!(of("request_seq"), [1, 3, 6, 4]);
    assert_eq!(
        of("outcome"),
        ["answered", "answered", "error", "still_pending"]
    );
    assert_eq!(
        of("tool"),
        [
            serde_json::Value::Null,
            "read".into(),
            "write".into(),
            "hang".into()
        ]
    );
    assert_eq!(of("server_version")[1..], ["1.2.3", "1.2.3", "1.2.3"]);
    assert_eq!(of("revision")[3], "2025-06-18");
    assert_eq!(of("error_code")[2], -32602);
    assert_eq!(of("answered_ms")[1], 2.0);
    assert_eq!(of("label")[0], "files");
    // 2026-11-26T03:15:00Z, and a millisecond.
    assert_eq!(
        (table.first_us, table.last_us),
        (Some(1_795_662_900_001_000), Some(1_795_662_900_006_000))
    );
    let tools: Vec<&str> = table.tools.iter().flatten().map(String::as_str).collect();
    assert_eq!(tools, ["hang", "read", "write"]);
    let findings: Vec<_> = read(rows.findings.as_ref()).iter().map(json).collect();
    let (on_tape, by_shipper): (Vec<_>, Vec<_>) = findings
        .iter()
        .partition(|row| row["found_by"] == "recorder");
    assert_eq!(
        (
            on_tape.len(),
            &on_tape[0]["code"],
            &on_tape[0]["evidence_seq"]
        ),
        (1, &"INV-012".into(), &7.into())
    );
    // The client calls before it has sent `notifications/initialized`, and the server did not declare
    // `tools`, which the recorder did not check.
    let by_shipper: Vec<_> = by_shipper
        .iter()
        .map(|row| (row["code"].as_str().unwrap(), &row["evidence_seq"]))
        .collect();
    assert_eq!(
        by_shipper,
        [
            ("INV-002", &3.into()),
            ("INV-027", &3.into()),
            ("INV-027", &4.into()),
            ("INV-003", &5.into()),
            ("INV-027", &6.into()),
        ]
    );
}

/// A recorder writes what the end of a session shows before its footer, when this judge has not
/// found it yet.
#[test]
fn what_a_recorder_found_at_the_end_is_found_once() {
    let mut lines =
        vec![r#"{"tape":"2.4","created":"2026-11-26T03:15:00Z","transport":"stdio","command":["server"],"label":"files"}"#.to_owned()];
    for (at, rest) in [
        (0, r#""opened":{"pid":7}"#),
        (
            1,
            r#""dir":"to_server","number":1,"message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
        (
            2,
            r#""dir":"to_client","number":1,"message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1.2.3"}}}"#,
        ),
        (
            3,
            r#""dir":"to_server","number":2,"message":{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
        (
            4,
            r#""dir":"to_server","number":3,"message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ),
        (9_000, r#""dir":"to_server","closed":"end of input""#),
        (9_001, r#""exited":{"code":0}"#),
        (9_002, r#""dir":"to_client","closed":"end of input""#),
    ] {
        let (seq, at_us) = (lines.len(), at * 1_000);
        lines.push(format!("{{\"seq\":{seq},\"at_us\":{at_us},{rest}}}"));
    }
    let unanswered = |lines: &[String]| -> Vec<(serde_json::Value, serde_json::Value)> {
        let (file, ends) = file(lines);
        let rows = Deriver::new(tape())
            .derive(&file, 0, *ends.last().unwrap(), true)
            .unwrap();
        let findings = read(rows.findings.as_ref());
        let findings = findings.iter().map(json);
        findings
            .filter(|row| row["code"] == "INV-016")
            .map(|row| (row["found_by"].clone(), row["evidence_seq"].clone()))
            .collect()
    };
    let end_of = |lines: &[String]| {
        let events = lines.len() - 1;
        format!("{{\"end\":{{\"at_us\":9900000,\"events\":{events},\"complete\":true}}}}")
    };
    let mut unchecked = lines.clone();
    unchecked.push(end_of(&unchecked));
    assert_eq!(unanswered(&unchecked), [("shipper".into(), 5.into())]);
    let seq = lines.len();
    lines.push(format!(
        "{{\"seq\":{seq},\"at_us\":9800000,\"finding\":{{\"code\":\"INV-016\",\"status\":\"fail\",\"side\":\"server\",\
         \"severity\":\"should\",\"detail\":\"no answer\",\"evidence\":[{{\"seq\":5,\"pointer\":\"/id\"}}]}}}}"
    ));
    lines.push(end_of(&lines));
    assert_eq!(unanswered(&lines), [("recorder".into(), 5.into())]);
}

/// However a tape is cut, and whether one process continues or a new one starts at every cut, the
/// rows are the same, in the same ranges.
#[test]
fn rows_depend_on_the_prefix_alone() {
    let (file, ends) = file(&lines());
    let whole = Deriver::new(tape())
        .derive(&file, 0, *ends.last().unwrap(), true)
        .unwrap();
    for step in 1..ends.len() {
        let mut cuts: Vec<u64> = ends.iter().copied().step_by(step).collect();
        cuts.push(*ends.last().unwrap());
        cuts.dedup();
        let mut follower = Deriver::new(tape());
        let (mut at, mut exchanges, mut findings) = (0, Vec::new(), Vec::new());
        for cut in cuts {
            let is_last = cut == *ends.last().unwrap();
            let rows = follower.derive(&file, at, cut, is_last).unwrap();
            assert_eq!(
                Deriver::new(tape())
                    .derive(&file, at, cut, is_last)
                    .unwrap(),
                rows
            );
            exchanges.extend(texts(&read(rows.exchanges.as_ref())));
            findings.extend(texts(&read(rows.findings.as_ref())));
            at = cut;
        }
        assert_eq!(exchanges, texts(&read(whole.exchanges.as_ref())), "{step}");
        assert_eq!(findings, texts(&read(whole.findings.as_ref())), "{step}");
    }
}

#[test]
fn what_cannot_be_read_has_no_rows() {
    let mut bad = lines();
    bad[3] = "{\"seq\":3".to_owned();
    let (bad, ends) = file(&bad);
    let result = Deriver::new(tape()).derive(&bad, 0, ends[5], false);
    assert!(matches!(result, Err(RowsError::Tape(_))), "{result:?}");
    let old = lines()
        .iter()
        .map(|line| line.replace("\"tape\":\"2.4\"", "\"tape\":\"1.2\""))
        .collect::<Vec<_>>();
    let (old, ends) = file(&old);
    let result = Deriver::new(tape()).derive(&old, 0, ends[5], false);
    assert!(matches!(result, Err(RowsError::Old)), "{result:?}");
}
