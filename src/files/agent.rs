//! The recording of an agent: calls of models, and the servers beside them.

use std::path::{Path, PathBuf};

use tapewright_models::recorded::{ProviderExchange, ProviderExchanges};
use tapewright_schemas::tape::Header;

use super::{Recording, folder};
use crate::report::{Mistake, safe};

/// The tapes of the recording of an agent.
#[derive(Debug)]
pub(crate) struct AgentTapes {
    /// Tapes of MCP servers; of a recording that is one file, that file.
    pub(crate) servers: Vec<PathBuf>,
    // What may hold calls of models.
    models: Vec<PathBuf>,
}

/// All exchanges with providers.
#[derive(Debug, Default)]
pub(crate) struct ModelSide {
    /// Those that were kept.
    pub(crate) exchanges: Vec<ProviderExchange>,
    /// How many more there were.
    pub(crate) passed_over: u64,
    /// The header of the tape with the first of them.
    pub(crate) header: Header,
}

impl AgentTapes {
    /// The tapes that a name stands for: a file, or a folder with one recording.
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

    /// What is served as an MCP server: the only one. With several each needs a replay of its
    /// own.
    pub(crate) fn server(&self) -> Option<&PathBuf> {
        match self.servers.as_slice() {
            [only] => Some(only),
            _ => self.of_models(),
        }
    }

    /// Whether calls of models are on a tape of their own.
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

    /// The tapes of MCP servers of a folder; a recording that is one file has none beside it.
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

    /// The tape with the calls of models, as far as names tell.
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
            // What passed over pipes was MCP.
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

/// A cassette has no calls of models; its tape stands beside it.
fn beside_cassette(named: &Path) -> PathBuf {
    let is_tape = named.to_string_lossy().ends_with(".tape.jsonl");
    let tape = named.with_extension("tape.jsonl");
    if !is_tape && tape.is_file() {
        tape
    } else {
        named.to_owned()
    }
}
