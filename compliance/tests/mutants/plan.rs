//! The plans of the mutants, in `plans/*.mutants`.
//!
//! ```text
//! INV-008 handshake-stdio       the rule, and the recorded session
//!   also INV-017                what else the change is bound to break
//!   first STEP                  what both sessions have
//!   breaks STEP                 what breaks the rule
//!   alike STEP                  what looks like it and does not
//! ```
//!
//! A block is one mutant and one look-alike; several steps are several lines.

use std::fs;
use std::path::Path;

use tapewright_compliance::code::Code;

use super::draft::Draft;

/// One mutant and its look-alike.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rule: Code,
    pub(crate) session: String,
    pub(crate) also: Vec<Code>,
    first: Vec<String>,
    breaks: Vec<String>,
    alike: Vec<String>,
}

impl Plan {
    /// The session that both are made from.
    pub(crate) fn base(&self) -> Draft {
        let mut draft = Draft::recorded(&self.session);
        make(&mut draft, &self.first);
        draft
    }

    /// The session that breaks the rule.
    pub(crate) fn mutant(&self) -> Draft {
        let mut draft = self.base();
        make(&mut draft, &self.breaks);
        draft
    }

    /// The session that looks like it.
    pub(crate) fn look_alike(&self) -> Draft {
        let mut draft = self.base();
        make(&mut draft, &self.alike);
        draft
    }

    fn is_whole(&self) -> bool {
        !self.breaks.is_empty() && !self.alike.is_empty()
    }
}

fn make(draft: &mut Draft, steps: &[String]) {
    for step in steps {
        draft.step(step);
    }
}

/// Every plan there is, by file and place.
pub(crate) fn all() -> Vec<Plan> {
    // The commands test with these plans as well.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compliance/tests/mutants/plans");
    let entries = fs::read_dir(folder).expect("plans");
    let mut files: Vec<_> = entries.map(|one| one.expect("a file").path()).collect();
    files.sort();
    let read = |path| fs::read_to_string(path).expect("a plan");
    files.iter().flat_map(|path| parse(&read(path))).collect()
}

fn parse(text: &str) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.trim().split_once(' ').expect("a word and the rest");
        if !line.starts_with(' ') {
            plans.push(Plan {
                rule: word.parse().expect("a code"),
                session: rest.to_owned(),
                also: Vec::new(),
                first: Vec::new(),
                breaks: Vec::new(),
                alike: Vec::new(),
            });
            continue;
        }
        let plan = plans.last_mut().expect("a plan begins with its rule");
        match word {
            "also" => plan.also.push(rest.parse().expect("a code")),
            "first" => plan.first.push(rest.to_owned()),
            "breaks" => plan.breaks.push(rest.to_owned()),
            "alike" => plan.alike.push(rest.to_owned()),
            _ => panic!("`{word}` is no word of a plan"),
        }
    }
    for plan in &plans {
        assert!(plan.is_whole(), "{plan:?} lacks a mutant or a look-alike");
    }
    plans
}
