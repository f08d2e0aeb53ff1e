//! The question of a test to a server.

use crate::expectation::Expectation;
use crate::json::Json;

/// One test: a question and the expectations about its answer.
#[derive(Debug)]
pub struct Test {
    /// The server by its name in the suite.
    pub server: String,
    /// The question.
    pub ask: Ask,
    /// The expectation.
    pub expectation: Expectation,
    /// A command that rewrites the answer before it is judged.
    pub response_transform: Option<Vec<String>>,
}

/// A question to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A raw method of the protocol, without parameters.
    Check {
        /// The method.
        method: String,
    },
    /// `prompts/get`.
    Prompt {
        /// The prompt's name.
        name: String,
        /// Its arguments; without them every use of the prompt in a recording counts.
        arguments: Option<Json>,
    },
    /// `resources/read`.
    Resource {
        /// The resource's URI.
        uri: String,
    },
    /// `tools/call`.
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments; without them every call of the tool in a recording counts.
        arguments: Option<Json>,
    },
}

impl Ask {
    /// The method of the protocol.
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Self::Check { method } => method,
            Self::Prompt { .. } => "prompts/get",
            Self::Resource { .. } => "resources/read",
            Self::Tool { .. } => "tools/call",
        }
    }

    /// The tool, prompt or resource in it.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::Check { .. } => None,
            Self::Prompt { name, .. } | Self::Tool { name, .. } => Some(name),
            Self::Resource { uri } => Some(uri),
        }
    }

    /// The parameters of the request.
    ///
    /// A tool call always has arguments, at least `{}`; a prompt only those of the test;
    /// `initialize` has none, since it was sent before.
    #[must_use]
    pub fn params(&self) -> Json {
        let empty = || Json::object::<String>([]);
        match self {
            Self::Check { .. } => empty(),
            Self::Resource { uri } => Json::object([("uri", uri.as_str().into())]),
            Self::Tool { name, arguments } => Json::object([
                ("name", name.as_str().into()),
                ("arguments", arguments.clone().unwrap_or_else(empty)),
            ]),
            Self::Prompt { name, arguments } => {
                let mut members = vec![("name", Json::from(name.as_str()))];
                members.extend(arguments.clone().map(|value| ("arguments", value)));
                Json::object(members)
            }
        }
    }

    /// The same question with these parameters, if it has any.
    #[must_use]
    pub fn with_params(&self, params: &Json) -> Self {
        let arguments = |own: &Option<Json>| {
            let other = params.get("arguments").cloned();
            own.as_ref().map(|own| other.unwrap_or_else(|| own.clone()))
        };
        let text = |member: &str, own: &str| {
            let other = params.get(member).and_then(Json::as_str);
            other.unwrap_or(own).to_owned()
        };
        match self {
            Self::Check { .. } => self.clone(),
            Self::Resource { uri } => Self::Resource {
                uri: text("uri", uri),
            },
            Self::Prompt {
                name,
                arguments: own,
            } => Self::Prompt {
                name: text("name", name),
                arguments: arguments(own),
            },
            Self::Tool {
                name,
                arguments: own,
            } => Self::Tool {
                name: text("name", name),
                arguments: arguments(own),
            },
        }
    }

    /// Whether a recorded request asks the same. Arguments are compared by value; `_meta` is
    /// ignored, and absent arguments equal empty ones.
    #[must_use]
    pub fn is_asked_by(&self, params: &Json) -> bool {
        let named =
            |member: &str, value: &str| params.get(member).and_then(Json::as_str) == Some(value);
        let given = |arguments: &Option<Json>| match (arguments, params.get("arguments")) {
            (None, _) => true,
            (Some(wanted), Some(given)) => wanted == given,
            (Some(wanted), None) => wanted.as_object().is_some_and(indexmap::IndexMap::is_empty),
        };
        match self {
            Self::Check { .. } => params
                .as_object()
                .is_none_or(|members| members.keys().all(|name| name == "_meta")),
            Self::Resource { uri } => named("uri", uri),
            Self::Prompt { name, arguments } | Self::Tool { name, arguments } => {
                named("name", name) && given(arguments)
            }
        }
    }
}
