//! The recording of an agent: model calls, and the servers next to them.

use std::path::{Path, PathBuf};

use tapewright_models::recorded::{ProviderExchange, ProviderExchanges};
use tapewright_schemas::tape::Header;

use super::{Recording, folder};
use crate::report::{Mistake, safe};

/// The tapes of an agent's recording.
#[derive(Debug)]
pub(crate) struct AgentTapes {
    /// The tapes of MCP servers; for a recording in one file, that file.
    pub(crate) servers: Vec<PathBuf>,
    // The tapes that may have model calls.
    models: Vec<PathBuf>,
}

/// All exchanges with providers.
#[derive(Debug, Default)]
pub(crate) struct ModelSide {
    /// The exchanges that were kept.
    pub(crate) exchanges: Vec<ProviderExchange>,
    /// How many exchanges were dropped.
    pub(crate) passed_over: u64,
    /// The header of the tape with the first of them.
    pub(crate) header: Header,
}

impl AgentTapes {
    /// The tapes of a file, or of a folder with one recording.
    pub(crate) fn of(named: &Path) -> anyhow::Result<Self> {
        if !named.is_dir() {
            return Ok(Self {
                servers: vec![named.to_owned()],
                models: vec![beside_cassette(named)],
            });
        }
        let tapes = folder::recordings(named)?;
        if tapes.is_empty() {
            let what = format!("no recording in `{}`", safe(&named.display().to_string()));
            let hint = "give a recording, or a folder written by `record --models`";
            return Err(Mistake::new(what, hint).into());
        }
        let servers = tapes.iter().filter(|path| !folder::is_of_models(path));
        Ok(Self {
            servers: servers.cloned().collect(),
            models: tapes,
        })
    }

    /// The tape to serve as an MCP server, if there is only one. Several servers need a replay
    /// each.
    pub(crate) fn server(&self) -> Option<&PathBuf> {
        match self.servers.as_slice() {
            [only] => Some(only),
            _ => self.of_models(),
        }
    }

    /// Whether model calls have a separate tape.
    fn has_tape_of_models(&self) -> bool {
        self.models.iter().any(|path| folder::is_of_models(path))
    }

    /// Refuses several servers if one must be chosen.
    pub(crate) fn check_one_server(&self, named: &Path) -> anyhow::Result<()> {
        let [first, _, ..] = self.servers.as_slice() else {
            return Ok(());
        };
        if self.has_tape_of_models() {
            return Ok(());
        }
        let (named, first) = (named.display().to_string(), first.display().to_string());
        let what = format!(
            "`{}` has several recordings, and a replay serves one",
            safe(&named)
        );
        Err(Mistake::new(
            what,
            format!("give one of them, such as `{}`", safe(&first)),
        )
        .into())
    }

    /// The tapes of MCP servers in a folder; empty for a recording in one file.
    pub(crate) fn mcp_servers(&self) -> &[PathBuf] {
        match self.servers.as_slice() {
            [only]
                if self.models.len() == 1
                    && self
                        .models
                        .first()
                        .is_some_and(|one| one == only || folder::is_of_models(one)) =>
            {
                &[]
            }
            servers => servers,
        }
    }

    /// The tape with the model calls, by its name.
    pub(crate) fn of_models(&self) -> Option<&PathBuf> {
        let named = self.models.iter().find(|path| folder::is_of_models(path));
        named.or(self.models.first())
    }

    /// All exchanges with providers.
    pub(crate) fn models(&self) -> anyhow::Result<ModelSide> {
        let mut side = ModelSide::default();
        for path in &self.models {
            let recording = Recording::open(path)?;
            let header = recording.header();
            // Only MCP uses pipes.
            if header.transport != "http" {
                continue;
            }
            let mut exchanges = ProviderExchanges::default();
            recording.events(|event| {
                exchanges.observe(event);
                Ok(())
            })?;
            let (some, passed_over) = exchanges.finish();
            if side.exchanges.is_empty() {
                side.header = header;
            }
            side.exchanges.extend(some);
            side.passed_over += passed_over;
        }
        Ok(side)
    }
}

/// A cassette has no model calls; its tape is next to it.
fn beside_cassette(named: &Path) -> PathBuf {
    let is_tape = named.to_string_lossy().ends_with(".tape.jsonl");
    let tape = named.with_extension("tape.jsonl");
    if !is_tape && tape.is_file() {
        tape
    } else {
        named.to_owned()
    }
}
