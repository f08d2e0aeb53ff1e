//! Joins the captures of several suites.

use std::sync::Arc;

use serde_json::{Map, Value};
use tapewright_baselines::{Baseline, config_hash};

use super::candidates::{Candidate, Captured};
use super::file;
use super::suite::Wanted;
use crate::report::Mistake;

/// The candidates of one suite, by its name in ids.
pub(super) struct SuiteCandidates {
    pub(super) suite: String,
    pub(super) candidates: Vec<Candidate>,
}

/// One candidate for each model, with the exchanges of all suites.
pub(super) fn join(
    mut suites: Vec<SuiteCandidates>,
    wanted: Wanted,
) -> anyhow::Result<Vec<Candidate>> {
    if suites.len() < 2 {
        return Ok(suites.pop().map_or(Vec::new(), |only| only.candidates));
    }
    let mut models: Vec<String> = Vec::new();
    for candidate in suites.iter().flat_map(|suite| &suite.candidates) {
        if !models.contains(&candidate.model) {
            models.push(candidate.model.clone());
        }
    }
    if wanted == Wanted::One && models.len() > 1 {
        let what = format!("the suites use several models: {}", models.join(", "));
        let hint = "a baseline has one model; choose it with `--model`";
        return Err(Mistake::new(what, hint).into());
    }
    let joined = models.into_iter().map(|model| {
        let captured = of_model(&mut suites, &model)?;
        Ok(Candidate { model, captured })
    });
    joined.collect()
}

/// The captures of a model from all suites; or what is missing, a line for each test or suite.
fn of_model(
    suites: &mut [SuiteCandidates],
    model: &str,
) -> anyhow::Result<Result<Captured, Vec<String>>> {
    let mut parts = Vec::new();
    let mut missing = Vec::new();
    for SuiteCandidates { suite, candidates } in suites {
        let own = candidates.iter().position(|one| one.model == model);
        match own.map(|at| candidates.swap_remove(at).captured) {
            Some(Ok(part)) => parts.push((suite.clone(), part)),
            Some(Err(why)) => missing.extend(why),
            None => missing.push(format!("{suite}: its tests do not use {model}")),
        }
    }
    if !missing.is_empty() {
        return Ok(Err(missing));
    }
    whole(parts).map(|whole| whole.ok_or_else(Vec::new))
}

fn whole(parts: Vec<(String, Captured)>) -> anyhow::Result<Option<Captured>> {
    let mut hashes = Map::new();
    let mut whole: Option<Captured> = None;
    for (suite, Captured { baseline, rules }) in parts {
        // Each suite has its own secrets.
        let text = file::text(&baseline, &rules)?;
        let part = Baseline::read(text.as_bytes())?;
        let hash = part.identity.server_config_hash.clone();
        hashes.insert(suite, Value::from(hash));
        match &mut whole {
            None => {
                whole = Some(Captured {
                    baseline: part,
                    rules: Arc::clone(&rules),
                });
            }
            Some(whole) => add(&mut whole.baseline, part),
        }
    }
    if let Some(Captured { baseline, .. }) = &mut whole {
        baseline.identity.server_config_hash = config_hash(&Value::Object(hashes));
        baseline
            .exchanges
            .sort_by(|one, other| one.id.cmp(&other.id));
    }
    Ok(whole)
}

fn add(whole: &mut Baseline, part: Baseline) {
    whole.exchanges.extend(part.exchanges);
    let (own, other) = (&mut whole.identity, part.identity);
    name(&mut own.model_version, &other.model_version);
    name(&mut own.server_version, &other.server_version);
}

/// Adds a name to a list of names.
fn name(list: &mut String, name: &str) {
    if !list.split(", ").any(|known| known == name) {
        list.push_str(", ");
        list.push_str(name);
    }
}
