//! Calls that are never answered, in virtual time: no time passes for them. Faults on the wire, in
//! real time, are recognized by their results.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
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
    /// What it does.
    pub kind: FaultKind,
}

/// What a fault does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is never answered.
    Hang,
    /// The server answers nothing any more.
    Wedged,
    /// It is answered after this time, which is too late if it is not shorter than the limit.
    Slow(Duration),
    /// So many calls are never answered, later ones are.
    RecoverAfter(u64),
}

/// A fault on the wire, which the call itself meets.
pub trait WireFault: Debug {
    /// Whether it may affect a call of this tool of this server.
    fn may_meet(&self, server: &str, tool: &str) -> bool;

    /// Whether this server answers no further calls after the fault has affected one.
    fn lasts_at(&self, server: &str) -> bool;
}

/// The faults of one run, and what they have affected so far.
#[derive(Clone, Debug)]
pub struct Faults {
    list: Vec<(Fault, u64)>,
    wires: Vec<Arc<dyn WireFault>>,
    budget: Duration,
}

/// How long to wait for a call if no `recovery` sets it.
const BUDGET: Duration = Duration::from_secs(30);

impl Faults {
    /// Faults in the order of `inject`, and how long a call is waited for.
    #[must_use]
    pub fn new(list: Vec<Fault>, max_detection: Option<Duration>) -> Self {
        Self {
            list: list.into_iter().map(|fault| (fault, 0)).collect(),
            wires: Vec::new(),
            budget: max_detection.unwrap_or(BUDGET),
        }
    }

    /// Adds faults on the wire.
    #[must_use]
    pub fn with_wires(mut self, wires: Vec<Arc<dyn WireFault>>) -> Self {
        self.wires = wires;
        self
    }

    /// Whether there are no faults.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.wires.is_empty()
    }

    /// How long to wait for a call.
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// Whether the next call of a tool is never answered. The first fault that matches decides,
    /// even if it lets the call be answered.
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

    /// The result that the model gets for a call that was never answered.
    #[must_use]
    pub fn result(&self, tool: &str) -> Value {
        let limit = self.budget.as_millis();
        let text = format!("the tool `{tool}` did not answer within {limit} ms");
        json!({"content": [{"type": "text", "text": text}], "isError": true})
    }

    /// The number of calls of a run that failed because of a fault: those that a fault matches, and
    /// whose result is an error. If a fault is lasting, later calls of its server are included,
    /// whatever the tool.
    #[must_use]
    pub fn met(mut self, trace: &Trace) -> u64 {
        let is_error = |index: u64| {
            let mut results = trace.tool_results.iter();
            results.any(|result| result.call_index == index && result.is_error)
        };
        let mut silent = BTreeSet::new();
        let mut count = 0;
        for (index, call) in (0..).zip(&trace.tool_calls) {
            let (server, tool) = (call.server.as_str(), call.name.as_str());
            // Calls count regardless of their results.
            let hangs = self.hangs(server, tool);
            if !is_error(index) {
                continue;
            }
            let mut wires = self.wires.iter().filter(|one| one.may_meet(server, tool));
            let lasts = wires.clone().any(|one| one.lasts_at(server));
            if hangs || wires.next().is_some() || silent.contains(server) {
                count += 1;
            }
            if lasts {
                silent.insert(server);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use tapewright_models::agent_cassette::{ToolCall, ToolOutcome};

    use super::*;

    fn fault(tool: Option<&str>, server: Option<&str>, kind: FaultKind) -> Fault {
        Fault {
            name: "f".to_owned(),
            tool: tool.map(str::to_owned),
            server: server.map(str::to_owned),
            kind,
        }
    }

    /// A fault for one tool of any server.
    #[derive(Debug)]
    struct Wire(&'static str, bool);

    impl WireFault for Wire {
        fn may_meet(&self, _server: &str, tool: &str) -> bool {
            self.0 == tool
        }

        fn lasts_at(&self, _server: &str) -> bool {
            self.1
        }
    }

    /// A run of calls, each with its server, its tool, and whether its result is an error.
    fn run(calls: &[(&str, &str, bool)]) -> Trace {
        let mut trace = Trace::default();
        for (index, (server, tool, is_error)) in (0..).zip(calls) {
            trace.tool_calls.push(ToolCall {
                name: (*tool).to_owned(),
                server: (*server).to_owned(),
                args: json!({}),
                caller: None,
                hop_index: index,
                agent_id: None,
                inputs_digest: None,
            });
            trace.tool_results.push(ToolOutcome {
                call_index: index,
                server: (*server).to_owned(),
                is_error: *is_error,
                result: json!({}),
            });
        }
        trace
    }

    #[test]
    fn a_fault_on_the_wire_met_the_calls_it_is_for_that_failed() {
        let trace = run(&[
            ("s", "b", true),
            ("s", "a", false),
            ("s", "a", true),
            ("s", "b", true),
            ("t", "b", true),
        ]);
        let wires = |lasting| -> Vec<Arc<dyn WireFault>> { vec![Arc::new(Wire("a", lasting))] };
        let none = || Faults::new(Vec::new(), None);
        assert_eq!(none().with_wires(wires(false)).met(&trace), 1);
        assert_eq!(none().with_wires(wires(true)).met(&trace), 2, "and b of s");
        let hang = vec![fault(Some("a"), None, FaultKind::Hang)];
        let both = Faults::new(hang, None).with_wires(wires(true));
        assert_eq!(both.met(&trace), 2, "no call counts twice");
        assert!(!none().with_wires(wires(false)).hangs("s", "a"));
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
