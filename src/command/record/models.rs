//! `record --models`: records an agent, its models and its servers together.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tapewright_engine::fault::FaultSet;
use tapewright_proxy::agent::Agent;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::gateway::{self as proxy, Route};
use tapewright_proxy::http::listen::ReachableAt;
use tapewright_proxy::http::models::Providers;
use tapewright_proxy::http::origin::{Origin, OriginUrl};
use tapewright_proxy::record::Recorder;

use super::authority;
use super::endpoints::End;
use super::gateway;
use super::http::HttpArguments;
use super::part::{self, Part};
use crate::report::{Mistake, safe};

/// Agents and their models.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agents and models")]
pub(crate) struct ModelsArguments {
    /// Record an agent with its models and MCP servers to a folder
    ///
    /// COMMAND starts the agent; without it, agents connect to `--listen`. MCP servers that
    /// the agent starts through `record` belong to the same recording. With
    /// `--forward-proxy` and `--intercept` the agent keeps the addresses of its providers
    /// and uses the proxy.
    #[arg(long, groups = ["clients", "remote"], conflicts_with_all = ["upstream", "capture", "mode", "print_config", "scored"])]
    pub(crate) models: bool,
    /// Send requests for a provider to this URL; repeatable
    ///
    /// NAME is anthropic, openai, gemini, mistral, or your own name, which is then the
    /// first part of the path. [default: the URL in the agent's variable, such as
    /// `ANTHROPIC_BASE_URL`, or the provider's own]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME=URL",
        requires = "models",
        conflicts_with = "forward_proxy"
    )]
    provider: Vec<String>,
}

/// A model provider, and the variable with its address.
struct KnownProvider {
    name: &'static str,
    variable: Option<&'static str>,
    url: &'static str,
}

const KNOWN: [KnownProvider; 4] = [
    KnownProvider {
        name: "anthropic",
        variable: Some("ANTHROPIC_BASE_URL"),
        url: "https://api.anthropic.com",
    },
    KnownProvider {
        name: "openai",
        variable: Some("OPENAI_BASE_URL"),
        url: "https://api.openai.com/v1",
    },
    KnownProvider {
        name: "gemini",
        variable: Some("GOOGLE_GEMINI_BASE_URL"),
        url: "https://generativelanguage.googleapis.com",
    },
    KnownProvider {
        name: "mistral",
        variable: None,
        url: "https://api.mistral.ai",
    },
];

/// How requests of agents reach the recorder.
pub(super) enum ModelRoute {
    /// Directly, at addresses of ours, one for each provider.
    Directly(Vec<Provider>),
    /// Through a proxy, with the certificate authority that agents must trust.
    Through { authority: PathBuf },
}

/// Where a provider is.
pub(super) struct Provider {
    name: String,
    variable: Option<&'static str>,
    url: OriginUrl,
}

impl ModelsArguments {
    /// How agents reach us.
    pub(super) fn asked(&self, http: &HttpArguments) -> anyhow::Result<ModelRoute> {
        if http.forward_proxy.is_none() {
            return Ok(ModelRoute::Directly(self.providers()?));
        }
        if !http.intercepts() {
            let what = "`--models` with `--forward-proxy` needs `--intercept`";
            return Err(Mistake::new(what, "add `--intercept`").into());
        }
        let authority = authority::certificate()?;
        Ok(ModelRoute::Through { authority })
    }

    /// All providers, those of the command line first.
    fn providers(&self) -> anyhow::Result<Vec<Provider>> {
        let mut all = Vec::new();
        for text in &self.provider {
            all.push(named(text)?);
        }
        for known in &KNOWN {
            let is_named = all.iter().any(|one: &Provider| one.name == known.name);
            if !is_named {
                all.push(known.provider()?);
            }
        }
        Ok(all)
    }
}

/// A provider from the command line.
fn named(text: &str) -> anyhow::Result<Provider> {
    let hint = "write it like `--provider openai=https://llm.example.com/v1`";
    let (name, url) = text
        .split_once('=')
        .ok_or_else(|| Mistake::new("invalid `--provider`: expected `NAME=URL`", hint))?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        let what = format!("invalid provider name `{}`", safe(name));
        let hint = "use letters, digits, `-`, `_` and `.`, since it is part of the path";
        return Err(Mistake::new(what, hint).into());
    }
    let url = OriginUrl::parse(url).map_err(|why| {
        // A bad URL may contain a secret, and is not repeated.
        Mistake::new(format!("invalid URL in `--provider {name}`: {why}"), hint)
    })?;
    let known = KNOWN.iter().find(|known| known.name == name);
    Ok(Provider {
        name: name.to_owned(),
        variable: known.and_then(|known| known.variable),
        url,
    })
}

