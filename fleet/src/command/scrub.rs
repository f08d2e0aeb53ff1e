//! `scrub`: removes secrets from a store.

use std::sync::Arc;

use tapewright_fleet::clock;
use tapewright_fleet::scrub::{self, scrub};
use tapewright_schemas::redact::{Rules, Settings, is_secret_name};

use super::{Exit, Failure, environment, open};
use crate::{cli, report};

pub(super) async fn run(arguments: cli::Scrub) -> Result<Exit, Failure> {
    let wanted = |name: &String| is_secret_name(name) || arguments.redact_env.contains(name);
    let values = environment().filter(|(name, value)| wanted(name) && !value.is_empty());
    let settings = Settings {
        keys: arguments.redact_key.clone(),
        patterns: arguments.redact_pattern.clone(),
        values: values.collect(),
        off: false,
    };
    let rules = Rules::new(&settings).map_err(|error| Failure::Rules(error.to_string()))?;
    let store = open(&arguments.at.place, false)?;
    let what = scrub::Scrub {
        rules: Arc::new(rules),
        gateway: arguments.gateway,
        is_dry: arguments.dry_run,
        now: clock::wall(),
    };
    let scrubbed = scrub(&store, &what).await?;
    report::scrubbed(&scrubbed, arguments.json)?;
    Ok(if scrubbed.left.is_empty() {
        Exit::Pass
    } else {
        Exit::Incomplete
    })
}
