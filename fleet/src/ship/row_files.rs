//! Ships the rows of ranges.

use std::fs::File;

use object_store::PutMode;

use super::tape::Tape;
use super::{Context, ShipError};
use crate::entry::{self, Entry};
use crate::names::{Kind, ObjectName};
use crate::rows::{self, Deriver};
use crate::store::{Store, StoreError};
use crate::summary::Summary;

impl Tape {
    /// Ships the rows of a range. A tape whose lines cannot be read is shipped without them.
    pub(super) async fn rows(
        &mut self,
        context: &Context<'_>,
        file: &File,
        name: &ObjectName,
        entry: &Entry,
    ) -> Result<entry::Rows, ShipError> {
        let deriver = self
            .deriver
            .take()
            .filter(|deriver| deriver.at() <= entry.start);
        let mut deriver = deriver.unwrap_or_else(|| {
            Deriver::new(rows::Tape {
                name: name.of.tape.clone(),
                about: entry.about.clone(),
            })
        });
        match deriver.derive(file, entry.start, entry.end, entry.ended.is_some()) {
            Ok(rows) => {
                self.deriver = Some(deriver);
                Ok(put_rows(context.store, name, rows).await?)
            }
            Err(error) => Ok(entry::Rows {
                none_because: Some(error.to_string().chars().take(200).collect()),
                ..entry::Rows::default()
            }),
        }
    }
}

/// Writes the rows of a range next to its segment.
pub(crate) async fn put_rows(
    store: &Store,
    name: &ObjectName,
    rows: rows::Rows,
) -> Result<entry::Rows, StoreError> {
    let summary = (rows.summary != Summary::default()).then_some(rows.summary);
    let exchanges = row_file(store, name.of_kind(Kind::Exchanges), rows.exchanges);
    let findings = row_file(store, name.of_kind(Kind::Findings), rows.findings);
    let calls = row_file(store, name.of_kind(Kind::ModelCalls), rows.model_calls);
    let tools = row_file(store, name.of_kind(Kind::Tools), rows.tools);
    Ok(entry::Rows {
        exchanges: exchanges.await?,
        findings: findings.await?,
        model_calls: calls.await?,
        tools: tools.await?,
        none_because: None,
        summary,
    })
}

/// Writes a file of rows.
async fn row_file(
    store: &Store,
    name: ObjectName,
    table: Option<rows::Table>,
) -> Result<Option<entry::RowFile>, StoreError> {
    let Some(table) = table else {
        return Ok(None);
    };
    let file = entry::RowFile {
        name: name.path(),
        bytes: table.bytes.len() as u64,
        sha256: crate::hash::of(&table.bytes),
        rows: table.rows,
        first_us: table.first_us,
        last_us: table.last_us,
        tools: table.tools,
    };
    store
        .put(&file.name, table.bytes, PutMode::Overwrite)
        .await?;
    Ok(Some(file))
}