impl KnownProvider {
    /// The provider at the address its requests would go to without us.
    fn provider(&self) -> anyhow::Result<Provider> {
        let set = self.variable.and_then(|name| std::env::var(name).ok());
        let set = set.filter(|url| !url.is_empty());
        let url = OriginUrl::parse(set.as_deref().unwrap_or(self.url)).map_err(|why| {
            let variable = self.variable.unwrap_or_default();
            let what = format!("invalid URL in `{variable}`: {why}");
            Mistake::new(
                what,
                "fix it, or set the provider with `--provider NAME=URL`",
            )
        })?;
        Ok(Provider {
            name: self.name.to_owned(),
            variable: self.variable,
            url,
        })
    }
}

/// The gateway in front of them.
pub(super) fn route(providers: &[Provider], http: &HttpArguments) -> anyhow::Result<Route> {
    let settings = http.origin_settings()?;
    let add = |all: Providers, one: &Provider| {
        all.with(&one.name, Origin::new(one.url.clone(), settings.clone()))
    };
    Ok(Route::Models(
        providers.iter().fold(Providers::default(), add),
    ))
}

/// The variables that lead an agent to its models.
fn addresses(providers: &[Provider], origin: &str) -> Vec<(&'static str, OsString)> {
    let base = |one: &Provider| {
        let path = one.url.path.trim_end_matches('/');
        let url = format!("{origin}/{}{path}", one.name);
        Some((one.variable?, url.into()))
    };
    providers.iter().filter_map(base).collect()
}

/// The variables that lead an agent through our proxy and make it trust our authority. Connections
/// that are not decrypted keep the server's certificate, so in that case the certificates of the
/// system are not replaced.
fn proxied(http: &HttpArguments, authority: &Path, origin: &str) -> Vec<(&'static str, OsString)> {
    let proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
    let mut all: Vec<_> = proxy.map(|name| (name, origin.into())).into();
    all.push(("NODE_USE_ENV_PROXY", "1".into()));
    let mut trusting = vec!["NODE_EXTRA_CA_CERTS"];
    if http.reads_all() {
        trusting.extend(["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]);
    }
    let trusting = trusting.into_iter();
    all.extend(trusting.map(|name| (name, authority.into())));
    all
}

/// Variables that send requests to a proxy, and those with exceptions.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];
const NO_PROXIES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Removes the user's proxies from the agent's environment, which would bypass us.
pub(crate) fn unproxied() -> Vec<(OsString, OsString)> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !PROXIES.into_iter().any(is_set) {
        return Vec::new();
    }
    let set = NO_PROXIES.iter().find_map(std::env::var_os);
    let mut value =
        set.filter(|value| !value.is_empty())
            .map_or_else(OsString::new, |mut value| {
                value.push(",");
                value
            });
    value.push("127.0.0.1");
    let all = NO_PROXIES.iter();
    all.map(|name| (OsString::from(name), value.clone()))
        .collect()
}

/// The proxy between agents and models.
pub(super) struct ModelProxy<'a> {
    pub(super) http: &'a HttpArguments,
    pub(super) asked: &'a ModelRoute,
    pub(super) part: &'a Part,
    pub(super) clock: Clock,
    pub(super) fault_set: &'a Arc<FaultSet>,
}

