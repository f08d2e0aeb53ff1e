//! The columns of the tables: one schema for files of all versions. A column that a file lacks is
//! null in its rows.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::source::Table;

/// The type of a column.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    Text,
    Long,
    Double,
    Flag,
    Time,
}

use Type::{Double, Flag, Long, Text, Time};

impl Type {
    pub(crate) fn arrow(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8View,
            Self::Long => DataType::Int64,
            Self::Double => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Time => time(),
        }
    }
}

/// The type of a time.
pub(crate) fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()))
}

/// The time zone of Parquet times without one.
pub(crate) const UTC: &str = "UTC";

const EXCHANGES: [(&str, Type); 30] = [
    ("gateway", Text),
    ("tape", Text),
    ("label", Text),
    ("server", Text),
    ("server_version", Text),
    ("revision", Text),
    ("at", Time),
    ("request_seq", Long),
    ("answer_seq", Long),
    ("session", Long),
    ("conduit", Long),
    ("sender", Text),
    ("id", Text),
    ("method", Text),
    ("tool", Text),
    ("resource", Text),
    ("prompt", Text),
    ("outcome", Text),
    ("error_code", Long),
    ("tool_error", Flag),
    ("http_status", Long),
    ("waited_ms", Double),
    ("answered_ms", Double),
    ("ours_ms", Double),
    ("theirs_ms", Double),
    ("request_bytes", Long),
    ("answer_bytes", Long),
    ("fault", Text),
    ("fault_kind", Text),
    ("findings", Text),
];

const FINDINGS: [(&str, Type); 17] = [
    ("gateway", Text),
    ("tape", Text),
    ("label", Text),
    ("server", Text),
    ("server_version", Text),
    ("at", Time),
    ("seq", Long),
    ("session", Long),
    ("code", Text),
    ("status", Text),
    ("side", Text),
    ("severity", Text),
    ("tool", Text),
    ("detail", Text),
    ("evidence_seq", Long),
    ("evidence_pointer", Text),
    ("found_by", Text),
];

const TOOLS: [(&str, Type); 10] = [
    ("gateway", Text),
    ("tape", Text),
    ("label", Text),
    ("server", Text),
    ("server_version", Text),
    ("at", Time),
    ("seq", Long),
    ("session", Long),
    ("tool", Text),
    ("definition", Text),
];

const MODEL_CALLS: [(&str, Type); 26] = [
    ("gateway", Text),
    ("tape", Text),
    ("label", Text),
    ("at", Time),
    ("request_seq", Long),
    ("session", Long),
    ("conduit", Long),
    ("provider", Text),
    ("wire", Text),
    ("model", Text),
    ("id", Text),
    ("outcome", Text),
    ("ended", Text),
    ("error", Text),
    ("http_status", Long),
    ("stream", Flag),
    ("input_tokens", Long),
    ("output_tokens", Long),
    ("cache_read_tokens", Long),
    ("cache_write_tokens", Long),
    ("reasoning_tokens", Long),
    ("cost_usd_microcents", Long),
    ("finish", Text),
    ("tool_uses", Text),
    ("first_token_ms", Double),
    ("waited_ms", Double),
];

const TAPES: [(&str, Type); 16] = [
    ("gateway", Text),
    ("tape", Text),
    ("label", Text),
    ("transport", Text),
    ("state", Text),
    ("missing", Text),
    ("created", Time),
    ("first_at", Time),
    ("last_at", Time),
    ("shipped", Time),
    ("events", Long),
    ("bytes", Long),
    ("stored_bytes", Long),
    ("segments", Long),
    ("lost_events", Long),
    ("lost_bytes", Long),
];

fn schema(columns: &[(&str, Type)]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|(name, kind)| Field::new(*name, kind.arrow(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl Table {
    /// Every table with rows in files.
    pub const ALL: [Self; 4] = [
        Self::Exchanges,
        Self::Findings,
        Self::ModelCalls,
        Self::Tools,
    ];

    /// Its name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exchanges => "exchanges",
            Self::Findings => "findings",
            Self::ModelCalls => "model_calls",
            Self::Tools => "tools",
        }
    }

    pub(crate) fn schema(self) -> SchemaRef {
        match self {
            Self::Exchanges => schema(&EXCHANGES),
            Self::Findings => schema(&FINDINGS),
            Self::ModelCalls => schema(&MODEL_CALLS),
            Self::Tools => schema(&TOOLS),
        }
    }
}

/// The columns of the table `tapes`.
pub(crate) fn tapes() -> SchemaRef {
    schema(&TAPES)
}
