//! The methods of MCP, and where each is defined.

use tapewright_schemas::event::Direction;

use crate::revision::{R3, R4, R5, Revisions};

/// One method: its name, and the revisions that have it in each direction.
struct Entry {
    method: Method,
    name: &'static str,
    to_server: Revisions,
    to_client: Revisions,
}

/// The methods and their table from one list, so that they cannot be in another order.
macro_rules! methods {
    ($($method:ident $name:literal $to_server:ident $to_client:ident;)*) => {
        /// A method of a request or a notification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Method {
            $($method,)*
            /// A method that no revision has.
            Other,
        }

        /// In the order of [`Method`].
        const TABLE: [Entry; Method::COUNT - 1] = [
            $(Entry {
                method: Method::$method,
                name: $name,
                to_server: $to_server,
                to_client: $to_client,
            },)*
        ];
    };
}

const NONE: Revisions = Revisions::NONE;
const ALL: Revisions = Revisions::ALL;
const OLD: Revisions = Revisions::HANDSHAKE;
const R4_R5: Revisions = R4.and(R5);
const R3_R4: Revisions = R3.and(R4);

methods! {
    CompletionComplete "completion/complete" ALL NONE;
    ElicitationCreate "elicitation/create" NONE R3_R4;
    Initialize "initialize" OLD NONE;
    LoggingSetLevel "logging/setLevel" OLD NONE;
    Ping "ping" OLD OLD;
    PromptsGet "prompts/get" ALL NONE;
    PromptsList "prompts/list" ALL NONE;
    ResourcesList "resources/list" ALL NONE;
    ResourcesRead "resources/read" ALL NONE;
    ResourcesSubscribe "resources/subscribe" OLD NONE;
    ResourcesTemplatesList "resources/templates/list" ALL NONE;
    ResourcesUnsubscribe "resources/unsubscribe" OLD NONE;
    RootsList "roots/list" NONE OLD;
    SamplingCreateMessage "sampling/createMessage" NONE OLD;
    ServerDiscover "server/discover" R5 NONE;
    SubscriptionsListen "subscriptions/listen" R5 NONE;
    TasksCancel "tasks/cancel" R4_R5 R4;
    TasksGet "tasks/get" R4_R5 R4;
    TasksList "tasks/list" R4 R4;
    TasksResult "tasks/result" R4 R4;
    TasksUpdate "tasks/update" R5 NONE;
    ToolsCall "tools/call" ALL NONE;
    ToolsList "tools/list" ALL NONE;
    Cancelled "notifications/cancelled" ALL ALL;
    ElicitationComplete "notifications/elicitation/complete" NONE R4;
    Initialized "notifications/initialized" OLD NONE;
    LogMessage "notifications/message" NONE ALL;
    Progress "notifications/progress" OLD ALL;
    PromptsListChanged "notifications/prompts/list_changed" NONE ALL;
    ResourcesListChanged "notifications/resources/list_changed" NONE ALL;
    ResourcesUpdated "notifications/resources/updated" NONE ALL;
    RootsListChanged "notifications/roots/list_changed" OLD NONE;
    SubscriptionsAcknowledged "notifications/subscriptions/acknowledged" NONE R5;
    Tasks "notifications/tasks" NONE R5;
    TasksStatus "notifications/tasks/status" R4 R4;
    ToolsListChanged "notifications/tools/list_changed" NONE ALL;
}

/// The methods whose names have the same length, as linked lists.
struct Chains {
    first: [Option<u8>; LONGEST + 1],
    next: [Option<u8>; TABLE.len()],
}

/// The maximum length of a method name.
const LONGEST: usize = 40;

static CHAINS: Chains = chains();

#[expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, which refuses what is out of bounds"
)]
const fn chains() -> Chains {
    let mut chains = Chains {
        first: [None; LONGEST + 1],
        next: [None; TABLE.len()],
    };
    let mut at = TABLE.len();
    while at > 0 {
        at -= 1;
        let length = TABLE[at].name.len();
        chains.next[at] = chains.first[length];
        chains.first[length] = Some(at as u8);
    }
    chains
}

impl Method {
    /// The number of methods, including [`Other`](Self::Other).
    pub(crate) const COUNT: usize = Self::Other as usize + 1;

    /// The method of this name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Self {
        // Most requests.
        if name == "tools/call" {
            return Self::ToolsCall;
        }
        // The length distinguishes most of them without comparing letters.
        let mut at = CHAINS.first.get(name.len()).copied().flatten();
        while let Some(entry) = at.and_then(|at| TABLE.get(usize::from(at))) {
            if entry.name == name {
                return entry.method;
            }
            at = at.and_then(|at| CHAINS.next.get(usize::from(at)).copied().flatten());
        }
        Self::Other
    }

    /// The method at this index of the table.
    #[cfg(test)]
    pub(crate) fn at(place: usize) -> Self {
        TABLE[place].method
    }

    /// Its name; a fixed word for unknown methods.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        TABLE.get(self as usize).map_or("(other)", |one| one.name)
    }

    /// The revisions in which it may travel this way.
    #[must_use]
    pub(crate) fn defined(self, dir: Direction) -> Revisions {
        let entry = TABLE.get(self as usize);
        entry.map_or(NONE, |one| match dir {
            Direction::ToServer => one.to_server,
            Direction::ToClient => one.to_client,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_methods() {
        for (at, one) in TABLE.iter().enumerate() {
            assert_eq!(one.method as usize, at, "{}", one.name);
            assert_eq!(Method::named(one.name), one.method);
        }
        for unknown in ["", "tools/Call", "x".repeat(100).as_str()] {
            assert_eq!(Method::named(unknown), Method::Other);
        }
        assert_eq!(Method::Other.defined(Direction::ToServer), Revisions::NONE);
    }
}
