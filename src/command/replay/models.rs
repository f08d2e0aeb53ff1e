//! The model side of a recording: finds and serves it.

use std::ffi::OsString;
use std::sync::Arc;

use tapewright_proxy::agent::Agent;
use tapewright_proxy::front::non_mcp::NonMcpHandler;
use tapewright_proxy::http::listen::ReachableAt;
use tapewright_replay::Options;
use tapewright_replay::models::{ModelReport, Provider};

use super::Arguments;
use crate::command::record;
use crate::files::agent::{AgentTapes, ModelSide};
use crate::files::claims::Claims;
use crate::log;
use crate::report::{self, Mistake, safe};

/// The messages of agents and providers, if they are to be served; learns their paths.
pub(super) fn side(
    arguments: &Arguments,
    tapes: &AgentTapes,
    options: &mut Options,
) -> anyhow::Result<Option<ModelSide>> {
    if !arguments.models && arguments.listening.listen.is_none() {
        return Ok(None);
    }
    let side = tapes.models()?;
    arguments.playing.mapping.learn(&side, &mut options.paths);
    Ok(Some(side))
}

/// The recorded provider, if it is to be served.
pub(super) fn provider(
    arguments: &Arguments,
    side: Option<ModelSide>,
    options: &Arc<Options>,
) -> anyhow::Result<Option<Arc<Provider>>> {
    let Some(side) = side else {
        return Ok(None);
    };
    let verbose = arguments.verbose;
    let tell = move |miss: &tapewright_replay::models::ModelMiss| {
        log::missed_model(miss);
        if verbose {
            report::replay::model_miss(miss);
        }
    };
    let (exchanges, more) = (side.exchanges, side.passed_over);
    let provider = Provider::new(exchanges, more, Arc::clone(options), Some(Box::new(tell)));
    if provider.calls() > 0 {
        if verbose {
            report::note(&format!("serving {} model calls", provider.calls()));
        }
        return Ok(Some(Arc::new(provider)));
    }
    if !arguments.models {
        return Ok(None);
    }
    let what = format!(
        "no model calls in `{}`",
        safe(&arguments.tape.display().to_string())
    );
    let hint =
        "give the tape of a gateway for a provider, or a folder written by `record --models`";
    Err(Mistake::new(what, hint).into())
}

/// The handler for requests to a front that are not MCP.
pub(super) fn beside(provider: Option<&Arc<Provider>>) -> Option<NonMcpHandler> {
    let provider = provider?;
    Some(NonMcpHandler(Arc::clone(provider) as Arc<_>))
}

/// The report about the provider.
pub(super) fn report(provider: Option<&Arc<Provider>>) -> Option<ModelReport> {
    provider.map(|provider| provider.report())
}

/// The variables that lead agents to their models.
pub(super) fn variables(reached: &ReachableAt) -> Vec<(&'static str, String)> {
    let origin = match reached {
        ReachableAt::Origin(origin) => origin.as_str(),
        ReachableAt::Socket(_) => "http://localhost",
    };
    BASES
        .iter()
        .map(|(name, path)| (*name, format!("{origin}{path}")))
        .collect()
}

/// The variables with the addresses of providers, and the path of each here.
const BASES: [(&str, &str); 3] = [
    ("ANTHROPIC_BASE_URL", "/anthropic"),
    ("OPENAI_BASE_URL", "/openai/v1"),
    ("GOOGLE_GEMINI_BASE_URL", "/gemini"),
];

/// Starts the agent, with its models here and its servers replayed.
pub(super) fn agent(arguments: &Arguments, reached: &ReachableAt, claims: &Claims) -> Agent {
    let (program, rest) = match arguments.command.split_first() {
        Some((program, rest)) => (program.clone(), rest.to_vec()),
        None => (OsString::new(), Vec::new()),
    };
    let told = variables(reached).into_iter();
    let mut told: Vec<(OsString, OsString)> = told
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    // Agents need a key, and must not get a real one here.
    told.extend(KEYS.map(|name| (name.into(), "replayed".into())));
    told.extend(record::played(&arguments.tape, Some(claims.path())));
    told.extend(record::unproxied());
    Agent {
        program,
        arguments: rest,
        variables: told,
        shares_terminal: record::shares_terminal(),
    }
}

/// The variables with agents' keys.
const KEYS: [&str; 4] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
];
