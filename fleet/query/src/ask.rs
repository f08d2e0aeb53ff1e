//! Asks the engine: a single read-only query, within limits.

use std::fmt;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::object_store::memory::InMemory;
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use futures_util::TryStreamExt as _;

use crate::cell::{Cell, rows};
use crate::columns::UTC;
use crate::error::QueryError;
use crate::source::{Counts, Source, Table};
use crate::table::StoreTable;

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// One query in SQL; `$NAME` stands for a parameter.
    pub sql: String,
    /// The parameters. Unused ones are allowed.
    pub parameters: Vec<(&'static str, Parameter)>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A text.
    Text(String),
    /// A time, in microseconds since 1970.
    Time(i64),
}

impl From<Parameter> for ScalarValue {
    fn from(parameter: Parameter) -> Self {
        match parameter {
            Parameter::Text(text) => Self::Utf8View(Some(text)),
            Parameter::Time(us) => Self::TimestampMicrosecond(Some(us), Some(UTC.into())),
        }
    }
}

/// The resources that an answer may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of memory for sorting, grouping and joining; beyond that, temporary files are used, or
    /// the query fails.
    pub memory: usize,
    /// How many files are read in parallel, and how many cores are used.
    pub at_once: usize,
}

/// The size limit of temporary files.
const SPILLED: u64 = 16 << 30;
/// How much memory each sort keeps for reading back its temporary files.
const SPILL_RESERVE: usize = 10 << 20;

/// An answer, which arrives in batches.
pub struct Answer {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Whether it is a plan, which has lines instead of rows.
    pub is_plan: bool,
    /// What was read so far.
    pub counts: Arc<Counts>,
    stream: SendableRecordBatchStream,
}

impl fmt::Debug for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Answer");
        out.field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Answer {
    /// The next rows; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Vec<Cell>>>, QueryError> {
        match self.stream.try_next().await? {
            None => Ok(None),
            Some(batch) => Ok(Some(
                rows(&batch).map_err(|error| QueryError::Failed(error.to_string()))?,
            )),
        }
    }
}

/// Starts a query. Nothing is read before the answer is.
pub async fn ask(
    source: Arc<dyn Source>,
    question: Question,
    limits: Limits,
) -> Result<Answer, QueryError> {
    let counts = Arc::new(Counts::default());
    let state = context(&source, &counts, limits)?.state();
    let dialect = state.config_options().sql_parser.dialect;
    let statement = state.sql_to_statement(&question.sql, &dialect)?;
    let plan = state.statement_to_plan(statement).await?;
    is_query(&plan)?;
    let is_plan = matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
    let values = question.parameters.into_iter();
    let values: Vec<(&str, ScalarValue)> =
        values.map(|(name, value)| (name, value.into())).collect();
    let frame = DataFrame::new(state, plan);
    let frame = if values.is_empty() {
        frame
    } else {
        frame.with_param_values(values)?
    };
    let stream = frame.execute_stream().await?;
    let columns = stream.schema();
    let columns = columns.fields().iter().map(|field| field.name().clone());
    Ok(Answer {
        columns: columns.collect(),
        is_plan,
        counts,
        stream,
    })
}

/// Refuses statements that would change data or settings.
fn is_query(plan: &LogicalPlan) -> Result<(), QueryError> {
    let options = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    options.verify_plan(plan).map_err(|error| {
        let text = error.message().into_owned();
        let what = text.rsplit(": ").next().unwrap_or_default();
        QueryError::NotAQuery(format!("`{}`", what.trim()))
    })
}

/// The engine with our tables, and without access to any other file.
fn context(
    source: &Arc<dyn Source>,
    counts: &Arc<Counts>,
    limits: Limits,
) -> Result<SessionContext, QueryError> {
    let at_once = limits.at_once.max(1);
    let reserve = SPILL_RESERVE.min(limits.memory / (32 * at_once));
    let config = SessionConfig::new()
        .with_target_partitions(at_once)
        .with_information_schema(true)
        .with_default_catalog_and_schema("store", "rows")
        .with_sort_spill_reservation_bytes(reserve);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(limits.memory)))
        .with_max_temp_directory_size(SPILLED)
        .build_arc()?;
    let empty: Arc<dyn datafusion::object_store::ObjectStore> = Arc::new(InMemory::new());
    for place in [
        ObjectStoreUrl::local_filesystem(),
        crate::rows_table::nowhere()?,
    ] {
        runtime.register_object_store(place.as_ref(), Arc::clone(&empty));
    }
    let context = SessionContext::new_with_config_rt(config, runtime);
    for table in Table::ALL {
        let rows = StoreTable::of_rows(table, source, counts);
        context.register_table(table.name(), Arc::new(rows))?;
    }
    let tapes = StoreTable::of_tapes(source, counts);
    context.register_table(crate::tapes_table::NAME, Arc::new(tapes))?;
    Ok(context)
}
