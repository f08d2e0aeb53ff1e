//! Results.

use super::types::{MESSAGE, OBJECT, ROLE, TEXTS};
use super::{Kind, Member, may, need};
use crate::method::Method;

/// What the result of a request must have. That of `initialize` is the subject of INV-021,
/// that of `tools/call` of INV-005, and those about tasks of INV-081.
pub(crate) fn of(method: Method) -> &'static [Member] {
    match method {
        Method::CompletionComplete => COMPLETE,
        Method::ElicitationCreate => ELICIT,
        Method::PromptsGet => GET_PROMPT,
        Method::PromptsList => PROMPTS,
        Method::ResourcesList => RESOURCES,
        Method::ResourcesRead => READ,
        Method::ResourcesTemplatesList => TEMPLATES,
        Method::RootsList => ROOTS,
        Method::SamplingCreateMessage => SAMPLE,
        Method::ServerDiscover => DISCOVER,
        Method::TasksList => TASKS,
        Method::ToolsList => TOOLS,
        _ => &[],
    }
}

const NAMED: Kind = Kind::Object(&[need("name", Kind::Text)]);

/// The schemas of a tool are the subject of INV-047.
const TOOLS: &[Member] = &[
    need("tools", Kind::List(&NAMED)),
    may("nextCursor", Kind::Text),
];

const PROMPTS: &[Member] = &[
    need("prompts", Kind::List(&NAMED)),
    may("nextCursor", Kind::Text),
];

const RESOURCES: &[Member] = &[
    need(
        "resources",
        Kind::List(&Kind::Object(&[
            need("uri", Kind::Text),
            need("name", Kind::Text),
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
        ])),
    ),
    may("nextCursor", Kind::Text),
];

const TASKS: &[Member] = &[
    need("tasks", Kind::List(&OBJECT)),
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
];

const ELICIT: &[Member] = &[
    need("action", Kind::Word(&["accept", "cancel", "decline"])),
    may("content", OBJECT),
];

const DISCOVER: &[Member] = &[
    need("supportedVersions", TEXTS),
    need("capabilities", OBJECT),
    may("instructions", Kind::Text),
];
