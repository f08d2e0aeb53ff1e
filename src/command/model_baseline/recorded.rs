//! Makes captures from recordings of agents, and from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tapewright_baselines::{Baseline, exchanges, merge, model_version};
use tapewright_models::agent_cassette::AgentCassette;
use tapewright_schemas::envelope::Kind;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::summary::Introduction;

use super::candidates::{Candidate, Captured, hash, identity, qualified};
use super::file;
use super::source::{Source, SourceArguments};
use crate::command::export::agent::Run;
use crate::command::redaction;
use crate::files::agent::AgentTapes;
use crate::files::{Recording, unreadable};
use crate::report::{self, Mistake};
use crate::suite::live::agents::cassette::without_secrets;

/// The capture of recordings or files, each of which is a run.
pub(super) fn capture(
    arguments: &SourceArguments,
    source: &Source<'_>,
) -> anyhow::Result<Candidate> {
    let rules = Arc::new(redaction::built_in(&redaction::of_environment()));
    let paths: &[PathBuf] = match source {
        Source::Recordings(paths) | Source::Files(paths) => paths,
        Source::Suites(_) => &[],
    };
    let mut captures = Vec::with_capacity(paths.len());
    for path in paths {
        let mut one = match source {
            Source::Recordings(_) => recording(arguments, path, &rules)?,
            _ => input(arguments, path, &rules)?,
        };
        if let Some(model) = arguments.models.model.first() {
            one.identity.model_id = qualified(model);
        }
        captures.push(one);
    }
    same_model(&captures)?;
    let baseline = merge(captures).ok_or_else(|| anyhow::anyhow!("nothing to capture"))?;
    Ok(Candidate {
        model: baseline.identity.model_id.clone(),
        captured: Ok(Captured { baseline, rules }),
    })
}

fn same_model(captures: &[Baseline]) -> anyhow::Result<()> {
    let mut models: Vec<&str> = captures
        .iter()
        .map(|one| one.identity.model_id.as_str())
        .collect();
    models.dedup();
    if models.len() < 2 {
        return Ok(());
    }
    let what = format!(
        "runs of different models: {}",
        report::safe(&models.join(", "))
    );
    Err(Mistake::new(what, "capture each model to its own file").into())
}

/// The run in a recording of an agent.
fn recording(
    arguments: &SourceArguments,
    path: &Path,
    rules: &Arc<Rules>,
) -> anyhow::Result<Baseline> {
    let mut cassette = Run::required(path)?.into_cassette();
    let mut config = Map::new();
    for tape in AgentTapes::of(path)?.mcp_servers() {
        let (name, told, version) = server(tape)?;
        config.insert(name.clone(), told);
        cassette
            .servers
            .extend(version.map(|version| (name, version)));
    }
    let config = if config.is_empty() {
        Value::Null
    } else {
        config.into()
    };
    of_cassette(arguments, &cassette, &config, path, rules)
}

/// The name of a recorded server, how it was reached, and the version that it declared.
fn server(tape: &Path) -> anyhow::Result<(String, Value, Option<String>)> {
    let recording = Recording::open(tape)?;
    let header = recording.header();
    let told = match header.command.as_slice() {
        [] => json!({ "url": header.upstream }),
        command => json!({ "command": command }),
    };
    let mut introduction = Introduction::default();
    recording.messages(|_, envelope| {
        // The answer to the handshake is the first one with `serverInfo`.
        if let Some(Kind::Response {
            result: Some(result),
            ..
        }) = envelope.map(|envelope| &envelope.kind)
        {
            introduction.answer("initialize", result);
        }
        Ok(())
    })?;
    let version = introduction.server.map(|server| server.version);
    Ok((
        header.label,
        told,
        version.filter(|version| !version.is_empty()),
    ))
}

/// Reads a capture, or the cassette of an agent test.
fn input(arguments: &SourceArguments, path: &Path, rules: &Arc<Rules>) -> anyhow::Result<Baseline> {
    let text = file::bytes(path)?;
    if !is_cassette(&text) {
        return Baseline::read(&text).map_err(|error| file::refused(path, &error));
    }
    let cassette = AgentCassette::read(&text).map_err(|error| {
        let hint = "`tapewright run SUITE --record` writes cassettes of agent tests";
        unreadable(path, &error.to_string(), hint)
    })?;
    of_cassette(arguments, &cassette, &Value::Null, path, rules)
}

/// Whether a file is the cassette of an agent test: a capture has no `schema_version`.
fn is_cassette(text: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Begins {
        schema_version: Option<serde::de::IgnoredAny>,
    }
    let read = serde_json::from_slice::<Begins>(text);
    read.is_ok_and(|read| read.schema_version.is_some())
}

fn of_cassette(
    arguments: &SourceArguments,
    cassette: &AgentCassette,
    config: &Value,
    path: &Path,
    rules: &Arc<Rules>,
) -> anyhow::Result<Baseline> {
    let clean = without_secrets(cassette, rules);
    let clean = clean.ok_or_else(|| {
        let why = "cannot redact it";
        unreadable(path, why, "record the agent again")
    })?;
    let (file, test) = match &arguments.test {
        Some((file, test)) => (file.as_str(), test.as_str()),
        None => ("recorded", clean.agent_name.as_str()),
    };
    let servers: Vec<(String, String)> = clean.servers.clone().into_iter().collect();
    let identity = identity(
        qualified(&clean.model),
        model_version(std::iter::once(&clean.trace)),
        &servers,
        hash(config, rules)?,
    );
    Ok(Baseline::new(identity, exchanges(file, test, &clean.trace)))
}
