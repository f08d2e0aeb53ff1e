//! The faults of a recorder that runs, with their switches.

use serde::Deserialize;

/// A fault, as a control tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Fault {
    /// Its name.
    pub(crate) name: String,
    /// The fault, as `--fault` takes it.
    pub(crate) spec: String,
    /// How many messages fitted it.
    #[serde(default)]
    pub(crate) met: u64,
    /// On how many of them it acted.
    #[serde(default)]
    pub(crate) fired: u64,
    /// How many messages it holds.
    #[serde(default)]
    pub(crate) holds: u64,
    /// Whether it was switched off here: it can be switched on again.
    #[serde(skip)]
    pub(crate) is_off: bool,
}

/// The faults that can be switched.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// In force, then those that were switched off here.
    pub(crate) all: Vec<Fault>,
    /// Whether there is a control to ask.
    pub(crate) has_control: bool,
    /// Why it could not be asked.
    pub(crate) problem: Option<String>,
}

/// How many faults are listed.
const FAULTS: usize = 1_000;

impl Faults {
    /// Those that are in force by now.
    pub(super) fn told(&mut self, in_force: Vec<Fault>) {
        let mut off: Vec<Fault> = self.all.drain(..).filter(|one| one.is_off).collect();
        off.retain(|one| in_force.iter().all(|other| other.name != one.name));
        self.all = in_force;
        self.all.truncate(FAULTS);
        self.all.extend(off);
        self.problem = None;
    }

    /// A recording began with these faults.
    pub(super) fn began_with(&mut self, specs: &[String]) {
        let faults = specs.iter().map(|spec| Fault {
            spec: spec.clone(),
            ..Fault::default()
        });
        self.all.extend(faults);
        self.all.truncate(FAULTS);
    }

    /// A fault is switched: it is taken out of force, or put in force again under its name.
    pub(super) fn switch(&mut self, at: usize) -> Option<Fault> {
        let fault = self.all.get_mut(at)?;
        fault.is_off = !fault.is_off;
        Some(fault.clone())
    }
}
