//! The table `tapes`: what entries tell, without a file of its own.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray, TimestampMicrosecondArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::columns::{self, UTC};
use crate::filter::{Filter, pushdown};
use crate::source::{Counts, Source, Tape};

/// The table.
#[derive(Debug)]
pub(crate) struct TapesTable {
    schema: SchemaRef,
    source: Arc<dyn Source>,
    counts: Arc<Counts>,
}

impl TapesTable {
    pub(crate) const NAME: &str = "tapes";

    pub(crate) fn new(source: &Arc<dyn Source>, counts: &Arc<Counts>) -> Self {
        Self {
            schema: columns::tapes(),
            source: Arc::clone(source),
            counts: Arc::clone(counts),
        }
    }
}

#[async_trait]
impl TableProvider for TapesTable {
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
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let filter = Filter::of(state, &self.schema, filters)?;
        let tapes = filter.tapes(self.source.as_ref(), &self.counts).await?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns_of(&tapes))?;
        let schema = Arc::clone(&self.schema);
        Ok(MemorySourceConfig::try_new_exec(
            &[vec![batch]],
            schema,
            projection.cloned(),
        )?)
    }
}

/// The columns in the order of the schema.
fn columns_of(tapes: &[Arc<Tape>]) -> Vec<ArrayRef> {
    let texts = |get: fn(&Tape) -> &str| -> ArrayRef {
        let all = tapes.iter().map(|tape| Some(get(tape).to_owned()));
        Arc::new(all.collect::<StringViewArray>())
    };
    let missing = tapes.iter().map(|tape| tape.missing.clone());
    let times = |get: fn(&Tape) -> Option<i64>| -> ArrayRef {
        let all = tapes.iter().map(|tape| get(tape));
        Arc::new(
            all.collect::<TimestampMicrosecondArray>()
                .with_timezone(UTC),
        )
    };
    let longs = |get: fn(&Tape) -> u64| -> ArrayRef {
        let long = |tape: &Arc<Tape>| i64::try_from(get(tape)).unwrap_or(i64::MAX);
        Arc::new(Int64Array::from_iter_values(tapes.iter().map(long)))
    };
    vec![
        texts(|tape| &tape.gateway),
        texts(|tape| &tape.tape),
        texts(|tape| &tape.label),
        texts(|tape| &tape.transport),
        texts(|tape| &tape.state),
        Arc::new(missing.collect::<StringViewArray>()),
        times(|tape| tape.created_us),
        times(|tape| tape.first_us),
        times(|tape| tape.last_us),
        times(|tape| tape.shipped_us),
        longs(|tape| tape.events),
        longs(|tape| tape.bytes),
        longs(|tape| tape.stored_bytes),
        longs(|tape| tape.segments),
        longs(|tape| tape.lost_events),
        longs(|tape| tape.lost_bytes),
    ]
}
