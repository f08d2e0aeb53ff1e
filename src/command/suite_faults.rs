//! The `faults` block of a suite, or of a file that has only that, as injected faults.

use std::path::Path;

use tapewright_config::suite::fault::{Fault as Written, FaultKind};
use tapewright_config::{EnvFiles, Environment};
use tapewright_engine::fault::{Fault, FaultSet, kinds};

use crate::files::Disk;
use crate::report::{self, Mistake};

/// Activates the faults of a file.
pub(super) fn add(path: &Path, fault_set: &FaultSet) -> anyhow::Result<()> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let environment = Environment::new(
        std::iter::empty().collect(),
        std::env::vars_os().filter_map(text).collect(),
    );
    let loaded = tapewright_config::load_faults(path, &Disk, &environment, &EnvFiles::Beside);
    let shown = report::safe(&path.display().to_string());
    let Some(suite) = &loaded.suite else {
        let what = report::issues::pretty(shown.clone(), loaded);
        let what = format!("invalid `--faults {shown}`\n{}", what.trim_end());
        return Err(Mistake::new(
            what,
            "fix the file; docs/suites.md has every field of `faults`",
        )
        .into());
    };
    if suite.faults.is_empty() {
        let what = format!("`--faults {shown}`: no `faults` in this file");
        return Err(Mistake::new(what, "give the suite or file that declares them").into());
    }
    for one in &suite.faults {
        fault_set.add(fault(one)?).map_err(|error| {
            let place = loaded.sources.excerpt(&one.place);
            let (line, column) = place.map_or((0, 0), |at| (at.line, at.column));
            let what = format!("`--faults {shown}:{line}:{column}`: {error}");
            Mistake::new(what, "see docs/faults.md")
        })?;
    }
    Ok(())
}

fn fault(written: &Written) -> anyhow::Result<Fault> {
    let mistake = |what: String| {
        let what = format!("fault `{}`: {what}", report::safe(&written.name));
        Mistake::new(what, "see docs/faults.md")
    };
    let (name, values) = match &written.kind {
        FaultKind::Wire(spec) => {
            let mut fault = Fault::parse(spec).map_err(|error| mistake(error.to_string()))?;
            fault.name = Some(written.name.clone());
            return Ok(fault);
        }
        FaultKind::Hang => ("hang", Vec::new()),
        FaultKind::Wedged => ("wedged", Vec::new()),
        FaultKind::Slow { delay, jitter } => {
            let values = [("delay_ms", *delay), ("jitter_ms", *jitter)];
            let values = values.map(|(name, time)| (name, time.as_millis().to_string()));
            ("slow", values.to_vec())
        }
        FaultKind::RecoverAfter(calls) => ("recover_after", vec![("failures", calls.to_string())]),
    };
    let kind = kinds::find(name).ok_or_else(|| mistake(format!("unknown fault `{name}`")))?;
    let mut fault = Fault::new(kind);
    fault.name = Some(written.name.clone());
    fault.selector.tool.clone_from(&written.tool);
    fault.selector.server.clone_from(&written.server);
    for (name, value) in values {
        if let Some(parameter) = kind.parameter(name) {
            let set = fault.values.set(parameter, &value);
            set.map_err(|error| mistake(error.to_string()))?;
        }
    }
    Ok(fault)
}
