//! The methods of MCP, and where each is defined.

use tapewright_schemas::event::Direction;

use crate::revision::{R3, R4, R5, Revisions};

/// A method of a request or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Method {
    CompletionComplete,
    ElicitationCreate,
    Initialize,
    LoggingSetLevel,
    Ping,
    PromptsGet,
    PromptsList,
    ResourcesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesTemplatesList,
    ResourcesUnsubscribe,
    RootsList,
    SamplingCreateMessage,
    ServerDiscover,
    SubscriptionsListen,
    TasksCancel,
    TasksGet,
    TasksList,
    TasksResult,
    TasksUpdate,
    ToolsCall,
    ToolsList,
    Cancelled,
    ElicitationComplete,
    Initialized,
    LogMessage,
    Progress,
    PromptsListChanged,
    ResourcesListChanged,
    ResourcesUpdated,
    RootsListChanged,
    SubscriptionsAcknowledged,
    Tasks,
    TasksStatus,
    ToolsListChanged,
    /// A method that no revision has.
    Other,
}

/// One method: its name, who may send it, and where it is defined.
struct Entry {
    method: Method,
    name: &'static str,
    to_server: Revisions,
    to_client: Revisions,
}

const fn entry(
    method: Method,
    name: &'static str,
    to_server: Revisions,
    to_client: Revisions,
) -> Entry {
    Entry {
        method,
        name,
        to_server,
        to_client,
    }
}

const NONE: Revisions = Revisions::NONE;
const ALL: Revisions = Revisions::ALL;
const OLD: Revisions = Revisions::HANDSHAKE;
const R4_R5: Revisions = R4.and(R5);
const R3_R4: Revisions = R3.and(R4);

/// In the order of [`Method`].
const TABLE: [Entry; Method::COUNT - 1] = [
    entry(Method::CompletionComplete, "completion/complete", ALL, NONE),
    entry(Method::ElicitationCreate, "elicitation/create", NONE, R3_R4),
    entry(Method::Initialize, "initialize", OLD, NONE),
    entry(Method::LoggingSetLevel, "logging/setLevel", OLD, NONE),
    entry(Method::Ping, "ping", OLD, OLD),
    entry(Method::PromptsGet, "prompts/get", ALL, NONE),
    entry(Method::PromptsList, "prompts/list", ALL, NONE),
    entry(Method::ResourcesList, "resources/list", ALL, NONE),
    entry(Method::ResourcesRead, "resources/read", ALL, NONE),
    entry(Method::ResourcesSubscribe, "resources/subscribe", OLD, NONE),
    entry(
        Method::ResourcesTemplatesList,
        "resources/templates/list",
        ALL,
        NONE,
    ),
    entry(
        Method::ResourcesUnsubscribe,
        "resources/unsubscribe",
        OLD,
        NONE,
    ),
    entry(Method::RootsList, "roots/list", NONE, OLD),
    entry(
        Method::SamplingCreateMessage,
        "sampling/createMessage",
        NONE,
        OLD,
    ),
    entry(Method::ServerDiscover, "server/discover", R5, NONE),
    entry(
        Method::SubscriptionsListen,
        "subscriptions/listen",
        R5,
        NONE,
    ),
    entry(Method::TasksCancel, "tasks/cancel", R4_R5, R4),
    entry(Method::TasksGet, "tasks/get", R4_R5, R4),
    entry(Method::TasksList, "tasks/list", R4, R4),
    entry(Method::TasksResult, "tasks/result", R4, R4),
    entry(Method::TasksUpdate, "tasks/update", R5, NONE),
    entry(Method::ToolsCall, "tools/call", ALL, NONE),
    entry(Method::ToolsList, "tools/list", ALL, NONE),
    entry(Method::Cancelled, "notifications/cancelled", ALL, ALL),
    entry(
        Method::ElicitationComplete,
        "notifications/elicitation/complete",
        NONE,
        R4,
    ),
    entry(Method::Initialized, "notifications/initialized", OLD, NONE),
    entry(Method::LogMessage, "notifications/message", NONE, ALL),
    entry(Method::Progress, "notifications/progress", OLD, ALL),
    entry(
        Method::PromptsListChanged,
        "notifications/prompts/list_changed",
        NONE,
        ALL,
    ),
    entry(
        Method::ResourcesListChanged,
        "notifications/resources/list_changed",
        NONE,
        ALL,
    ),
    entry(
        Method::ResourcesUpdated,
        "notifications/resources/updated",
        NONE,
        ALL,
    ),
    entry(
        Method::RootsListChanged,
        "notifications/roots/list_changed",
        OLD,
        NONE,
    ),
    entry(
        Method::SubscriptionsAcknowledged,
        "notifications/subscriptions/acknowledged",
        NONE,
        R5,
    ),
    entry(Method::Tasks, "notifications/tasks", NONE, R5),
    entry(Method::TasksStatus, "notifications/tasks/status", R4, R4),
    entry(
        Method::ToolsListChanged,
        "notifications/tools/list_changed",
        NONE,
        ALL,
    ),
];

impl Method {
    /// How many there are, [`Other`](Self::Other) included.
    pub(crate) const COUNT: usize = Self::Other as usize + 1;

    /// The method of this name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Self {
        // The length first: it tells most of them apart without a look at the letters.
        let mut known = TABLE.iter();
        known
            .find(|one| one.name.len() == name.len() && one.name == name)
            .map_or(Self::Other, |one| one.method)
    }

    /// Its name; a word for what has none.
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
        assert_eq!(Method::named("tools/Call"), Method::Other);
        assert_eq!(Method::Other.defined(Direction::ToServer), Revisions::NONE);
    }
}
