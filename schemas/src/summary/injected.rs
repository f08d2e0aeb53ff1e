//! The faults that were asked for, and how often each acted.

use std::collections::BTreeMap;

use super::report::InjectedFault;
use crate::event::Effect;

/// Counts what faults did, by their names.
#[derive(Debug, Default)]
pub(super) struct Injected(BTreeMap<String, u64>);

/// How many faults are told apart.
const LIMIT: usize = 1_024;

impl Injected {
    /// A fault did something.
    pub(super) fn observe(&mut self, effect: &str) {
        let effect = Effect::parse(effect);
        let later = effect.release().is_some() || effect.left();
        let Some(fault) = effect.fault.filter(|_| !later) else {
            return;
        };
        if let Some(count) = self.0.get_mut(fault) {
            *count += 1;
        } else if self.0.len() < LIMIT {
            self.0.insert(fault.to_owned(), 1);
        }
    }

    /// The faults that a header names, each with how often it acted.
    pub(super) fn report(&self, asked: &[String]) -> Vec<InjectedFault> {
        let acted = |spec: &String| {
            let label = label(spec);
            label.and_then(|label| self.0.get(&label)).copied()
        };
        let fault = |spec: &String| InjectedFault {
            spec: spec.clone(),
            acted: acted(spec).unwrap_or_default(),
        };
        asked.iter().map(fault).collect()
    }
}

/// What the effects of a fault are told under; a header has its name first of all.
fn label(spec: &str) -> Option<String> {
    let (kind, rest) = spec.split_once(" name=")?;
    let name = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next()?,
        _ => rest.split(' ').next()?,
    };
    Some(format!("{name} ({kind})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_acted_is_told() {
        let mut injected = Injected::default();
        injected.observe("hang-1 (hang): held");
        injected.observe("hang-1 (hang): passed on after 3 ms, id 1");
        injected.observe("my own (slow): delayed 3 ms");
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
