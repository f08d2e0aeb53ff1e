//! The conditions of a query that decide which files are read.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_expr::utils::{Guarantee, LiteralGuarantee};
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};

use crate::known::{All, Known};
use crate::source::{Counts, File, Named, Source, Tape};

/// Conditions that every selected row meets.
#[derive(Debug)]
pub(crate) struct Filter {
    predicate: Option<Arc<PruningPredicate>>,
}

impl Filter {
    /// From conditions that must all be met.
    pub(crate) fn of(state: &dyn Session, schema: &SchemaRef, filters: &[Expr]) -> Result<Self> {
        let Some(all) = conjunction(filters.to_vec()) else {
            return Ok(Self { predicate: None });
        };
        let columns = DFSchema::try_from(Arc::clone(schema))?;
        let expression = state.create_physical_expr(all, &columns)?;
        let predicate = PruningPredicateBuilder::new()
            .with_file_schema(Arc::clone(schema))
            .build(expression);
        Ok(Self { predicate })
    }

    /// Which of these may have matching rows.
    fn keeps(&self, known: Vec<Known<'_>>) -> Result<Vec<bool>> {
        match &self.predicate {
            None => Ok(vec![true; known.len()]),
            Some(predicate) => predicate.prune(&All(known)),
        }
    }

    /// The gateways of matching rows, if the conditions name them.
    fn gateways(&self) -> Option<BTreeSet<String>> {
        let named = |one: &&LiteralGuarantee| {
            one.column.name() == "gateway" && one.guarantee == Guarantee::In
        };
        let guarantees = self.predicate.as_ref()?.literal_guarantees();
        let literals = &guarantees.iter().find(named)?.literals;
        let texts = literals.iter().filter_map(|one| one.try_as_str().flatten());
        Some(texts.map(str::to_owned).collect())
    }

    /// The tapes that may have matching rows: only their entries are read.
    pub(crate) async fn tapes(
        &self,
        source: &dyn Source,
        counts: &Counts,
    ) -> Result<Vec<Arc<Tape>>> {
        let gateways = self.gateways();
        let names = source.names(gateways.as_ref()).await;
        let names = names.map_err(crate::error::engine)?;
        let keeps = self.keeps(names.iter().map(Known::of_name).collect())?;
        let all = names.len();
        let kept: Vec<Named> = kept(names, &keeps).collect();
        counts.add_tapes(all, kept.len());
        source.tapes(&kept).await.map_err(crate::error::engine)
    }

    /// The files that may have matching rows.
    pub(crate) fn files<'a>(&self, files: Vec<(&'a Tape, &'a File)>) -> Result<Vec<&'a File>> {
        let known = files.iter().map(|(tape, file)| Known::of_file(tape, file));
        let keeps = self.keeps(known.collect())?;
        Ok(kept(files, &keeps).map(|(_, file)| file).collect())
    }
}

fn kept<T>(all: Vec<T>, keeps: &[bool]) -> impl Iterator<Item = T> {
    all.into_iter()
        .zip(keeps)
        .filter_map(|(one, keep)| keep.then_some(one))
}

/// Every condition can exclude files, but none is guaranteed to hold for all rows that are read.
pub(crate) fn pushdown(filters: &[&Expr]) -> Vec<TableProviderFilterPushDown> {
    vec![TableProviderFilterPushDown::Inexact; filters.len()]
}
