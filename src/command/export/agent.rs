//! Exports the run of an agent as an agent cassette, or as a suite with one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tapewright_models::agent_cassette::{AgentCassette, file_names};

use crate::command::init::recorded::about;
use crate::files::agent::{AgentTapes, ModelSide};
use crate::files::output::{self, Overwrite};
use crate::files::{NewFile, Recording};
use crate::report::{self, Mistake, safe};
use crate::suite::write::agent::AgentDraft;
use crate::suite::write::server::{Reach, Server};

/// A recording with model calls.
pub(crate) struct Run {
    named: PathBuf,
    tapes: AgentTapes,
    cassette: AgentCassette,
}

impl Run {
    /// The agent's run in a recording; `None` if it has no model calls.
    pub(super) fn of(named: &Path) -> anyhow::Result<Option<Self>> {
        let tapes = AgentTapes::of(named)?;
        let ModelSide {
            exchanges,
            passed_over,
            header,
        } = tapes.models()?;
        let name = match header.label.as_str() {
            "" => "agent",
            label => label,
        };
        let created = second(&header.created);
        let Some(cassette) = AgentCassette::of_recording(&exchanges, name, &created) else {
            return Ok(None);
        };
        if passed_over > 0 {
            report::note(&format!(
                "{passed_over} exchanges with providers were recorded in part and are left out"
            ));
        }
        Ok(Some(Self {
            named: named.to_owned(),
            tapes,
            cassette,
        }))
    }

    /// The run in a folder; a single file has only MCP calls.
    pub(crate) fn in_folder(named: &Path) -> anyhow::Result<Option<Self>> {
        if named.is_dir() {
            Self::of(named)
        } else {
            Ok(None)
        }
    }

    /// Like `of`, but an error if there is no run.
    pub(crate) fn required(named: &Path) -> anyhow::Result<Self> {
        Self::of(named)?.ok_or_else(|| {
            let path = safe(&named.display().to_string());
            let what = format!("no answered model call in `{path}`");
            let hint = "record an agent with `tapewright record --models -o run/ -- AGENT`";
            Mistake::new(what, hint).into()
        })
    }

    /// The run itself.
    pub(crate) fn into_cassette(self) -> AgentCassette {
        self.cassette
    }

    /// Writes the cassette.
    pub(super) fn write_cassette(&self, output: Option<&Path>) -> anyhow::Result<()> {
        let text = self.cassette.write();
        match output {
            Some(output) => write(output, &text),
            None => report::out(&text),
        }
    }

    /// Writes a suite with the run as its only test, and the cassette to the path that the suite
    /// expects. Without an output file, only the suite is written.
    pub(crate) fn write_suite(&self, output: Option<&Path>, over: Overwrite) -> anyhow::Result<()> {
        let servers = self.servers(output)?;
        let file = safe(&self.named.display().to_string());
        let first = format!("Written from the recording {file}: what the agent did then.");
        let draft = AgentDraft {
            about: about(&first, output, None),
            servers,
            cassette: &self.cassette,
        };
        let Some(output) = output else {
            return report::out(&draft.write());
        };
        let cassette = self.cassette_of(output);
        output::check_ahead(&cassette, over)?;
        write(&cassette, &self.cassette.write())?;
        write(output, &draft.write())?;
        let cassette = safe(&cassette.display().to_string());
        report::note(&format!("its answers are in `{cassette}`"));
        Ok(())
    }

    fn cassette_of(&self, suite: &Path) -> PathBuf {
        let AgentCassette {
            agent_name, model, ..
        } = &self.cassette;
        let (name, _) = file_names(agent_name, None, model);
        suite.with_file_name("cassettes").join(name)
    }

    /// The servers that the agent had.
    fn servers(&self, output: Option<&Path>) -> anyhow::Result<Vec<Server>> {
        let mut all: Vec<Server> = Vec::new();
        if self.named.is_dir() {
            for path in &self.tapes.servers {
                let header = Recording::open(path)?.header();
                let server = Server::of(&header, &path.to_string_lossy());
                // A server that was started several times has a tape for each start.
                if !all.iter().any(|one| one.name == server.name) {
                    all.push(server);
                }
            }
        }
        if all.is_empty() {
            let what = output.map_or("the suite".to_owned(), |path| {
                format!("`{}`", safe(&path.display().to_string()))
            });
            report::note(&format!(
                "the recording has no MCP server: put the agent's into {what} in place of `my-server`"
            ));
            let calls = &self.cassette.trace.tool_calls;
            let named = calls.iter().find(|call| !call.server.is_empty());
            all.push(Server {
                name: named
                    .map_or("server", |call| call.server.as_str())
                    .to_owned(),
                reach: Reach::Command(vec!["my-server".to_owned()]),
            });
        }
        Ok(all)
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = NewFile::create(path)?;
    file.writer().write_all(text.as_bytes())?;
    file.commit(None)
}

/// A time to the second: `2026-11-25T02:46:25.123Z` without its fraction.
fn second(created: &str) -> String {
    let Some((time, _)) = created.split_once('.') else {
        return created.to_owned();
    };
    format!("{time}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_second() {
        assert_eq!(second("2026-11-25T02:46:25.123Z"), "2026-11-25T02:46:25Z");
        assert_eq!(second("2026-11-25T02:46:25Z"), "2026-11-25T02:46:25Z");
    }
}
