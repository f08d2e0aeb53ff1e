//! Pairs the parts of two recordings for comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_replay::diff::{self, DiffOptions, Found};
use tapewright_replay::{Script, Starts};
use tapewright_schemas::order::Order as _;

use crate::command::replay::{load, unloadable};
use crate::files::agent::AgentTapes;
use crate::files::{self, Recording, folder};
use crate::report::diff::{Differences, IncompleteReason, Of};
use crate::report::progress::{Elapsed, Progress};

/// The pairs of parts of two files.
pub(super) fn of_files(
    sides: [&PathBuf; 2],
    options: &DiffOptions,
) -> anyhow::Result<Vec<Differences>> {
    let [before, after] = sides;
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let _elapsed = Elapsed::of(&format!("comparing {} with {}", name(before), name(after)));
    let (before, after) = (Arc::new(load(before)?), load(after)?);
    let models = models(sides, options)?;
    let server = Differences {
        of: Of::Server(String::new()),
        found: diff::diff(&before, &after, options),
        incomplete: [&*before, &after].map(IncompleteReason::of),
    };
    Ok(std::iter::once(server).chain(models).collect())
}

/// The pairs of parts of two folders: model calls, each server of an agent with that of the same
/// name, and each other recording with that of the same name.
pub(super) fn parts(
    sides: [&PathBuf; 2],
    options: &DiffOptions,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Differences>> {
    let [before, after] = [recorded(sides[0])?, recorded(sides[1])?];
    let mut parts: Vec<Differences> = models(sides, options)?.into_iter().collect();
    let labels: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    progress.of(labels.len());
    for label in labels {
        progress.step(label);
        let script = |all: &BTreeMap<String, Vec<PathBuf>>| match all.get(label) {
            Some(tapes) => read(tapes),
            None => Ok(nothing()?),
        };
        let (before, after) = (Arc::new(script(&before)?), script(&after)?);
        parts.push(Differences {
            of: Of::Server(label.clone()),
            found: diff::diff(&before, &after, options),
            incomplete: [&*before, &after].map(IncompleteReason::of),
        });
    }
    Ok(parts)
}

/// Model calls, if either side has any.
fn models(sides: [&PathBuf; 2], options: &DiffOptions) -> anyhow::Result<Option<Differences>> {
    let [before, after] = [AgentTapes::of(sides[0])?, AgentTapes::of(sides[1])?];
    let [before, after] = [before.models()?, after.models()?];
    let exchanges = diff::models(&before.exchanges, &after.exchanges, options);
    if exchanges.is_empty() {
        return Ok(None);
    }
    let more =
        |passed_over: u64| (passed_over > 0).then_some(IncompleteReason::PassedOver(passed_over));
    Ok(Some(Differences {
        of: Of::Models,
        found: Found {
            exchanges,
            ..Found::default()
        },
        incomplete: [before.passed_over, after.passed_over].map(more),
    }))
}

/// The recordings in a folder: the tapes of each server of an agent's recording, in the order of
/// its starts, and every other recording by its name.
fn recorded(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<PathBuf>>> {
    folder::of(folder)?;
    let found = folder::contained(folder)?;
    let mut all: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
    for path in found.parts {
        if folder::is_of_models(&path) {
            continue;
        }
        let header = Recording::open(&path)?.header();
        let starts = all.entry(header.label).or_default();
        starts.push((header.created, path));
    }
    for path in found.others {
        let mut name = folder::part(&path);
        if all.contains_key(&name) {
            name = path.display().to_string();
        }
        all.insert(name, vec![(String::new(), path)]);
    }
    let in_order = |mut starts: Vec<(String, PathBuf)>| {
        starts.order();
        starts.into_iter().map(|(_, path)| path).collect()
    };
    let all = all.into_iter();
    Ok(all
        .map(|(label, starts)| (label, in_order(starts)))
        .collect())
}

/// The starts of a server as one recording.
fn read(tapes: &[PathBuf]) -> anyhow::Result<Script> {
    if let [only] = tapes {
        return load(only);
    }
    let files = tapes.iter().map(|path| Ok(files::opened(path)?.1));
    let files = files.collect::<anyhow::Result<Vec<_>>>()?;
    let spool = || files::spool().map_err(std::io::Error::other);
    let starts = Starts::open(files, &spool);
    let first = tapes.first().map_or(Path::new(""), PathBuf::as_path);
    Ok(starts.map_err(|error| unloadable(first, error))?.script)
}

/// A recording of a server that was never started.
fn nothing() -> anyhow::Result<Script> {
    Ok(Script::load(&br#"{"version":"1","exchanges":[]}"#[..])?)
}
