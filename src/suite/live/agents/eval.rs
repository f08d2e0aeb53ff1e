//! Evaluations: runs of an agent that only a rubric judges.

use tapewright_judges::Model;

use super::{Agents, cassette, unusable};
use crate::suite::judged;
use crate::suite::models::{default_keys, default_model};
use crate::suite::plan::{Case, EvalCase};
use crate::suite::result::{Row, Status};

impl Agents<'_> {
    /// Runs an evaluation: with the model of the command, the recorded one, or the first whose key
    /// is set.
    pub(super) fn eval(
        &self,
        number: usize,
        case: &Case,
        eval: &EvalCase,
    ) -> (Vec<Row>, Vec<String>) {
        let told = self
            .how
            .evals
            .as_ref()
            .and_then(|evals| evals.model.as_deref())
            .map(|text| {
                Model::read(
                    text,
                    self.suite.providers.iter().map(|one| one.name.as_str()),
                )
            });
        let recorded = || cassette::model(&self.how.folder, eval.file());
        let model = match told.map_or_else(recorded, |model| Ok(Some(model))) {
            Ok(model) => model,
            Err(why) => return (unusable(number, case, why), Vec::new()),
        };
        let model = model.or_else(|| default_model(&self.options.variables));
        let Some(model) = model else {
            let why = format!("no model key set: {}", default_keys());
            return (vec![deferred(number, case, why)], Vec::new());
        };
        let Some(agent) = eval.agent(model) else {
            let row = judged::skipped(number, case, "no rubric given");
            return (vec![row], Vec::new());
        };
        self.one(number, case, &agent)
    }
}

/// A row for an evaluation without a model to ask.
pub(super) fn deferred(number: usize, case: &Case, why: String) -> Row {
    let mut row = judged::row(number, case, Status::Deferred);
    row.reasons.push(why);
    row
}
