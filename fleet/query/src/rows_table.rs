//! A table whose rows stand in files that entries name.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::filter::{Filter, pushdown};
use crate::reader::Readers;
use crate::source::{Counts, File, Source, Table};

/// A table of rows.
#[derive(Debug)]
pub(crate) struct RowsTable {
    table: Table,
    schema: SchemaRef,
    source: Arc<dyn Source>,
    counts: Arc<Counts>,
}

impl RowsTable {
    pub(crate) fn new(table: Table, source: &Arc<dyn Source>, counts: &Arc<Counts>) -> Self {
        Self {
            table,
            schema: table.schema(),
            source: Arc::clone(source),
            counts: Arc::clone(counts),
        }
    }

    /// A plan that reads these files.
    fn plan(
        &self,
        groups: Vec<FileGroup>,
        rows: usize,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let readers = Readers::new(&self.source, &self.counts);
        let parquet = ParquetSource::new(Arc::clone(&self.schema))
            .with_parquet_file_reader_factory(Arc::new(readers));
        let statistics =
            Statistics::new_unknown(&self.schema).with_num_rows(Precision::Exact(rows));
        let config = FileScanConfigBuilder::new(nowhere()?, Arc::new(parquet))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

/// The engine asks for a store by a name; the one it gets is empty, since [`Readers`] open all files.
pub(crate) fn nowhere() -> Result<ObjectStoreUrl> {
    ObjectStoreUrl::parse("fleet://rows")
}

#[async_trait]
impl TableProvider for RowsTable {
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
        let files = tapes.iter().flat_map(|tape| {
            let own = tape.files.iter().filter(|file| file.table == self.table);
            own.map(|file| (tape.as_ref(), file))
        });
        let files: Vec<_> = files.collect();
        let all = files.len();
        let mut chosen = filter.files(files)?;
        // The rows that a limit takes may be any, so the first files that have enough will do.
        let enough = if filters.is_empty() { limit } else { None };
        cut(&mut chosen, enough);
        self.counts.add_files(all, chosen.len());
        let rows = chosen.iter().map(|file| number(file.rows)).sum();
        let groups = groups(&chosen, state.config().target_partitions());
        self.plan(groups, rows, projection, limit)
    }
}

/// Leaves out the files behind those that have so many rows.
fn cut(files: &mut Vec<&File>, rows: Option<usize>) {
    let Some(rows) = rows else { return };
    let mut sum = 0_usize;
    let enough = files.iter().position(|file| {
        sum = sum.saturating_add(number(file.rows));
        sum >= rows
    });
    if let Some(last) = enough {
        files.truncate(last + 1);
    }
}

/// The files in so many groups of about the same length, which are read at once.
fn groups(files: &[&File], many: usize) -> Vec<FileGroup> {
    let many = many.clamp(1, files.len().max(1));
    let mut groups: Vec<(u64, Vec<PartitionedFile>)> = vec![(0, Vec::new()); many];
    for file in files {
        if let Some((bytes, group)) = groups.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes = bytes.saturating_add(file.bytes);
            group.push(PartitionedFile::new(file.path.clone(), file.bytes));
        }
    }
    groups
        .into_iter()
        .map(|(_, files)| FileGroup::new(files))
        .collect()
}

fn number(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}
