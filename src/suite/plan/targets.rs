//! Warns about targets at which there can be nothing, such as a misspelled `result`.

use tapewright_assertions::target::Target;
use tapewright_config::suite::composition::CompositionNode;
use tapewright_config::suite::transform::Transform;
use tapewright_config::{Suite, listed};
use tapewright_models::agent_cassette::Trace;
use tapewright_schemas::near::did_you_mean;

/// The value that the assertions of a test see.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen<'a> {
    /// The answer of a server.
    Answer,
    /// A composition of these nodes.
    Composition(&'a [CompositionNode]),
    /// The trace of an agent.
    Trace,
    /// Any value, such as what a program makes of an answer.
    Anything,
}

/// Why there can be nothing at a target, and what to do.
pub(super) struct Nowhere {
    pub(super) message: String,
    pub(super) help: String,
}

impl Seen<'_> {
    /// What assertions see after a transform.
    pub(super) fn after(transform: Option<&Transform>) -> Self {
        if transform.is_some_and(|one| one.response.is_some()) {
            Self::Anything
        } else {
            Self::Answer
        }
    }

    /// What the assertions of the default test see: the answer of every tool.
    pub(super) fn of_default(suite: &Suite) -> Self {
        let own = suite
            .tools
            .iter()
            .filter_map(|test| test.transform.as_ref());
        let mut all = own.chain(&suite.default_test.transform);
        Self::after(all.find(|one| one.response.is_some()))
    }

    /// Why there can be nothing at `target`; `None` if there can be something.
    pub(super) fn lacks(self, target: &Target) -> Option<Nowhere> {
        if target.is_whole() {
            return None;
        }
        let members = self.members()?;
        let first = target.name(0);
        if !first.is_some_and(|first| members.iter().any(|known| known == first)) {
            return Some(Nowhere {
                message: format!("nothing is ever at the target `{target}`"),
                help: self.help(target, &members),
            });
        }
        let (Self::Composition(nodes), Some("nodes"), Some(id)) = (self, first, target.name(1))
        else {
            return None;
        };
        let ids = nodes.iter().map(|node| node.id.as_str());
        let is_known = ids.clone().any(|known| known == id);
        (!is_known).then(|| Nowhere {
            message: format!("the target `{target}` names the unknown node `{id}`"),
            help: did_you_mean(id, ids.clone())
                .unwrap_or_else(|| format!("the nodes are {}", listed(&ids.collect::<Vec<_>>()))),
        })
    }

    /// The names of the members; `None` if there can be any.
    fn members(self) -> Option<Vec<String>> {
        match self {
            Self::Answer => Some(vec!["result".to_owned()]),
            Self::Composition(_) => {
                Some(["composition", "nodes", "output"].map(str::to_owned).into())
            }
            Self::Trace => Some(of_traces()),
            Self::Anything => None,
        }
    }

    fn help(self, target: &Target, members: &[String]) -> String {
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let first = target.name(0).unwrap_or_default();
        did_you_mean(first, members.iter().copied()).unwrap_or_else(|| match self {
            Self::Answer if of_traces().iter().any(|name| name == first) => {
                format!("only tests of agents have `{first}`; an answer has `result`")
            }
            Self::Answer => format!("for a part of the result, write `result.{target}`"),
            _ => format!("targets start with {}", listed(&members)),
        })
    }
}

/// The names of the members of a trace.
fn of_traces() -> Vec<String> {
    let trace = Trace::default().view();
    let names = trace.as_object().into_iter().flatten();
    let names = names.map(|(name, _)| name.clone());
    // A trace without answers does not have the member.
    names.chain(["answers".to_owned()]).collect()
}
