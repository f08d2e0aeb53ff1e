//! Switches faults off and on again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tapewright_engine::fault::{Entry, Fault, FaultSet, Rejected};
use tapewright_schemas::order::Order as _;

use crate::control::shown;

/// The faults of a fault set, and those that were switched off.
#[derive(Debug)]
pub(super) struct Switches {
    fault_set: Arc<FaultSet>,
    off: Mutex<BTreeMap<String, Entry>>,
}

/// The maximum number of remembered faults that are off.
const MOST: usize = 256;

/// Why a fault could not be switched.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotSwitched {
    #[error("no fault of this name")]
    Unknown,
    #[error("too many faults are switched off")]
    TooMany,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

impl Switches {
    pub(super) fn new(fault_set: Arc<FaultSet>) -> Self {
        // They may be added while messages flow.
        fault_set.open();
        Self {
            fault_set,
            off: Mutex::default(),
        }
    }

    /// Sets a callback for faults that are added, changed or removed, by anyone.
    pub(super) fn tell_of_changes(&self, tell: impl Fn() + Send + Sync + 'static) {
        self.fault_set.tell_of_changes(tell);
    }

    /// Switches a fault on or off, which releases the messages that it holds.
    pub(super) fn set(&self, name: &str, enabled: bool) -> Result<(), NotSwitched> {
        let mut off = self.off();
        let here = self
            .fault_set
            .entries()
            .into_iter()
            .find(|entry| entry.name == name);
        match (here, enabled) {
            (Some(_), true) => Ok(()),
            (None, false) => off
                .contains_key(name)
                .then_some(())
                .ok_or(NotSwitched::Unknown),
            (Some(_), false) if off.len() >= MOST => Err(NotSwitched::TooMany),
            (Some(entry), false) => {
                self.fault_set.remove(name)?;
                off.insert(name.to_owned(), Entry { holds: 0, ..entry });
                Ok(())
            }
            (None, true) => {
                let entry = off.get(name).ok_or(NotSwitched::Unknown)?;
                let mut fault = Fault::clone(&entry.fault);
                fault.name = Some(name.to_owned());
                self.fault_set.add(fault)?;
                off.remove(name);
                Ok(())
            }
        }
    }

    /// All faults, by name.
    pub(super) fn told(&self) -> Value {
        let on = self.fault_set.entries();
        let off = self.off();
        let on = on.iter().map(|entry| (entry, true));
        let off = off.values().map(|entry| (entry, false));
        let mut all: Vec<(&Entry, bool)> = on.chain(off).collect();
        all.order_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let told = all.into_iter().map(|(entry, enabled)| {
            let mut told = shown(entry);
            if let Some(members) = told.as_object_mut() {
                members.insert("enabled".to_owned(), enabled.into());
            }
            told
        });
        told.collect()
    }

    fn off(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.off.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tapewright_engine::fault::TransportSupport;

    use super::*;

    #[test]
    fn a_fault_is_switched_off_and_on_again_as_it_was() {
        let fault_set = Arc::new(FaultSet::new(1, "server", TransportSupport::Any));
        let name = fault_set
            .add(Fault::parse("hang tool=search nth=3").unwrap())
            .unwrap();
        let switches = Switches::new(Arc::clone(&fault_set));
        let state = || {
            let told = switches.told();
            (
                told[0]["enabled"].as_bool().unwrap(),
                told[0]["spec"].as_str().unwrap().to_owned(),
            )
        };
        let (enabled, spec) = state();
        assert!(enabled);
        switches.set(&name, true).unwrap();
        for _ in 0..2 {
            switches.set(&name, false).unwrap();
            assert!(fault_set.entries().is_empty());
            assert_eq!(state(), (false, spec.clone()));
        }
        switches.set(&name, true).unwrap();
        assert_eq!(fault_set.entries()[0].name, name);
        assert!(state().0);
        for enabled in [true, false] {
            assert!(matches!(
                switches.set("nobody", enabled),
                Err(NotSwitched::Unknown)
            ));
        }
    }
}
