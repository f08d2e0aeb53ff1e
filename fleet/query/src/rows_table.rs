//! A plan that reads rows from the files of entries.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;

use crate::reader::Readers;
use crate::source::{Counts, File, Source};

/// How to read files.
pub(crate) struct Reading<'a> {
    pub(crate) schema: &'a SchemaRef,
    pub(crate) source: &'a Arc<dyn Source>,
    pub(crate) counts: &'a Arc<Counts>,
    /// How many groups of files are read in parallel.
    pub(crate) at_once: usize,
}

impl Reading<'_> {
    /// A plan that reads these columns of these files.
    pub(crate) fn plan(
        &self,
        files: &[&File],
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let readers = Readers::new(self.source, self.counts);
        let parquet = ParquetSource::new(Arc::clone(self.schema))
            .with_parquet_file_reader_factory(Arc::new(readers));
        let rows = files.iter().map(|file| number(file.rows)).sum();
        let statistics = Statistics::new_unknown(self.schema).with_num_rows(Precision::Exact(rows));
        let config = FileScanConfigBuilder::new(nowhere()?, Arc::new(parquet))
            .with_file_groups(groups(files, self.at_once))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

/// The engine requires a store with a name; it gets an empty one, since [`Readers`] open all files.
pub(crate) fn nowhere() -> Result<ObjectStoreUrl> {
    ObjectStoreUrl::parse("fleet://rows")
}

/// Leaves out the files after the first ones that have enough rows.
pub(crate) fn cut(files: &mut Vec<&File>, rows: Option<usize>) {
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

/// Splits the files into groups of about the same size, which are read in parallel.
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
