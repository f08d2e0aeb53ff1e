//! The capabilities that a side declares.

use tapewright_schemas::event::Direction;

use crate::method::Method;
use crate::revision::{R1, Revisions};
use crate::value::Value;

/// The capabilities of one side that rules need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities(u32);

/// One capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capability {
    bit: u32,
    pub(crate) name: &'static str,
    path: &'static [&'static str],
}

macro_rules! capabilities {
    ($($constant:ident $bit:literal $name:literal $path:expr;)*) => {
        impl Capability {
            $(pub(crate) const $constant: Self = Self { bit: 1 << $bit, name: $name, path: &$path };)*
            const EACH: &[Self] = &[$(Self::$constant),*];
        }
    };
}

capabilities! {
    TOOLS 0 "tools" ["tools"];
    TOOLS_CHANGED 1 "tools.listChanged" ["tools", "listChanged"];
    PROMPTS 2 "prompts" ["prompts"];
    PROMPTS_CHANGED 3 "prompts.listChanged" ["prompts", "listChanged"];
    RESOURCES 4 "resources" ["resources"];
    RESOURCES_CHANGED 5 "resources.listChanged" ["resources", "listChanged"];
    SUBSCRIBE 6 "resources.subscribe" ["resources", "subscribe"];
    LOGGING 7 "logging" ["logging"];
    COMPLETIONS 8 "completions" ["completions"];
    ROOTS 9 "roots" ["roots"];
    ROOTS_CHANGED 10 "roots.listChanged" ["roots", "listChanged"];
    SAMPLING 11 "sampling" ["sampling"];
    SAMPLING_TOOLS 12 "sampling.tools" ["sampling", "tools"];
    ELICITATION 13 "elicitation" ["elicitation"];
    ELICITATION_FORM 14 "elicitation.form" ["elicitation", "form"];
    ELICITATION_URL 15 "elicitation.url" ["elicitation", "url"];
    TASKS 16 "tasks" ["tasks"];
    TASKS_LIST 17 "tasks.list" ["tasks", "list"];
    TASKS_CANCEL 18 "tasks.cancel" ["tasks", "cancel"];
    TASKS_TOOLS 19 "tasks.requests.tools.call" ["tasks", "requests", "tools", "call"];
    TASKS_SAMPLING 20 "tasks.requests.sampling.createMessage" ["tasks", "requests", "sampling", "createMessage"];
    TASKS_ELICITATION 21 "tasks.requests.elicitation.create" ["tasks", "requests", "elicitation", "create"];
    EXTENSIONS 22 "extensions" ["extensions"];
    EXPERIMENTAL 23 "experimental" ["experimental"];
}

impl Capabilities {
    /// Reads a capability object. A capability with the value `null` is not declared, nor is a
    /// switch that is `false`, nor extensions if none is named.
    pub(crate) fn read(value: Value<'_>) -> Self {
        let mut found = 0;
        for one in Capability::EACH {
            let Some(value) = value.at(one.path) else {
                continue;
            };
            let switch = matches!(one.path, [_, "listChanged" | "subscribe"]);
            let open = matches!(one.path, ["extensions" | "experimental"]);
            let declared = if switch {
                value.boolean() == Some(true)
            } else if open {
                let mut named = false;
                value.members(|_, _| named = true);
                named
            } else {
                !value.is_null()
            };
            if declared {
                found |= one.bit;
            }
        }
        Self(found)
    }

    /// Whether a capability is declared.
    pub(crate) fn has(self, one: Capability) -> bool {
        self.0 & one.bit != 0
    }
}

/// The capability that a request with this method requires of its receiver.
pub(crate) fn needed(method: Method, dir: Direction, revisions: Revisions) -> Option<Capability> {
    let to_server = dir == Direction::ToServer;
    Some(match method {
        Method::ToolsList | Method::ToolsCall => Capability::TOOLS,
        Method::PromptsList | Method::PromptsGet => Capability::PROMPTS,
        Method::ResourcesList | Method::ResourcesTemplatesList | Method::ResourcesRead => {
            Capability::RESOURCES
        }
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => Capability::SUBSCRIBE,
        Method::LoggingSetLevel => Capability::LOGGING,
        // A separate capability from the second revision on.
        Method::CompletionComplete if !revisions.meets(R1) => Capability::COMPLETIONS,
        Method::TasksList => Capability::TASKS_LIST,
        Method::TasksCancel => Capability::TASKS_CANCEL,
        Method::TasksGet | Method::TasksResult => Capability::TASKS,
        Method::SamplingCreateMessage if !to_server => Capability::SAMPLING,
        Method::ElicitationCreate if !to_server => Capability::ELICITATION,
        Method::RootsList if !to_server => Capability::ROOTS,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_null_count() {
        let read = |text: &str| Capabilities::read(Value(text.as_bytes()));
        let found = read(
            r#"{"tools":{"listChanged":false},"prompts":null,"resources":{"subscribe":true},"logging":{},"experimental":{},"extensions":{"x/y":{}}}"#,
        );
        for (capability, declared) in [
            (Capability::TOOLS, true),
            (Capability::TOOLS_CHANGED, false),
            (Capability::PROMPTS, false),
            (Capability::SUBSCRIBE, true),
            (Capability::LOGGING, true),
            (Capability::SAMPLING, false),
            (Capability::EXPERIMENTAL, false),
            (Capability::EXTENSIONS, true),
        ] {
            assert_eq!(found.has(capability), declared, "{}", capability.name);
        }
        assert_eq!(read("[]"), Capabilities::default());
    }
}
