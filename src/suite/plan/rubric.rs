//! Converts the rubrics of a suite for judges.

use std::sync::Arc;

use tapewright_config::Suite;
use tapewright_config::suite::eval::Scorer;
use tapewright_config::suite::metrics::Metrics;
use tapewright_config::suite::rubric::{Branch, Form as Written, Rubric as Rules};
use tapewright_judges::{Criterion, Form, Metric, Node, Rubric};

/// One measure of an agent's run.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// Its key in the suite.
    pub(crate) name: &'static str,
    pub(crate) by: By,
}

/// What a run is measured by.
#[derive(Clone, Debug)]
pub(crate) enum By {
    /// A built-in metric.
    Metric {
        metric: Metric,
        threshold: f64,
        strict: bool,
    },
    /// A rubric of the suite.
    Rubric(Rubric),
    /// A program of the suite.
    Scorer(Scoring),
}

/// How a program of the suite grades.
#[derive(Clone, Debug)]
pub(crate) struct Scoring {
    pub(crate) scorer: Arc<Scorer>,
    /// The criteria passed to the program.
    pub(crate) criteria: String,
    /// The least score that passes, in addition to its verdict; if the suite sets one.
    pub(crate) threshold: Option<f64>,
    /// Whether only a score of 1 passes.
    pub(crate) strict: bool,
}

/// Converts a rubric of the suite; `threshold` is used if the rubric has none.
pub(crate) fn written(suite: &Suite, rules: &Rules, threshold: Option<f64>) -> By {
    if let Written::Scorer { name, criteria } = &rules.form
        && let Some(scorer) = suite.scorers.iter().find(|one| one.name == *name)
    {
        return By::Scorer(Scoring {
            scorer: Arc::new(scorer.clone()),
            criteria: criteria.clone(),
            threshold: rules.threshold.or(threshold),
            strict: rules.strict,
        });
    }
    By::Rubric(rubric(suite, rules, threshold))
}

/// A rubric with its references resolved; `threshold` is used if the rubric has none.
fn rubric(suite: &Suite, written: &Rules, threshold: Option<f64>) -> Rubric {
    let named = match &written.form {
        Written::Ref(name) => {
            let mut all = suite.rubrics.iter();
            all.find(|(one, _)| one == name).map(|(_, rubric)| rubric)
        }
        _ => None,
    };
    let found = named.unwrap_or(written);
    let own = written.threshold.or(named.and_then(|one| one.threshold));
    Rubric {
        form: form(&found.form),
        threshold: own.or(threshold).unwrap_or(Rubric::THRESHOLD),
        strict: written.strict || found.strict,
    }
}

fn form(written: &Written) -> Form {
    match written {
        Written::Text(text) => Form::Text(text.clone()),
        Written::Criteria(criteria) => Form::Criteria(
            criteria
                .iter()
                .map(|one| Criterion {
                    name: one.name.clone(),
                    description: one.description.clone(),
                    weight: one.weight,
                    about: None,
                })
                .collect(),
        ),
        Written::Tree(root) => Form::Tree(node(root)),
        // The checks find dangling references.
        Written::Ref(name) | Written::Scorer { name, .. } => Form::Text(name.clone()),
    }
}

fn node(written: &Branch) -> Node {
    match written {
        Branch::Ask { ask, yes, no } => Node::Ask {
            ask: ask.clone(),
            yes: Box::new(node(yes)),
            no: Box::new(node(no)),
        },
        Branch::Score { score, reason } => Node::Score {
            score: *score,
            reason: reason.clone(),
        },
    }
}

/// The measures of a block `eval`, in the order of the document.
pub(super) fn measures(suite: &Suite, metrics: &Metrics) -> Vec<Measure> {
    let written = |metric| match metric {
        Metric::TaskCompletion => metrics.mcp_task_completion,
        Metric::Use => metrics.mcp_use,
        Metric::ArgumentCorrectness => metrics.argument_correctness,
        Metric::PlanQuality => metrics.plan_quality,
        Metric::MultiTurnUse => metrics.multi_turn_mcp_use,
    };
    let ours = Metric::ALL.into_iter().filter_map(|metric| {
        let limits = written(metric)?;
        Some(Measure {
            name: metric.name(),
            by: By::Metric {
                metric,
                threshold: limits.threshold,
                strict: limits.strict,
            },
        })
    });
    let own = metrics.rubric.as_ref().map(|written| Measure {
        name: "rubric",
        by: self::written(suite, written, None),
    });
    ours.chain(own).collect()
}
