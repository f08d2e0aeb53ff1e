//! Layers files over one another: how imports become one suite.
//!
//! An entry with a name replaces one with the same name from an earlier file; the others remain and
//! come first. Settings replace one another individually.

use std::collections::HashSet;

use super::Suite;

impl Suite {
    /// Lays a later file over this one.
    pub(crate) fn merge(&mut self, over: Self) {
        lay(&mut self.servers, over.servers, |server| &server.name);
        lay(&mut self.variables, over.variables, |variable| {
            &variable.name
        });
        lay(&mut self.tools, over.tools, |test| &test.name);
        lay(&mut self.resources, over.resources, |test| &test.name);
        lay(&mut self.prompts, over.prompts, |test| &test.name);
        lay(&mut self.compositions, over.compositions, |composition| {
            &composition.name
        });
        lay(&mut self.compliance.tests, over.compliance.tests, |test| {
            &test.name
        });
        lay(&mut self.fixtures.errors, over.fixtures.errors, |error| {
            &error.name
        });
        lay(&mut self.agents, over.agents, |agent| &agent.name);
        lay(&mut self.faults, over.faults, |fault| &fault.name);
        lay(&mut self.providers, over.providers, |provider| {
            &provider.name
        });
        lay(&mut self.evals, over.evals, |eval| &eval.name);
        lay(&mut self.rubrics, over.rubrics, |(name, _)| name);
        lay(&mut self.scorers, over.scorers, |scorer| &scorer.name);
        replace(&mut self.compliance.baseline, over.compliance.baseline);
        replace(
            &mut self.compliance.spec_version,
            over.compliance.spec_version,
        );
        replace(
            &mut self.compliance.spec_version_check,
            over.compliance.spec_version_check,
        );
        replace(
            &mut self.compliance.grade_delta,
            over.compliance.grade_delta,
        );
        replace(&mut self.fixtures.server, over.fixtures.server);
        replace(
            &mut self.default_test.transform,
            over.default_test.transform,
        );
        if over.default_test.expect_place.is_some() {
            self.default_test.expect = over.default_test.expect;
            self.default_test.expect_place = over.default_test.expect_place;
        }
        if !over.model_compatibility.is_empty() {
            self.model_compatibility = over.model_compatibility;
        }
        if !over.target_versions.is_empty() {
            self.target_versions = over.target_versions;
        }
        self.budget = over.budget.or(self.budget);
        self.performance = over.performance.or(self.performance);
    }
}

/// Appends later entries to earlier ones and removes those that they replace. Within one file a
/// name may occur several times.
fn lay<T>(below: &mut Vec<T>, over: Vec<T>, name: impl Fn(&T) -> &String) {
    if !below.is_empty() {
        let names: HashSet<&String> = over.iter().map(&name).collect();
        below.retain(|entry| !names.contains(name(entry)));
    }
    below.extend(over);
}

fn replace<T>(below: &mut Option<T>, over: Option<T>) {
    if over.is_some() {
        *below = over;
    }
}
