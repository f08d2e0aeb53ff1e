//! The faults of a running recorder, which can be switched.

use serde::Deserialize;

/// A fault, as reported by a control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Fault {
    /// Its name.
    pub(crate) name: String,
    /// The fault in the form of `--fault`.
    pub(crate) spec: String,
    /// How many messages it matched.
    #[serde(default)]
    pub(crate) met: u64,
    /// On how many of them it acted.
    #[serde(default)]
    pub(crate) fired: u64,
    /// How many messages it holds.
    #[serde(default)]
    pub(crate) holds: u64,
    /// Whether it was switched off by this view, and can be switched on again.
    #[serde(skip)]
    pub(crate) is_off: bool,
}

/// The list of faults.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Active faults, followed by those that were switched off here.
    pub(crate) all: Vec<Fault>,
    /// Whether there is a control.
    pub(crate) has_control: bool,
    /// Why the control could not be asked.
    pub(crate) problem: Option<String>,
}

/// How many faults are listed.
const FAULTS: usize = 1_000;

impl Faults {
    /// Updates the list with the active faults.
    pub(super) fn told(&mut self, in_force: Vec<Fault>) {
        let mut off: Vec<Fault> = self.all.drain(..).filter(|one| one.is_off).collect();
        off.retain(|one| in_force.iter().all(|other| other.name != one.name));
        self.all = in_force;
        self.all.truncate(FAULTS);
        self.all.extend(off);
        self.problem = None;
    }

    /// Adds the faults that a recording began with.
    pub(super) fn began_with(&mut self, specs: &[String]) {
        let faults = specs.iter().map(|spec| Fault {
            spec: spec.clone(),
            ..Fault::default()
        });
        self.all.extend(faults);
        self.all.truncate(FAULTS);
    }

    /// Switches a fault. Returns it with its new state.
    pub(super) fn switch(&mut self, at: usize) -> Option<Fault> {
        let fault = self.all.get_mut(at)?;
        fault.is_off = !fault.is_off;
        Some(fault.clone())
    }
}
