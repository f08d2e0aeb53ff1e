//! Errors of JSON-RPC.

use serde_json::{Map, Value};

use crate::report::safe;

/// An error of JSON-RPC.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i32,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    /// The code of an unknown resource, up to 2025-11-25.
    pub(super) const NO_RESOURCE: i32 = -32002;
    /// The code of invalid parameters.
    pub(super) const INVALID_PARAMS: i32 = -32602;

    /// The line exceeds the limit.
    pub(super) fn too_long() -> Self {
        Self::new(-32600, "Invalid request: the line is too long")
    }

    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// JSON, but not a valid request.
    pub(super) fn invalid_request() -> Self {
        Self::new(-32600, "Invalid request")
    }

    /// Unknown method.
    pub(super) fn no_method(method: &str) -> Self {
        Self::new(-32601, safe(&short(method)))
    }

    /// Invalid parameters.
    pub(super) fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, why)
    }

    /// A failure of the server.
    pub(super) fn internal(why: impl Into<String>) -> Self {
        Self::new(-32603, why)
    }

    /// Unknown resource.
    pub(super) fn no_resource(why: impl Into<String>, data: Value) -> Self {
        Self {
            data: Some(data),
            ..Self::new(Self::NO_RESOURCE, why)
        }
    }

    /// Unsupported revision.
    pub(super) fn revision(data: Value) -> Self {
        Self {
            data: Some(data),
            ..Self::new(-32022, "Unsupported protocol version")
        }
    }

    /// The value of `error`.
    fn value(self) -> Value {
        let mut members = Map::new();
        members.insert("code".to_owned(), self.code.into());
        members.insert("message".to_owned(), self.message.into());
        if let Some(data) = self.data {
            members.insert("data".to_owned(), data);
        }
        Value::Object(members)
    }

    /// The error as the answer to a request, or without an id if that is unknown.
    pub(super) fn line(self, id: Option<&str>) -> String {
        let error = self.value();
        match id {
            Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
            None => format!(r#"{{"jsonrpc":"2.0","error":{error}}}"#),
        }
    }
}

/// The longest name that an error repeats, in characters.
const NAME_CHARS: usize = 100;

/// The beginning of a name, for an error.
pub(super) fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}
