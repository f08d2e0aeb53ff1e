//! The parameters of requests.

use super::types::{IMPLEMENTATION, LEVEL, MESSAGE, OBJECT, PAGE, TEXTS};
use super::{Kind, Member, may, need};
use crate::method::Method;
use crate::revision::{R4, Revisions};
use crate::value::Value;

/// What the parameters of a request must have.
pub(crate) fn of(method: Method, params: Option<Value<'_>>) -> &'static [Member] {
    match method {
        Method::CompletionComplete => COMPLETE,
        Method::ElicitationCreate if asks_for_url(params) => ELICIT_URL,
        Method::ElicitationCreate => ELICIT_FORM,
        Method::Initialize => INITIALIZE,
        Method::LoggingSetLevel => SET_LEVEL,
        Method::PromptsGet => GET_PROMPT,
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => URI,
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
    need("capabilities", OBJECT),
    need("clientInfo", IMPLEMENTATION),
];

const CALL: &[Member] = &[need("name", Kind::Text), may("arguments", OBJECT)];

const GET_PROMPT: &[Member] = &[
    need("name", Kind::Text),
    may("arguments", Kind::Map(&Kind::Text)),
];

const URI: &[Member] = &[need("uri", Kind::Text)];

const SET_LEVEL: &[Member] = &[need("level", LEVEL)];

const COMPLETE: &[Member] = &[
    need(
        "ref",
        Kind::Object(&[need("type", Kind::Word(&["ref/prompt", "ref/resource"]))]),
    ),
    need(
        "argument",
        Kind::Object(&[need("name", Kind::Text), need("value", Kind::Text)]),
    ),
    may("context", OBJECT).only(Revisions::FROM_R3),
];

const SAMPLE: &[Member] = &[
    need("messages", Kind::List(&MESSAGE)),
    need("maxTokens", Kind::Number),
    may("systemPrompt", Kind::Text),
    may("temperature", Kind::Number),
    may("stopSequences", TEXTS),
    may("modelPreferences", OBJECT),
    may("tools", Kind::List(&OBJECT)).only(Revisions::FROM_R4),
    may("toolChoice", OBJECT).only(Revisions::FROM_R4),
];

const MODE: Member = may("mode", Kind::Word(&["form", "url"])).only(Revisions::FROM_R4);

/// The schema itself is looked at apart.
const ELICIT_FORM: &[Member] = &[
    MODE,
    need("message", Kind::Text),
    need("requestedSchema", OBJECT),
];

const ELICIT_URL: &[Member] = &[
    MODE,
    need("message", Kind::Text),
    need("url", Kind::Text),
    need("elicitationId", Kind::Text).only(R4),
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
