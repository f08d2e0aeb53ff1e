//! `ClickHouse` (as the library chdb) returns the same rows for the same SQL over the same files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::moto;
use crate::support::Fleet;
use crate::support::recorded::recorded;

/// More queries in the common subset of SQL.
const MORE: [&str; 8] = [
    "select count(*) as n, min(at) as first, max(at) as last from exchanges",
    "select * from exchanges order by tape, request_seq",
    "select * from findings order by tape, seq, code, found_by, detail",
    "select * from tools order by tape, seq, tool",
    "select * from model_calls order by tape, request_seq",
    "select gateway, label, outcome, count(*) as n, avg(answered_ms) as ms from exchanges group by gateway, label, outcome order by label, outcome",
    "select tool, count(distinct tape) as tapes from exchanges where tool is not null and at >= $since group by tool having count(*) > 3 order by tool",
    "select f.code, e.tool, e.outcome from findings f join exchanges e on e.tape = f.tape and e.answer_seq = f.evidence_seq order by f.code, e.tool, e.outcome, e.tape",
];

/// Options of every query here, and their values.
const OPTIONS: [(&str, &str, &str); 2] = [
    ("--since", "since", "2026-11-26T03:15:00Z"),
    ("--gateway", "gateway", "g1"),
];

/// A value in the common form of both engines: times as microseconds since 1970, numbers to nine
/// digits.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => match time(text) {
            Some(us) => format!("time {us}"),
            None => text.clone(),
        },
        Value::Number(number) => format!("{:.9e}", number.as_f64().unwrap()),
        other => other.to_string(),
    }
}

/// `2026-11-26T03:15:00.5Z`, or `2026-11-26 03:15:00.500000`, or a day alone.
fn time(text: &str) -> Option<i64> {
    let text = text.replace(' ', "T");
    let text = text.trim_end_matches('Z');
    let text = if text.len() == 10 {
        format!("{text}T00:00:00")
    } else {
        text.to_owned()
    };
    let time: jiff::Timestamp = format!("{text}Z").parse().ok()?;
    Some(time.as_microsecond())
}

fn table(rows: &[Vec<Value>]) -> Vec<Vec<String>> {
    let row = |row: &Vec<Value>| row.iter().map(plain).collect();
    rows.iter().map(row).collect()
}

/// Our answer.
fn ours(fleet: &Fleet, sql: &str) -> Vec<Vec<Value>> {
    let mut arguments = vec!["query", sql, "--json"];
    arguments.extend(
        OPTIONS
            .iter()
            .flat_map(|(option, _, value)| [*option, *value]),
    );
    let output = fleet.run(&arguments);
    assert!(output.status.success(), "{sql}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| -> Vec<Value> {
        // The members are in the order of the columns, which a map would lose.
        let row: Members = serde_json::from_str(line).unwrap();
        row.0
    };
    text.lines().map(line).collect()
}

/// The values of an object in their order.
struct Members(Vec<Value>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Members, A::Error> {
                let mut values = Vec::new();
                while let Some((_, value)) = map.next_entry::<String, Value>()? {
                    values.push(value);
                }
                Ok(Members(values))
            }
        }
        of.deserialize_map(Visitor)
    }
}

/// The files of each table, or their addresses in a bucket.
fn files(fleet: &Fleet, endpoint: Option<&str>) -> BTreeMap<&'static str, Vec<String>> {
    let kinds = [
        ("exchanges", "exchanges"),
        ("findings", "findings"),
        ("model-calls", "model_calls"),
        ("tools", "tools"),
    ];
    let listed = |kind: &str| -> Vec<String> {
        let output = fleet.run(&["ls", "--files", kind]);
        let text = String::from_utf8(output.stdout).unwrap();
        let place = |line: &str| match endpoint {
            Some(endpoint) => line.replace("s3://", &format!("{endpoint}/")),
            None => line.to_owned(),
        };
        text.lines().map(place).collect()
    };
    kinds.map(|(kind, table)| (table, listed(kind))).into()
}

fn same(fleet: &Fleet, endpoint: Option<&str>, secret: &str) {
    recorded(fleet);
    let mut queries: Vec<String> = MORE.iter().map(|sql| (*sql).to_owned()).collect();
    for name in ["hangs", "slow", "drift", "findings", "cost"] {
        let mut arguments = vec!["query", "--canned", name, "--show-sql"];
        arguments.extend(
            OPTIONS
                .iter()
                .flat_map(|(option, _, value)| [*option, *value]),
        );
        queries.push(String::from_utf8(fleet.run(&arguments).stdout).unwrap());
    }
    let parameters = |sql: &str| -> BTreeMap<&str, &str> {
        let used = OPTIONS
            .iter()
            .filter(|(_, name, _)| sql.contains(&format!("${name}")));
        used.map(|(_, name, value)| (*name, value.trim_end_matches('Z')))
            .collect()
    };
    let asked: Vec<Value> = queries
        .iter()
        .map(|sql| json!({"sql": sql, "parameters": parameters(sql)}))
        .collect();
    let files = files(fleet, endpoint);
    assert!(
        files["exchanges"].len() > 2 && files["model_calls"].len() > 1,
        "{files:?}"
    );
    let told =
        json!({"tables": files, "access": [format!("id-{secret}"), secret], "queries": asked});
    let mut chdb = Command::new(std::env::var("TAPEWRIGHT_CHDB").expect("a python with chdb"))
        .args([
            "-B",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/clickhouse.py"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(chdb.stdin.take().unwrap(), "{told}").unwrap();
    let output = chdb.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<Vec<Vec<Value>>> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(theirs.len(), queries.len(), "{text}");
    for (sql, theirs) in queries.iter().zip(theirs) {
        let ours = ours(fleet, sql);
        assert!(!ours.is_empty(), "{sql}");
        assert_eq!(table(&ours), table(&theirs), "{sql}");
    }
}

#[test]
fn clickhouse_answers_a_folder_as_we_do() {
    same(&Fleet::new(), None, "");
}

#[test]
fn clickhouse_answers_a_bucket_of_moto_as_we_do() {
    let endpoint = moto::endpoint();
    let mut fleet = Fleet::new();
    let secret = "canary-4712-secret";
    fleet.bucket_below(&endpoint, secret, "clickhouse");
    same(&fleet, Some(&endpoint), secret);
}
