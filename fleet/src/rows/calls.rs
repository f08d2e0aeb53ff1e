//! Rows of model calls.

use std::collections::BTreeSet;

use parquet::errors::Result;

use tapewright_schemas::conversation::ModelRow;

use super::fold::Tape;
use super::table::{
    Column, Table, Times, doubles, long, longs, of_tape, outcome, owned, texts, write,
};

/// The columns. Names and meanings are those of the published row (`tapewright schema model-call`),
/// with `ended` for `end`, which is a keyword of SQL, and the names of the tool uses in one text.
const COLUMNS: &str = "message model_call {
    REQUIRED BYTE_ARRAY gateway (STRING);
    REQUIRED BYTE_ARRAY tape (STRING);
    REQUIRED BYTE_ARRAY label (STRING);
    OPTIONAL INT64 at (TIMESTAMP(MICROS, true));
    REQUIRED INT64 request_seq;
    REQUIRED INT64 session;
    REQUIRED INT64 conduit;
    OPTIONAL BYTE_ARRAY provider (STRING);
    REQUIRED BYTE_ARRAY wire (STRING);
    OPTIONAL BYTE_ARRAY model (STRING);
    OPTIONAL BYTE_ARRAY id (STRING);
    REQUIRED BYTE_ARRAY outcome (STRING);
    REQUIRED BYTE_ARRAY ended (STRING);
    OPTIONAL BYTE_ARRAY error (STRING);
    OPTIONAL INT64 http_status;
    REQUIRED BOOLEAN stream;
    OPTIONAL INT64 input_tokens;
    OPTIONAL INT64 output_tokens;
    OPTIONAL INT64 cache_read_tokens;
    OPTIONAL INT64 cache_write_tokens;
    OPTIONAL INT64 reasoning_tokens;
    OPTIONAL INT64 cost_usd_microcents;
    OPTIONAL BYTE_ARRAY finish (STRING);
    REQUIRED BYTE_ARRAY tool_uses (STRING);
    OPTIONAL DOUBLE first_token_ms;
    OPTIONAL DOUBLE waited_ms;
}";

/// The file of these calls; `None` if there are none.
pub(super) fn table(tape: &Tape, rows: &[ModelRow]) -> Result<Option<Table>> {
    let times = Times::of(tape);
    let at = |row: &ModelRow| times.at(row.at_ms.map(|ms| ms * 1_000.0));
    let mut columns = of_tape(tape, rows.len());
    columns.push(longs(rows, at));
    columns.extend(places(rows));
    columns.extend(ends(rows));
    columns.extend(tokens(rows));
    columns.extend(rest(rows));
    let times = rows.iter().map(at);
    write(COLUMNS, &columns, times, rows.len(), BTreeSet::new())
}

fn places(rows: &[ModelRow]) -> [Column; 7] {
    [
        longs(rows, |row| Some(long(row.request_seq))),
        longs(rows, |row| Some(row.session.into())),
        longs(rows, |row| Some(row.conduit.into())),
        texts(rows, |row| row.provider.as_deref()),
        texts(rows, |row| Some(row.wire)),
        texts(rows, |row| row.model.as_deref()),
        texts(rows, |row| row.id.as_deref()),
    ]
}

fn ends(rows: &[ModelRow]) -> [Column; 5] {
    [
        owned(rows, |row| Some(outcome(row.outcome))),
        texts(rows, |row| Some(row.end)),
        texts(rows, |row| row.error.as_deref()),
        longs(rows, |row| row.http_status.map(i64::from)),
        Column::Flags(rows.iter().map(|row| row.stream).collect()),
    ]
}

fn tokens(rows: &[ModelRow]) -> [Column; 6] {
    [
        longs(rows, |row| row.input_tokens.map(long)),
        longs(rows, |row| row.output_tokens.map(long)),
        longs(rows, |row| row.cache_read_tokens.map(long)),
        longs(rows, |row| row.cache_write_tokens.map(long)),
        longs(rows, |row| row.reasoning_tokens.map(long)),
        longs(rows, |row| row.cost_usd_microcents.map(long)),
    ]
}

fn rest(rows: &[ModelRow]) -> [Column; 4] {
    let names = |row: &ModelRow| {
        let names = row.tool_uses.iter().map(|one| one.name.as_str());
        Some(names.collect::<Vec<_>>().join(","))
    };
    [
        texts(rows, |row| row.finish),
        owned(rows, names),
        doubles(rows, |row| row.first_token_ms),
        doubles(rows, |row| row.waited_ms),
    ]
}
