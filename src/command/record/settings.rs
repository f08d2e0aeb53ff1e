//! The settings of a recorder.

use std::sync::Arc;

use clap::ValueEnum;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Durability, Settings, Target, WhenFull};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use super::endpoints::Endpoints;
use super::scoring::Scoring;
use super::{Arguments, target};
use crate::command::redaction;
use crate::here;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DurabilityArgument {
    /// Forward bytes first, then write them at once
    Queue,
    /// Forward a message only after it is written
    Written,
    /// Like `written`, and flushed to disk
    Synced,
}

impl From<DurabilityArgument> for Durability {
    fn from(argument: DurabilityArgument) -> Self {
        match argument {
            DurabilityArgument::Queue => Self::Queue,
            DurabilityArgument::Synced => Self::Synced,
            DurabilityArgument::Written => Self::Written,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum WhenFullArgument {
    /// Hold the traffic back
    Wait,
    /// Hold the traffic back; if the disk stalls for 5s, let it pass and count the gap
    WaitBriefly,
    /// Let the traffic pass and count the gap
    Gap,
}

pub(super) fn settings(
    arguments: &Arguments,
    way: &Endpoints<'_>,
    label: &str,
    clock: Clock,
    target: Target,
    scoring: Option<&Scoring>,
) -> anyhow::Result<Settings> {
    let durability = Durability::from(arguments.durability);
    let when_full = match (arguments.when_full, way) {
        (Some(WhenFullArgument::Gap), _) => WhenFull::Gap,
        (Some(WhenFullArgument::Wait), _) => WhenFull::Wait,
        (None, way) if way.serves_one() => WhenFull::Wait,
        // With many clients, a disk that hangs must not stop the traffic.
        (Some(WhenFullArgument::WaitBriefly) | None, _) => WhenFull::WaitBriefly,
    };
    let mut env_names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    env_names.order();
    let made_in = here::made_in();
    let header = Header {
        tape: VERSION.to_owned(),
        created: target::timestamp(clock.created),
        by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
        transport: way.transport().to_owned(),
        label: label.to_owned(),
        command: Vec::new(),
        cwd: here::folder(&made_in),
        made_in,
        env_names,
        pid: std::process::id(),
        durability: durability.name().to_owned(),
        when_full: when_full.name().to_owned(),
        max_message_bytes: arguments.max_message as u64,
        redacted: !arguments.redaction.is_off(),
        ..Header::default()
    };
    Ok(Settings {
        target,
        durability,
        when_full,
        limit_bytes: arguments.max_message,
        header,
        command: arguments
            .command
            .iter()
            .map(|word| word.as_encoded_bytes().to_vec())
            .collect(),
        rules: rules(arguments, scoring)?,
        judging: arguments
            .judging
            .judging(arguments.verbose, scoring.map(Scoring::feed))?,
        operations: None,
    })
}

/// The rules: made at once if they can contain a mistake of the user, and otherwise by the recorder.
pub(super) fn rules(
    arguments: &Arguments,
    scoring: Option<&Scoring>,
) -> anyhow::Result<Box<dyn FnOnce() -> Arc<Rules> + Send>> {
    let mut settings = arguments.redaction.settings();
    settings.values.extend(arguments.http.server.secrets()?);
    settings.values.extend(arguments.otlp.secrets()?);
    settings
        .values
        .extend(scoring.into_iter().flat_map(Scoring::secrets));
    if arguments.redaction.has_patterns() {
        let rules = Arc::new(redaction::rules(&settings)?);
        return Ok(Box::new(move || rules));
    }
    Ok(Box::new(move || Arc::new(redaction::built_in(&settings))))
}
