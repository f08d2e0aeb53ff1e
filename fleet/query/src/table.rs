//! The tables of a store, for the engine.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::filter::{Filter, pushdown};
use crate::rows_table::{Reading, cut};
use crate::source::{Counts, Source, Table, Tape};
use crate::{columns, tapes_table};

/// A table of rows, or the one of tapes.
#[derive(Debug)]
pub(crate) struct StoreTable {
    /// The kind of rows; `None` for the table of tapes, which has no files.
    rows: Option<Table>,
    schema: SchemaRef,
    source: Arc<dyn Source>,
    counts: Arc<Counts>,
}

impl StoreTable {
    pub(crate) fn of_rows(table: Table, source: &Arc<dyn Source>, counts: &Arc<Counts>) -> Self {
        Self {
            rows: Some(table),
            schema: table.schema(),
            source: Arc::clone(source),
            counts: Arc::clone(counts),
        }
    }

    pub(crate) fn of_tapes(source: &Arc<dyn Source>, counts: &Arc<Counts>) -> Self {
        Self {
            rows: None,
            schema: columns::tapes(),
            source: Arc::clone(source),
            counts: Arc::clone(counts),
        }
    }

    /// A plan that reads the rows of these tapes from as few files as possible.
    fn plan_of_rows(
        &self,
        table: Table,
        tapes: &[Arc<Tape>],
        filter: &Filter,
        asked: &Asked<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let files = tapes.iter().flat_map(|tape| {
            let own = tape.files.iter().filter(|file| file.table == table);
            own.map(|file| (tape.as_ref(), file))
        });
        let files: Vec<_> = files.collect();
        let all = files.len();
        let mut chosen = filter.files(files)?;
        // A limit accepts any rows, so the first files with enough rows suffice.
        cut(&mut chosen, asked.limit.filter(|_| !asked.is_filtered));
        self.counts.add_files(all, chosen.len());
        let reading = Reading {
            schema: &self.schema,
            source: &self.source,
            counts: &self.counts,
            at_once: asked.at_once,
        };
        reading.plan(&chosen, asked.projection, asked.limit)
    }
}

/// The parameters of a scan.
struct Asked<'a> {
    projection: Option<&'a Vec<usize>>,
    limit: Option<usize>,
    is_filtered: bool,
    at_once: usize,
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown(filters))
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filter = Filter::of(state, &self.schema, filters)?;
        let tapes = filter.tapes(self.source.as_ref(), &self.counts).await?;
        let Some(table) = self.rows else {
            return tapes_table::plan(&self.schema, &tapes, projection);
        };
        let asked = Asked {
            projection,
            limit,
            is_filtered: !filters.is_empty(),
            at_once: state.config().target_partitions(),
        };
        self.plan_of_rows(table, &tapes, &filter, &asked)
    }
}
