//! Makes Parquet files of rows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use tapewright_schemas::conversation::Outcome;
use tapewright_schemas::event::Severity;

use super::fold::{Found, Settled, Tape};
use crate::clock;
use crate::summary::{Notable, Summary};

/// A file of rows, with the facts that readers need to skip it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file.
    pub bytes: Vec<u8>,
    /// How many rows.
    pub rows: u64,
    /// When its first row began, in microseconds since 1970.
    pub first_us: Option<i64>,
    /// When its last row began.
    pub last_us: Option<i64>,
    /// The tools of its rows, unless there are too many.
    pub tools: Option<BTreeSet<String>>,
}

/// How many tools are listed for a file, and the total length of their names, in bytes.
const TOOLS: usize = 200;
const TOOL_BYTES: usize = 8 << 10;

/// The values of one column.
pub(super) enum Column {
    Texts(Vec<Option<ByteArray>>),
    Longs(Vec<Option<i64>>),
    Doubles(Vec<Option<f64>>),
    Flags(Vec<bool>),
}

/// The columns of exchanges. Names and meanings are those of the published row (`tapewright schema
/// exchange`), after those about the tape and the session.
const EXCHANGES: &str = "message exchange {
    REQUIRED BYTE_ARRAY gateway (STRING);
    REQUIRED BYTE_ARRAY tape (STRING);
    REQUIRED BYTE_ARRAY label (STRING);
    OPTIONAL BYTE_ARRAY server (STRING);
    OPTIONAL BYTE_ARRAY server_version (STRING);
    OPTIONAL BYTE_ARRAY revision (STRING);
    OPTIONAL INT64 at (TIMESTAMP(MICROS, true));
    REQUIRED INT64 request_seq;
    OPTIONAL INT64 answer_seq;
    REQUIRED INT64 session;
    REQUIRED INT64 conduit;
    REQUIRED BYTE_ARRAY sender (STRING);
    REQUIRED BYTE_ARRAY id (STRING);
    REQUIRED BYTE_ARRAY method (STRING);
    OPTIONAL BYTE_ARRAY tool (STRING);
    OPTIONAL BYTE_ARRAY resource (STRING);
    OPTIONAL BYTE_ARRAY prompt (STRING);
    REQUIRED BYTE_ARRAY outcome (STRING);
    OPTIONAL INT64 error_code;
    REQUIRED BOOLEAN tool_error;
    OPTIONAL INT64 http_status;
    OPTIONAL DOUBLE waited_ms;
    OPTIONAL DOUBLE answered_ms;
    OPTIONAL DOUBLE ours_ms;
    OPTIONAL DOUBLE theirs_ms;
    REQUIRED INT64 request_bytes;
    OPTIONAL INT64 answer_bytes;
    OPTIONAL BYTE_ARRAY fault (STRING);
    OPTIONAL BYTE_ARRAY fault_kind (STRING);
    REQUIRED BYTE_ARRAY findings (STRING);
}";

/// The columns of findings.
const FINDINGS: &str = "message finding {
    REQUIRED BYTE_ARRAY gateway (STRING);
    REQUIRED BYTE_ARRAY tape (STRING);
    REQUIRED BYTE_ARRAY label (STRING);
    OPTIONAL BYTE_ARRAY server (STRING);
    OPTIONAL BYTE_ARRAY server_version (STRING);
    OPTIONAL INT64 at (TIMESTAMP(MICROS, true));
    REQUIRED INT64 seq;
    REQUIRED INT64 session;
    REQUIRED BYTE_ARRAY code (STRING);
    REQUIRED BYTE_ARRAY status (STRING);
    REQUIRED BYTE_ARRAY side (STRING);
    OPTIONAL BYTE_ARRAY severity (STRING);
    OPTIONAL BYTE_ARRAY tool (STRING);
    REQUIRED BYTE_ARRAY detail (STRING);
    OPTIONAL INT64 evidence_seq;
    OPTIONAL BYTE_ARRAY evidence_pointer (STRING);
    REQUIRED BYTE_ARRAY found_by (STRING);
}";

