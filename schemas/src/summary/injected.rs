//! The configured faults, and how often each acted.

use std::collections::BTreeMap;

use super::report::{EffectRow, InjectedFault};
use crate::event::{Effect, Event, FaultKind, FaultRef, Faulted, What};
use crate::slices::Part as _;

/// The effects of faults.
#[derive(Debug, Default)]
pub(super) struct Injected {
    counts: BTreeMap<FaultRef, u64>,
    effects: Vec<EffectRow>,
}

/// The maximum number of faults that are distinguished.
const LIMIT: usize = 1_024;
/// The maximum number of effects that are listed.
const EFFECTS: usize = 1_000;

impl Injected {
    /// Records an effect of a fault, with its time if events are `timed`.
    pub(super) fn observe(&mut self, event: &Event, faulted: &Faulted, timed: bool) {
        if self.effects.len() < EFFECTS {
            self.effects.push(EffectRow {
                seq: event.seq,
                at_ms: timed.then(|| event.at.millis()),
                effect: faulted.clone(),
            });
        }
        self.count(&faulted.effect);
    }

    /// The first effects, in order.
    pub(super) fn take_effects(&mut self) -> Vec<EffectRow> {
        std::mem::take(&mut self.effects)
    }

    fn count(&mut self, effect: &Effect) {
        // It did nothing more to what waits behind a held message, or where an effect ends.
        let is_own = !effect.what.is_sequel() && !matches!(effect.what, What::Behind { .. });
        let Some(fault) = effect.fault.as_ref().filter(|_| is_own) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(fault) {
            *count += 1;
        } else if self.counts.len() < LIMIT {
            self.counts.insert(fault.clone(), 1);
        }
    }

    /// The faults that a header names, each with how often it acted.
    pub(super) fn report(&self, asked: &[String]) -> Vec<InjectedFault> {
        let acted = |spec: &String| {
            let fault = fault_of(spec);
            fault.and_then(|fault| self.counts.get(&fault)).copied()
        };
        let fault = |spec: &String| InjectedFault {
            spec: spec.clone(),
            acted: acted(spec).unwrap_or_default(),
        };
        asked.iter().map(fault).collect()
    }
}

/// The fault that effects refer to; a header entry begins with its name.
fn fault_of(spec: &str) -> Option<FaultRef> {
    let (kind, rest) = spec.split_once(" name=")?;
    let name = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.part(1..).split(quote).next()?,
        _ => rest.split(' ').next()?,
    };
    Some(FaultRef {
        name: name.to_owned(),
        kind: FaultKind::read(kind),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Offset, Release, Until};

    #[test]
    fn what_never_acted_is_told() {
        let mut injected = Injected::default();
        let fault = |name: &str, kind| {
            Some(FaultRef {
                name: name.to_owned(),
                kind: FaultKind::known(kind),
            })
        };
        let held = What::Held {
            until: Until::Removed,
        };
        let released = What::Released {
            after: Offset(3_000),
            why: Release::Removed,
            all: false,
        };
        let delayed = What::Delayed { by: Offset(3_000) };
        for (name, kind, what) in [
            ("hang-1", "hang", held),
            ("hang-1", "hang", released),
            ("my own", "slow", delayed),
        ] {
            let fault = fault(name, kind);
            injected.count(&Effect { fault, what });
        }
        let asked = [
            "hang name=hang-1 tool=search",
            "slow name='my own' delay_ms=3",
            "drop name=drop-1",
        ];
        let report = injected.report(&asked.map(str::to_owned));
        let acted: Vec<u64> = report.iter().map(|fault| fault.acted).collect();
        assert_eq!(acted, [1, 1, 0]);
    }
}
