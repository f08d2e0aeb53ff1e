//! The table `tapes`, made from entries, without files.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray, TimestampMicrosecondArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_plan::ExecutionPlan;

use crate::columns::UTC;
use crate::source::Tape;

/// The name of the table.
pub(crate) const NAME: &str = "tapes";

/// A plan that returns these tapes.
pub(crate) fn plan(
    schema: &SchemaRef,
    tapes: &[Arc<Tape>],
    projection: Option<&Vec<usize>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let batch = RecordBatch::try_new(Arc::clone(schema), columns_of(tapes))?;
    let (batches, schema) = (vec![batch], Arc::clone(schema));
    let plan = MemorySourceConfig::try_new_exec(&[batches], schema, projection.cloned())?;
    Ok(plan)
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
