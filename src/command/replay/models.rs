//! The model side of a recording: where it is, and who serves it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_models::recorded::{ProviderExchange, ProviderExchanges};
use tapewright_proxy::front::beside::Beside;
use tapewright_proxy::http::listen::Reached;
use tapewright_replay::Options;
use tapewright_replay::models::{ModelReport, Provider};

use super::Arguments;
use crate::files::{self, Recording};
use crate::log;
use crate::report::{self, Mistake, safe};

/// The tapes of a recording.
pub(super) struct Sources {
    /// What is served as an MCP server.
    pub(super) mcp: PathBuf,
    // What may hold calls of models.
    models: Vec<PathBuf>,
}

impl Sources {
    /// The tapes that a name stands for: a file, or a folder with one recording.
    pub(super) fn of(named: &Path) -> anyhow::Result<Self> {
        if !named.is_dir() {
            return Ok(Self {
                mcp: named.to_owned(),
                models: vec![beside_cassette(named)],
            });
        }
        let tapes = files::folder::recordings(named)?;
        let is_of_models = |path: &&PathBuf| path.file_name().is_some_and(|name| name == MODELS);
        let servers: Vec<&PathBuf> = tapes.iter().filter(|path| !is_of_models(path)).collect();
        let mcp = match servers.as_slice() {
            [only] => Some(*only),
            // With several servers each is served by a replay of its own.
            _ => tapes.iter().find(is_of_models).or(tapes.first()),
        };
        let Some(mcp) = mcp.cloned() else {
            let what = format!("`{}` holds no tape", safe(&named.display().to_string()));
            let hint = "name a recording, or a folder that `record --models` has written";
            return Err(Mistake::new(what, hint).into());
        };
        Ok(Self { mcp, models: tapes })
    }

    /// All exchanges with providers, and how many more there were.
    fn exchanges(&self) -> anyhow::Result<(Vec<ProviderExchange>, u64)> {
        let (mut all, mut more) = (Vec::new(), 0);
        for path in &self.models {
            let recording = Recording::open(path)?;
            // What passed over pipes was MCP.
            if recording.header().transport != "http" {
                continue;
            }
            let mut exchanges = ProviderExchanges::default();
            recording.events(|event| {
                exchanges.observe(event);
                Ok(())
            })?;
            let (some, passed_over) = exchanges.finish();
            all.extend(some);
            more += passed_over;
        }
        Ok((all, more))
    }
}

/// The tape with the calls of models in the folder of a recording.
const MODELS: &str = "models.tape.jsonl";

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

/// The provider that a recording is, where it is to be served as one.
pub(super) fn provider(
    arguments: &Arguments,
    sources: &Sources,
    options: &Arc<Options>,
) -> anyhow::Result<Option<Arc<Provider>>> {
    if !arguments.models && arguments.listening.listen.is_none() {
        return Ok(None);
    }
    let (exchanges, more) = sources.exchanges()?;
    let verbose = arguments.verbose;
    let tell = move |miss: &tapewright_replay::models::ModelMiss| {
        log::missed_model(miss);
        if verbose {
            report::replay::model_miss(miss);
        }
    };
    let provider = Provider::new(exchanges, more, Arc::clone(options), Some(Box::new(tell)));
    if provider.calls() > 0 {
        if verbose {
            report::note(&format!("serving {} calls of models", provider.calls()));
        }
        return Ok(Some(Arc::new(provider)));
    }
    if !arguments.models {
        return Ok(None);
    }
    let what = format!(
        "`{}` holds no calls of models",
        safe(&arguments.tape.display().to_string())
    );
    let hint = "name the tape of a gateway in front of a provider, or a folder that `record --models` has written";
    Err(Mistake::new(what, hint).into())
}

/// What a front answers beside MCP.
pub(super) fn beside(provider: Option<&Arc<Provider>>) -> Option<Beside> {
    let provider = provider?;
    Some(Beside(Arc::clone(provider) as Arc<_>))
}

/// What became of it.
pub(super) fn report(provider: Option<&Arc<Provider>>) -> Option<ModelReport> {
    provider.map(|provider| provider.report())
}

/// Where agents find their models.
pub(super) fn variables(reached: &Reached) -> Vec<(&'static str, String)> {
    let origin = match reached {
        Reached::Origin(origin) => origin.as_str(),
        Reached::Socket(_) => "http://localhost",
    };
    BASES
        .iter()
        .map(|(name, path)| (*name, format!("{origin}{path}")))
        .collect()
}

/// The variables by which agents are told of their providers, and where these are here.
const BASES: [(&str, &str); 3] = [
    ("ANTHROPIC_BASE_URL", "/anthropic"),
    ("OPENAI_BASE_URL", "/openai/v1"),
    ("GOOGLE_GEMINI_BASE_URL", "/gemini"),
];
