//! `agents[].eval`: metrics of a run that a model judges.

use super::rubric::Rubric;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// The requested metrics.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Did the run accomplish the task?
    pub mcp_task_completion: Option<Metric>,
    /// The right tools with the right arguments?
    pub mcp_use: Option<Metric>,
    /// Were the arguments correct?
    pub argument_correctness: Option<Metric>,
    /// Was the sequence of calls sensible?
    pub plan_quality: Option<Metric>,
    /// `mcp_use`, averaged over turns.
    pub multi_turn_mcp_use: Option<Metric>,
    /// The suite's own criteria.
    pub rubric: Option<Rubric>,
    /// Their position.
    pub place: SourceSpot,
}

/// When a metric passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// The least score, from 0 to 1.
    pub threshold: f64,
    /// Only a score of 1 passes.
    pub strict: bool,
}

impl Metrics {
    pub(super) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let mut metric = |key| fields.optional(key).map(|at| Metric::read(&at));
        let mut metrics = Self {
            mcp_task_completion: metric("mcp_task_completion"),
            mcp_use: metric("mcp_use"),
            argument_correctness: metric("argument_correctness"),
            plan_quality: metric("plan_quality"),
            multi_turn_mcp_use: metric("multi_turn_mcp_use"),
            rubric: None,
            place: at.place(),
        };
        metrics.rubric = fields.optional("rubric").map(|at| Rubric::read(&at));
        fields.finish();
        metrics
    }
}

impl Metric {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let metric = Self {
            threshold: fields.optional("threshold").map_or(0.5, |at| at.fraction()),
            strict: fields.flag("strict"),
        };
        fields.finish();
        metric
    }
}
