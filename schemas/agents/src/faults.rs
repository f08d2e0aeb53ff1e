//! Calls that are never answered, in virtual time: nobody waits for them.

use std::time::Duration;

use serde_json::{Value, json};
use tapewright_models::agent_cassette::Trace;

/// How a tool misbehaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name in the suite.
    pub name: String,
    /// The tool that it is for; any with `None`.
    pub tool: Option<String>,
    /// The server that it is for; any with `None`.
    pub server: Option<String>,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is never answered.
    Hang,
    /// The server answers nothing any more.
    Wedged,
    /// It is answered after this time: too late once that is as long as a call is waited for.
    Slow(Duration),
    /// So many calls are never answered, later ones are.
    RecoverAfter(u64),
}

/// The faults of one run, with what they have met so far.
#[derive(Clone, Debug)]
pub struct Faults {
    list: Vec<(Fault, u64)>,
    budget: Duration,
}

/// How long a call is waited for where no `recovery` says it.
const BUDGET: Duration = Duration::from_secs(30);

impl Faults {
    /// Faults in the order of `inject`, and how long a call is waited for.
    #[must_use]
    pub fn new(list: Vec<Fault>, max_detection: Option<Duration>) -> Self {
        Self {
            list: list.into_iter().map(|fault| (fault, 0)).collect(),
            budget: max_detection.unwrap_or(BUDGET),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How long a call is waited for.
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// Whether the next call of a tool is never answered. The first fault that fits decides,
    /// also that it is answered.
    pub fn hangs(&mut self, server: &str, tool: &str) -> bool {
        let is = |wanted: &Option<String>, found| wanted.as_deref().is_none_or(|one| one == found);
        let mut fitting = self.list.iter_mut();
        let found = fitting.find(|(fault, _)| is(&fault.tool, tool) && is(&fault.server, server));
        let Some((fault, met)) = found else {
            return false;
        };
        *met += 1;
        match fault.kind {
            FaultKind::Hang | FaultKind::Wedged => true,
            FaultKind::Slow(delay) => delay >= self.budget,
            FaultKind::RecoverAfter(failures) => *met <= failures,
        }
    }

    /// What the model is told of a call that was never answered.
    #[must_use]
    pub fn result(&self, tool: &str) -> Value {
        let limit = self.budget.as_millis();
        let text = format!("the tool `{tool}` did not answer within {limit} ms");
        json!({"content": [{"type": "text", "text": text}], "isError": true})
    }

    /// How many calls of a recorded run were never answered: those that a fault is for, and
    /// that have an error for a result.
    #[must_use]
    pub fn met(mut self, trace: &Trace) -> u64 {
        let failed = |index: u64| {
            let mut results = trace.tool_results.iter();
            results.any(|result| result.call_index == index && result.is_error)
        };
        let mut count = 0;
        for (index, call) in (0..).zip(&trace.tool_calls) {
            if self.hangs(&call.server, &call.name) && failed(index) {
                count += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(tool: Option<&str>, server: Option<&str>, kind: FaultKind) -> Fault {
        Fault {
            name: "f".to_owned(),
            tool: tool.map(str::to_owned),
            server: server.map(str::to_owned),
            kind,
        }
    }

    const SECOND: Option<Duration> = Some(Duration::from_secs(1));

    #[test]
    fn the_first_fault_that_fits_decides() {
        let slow = FaultKind::Slow(Duration::from_millis(999));
        let list = vec![
            fault(Some("a"), Some("s"), slow),
            fault(Some("a"), None, FaultKind::Hang),
        ];
        let mut faults = Faults::new(list, SECOND);
        assert!(!faults.hangs("s", "a"), "slow, but answered in time");
        assert!(faults.hangs("other", "a"));
        assert!(!faults.hangs("s", "b"));
    }

    #[test]
    fn a_delay_as_long_as_the_budget_is_no_answer() {
        let slow = FaultKind::Slow(Duration::from_secs(1));
        assert!(Faults::new(vec![fault(Some("a"), None, slow)], SECOND).hangs("s", "a"));
        assert!(!Faults::new(vec![fault(Some("a"), None, slow)], None).hangs("s", "a"));
    }

    #[test]
    fn a_server_that_recovers_answers_after_so_many_calls() {
        let list = vec![fault(None, Some("s"), FaultKind::RecoverAfter(2))];
        let mut faults = Faults::new(list, None);
        let met = ["a", "b", "a", "a"].map(|tool| faults.hangs("s", tool));
        assert_eq!(met, [true, true, false, false]);
        assert_eq!(faults.budget(), Duration::from_secs(30));
        let told = faults.result("a");
        assert_eq!(told["isError"], true);
        assert_eq!(
            told["content"][0]["text"],
            "the tool `a` did not answer within 30000 ms"
        );
    }
}
