//! The options that inject faults, shared by `record` and `replay`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;
use tapewright_engine::fault::{Fault, FaultPolicy, FaultSet, TransportSupport};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::control::{self, ListenAddress, Serving, View};
use tapewright_proxy::record::{Judging, Recorder};
use tapewright_schemas::event::Offset;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::Header;

use super::suite_faults;
use crate::files::output;
use crate::log::{self, LogListener};
use crate::report::figures::plural;
use crate::report::{self, Mistake};

/// The faults to inject.
#[derive(Debug, Args)]
#[command(next_help_heading = "Faults")]
pub(crate) struct FaultArguments {
    /// Inject a fault, such as `hang tool=search nth=3`; repeatable
    ///
    /// docs/faults.md lists all kinds.
    #[arg(long = "fault", value_name = "SPEC")]
    faults: Vec<String>,
    /// Inject the faults in the `faults` block of this file
    #[arg(long = "faults", value_name = "FILE")]
    suite: Option<PathBuf>,
    /// Seed for `probability` and `jitter_ms`
    ///
    /// The same seed and traffic give the same faults.
    #[arg(hide_short_help = true, long, value_name = "N")]
    seed: Option<u64>,
    /// Serve the control API on `127.0.0.1:PORT` or `unix:PATH`
    ///
    /// For `tapewright fault`, `sessions` and `tail`. The address and its token are printed
    /// to stderr.
    #[arg(long, value_name = "ADDR")]
    control: Option<String>,
}

impl FaultArguments {
    /// The faults for a server with this label and transport.
    pub(crate) fn fault_set(
        &self,
        label: &str,
        reach: TransportSupport,
        clock: Clock,
    ) -> anyhow::Result<Arc<FaultSet>> {
        let fault_set = FaultSet::new(self.seed.unwrap_or_else(|| chance(clock)), label, reach);
        if let Some(file) = &self.suite {
            suite_faults::add(file, &fault_set)?;
        }
        for spec in &self.faults {
            let refused = |error: &dyn std::fmt::Display| {
                let shown = report::safe(spec);
                let what = format!("`--fault {shown}`: {error}");
                Mistake::new(what, "write it like `--fault 'hang tool=search nth=3'`")
            };
            let fault = Fault::parse(spec).map_err(|error| refused(&error))?;
            fault_set.add(fault).map_err(|error| refused(&error))?;
        }
        Ok(Arc::new(fault_set))
    }
}

impl FaultArguments {
    /// Serves the requested control until the returned value is dropped. A request that waits for
    /// `hang_after` counts as a hang.
    pub(crate) fn control(
        &self,
        fault_set: &Arc<FaultSet>,
        clock: Clock,
        hang_after: Option<Duration>,
    ) -> anyhow::Result<Option<Control>> {
        let Some(text) = &self.control else {
            return Ok(None);
        };
        let hint = "name it like `--control 127.0.0.1:0` or `--control unix:control.sock`";
        let mistake = |what: String| Mistake::new(what, hint);
        let place =
            ListenAddress::parse(text).map_err(|error| mistake(format!("`--control`: {error}")))?;
        if let ListenAddress::Unix(path) = &place {
            output::links(path)?;
        }
        let long = hang_after.and_then(|time| u64::try_from(time.as_micros()).ok());
        let view = View::new(clock, long.map(Offset));
        fault_set.open();
        let serving = control::serve(Arc::clone(fault_set), Arc::clone(&view), &place)
            .with_context(|| mistake("cannot serve the control API".to_owned()))?;
        let mut line = serde_json::json!({ "control": serving.address });
        if let (Some(token), Some(members)) = (&serving.token, line.as_object_mut()) {
            members.insert("token".to_owned(), token.as_str().into());
        }
        report::raw_note(&format!("{line}"));
        Ok(Some(Control {
            _serving: serving,
            view,
        }))
    }
}

/// A running control.
#[derive(Debug)]
pub(crate) struct Control {
    _serving: Serving,
    view: Arc<View>,
}

/// Sets the tape that the control returns to its clients.
pub(crate) fn stands_on(control: Option<&Control>, tape: &Path) {
    if let Some(control) = control {
        control.view.stands_on(tape);
    }
}

/// The judges of a recording, with the control among them if there is one.
pub(crate) fn watched(control: Option<&Control>, judging: Option<Judging>) -> Option<Judging> {
    match control {
        Some(control) => Some(control.view.watching(judging)),
        None => judging,
    }
}

/// A recorder for an unrecorded run: it writes nothing, and shows the traffic in the control and
/// the log.
pub(crate) fn unrecorded(
    control: Option<&Control>,
    limit_bytes: usize,
    rules: impl FnOnce() -> anyhow::Result<Arc<Rules>>,
    clock: Clock,
) -> anyhow::Result<(Arc<Recorder>, Option<LogListener>)> {
    let (judging, log_listener) = log::heard(watched(control, None), false)?;
    let recorder = match judging {
        None => Recorder::off(limit_bytes, clock),
        Some(judging) => Recorder::preview(limit_bytes, rules()?, judging, clock)
            .context("cannot start the recorder")?,
    };
    Ok((Arc::new(recorder), log_listener))
}

/// The faults of a fault set, as a policy.
pub(crate) fn policy(fault_set: &Arc<FaultSet>) -> FaultPolicy {
    FaultPolicy::new(Arc::clone(fault_set))
}

/// Writes the requested faults and the seed to the tape's header. With a control, faults may be
/// added later.
pub(crate) fn note(fault_set: &FaultSet, control: Option<&Control>, header: &mut Header) {
    let entries = fault_set.entries();
    if entries.is_empty() && control.is_none() {
        return;
    }
    header.seed = Some(fault_set.seed());
    header.faults = entries
        .iter()
        .map(|entry| {
            let mut fault = Fault::clone(&entry.fault);
            fault.name = Some(entry.name.clone());
            // A value in a selector may be a secret.
            for (_, value) in &mut fault.selector.equals {
                "…".clone_into(value);
            }
            fault.to_string()
        })
        .collect();
}

/// Prints the number of active faults, and the seed: always if a fault is random, since the run
/// could not be repeated without it.
pub(crate) fn begin(fault_set: &FaultSet, control: Option<&Control>, verbose: bool) {
    let entries = fault_set.entries();
    let count = entries.len() as u64;
    let chance = entries.iter().any(|entry| entry.fault.is_by_chance());
    if chance || verbose && !(entries.is_empty() && control.is_none()) {
        report::note(&format!(
            "{count} {}, --seed {}",
            plural(count, "fault"),
            fault_set.seed()
        ));
    }
}

/// Prints which faults fired, and which never did.
pub(crate) fn end(fault_set: &FaultSet) {
    for entry in fault_set.entries() {
        let name = report::safe(&entry.name);
        let met = entry.met;
        let messages = plural(met, "message");
        report::note(&match entry.fired {
            0 => format!("fault {name} never fired; {met} {messages} matched"),
            fired => format!("fault {name} acted on {fired} of {met} {messages}"),
        });
        if entry.beyond > 0 {
            let beyond = entry.beyond;
            report::note(&format!(
                "fault {name} did not hold {beyond} more: too many messages were held"
            ));
        }
    }
}

/// The default seed.
pub(crate) fn chance(clock: Clock) -> u64 {
    let since = clock.created.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos() & 0xffff_ffff).unwrap_or_default()
        ^ u64::from(std::process::id())
}