impl ModelProxy<'_> {
    /// A gateway at this address; with `tells`, it prints what agents must trust that were not
    /// started by us.
    fn settings(&self, listen: &str, tells: bool) -> anyhow::Result<proxy::Settings> {
        let route = match self.asked {
            ModelRoute::Directly(providers) => route(providers, self.http)?,
            ModelRoute::Through { .. } => self.http.forward(tells)?,
        };
        let mut settings = self.http.gateway(route, listen)?;
        settings.faults = Arc::clone(self.fault_set);
        Ok(settings)
    }

    /// Serves agents that were started elsewhere, until a signal.
    pub(super) fn serve(
        &self,
        listen: &str,
        start: impl FnOnce() -> anyhow::Result<Arc<Recorder>>,
    ) -> anyhow::Result<(End, Arc<Recorder>)> {
        let settings = self.settings(listen, true)?;
        let recorder = start()?;
        let served = proxy::run(settings, &recorder, self.clock, |reached, figures| {
            let origin = match reached {
                ReachableAt::Origin(origin) => origin.as_str(),
                ReachableAt::Socket(_) => "http://localhost",
            };
            let told = self.variables(origin);
            let told = told
                .iter()
                .map(|(name, value)| (*name, value.to_string_lossy()));
            gateway::announce_with(reached, "", figures, told);
        });
        let exit = gateway::conclude(served, &recorder, "nothing was recorded")?;
        Ok((End::Ours(exit), recorder))
    }

    /// Starts one agent as soon as it can be served, and serves it until it ends.
    pub(super) fn run(
        &self,
        listen: Option<&str>,
        command: &[OsString],
        start: impl FnOnce() -> anyhow::Result<Arc<Recorder>>,
    ) -> anyhow::Result<(End, Arc<Recorder>)> {
        let settings = self.settings(listen.unwrap_or("127.0.0.1:0"), false)?;
        let Some((program, arguments)) = command.split_first() else {
            return Err(Mistake::new("no agent is named", "put its command after `--`").into());
        };
        let recorder = start()?;
        let served = proxy::run_beside(settings, &recorder, self.clock, |reached| Agent {
            program: program.clone(),
            arguments: arguments.to_vec(),
            variables: self.agent_variables(reached),
            shares_terminal: shares_terminal(),
        });
        let exit = served
            .inspect_err(|_| recorder.abandon())
            .map_err(|error| {
                let hint = "check the command after `--`; it is started without a shell";
                anyhow::Error::new(error).context(Mistake::new("nothing was recorded", hint))
            })?;
        Ok((End::Server(exit), recorder))
    }

    fn agent_variables(&self, reached: &ReachableAt) -> Vec<(OsString, OsString)> {
        let origin = match reached {
            ReachableAt::Origin(origin) => origin.as_str(),
            // Refused earlier: agents cannot use a socket.
            ReachableAt::Socket(_) => return Vec::new(),
        };
        let told = self.variables(origin).into_iter();
        let told = told.map(|(name, value)| (OsString::from(name), value));
        match self.asked {
            ModelRoute::Directly(_) => told.chain(unproxied()).collect(),
            ModelRoute::Through { .. } => told.collect(),
        }
    }

    /// The environment of an agent: how to reach its models, and which recording it is part of.
    fn variables(&self, origin: &str) -> Vec<(&'static str, OsString)> {
        let mut all = match self.asked {
            ModelRoute::Directly(providers) => addresses(providers, origin),
            ModelRoute::Through { authority } => proxied(self.http, authority, origin),
        };
        all.push((part::VARIABLE, self.part.value()));
        all
    }
}

/// Refuses an address that an agent cannot use.
pub(super) fn check(listen: Option<&str>, command: &[OsString]) -> anyhow::Result<()> {
    if listen.is_none() && command.is_empty() {
        let hint = "put the agent's command after `--`, or listen for agents with `--listen ADDR`";
        return Err(Mistake::new("no agent to record", hint).into());
    }
    if !command.is_empty() && listen.is_some_and(|place| place.starts_with("unix:")) {
        let what = "agents cannot connect to a Unix socket";
        return Err(Mistake::new(what, "omit `--listen`, or use a port").into());
    }
    Ok(())
}

/// The name of the recording.
pub(super) fn label(command: &[OsString]) -> String {
    match command {
        [] => "models".to_owned(),
        [program, ..] => super::config::label(std::slice::from_ref(program)),
    }
}

/// Whether input at a terminal reaches the agent without us.
pub(crate) fn shares_terminal() -> bool {
    std::io::stdin().is_terminal()
        || std::io::stdout().is_terminal()
        || std::io::stderr().is_terminal()
}

/// The name of the tape with the model calls, without its ending.
pub(super) fn tape() -> &'static str {
    "models"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<(String, String), String> {
        let found = named(text).map_err(|error| error.to_string())?;
        Ok((found.name, found.url.authority()))
    }

    #[test]
    fn a_provider_has_a_name_that_a_path_can_begin_with() {
        assert_eq!(
            one("my-own=http://localhost:1/v1"),
            Ok(("my-own".to_owned(), "localhost:1".to_owned()))
        );
        for (text, why) in [
            ("openai", "NAME=URL"),
            ("a/b=http://localhost", "invalid provider name"),
            ("=http://localhost", "invalid provider name"),
            ("openai=localhost", "invalid URL in `--provider openai`"),
        ] {
            let error = one(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn an_agent_is_told_its_addresses_with_the_paths_of_its_providers() {
        let openai = named("openai=http://llm.example/up/v1/").unwrap();
        let own = named("own=http://llm.example").unwrap();
        let told = addresses(&[openai, own], "http://127.0.0.1:9");
        assert_eq!(
            told,
            [("OPENAI_BASE_URL", "http://127.0.0.1:9/openai/up/v1".into())]
        );
    }
}
