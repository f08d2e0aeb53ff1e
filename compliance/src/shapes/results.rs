//! Results.

use super::types::{
    ANNOTATIONS, ICONS, IMPLEMENTATION, MESSAGE, OBJECT, ROLE, SERVER, SERVER_INFO, TEXTS, TITLE,
    TOOL,
};
use super::{Kind, Member, may, need};
use crate::method::Method;
use crate::revision::{R4, R5, Revisions};

/// The members of a request's result. INV-021 covers the required ones for `initialize`, INV-005
/// those for `tools/call`, and INV-081 those for tasks: here are their optional members.
pub(crate) fn of(method: Method) -> &'static [Member] {
    match method {
        Method::CompletionComplete => COMPLETE,
        Method::ElicitationCreate => ELICIT,
        Method::Initialize => INITIALIZE,
        Method::PromptsGet => GET_PROMPT,
        Method::PromptsList => PROMPTS,
        Method::ResourcesList => RESOURCES,
        Method::ResourcesRead => READ,
        Method::ResourcesTemplatesList => TEMPLATES,
        Method::RootsList => ROOTS,
        Method::SamplingCreateMessage => SAMPLE,
        Method::ServerDiscover => DISCOVER,
        Method::SubscriptionsListen => LISTEN,
        Method::TasksCancel | Method::TasksGet => TASK,
        Method::TasksList => TASKS,
        Method::ToolsCall => CALL,
        Method::ToolsList => TOOLS,
        _ => &[],
    }
}

const INITIALIZE: &[Member] = &[
    may("capabilities", Kind::Inside(SERVER)),
    may("serverInfo", SERVER_INFO),
    may("instructions", Kind::Text),
];

/// Blocks of content are the subject of INV-088.
const CALL: &[Member] = &[may("structuredContent", OBJECT).only(Revisions::R3_AND_R4)];

/// The end of a subscription (2026-07-28, schema `SubscriptionsListenResult`).
const LISTEN: &[Member] = &[need(
    "_meta",
    Kind::Object(&[
        need("io.modelcontextprotocol/subscriptionId", Kind::Id),
        may("io.modelcontextprotocol/serverInfo", IMPLEMENTATION),
    ]),
)
.only(R5)];

const TOOLS: &[Member] = &[
    need("tools", Kind::List(&TOOL)),
    may("nextCursor", Kind::Text),
];

const PROMPTS: &[Member] = &[
    need(
        "prompts",
        Kind::List(&Kind::Object(&[
            need("name", Kind::Text),
            TITLE,
            may("description", Kind::Text),
            may(
                "arguments",
                Kind::List(&Kind::Object(&[
                    need("name", Kind::Text),
                    TITLE,
                    may("description", Kind::Text),
                    may("required", Kind::Boolean),
                ])),
            ),
            ICONS,
        ])),
    ),
    may("nextCursor", Kind::Text),
];

const RESOURCES: &[Member] = &[
    need(
        "resources",
        Kind::List(&Kind::Object(&[
            need("uri", Kind::Text),
            need("name", Kind::Text),
            TITLE,
            may("description", Kind::Text),
            may("mimeType", Kind::Text),
            may("size", Kind::Number),
            ANNOTATIONS,
            ICONS,
        ])),
    ),
    may("nextCursor", Kind::Text),
];

const TEMPLATES: &[Member] = &[
    need(
        "resourceTemplates",
        Kind::List(&Kind::Object(&[
            need("uriTemplate", Kind::Text),
            need("name", Kind::Text),
            TITLE,
            may("description", Kind::Text),
            may("mimeType", Kind::Text),
            ANNOTATIONS,
            ICONS,
        ])),
    ),
    may("nextCursor", Kind::Text),
];

/// A task, whose required members are checked elsewhere.
pub(super) const TASK: &[Member] = &[
    may("createdAt", Kind::Text).only(R4),
    may("lastUpdatedAt", Kind::Text).only(R4),
    may("pollInterval", Kind::Number).only(R4),
    may("statusMessage", Kind::Text).only(R4),
    may("ttl", Kind::Nullable(&Kind::Number)).only(R4),
];

const TASKS: &[Member] = &[
    need(
        "tasks",
        Kind::List(&Kind::Object(&[
            need("taskId", Kind::Text),
            need(
                "status",
                Kind::Word(&[
                    "cancelled",
                    "completed",
                    "failed",
                    "input_required",
                    "working",
                ]),
            ),
            need("createdAt", Kind::Text),
            need("lastUpdatedAt", Kind::Text),
            need("ttl", Kind::Nullable(&Kind::Number)),
            may("pollInterval", Kind::Number),
            may("statusMessage", Kind::Text),
        ])),
    ),
    may("nextCursor", Kind::Text),
];

const READ: &[Member] = &[need("contents", Kind::List(&Kind::Resource))];

const GET_PROMPT: &[Member] = &[
    need("messages", Kind::List(&MESSAGE)),
    may("description", Kind::Text),
];

const COMPLETE: &[Member] = &[need(
    "completion",
    Kind::Object(&[
        need("values", TEXTS),
        may("total", Kind::Number),
        may("hasMore", Kind::Boolean),
    ]),
)];

const ROOTS: &[Member] = &[need(
    "roots",
    Kind::List(&Kind::Object(&[
        need("uri", Kind::Text),
        may("name", Kind::Text),
    ])),
)];

const SAMPLE: &[Member] = &[
    need("role", ROLE),
    need("content", Kind::Any),
    need("model", Kind::Text),
    may("stopReason", Kind::Text),
];

const ELICIT: &[Member] = &[
    need("action", Kind::Word(&["accept", "cancel", "decline"])),
    may("content", Kind::Map(&Kind::Filled)),
];

const DISCOVER: &[Member] = &[
    need("supportedVersions", TEXTS),
    need("capabilities", Kind::Object(SERVER)),
    may("instructions", Kind::Text),
];
