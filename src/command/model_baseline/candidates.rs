//! The captures, one per model.

use std::sync::Arc;

use tapewright_baselines::{Baseline, Identity, UNKNOWN, config_hash};
use tapewright_models::Family;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::redact::{Redactor, Rules};

/// A capture of one model.
pub(super) struct Candidate {
    /// The model, with its provider if known.
    pub(super) model: String,
    /// The capture; or the reasons why there is none, a line for each test.
    pub(super) captured: Result<Captured, Vec<String>>,
}

/// A capture, and the rules for its secrets.
pub(super) struct Captured {
    pub(super) baseline: Baseline,
    pub(super) rules: Arc<Rules>,
}

/// The identity of a capture made by tapewright.
pub(super) fn identity(
    model_id: String,
    model_version: String,
    servers: &[(String, String)],
    config_hash: String,
) -> Identity {
    Identity {
        model_id,
        model_version,
        mcptest_version: env!("CARGO_PKG_VERSION").to_owned(),
        server_version: server_version(servers),
        server_config_hash: config_hash,
    }
}

/// The version of the only server, or the versions of several with their names.
fn server_version(servers: &[(String, String)]) -> String {
    let mut servers = servers.to_vec();
    servers.order();
    servers.dedup();
    match servers.as_slice() {
        [] => UNKNOWN.to_owned(),
        [(_, version)] => version.clone(),
        several => {
            let each = several.iter();
            let each = each.map(|(name, version)| format!("{name} {version}"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The digest of a configuration without its secrets.
pub(super) fn hash(config: &serde_json::Value, rules: &Arc<Rules>) -> anyhow::Result<String> {
    let mut redactor = Redactor::new(Arc::clone(rules));
    let text = config.to_string();
    let clean = redactor.json(text.as_bytes());
    let clean = clean.map_err(|_| anyhow::anyhow!("cannot redact the configuration"))?;
    Ok(config_hash(&serde_json::from_slice(&clean)?))
}

/// A model with its provider: `anthropic:claude-sonnet-4-5`. A name that already has one stays
/// unchanged.
pub(super) fn qualified(model: &str) -> String {
    match Family::of_model(model) {
        Some(family) => format!("{}:{model}", family.name().to_lowercase()),
        None if model.contains(':') => model.to_owned(),
        None => format!("{UNKNOWN}:{model}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_with_their_providers_and_servers_with_their_versions() {
        assert_eq!(
            qualified("claude-sonnet-4-5"),
            "anthropic:claude-sonnet-4-5"
        );
        assert_eq!(qualified("own:any/model"), "own:any/model");
        assert_eq!(qualified("any"), "unknown:any");
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(server_version(&[]), "unknown");
        assert_eq!(server_version(&[pair("a", "1"), pair("a", "1")]), "1");
        assert_eq!(
            server_version(&[pair("b", "2"), pair("a", "1")]),
            "a 1, b 2"
        );
    }
}
