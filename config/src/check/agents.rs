//! References of agents and evals: servers, providers, faults, rubrics, scorers.

use super::Check;
use crate::issue::Code;
use crate::source::SourceSpot;
use crate::suite::agent::Agent;
use crate::suite::rubric::{Form, Rubric};

pub(super) fn check(check: &Check<'_>) {
    let suite = check.suite;
    for agent in &suite.agents {
        one(check, agent);
    }
    for eval in &suite.evals {
        if let Some(found) = &eval.rubric {
            rubric(check, &eval.place, "/rubric", found);
        }
    }
}

fn one(check: &Check<'_>, agent: &Agent) {
    let suite = check.suite;
    for (index, server) in agent.servers.iter().enumerate() {
        check.server(&agent.place, &format!("/servers/{index}"), server);
    }
    let providers: Vec<_> = suite
        .providers
        .iter()
        .map(|provider| provider.name.as_str())
        .collect();
    for (index, model) in agent.models.iter().enumerate() {
        if let Some(provider) = &model.provider {
            let relative = format!("/models/{index}/provider");
            check.is_one_of(&agent.place, &relative, provider, "provider", &providers);
        }
    }
    let faults: Vec<_> = suite
        .faults
        .iter()
        .map(|fault| fault.name.as_str())
        .collect();
    for (index, fault) in agent.inject.iter().enumerate() {
        check.is_one_of(
            &agent.place,
            &format!("/inject/{index}"),
            fault,
            "fault",
            &faults,
        );
    }
    if agent.recovery.is_some() && agent.inject.is_empty() {
        let message = "nothing to recover from".to_owned();
        let help = "name a fault under `inject`, or leave `recovery` out".to_owned();
        check.error(&agent.place, "/recovery", Code::Reference, message, help);
    }
    let Some(metrics) = &agent.eval else { return };
    if agent.turns.is_none() && metrics.multi_turn_mcp_use.is_some() {
        let message = "`multi_turn_mcp_use` averages over turns, and there are none".to_owned();
        let help = "give the agent `turns`, or use `mcp_use`".to_owned();
        check.error(
            &agent.place,
            "/eval/multi_turn_mcp_use",
            Code::Reference,
            message,
            help,
        );
    }
    if let Some(found) = &metrics.rubric {
        rubric(check, &agent.place, "/eval/rubric", found);
    }
}

fn rubric(check: &Check<'_>, at: &SourceSpot, relative: &str, rubric: &Rubric) {
    let suite = check.suite;
    match &rubric.form {
        Form::Ref(name) => {
            let rubrics = suite.rubrics.iter();
            let names: Vec<_> = rubrics.map(|(name, _)| name.as_str()).collect();
            check.is_one_of(at, &format!("{relative}/ref"), name, "rubric", &names);
        }
        Form::Scorer { name, .. } => {
            let scorers = suite.scorers.iter();
            let names: Vec<_> = scorers.map(|scorer| scorer.name.as_str()).collect();
            check.is_one_of(at, &format!("{relative}/scorer"), name, "scorer", &names);
        }
        Form::Text(_) | Form::Criteria(_) | Form::Tree(_) => {}
    }
}