/// The file of these exchanges; `None` if there are none.
pub(super) fn exchanges(tape: &Tape, rows: &[Settled]) -> Result<Option<Table>> {
    let times = Times::of(tape);
    let at = |row: &Settled| times.at(row.row.at_ms.map(|ms| ms * 1_000.0));
    let mut columns = of_tape(tape, rows.len());
    columns.extend(sides(rows));
    columns.push(longs(rows, at));
    columns.extend(places(rows));
    columns.extend(subjects(rows));
    columns.extend(ends(rows));
    let tools = rows.iter().filter_map(|row| row.row.tool.clone()).collect();
    write(EXCHANGES, &columns, rows.iter().map(at), rows.len(), tools)
}

/// The file of these findings; `None` if there are none.
pub(super) fn findings(tape: &Tape, rows: &[Found]) -> Result<Option<Table>> {
    let times = Times::of(tape);
    let at = |row: &Found| times.at(Some(micros(row.at_us)));
    let mut columns = of_tape(tape, rows.len());
    columns.extend([
        texts(rows, |row| {
            row.server.as_ref().map(|(name, _)| name.as_str())
        }),
        texts(rows, |row| {
            row.server.as_ref().map(|(_, version)| version.as_str())
        }),
        longs(rows, at),
        longs(rows, |row| Some(long(row.seq))),
        longs(rows, |row| Some(row.session.into())),
        texts(rows, |row| Some(&row.finding.code)),
        texts(rows, |row| Some(row.finding.status.name())),
        texts(rows, |row| Some(row.finding.side.name())),
        texts(rows, |row| row.finding.severity.map(Severity::name)),
        texts(rows, |row| row.tool.as_deref()),
        texts(rows, |row| Some(&row.finding.detail)),
        longs(rows, |row| {
            row.finding.evidence.first().map(|place| long(place.seq))
        }),
        texts(rows, |row| {
            row.finding
                .evidence
                .first()
                .map(|place| place.pointer.as_str())
        }),
        texts(rows, |row| {
            Some(if row.is_on_tape {
                "recorder"
            } else {
                "shipper"
            })
        }),
    ]);
    let tools = rows.iter().filter_map(|row| row.tool.clone()).collect();
    write(FINDINGS, &columns, rows.iter().map(at), rows.len(), tools)
}

pub(super) fn of_tape(tape: &Tape, count: usize) -> Vec<Column> {
    let all = |text: &str| Column::Texts(vec![Some(ByteArray::from(text)); count]);
    vec![
        all(tape.name.gateway.as_str()),
        all(&tape.name.id.to_string()),
        all(&tape.about.label),
    ]
}

fn sides(rows: &[Settled]) -> [Column; 3] {
    [
        texts(rows, |row| {
            row.server.as_ref().map(|(name, _)| name.as_str())
        }),
        texts(rows, |row| {
            row.server.as_ref().map(|(_, version)| version.as_str())
        }),
        texts(rows, |row| row.revision.as_deref()),
    ]
}

fn places(rows: &[Settled]) -> [Column; 5] {
    [
        longs(rows, |row| Some(long(row.row.request_seq))),
        longs(rows, |row| row.row.answer_seq.map(long)),
        longs(rows, |row| Some(row.row.session.into())),
        longs(rows, |row| Some(row.row.conduit.into())),
        texts(rows, |row| Some(row.row.from)),
    ]
}

fn subjects(rows: &[Settled]) -> [Column; 5] {
    [
        texts(rows, |row| Some(&row.row.id)),
        texts(rows, |row| Some(&row.row.method)),
        texts(rows, |row| row.row.tool.as_deref()),
        texts(rows, |row| row.row.resource.as_deref()),
        texts(rows, |row| row.row.prompt.as_deref()),
    ]
}

fn ends(rows: &[Settled]) -> Vec<Column> {
    vec![
        owned(rows, |row| Some(outcome(row.row.outcome))),
        longs(rows, |row| row.row.error_code),
        Column::Flags(rows.iter().map(|row| row.row.tool_error).collect()),
        longs(rows, |row| row.row.http_status.map(i64::from)),
        doubles(rows, |row| row.row.waited_ms),
        doubles(rows, |row| row.row.answered_ms),
        doubles(rows, |row| row.row.ours_ms),
        doubles(rows, |row| row.row.theirs_ms),
        longs(rows, |row| Some(long(row.row.request_bytes))),
        longs(rows, |row| row.row.answer_bytes.map(long)),
        texts(rows, |row| {
            row.row.fault.as_ref().map(|fault| fault.name.as_str())
        }),
        texts(rows, |row| {
            row.row.fault.as_ref().map(|fault| fault.kind.name())
        }),
        owned(rows, |row| Some(row.row.findings.join(","))),
    ]
}

