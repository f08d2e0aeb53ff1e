//! The parameters of requests.

use super::types::{
    AS_TASK, CLIENT, IMPLEMENTATION, LENT_TOOL, LEVEL, MESSAGE, OBJECT, PAGE, TEXTS, TITLE,
};
use super::{Kind, Member, ShapeError, check, content, may, need, results};
use crate::method::Method;
use crate::revision::{R4, R5, Revisions};
use crate::value::Value;

/// The required members of a request's parameters.
pub(crate) fn of(method: Method, params: Option<Value<'_>>) -> &'static [Member] {
    match method {
        Method::CompletionComplete => COMPLETE,
        Method::ElicitationCreate if asks_for_url(params) => ELICIT_URL,
        Method::ElicitationCreate => ELICIT_FORM,
        Method::Initialize => INITIALIZE,
        Method::LoggingSetLevel => SET_LEVEL,
        Method::PromptsGet => GET_PROMPT,
        Method::ResourcesRead => READ,
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => URI,
        Method::SamplingCreateMessage => SAMPLE,
        Method::SubscriptionsListen => LISTEN,
        Method::TasksCancel | Method::TasksGet | Method::TasksResult | Method::TasksUpdate => TASK,
        Method::ToolsCall => CALL,
        Method::PromptsList
        | Method::ResourcesList
        | Method::ResourcesTemplatesList
        | Method::TasksList
        | Method::ToolsList => PAGE,
        _ => &[],
    }
}

fn asks_for_url(params: Option<Value<'_>>) -> bool {
    let mode = params.and_then(|params| params.get("mode"));
    mode.is_some_and(|mode| mode.is("url"))
}

const INITIALIZE: &[Member] = &[
    need("protocolVersion", Kind::Text),
    need("capabilities", CLIENT),
    need("clientInfo", IMPLEMENTATION),
];

const CALL: &[Member] = &[
    need("name", Kind::Text),
    may("arguments", OBJECT),
    AS_TASK,
    may("inputResponses", Kind::Map(&Kind::InputResponse)).only(R5),
    may("requestState", Kind::Text).only(R5),
];

const GET_PROMPT: &[Member] = &[
    need("name", Kind::Text),
    may("arguments", Kind::Map(&Kind::Text)),
    may("inputResponses", Kind::Map(&Kind::InputResponse)).only(R5),
    may("requestState", Kind::Text).only(R5),
];

const URI: &[Member] = &[need("uri", Kind::Text)];

const READ: &[Member] = &[
    need("uri", Kind::Text),
    may("inputResponses", Kind::Map(&Kind::InputResponse)).only(R5),
    may("requestState", Kind::Text).only(R5),
];

const SET_LEVEL: &[Member] = &[need("level", LEVEL)];

const COMPLETE: &[Member] = &[
    need("ref", Kind::Reference),
    need(
        "argument",
        Kind::Object(&[need("name", Kind::Text), need("value", Kind::Text)]),
    ),
    may(
        "context",
        Kind::Object(&[may("arguments", Kind::Map(&Kind::Text))]),
    )
    .only(Revisions::FROM_R3),
];

/// Checks the reference of a completion.
pub(super) fn reference(value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    check(value, REFERENCE, possible)?;
    let named = value.get("type").is_some_and(|kind| kind.is("ref/prompt"));
    let members = if named {
        const { &[need("name", Kind::Text), TITLE] }
    } else {
        URI
    };
    check(value, members, possible)
}

/// Checks an answer to a request for input: it is the result of one of the three possible requests
/// (2026-07-28, basic/patterns/mrtr).
pub(super) fn given(value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    let members = if value.get("action").is_some() {
        results::of(Method::ElicitationCreate)
    } else if value.get("roots").is_some() {
        results::of(Method::RootsList)
    } else {
        results::of(Method::SamplingCreateMessage)
    };
    check(value, members, possible)?;
    match value.get("content") {
        Some(content) if value.get("role").is_some() => {
            content::blocks(content, possible).map_err(|wrong| wrong.under("content"))
        }
        _ => Ok(()),
    }
}

const REFERENCE: &[Member] = &[need("type", Kind::Word(&["ref/prompt", "ref/resource"]))];

const SAMPLE: &[Member] = &[
    need("messages", Kind::List(&MESSAGE)),
    need("maxTokens", Kind::Number),
    may("systemPrompt", Kind::Text),
    may("temperature", Kind::Number),
    may("stopSequences", TEXTS),
    may(
        "modelPreferences",
        Kind::Object(&[
            may(
                "hints",
                Kind::List(&Kind::Object(&[may("name", Kind::Text)])),
            ),
            may("costPriority", Kind::Number),
            may("speedPriority", Kind::Number),
            may("intelligencePriority", Kind::Number),
        ]),
    ),
    may(
        "includeContext",
        Kind::Word(&["allServers", "none", "thisServer"]),
    ),
    may("metadata", OBJECT),
    AS_TASK,
    may("tools", Kind::List(&LENT_TOOL)).only(Revisions::FROM_R4),
    may(
        "toolChoice",
        Kind::Object(&[may("mode", Kind::Word(&["auto", "none", "required"]))]),
    )
    .only(Revisions::FROM_R4),
];

const MODE: Member = may("mode", Kind::Word(&["form", "url"])).only(Revisions::FROM_R4);

/// The schema itself is checked separately.
const ELICIT_FORM: &[Member] = &[
    MODE,
    need("message", Kind::Text),
    need("requestedSchema", OBJECT),
    AS_TASK,
];

const ELICIT_URL: &[Member] = &[
    MODE,
    need("message", Kind::Text),
    need("url", Kind::Text),
    need("elicitationId", Kind::Text).only(R4),
    AS_TASK,
];

const TASK: &[Member] = &[need("taskId", Kind::Text)];

const LISTEN: &[Member] = &[need(
    "notifications",
    Kind::Object(&[
        may("toolsListChanged", Kind::Boolean),
        may("promptsListChanged", Kind::Boolean),
        may("resourcesListChanged", Kind::Boolean),
        may("resourceSubscriptions", TEXTS),
    ]),
)];
