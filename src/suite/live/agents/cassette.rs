//! The cassettes of agent tests, next to the suite.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tapewright_judges::Model;
use tapewright_models::agent_cassette::{AgentCassette, AgentInputs, Stale};
use tapewright_proxy::clock::Clock;
use tapewright_schemas::redact::{Redactor, Rules};

use super::drive::Ran;
use crate::files::NewFile;
use crate::suite::plan::AgentCase;

/// The longest cassette to read, in bytes.
const LONGEST: u64 = 64 << 20;

/// A recorded run, and its file.
pub(super) struct RecordedRun {
    pub(super) path: PathBuf,
    pub(super) cassette: AgentCassette,
}

/// The path of a case's cassette: under its own name, or that of other tools.
pub(crate) fn found(folder: &Path, agent: &AgentCase) -> Option<PathBuf> {
    let (ours, other) = &agent.files;
    let paths = [Some(ours), other.as_ref()];
    let mut paths = paths.into_iter().flatten().map(|name| folder.join(name));
    paths.find(|path| path.exists())
}

/// The recorded run of a case, if there is one; the error says why it cannot be read.
pub(super) fn read(folder: &Path, agent: &AgentCase) -> Result<Option<RecordedRun>, String> {
    found(folder, agent).map_or(Ok(None), open)
}

/// The model of the cassette with this name, if it exists.
pub(super) fn model(folder: &Path, file: &str) -> Result<Option<Model>, String> {
    let known = open(folder.join(file))?;
    Ok(known.map(|known| Model::named(known.cassette.model)))
}

fn open(path: PathBuf) -> Result<Option<RecordedRun>, String> {
    let shown = path.display().to_string();
    let failed = |why: &str| format!("cannot read the cassette `{shown}`: {why}");
    let mut text = Vec::new();
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error.to_string())),
    };
    let read = file.take(LONGEST + 1).read_to_end(&mut text);
    read.map_err(|error| failed(&error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(failed("it is too long"));
    }
    let cassette = AgentCassette::read(&text).map_err(|error| failed(&error.to_string()))?;
    Ok(Some(RecordedRun { path, cassette }))
}

/// Whether a recorded run matches the suite. Secrets were hidden when it was written, so they are
/// hidden in the suite before comparing.
pub(super) fn check(
    known: &RecordedRun,
    agent: &AgentCase,
    rules: &Arc<Rules>,
) -> Result<(), Stale> {
    let prompt = agent.user.prompt();
    let asked = AgentInputs {
        agent: &agent.agent,
        model: &agent.model.id,
        user_prompt: &prompt,
        system_prompt: agent.system_prompt.as_deref(),
    };
    let Err(stale) = known.cassette.check(&asked) else {
        return Ok(());
    };
    let shown = json!({"user_prompt": prompt, "system_prompt": agent.system_prompt});
    let shown = hidden(&shown.to_string(), rules);
    let shown: Value = serde_json::from_str(&shown).unwrap_or_default();
    let text = |name: &str| shown.get(name).and_then(Value::as_str);
    let asked = AgentInputs {
        user_prompt: text("user_prompt").unwrap_or(&prompt),
        system_prompt: text("system_prompt"),
        ..asked
    };
    known.cassette.check(&asked).map_err(|_| stale)
}

/// The cassette of a run.
pub(super) fn of_run(agent: &AgentCase, ran: &Ran, clock: Clock) -> AgentCassette {
    let now = clock.created + clock.elapsed();
    let now = jiff::Timestamp::try_from(now).unwrap_or_default();
    AgentCassette {
        agent_name: agent.agent.clone(),
        model: agent.model.id.clone(),
        user_prompt: agent.user.prompt(),
        system_prompt: agent.system_prompt.clone(),
        recorded_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        tools_fingerprint: Some(ran.fingerprint.clone()),
        temperature: None,
        max_tokens: Some(agent.limits.max_tokens),
        servers: ran.servers.clone(),
        trace: ran.finished.trace.clone(),
    }
}

/// The cassette in its written form; `None` if that cannot be read again.
pub(crate) fn without_secrets(
    cassette: &AgentCassette,
    rules: &Arc<Rules>,
) -> Option<AgentCassette> {
    AgentCassette::read(hidden(&cassette.write(), rules).as_bytes()).ok()
}

/// Writes the cassette of a run.
pub(super) fn write(
    folder: &Path,
    agent: &AgentCase,
    cassette: &AgentCassette,
    rules: &Arc<Rules>,
) -> anyhow::Result<()> {
    let text = hidden(&cassette.write(), rules);
    fs::create_dir_all(folder)?;
    let path = folder.join(&agent.files.0);
    let mut file = NewFile::shared(&path)?;
    file.writer().write_all(text.as_bytes())?;
    // Cassettes are committed and read by others.
    file.commit(tapewright_proxy::system::files::readable_by_all())
}

/// A document without secrets. Text that is not JSON is not written at all.
fn hidden(text: &str, rules: &Arc<Rules>) -> String {
    let mut redactor = Redactor::new(Arc::clone(rules));
    let clean = redactor.json(text.as_bytes());
    clean.map_or_else(
        |_| "{}".to_owned(),
        |text| String::from_utf8_lossy(&text).into_owned(),
    )
}