/// The summary of rows.
pub(super) fn summary(exchanges: &[Settled], findings: &[Found]) -> Summary {
    let mut summary = Summary::default();
    for settled in exchanges {
        let row = &settled.row;
        let one = Notable {
            seq: row.request_seq,
            method: row.method.clone(),
            tool: row.tool.clone(),
            outcome: outcome(row.outcome),
            waited_ms: row.waited_ms.and_then(whole),
        };
        summary.exchange(one, row.tool_error);
    }
    for found in findings {
        summary.finding(&found.finding.code);
    }
    summary
}

/// A number of milliseconds without its fraction.
fn whole(ms: f64) -> Option<u64> {
    u64::try_from(Duration::try_from_secs_f64(ms / 1_000.0).ok()?.as_millis()).ok()
}

/// The outcome in the token of the published row.
pub(super) fn outcome(outcome: Outcome) -> String {
    let token = serde_json::to_value(outcome).unwrap_or_default();
    token.as_str().unwrap_or_default().to_owned()
}

pub(super) fn texts<'a, R>(rows: &'a [R], get: impl Fn(&'a R) -> Option<&'a str>) -> Column {
    Column::Texts(
        rows.iter()
            .map(|row| get(row).map(ByteArray::from))
            .collect(),
    )
}

pub(super) fn owned<R>(rows: &[R], get: impl Fn(&R) -> Option<String>) -> Column {
    let text = |row| get(row).map(|text| ByteArray::from(text.as_str()));
    Column::Texts(rows.iter().map(text).collect())
}

pub(super) fn longs<R>(rows: &[R], get: impl Fn(&R) -> Option<i64>) -> Column {
    Column::Longs(rows.iter().map(get).collect())
}

pub(super) fn doubles<R>(rows: &[R], get: impl Fn(&R) -> Option<f64>) -> Column {
    Column::Doubles(rows.iter().map(get).collect())
}

pub(super) fn long(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a recording of 285 years")]
pub(super) fn micros(number: u64) -> f64 {
    number as f64
}

/// Converts times on the tape to wall time.
pub(super) struct Times {
    created_us: Option<i64>,
}

impl Times {
    pub(super) fn of(tape: &Tape) -> Self {
        let created = clock::parse(&tape.about.created);
        let since = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            created_us: since.and_then(|since| i64::try_from(since.as_micros()).ok()),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is cut to the range")]
    pub(super) fn at(&self, us: Option<f64>) -> Option<i64> {
        self.created_us?.checked_add(us?.round() as i64)
    }
}

pub(super) fn write(
    schema: &str,
    columns: &[Column],
    times: impl Iterator<Item = Option<i64>>,
    rows: usize,
    tools: BTreeSet<String>,
) -> Result<Option<Table>> {
    if rows == 0 {
        return Ok(None);
    }
    let properties = WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_created_by(crate::BY.to_owned());
    let schema = Arc::new(parse_message_type(schema)?);
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        if let Some(mut writer) = group.next_column()? {
            column.write(&mut writer)?;
            writer.close()?;
        }
    }
    group.close()?;
    file.close()?;
    let times: Vec<i64> = times.flatten().collect();
    let is_short =
        tools.len() <= TOOLS && tools.iter().map(String::len).sum::<usize>() <= TOOL_BYTES;
    Ok(Some(Table {
        bytes,
        rows: rows as u64,
        first_us: times.iter().min().copied(),
        last_us: times.iter().max().copied(),
        tools: is_short.then_some(tools),
    }))
}

/// The definition levels and the present values of a column.
fn parts<T: Clone>(values: &[Option<T>]) -> (Vec<i16>, Vec<T>) {
    let levels = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    (levels, values.iter().flatten().cloned().collect())
}

impl Column {
    fn write(&self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match (self, writer.untyped()) {
            (Self::Texts(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let (levels, values) = parts(values);
                writer.write_batch(&values, Some(&levels), None)?;
            }
            (Self::Longs(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                let (levels, values) = parts(values);
                writer.write_batch(&values, Some(&levels), None)?;
            }
            (Self::Doubles(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                let (levels, values) = parts(values);
                writer.write_batch(&values, Some(&levels), None)?;
            }
            (Self::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, None, None)?;
            }
            _ => {
                let text = "a column of another type".to_owned();
                return Err(parquet::errors::ParquetError::General(text));
            }
        }
        Ok(())
    }
}
