//! Types that several tables use.

use super::{Kind, Member, may, need};
use crate::revision::{R4, R5, Revisions};
use crate::session::lists::LEVELS;

/// The identity of a client or a server.
pub(super) const IMPLEMENTATION: Kind = Kind::Object(&[
    need("name", Kind::Text),
    need("version", Kind::Text),
    TITLE,
    may("description", Kind::Text).only(Revisions::FROM_R4),
    may("websiteUrl", Kind::Text).only(Revisions::FROM_R4),
    ICONS,
]);

/// Like that, if its name and version are checked elsewhere (INV-021).
pub(super) const SERVER_INFO: Kind = Kind::Inside(&[
    TITLE,
    may("description", Kind::Text).only(Revisions::FROM_R4),
    may("websiteUrl", Kind::Text).only(Revisions::FROM_R4),
    ICONS,
]);

/// The name for people.
pub(super) const TITLE: Member = may("title", Kind::Text).only(Revisions::FROM_R3);

/// Pictures.
pub(super) const ICONS: Member = may(
    "icons",
    Kind::List(&Kind::Object(&[
        need("src", Kind::Text),
        may("mimeType", Kind::Text),
        may("sizes", TEXTS),
        may("theme", Kind::Word(&["dark", "light"])),
    ])),
)
.only(Revisions::FROM_R4);

/// The audience and the priority.
pub(super) const ANNOTATIONS: Member = may(
    "annotations",
    Kind::Object(&[
        may("audience", Kind::List(&ROLE)),
        may("priority", Kind::Number),
        may("lastModified", Kind::Text).only(Revisions::FROM_R3),
    ]),
);

/// The levels of log messages (RFC 5424).
pub(super) const LEVEL: Kind = Kind::Word(&LEVELS);

/// The author of a message in a prompt.
pub(super) const ROLE: Kind = Kind::Word(&["assistant", "user"]);

/// An object with any members.
pub(super) const OBJECT: Kind = Kind::Object(&[]);

/// Strings.
pub(super) const TEXTS: Kind = Kind::List(&Kind::Text);

/// The parameters of a request for a page.
pub(super) const PAGE: &[Member] = &[may("cursor", Kind::Text)];

/// One message of a prompt or of a conversation with a model; its content is checked separately.
pub(super) const MESSAGE: Kind = Kind::Object(&[need("role", ROLE), need("content", Kind::Any)]);

/// Requests a task in place of the result.
pub(super) const AS_TASK: Member = may("task", Kind::Object(&[may("ttl", Kind::Number)])).only(R4);

/// The capabilities of a client.
pub(super) const CLIENT: Kind = Kind::Object(&[
    may("experimental", Kind::Map(&OBJECT)),
    may("roots", Kind::Object(&[may("listChanged", Kind::Boolean)])),
    may(
        "sampling",
        Kind::Object(&[
            may("context", OBJECT).only(Revisions::FROM_R4),
            may("tools", OBJECT).only(Revisions::FROM_R4),
        ]),
    ),
    may(
        "elicitation",
        Kind::Object(&[
            may("form", OBJECT).only(Revisions::FROM_R4),
            may("url", OBJECT).only(Revisions::FROM_R4),
        ]),
    )
    .only(Revisions::FROM_R3),
    may(
        "tasks",
        Kind::Object(&[
            may("cancel", OBJECT),
            may("list", OBJECT),
            may(
                "requests",
                Kind::Object(&[
                    may("elicitation", Kind::Object(&[may("create", OBJECT)])),
                    may("sampling", Kind::Object(&[may("createMessage", OBJECT)])),
                ]),
            ),
        ]),
    )
    .only(R4),
    may("extensions", Kind::Map(&OBJECT)).only(R5),
]);

/// The capabilities of a server.
pub(super) const SERVER: &[Member] = &[
    may("experimental", Kind::Map(&OBJECT)),
    may("logging", OBJECT),
    may("completions", OBJECT).only(Revisions::FROM_R2),
    may(
        "prompts",
        Kind::Object(&[may("listChanged", Kind::Boolean)]),
    ),
    may(
        "resources",
        Kind::Object(&[
            may("subscribe", Kind::Boolean),
            may("listChanged", Kind::Boolean),
        ]),
    ),
    may("tools", Kind::Object(&[may("listChanged", Kind::Boolean)])),
    may(
        "tasks",
        Kind::Object(&[
            may("cancel", OBJECT),
            may("list", OBJECT),
            may(
                "requests",
                Kind::Object(&[may("tools", Kind::Object(&[may("call", OBJECT)]))]),
            ),
        ]),
    )
    .only(R4),
    may("extensions", Kind::Map(&OBJECT)).only(R5),
];

/// A tool. That its schemas are objects is the subject of INV-047.
pub(super) const TOOL: Kind = Kind::Object(&[
    need("name", Kind::Text),
    TITLE,
    may("description", Kind::Text),
    ICONS,
    HINTS,
    may("execution", EXECUTION).only(R4),
    may("inputSchema", Kind::Inside(INPUT)),
    may("outputSchema", Kind::Inside(SCHEMA)).only(Revisions::FROM_R3),
]);

/// A tool's hints about its behaviour.
const HINTS: Member = may(
    "annotations",
    Kind::Object(&[
        may("title", Kind::Text),
        may("readOnlyHint", Kind::Boolean),
        may("destructiveHint", Kind::Boolean),
        may("idempotentHint", Kind::Boolean),
        may("openWorldHint", Kind::Boolean),
    ]),
)
.only(Revisions::FROM_R2);

/// Whether a tool may run as a task.
const EXECUTION: Kind = Kind::Object(&[may(
    "taskSupport",
    Kind::Word(&["forbidden", "optional", "required"]),
)]);

/// The same for its input, whose type INV-047 checks up to 2025-11-25.
const INPUT: &[Member] = &[
    need("type", Kind::Word(&["object"])).only(R5),
    may("$schema", Kind::Text).only(Revisions::FROM_R4),
    may("properties", Kind::Map(&OBJECT)).only(Revisions::HANDSHAKE),
    may("required", TEXTS).only(Revisions::HANDSHAKE),
];

/// A tool that a server offers to the client's model, whose schemas no other rule checks.
pub(super) const LENT_TOOL: Kind = Kind::Object(&[
    need("name", Kind::Text),
    TITLE,
    may("description", Kind::Text),
    ICONS,
    HINTS,
    may("execution", EXECUTION).only(R4),
    need("inputSchema", Kind::Object(LENT_SCHEMA)),
    may("outputSchema", Kind::Object(LENT_SCHEMA)),
]);

const LENT_SCHEMA: &[Member] = &[
    need("type", Kind::Word(&["object"])).only(R4),
    may("$schema", Kind::Text),
    may("properties", Kind::Map(&OBJECT)).only(R4),
    may("required", TEXTS).only(R4),
];

/// The schema of a tool, as far as MCP defines it.
const SCHEMA: &[Member] = &[
    may("$schema", Kind::Text).only(Revisions::FROM_R4),
    may("properties", Kind::Map(&OBJECT)).only(Revisions::HANDSHAKE),
    may("required", TEXTS).only(Revisions::HANDSHAKE),
];
