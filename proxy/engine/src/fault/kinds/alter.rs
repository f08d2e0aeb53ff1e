//! Kinds that change the content of answers.

use bytes::Bytes;
use tapewright_schemas::event::Replacement;
use tapewright_schemas::json;
use tapewright_schemas::slices::Front as _;
use tapewright_schemas::slices::Part as _;

use super::{ActsOn, FaultTarget, Kind, Legality, Parameter, TransportSupport, Unit};
use crate::fault::act::{Act, Call};

pub(super) static ERROR: Kind = Kind {
    name: "error",
    does: "answer with a JSON-RPC error instead",
    legal: Legality::Yes("any request may fail"),
    example: "error tool=search code=-32603 message='index is down'",
    parameters: &[
        Parameter {
            name: "code",
            unit: Unit::Integer,
            default: Some("-32603"),
            does: "the error code",
        },
        Parameter {
            name: "message",
            unit: Unit::Text,
            default: Some("a fault was injected"),
            does: "the error message",
        },
    ],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Answers,
    reach: TransportSupport::Any,
    limit: None,
    act: error,
};

pub(super) static HTTP_STATUS: Kind = Kind {
    name: "http-status",
    does: "answer with an HTTP status instead",
    legal: Legality::Yes(
        "401 and 403 ask for authorization, 404 ends a session, 429 and 5xx may come at any time",
    ),
    example: "http-status method=tools/list status=429 retry_after_s=1",
    parameters: &[
        Parameter {
            name: "status",
            unit: Unit::Count {
                of: "",
                least: 400,
                most: 599,
            },
            default: None,
            does: "the status: 401, 403, 404 (session gone), 429, 500, 503",
        },
        Parameter {
            name: "retry_after_s",
            unit: Unit::Count {
                of: "seconds",
                least: 0,
                most: 86_400,
            },
            default: Some("0"),
            does: "value of Retry-After; 0 omits it",
        },
    ],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Responses,
    reach: TransportSupport::Http,
    limit: None,
    act: |call| {
        let wait = call.number("retry_after_s");
        Act::Status {
            status: u16::try_from(call.number("status")).unwrap_or(500),
            retry_after: (wait > 0).then_some(wait),
        }
    },
};

pub(super) static TRUNCATE: Kind = Kind {
    name: "truncate",
    does: "cut the answer short; its line still ends",
    legal: Legality::Forbidden("the rest is not JSON"),
    example: "truncate tool=search bytes=20",
    parameters: &[Parameter {
        name: "bytes",
        unit: Unit::Count {
            of: "bytes",
            least: 0,
            most: 64 << 20,
        },
        default: Some("0"),
        does: "how much to keep; 0 is half",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| {
        let left = match call.size("bytes") {
            0 => call.text.len() / 2,
            bytes => bytes,
        };
        let text = call.text.front(left);
        Act::replace(Replacement::Truncated, call.line(text))
    },
};

pub(super) static GARBAGE: Kind = Kind {
    name: "garbage",
    does: "send a line that is not a message before the answer",
    legal: Legality::Forbidden("a server writes nothing but messages to its output"),
    example: "garbage tool=search text='Listening on port 3000'",
    parameters: &[Parameter {
        name: "text",
        unit: Unit::Text,
        default: Some("Listening on port 3000"),
        does: "the line",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: |call| Act::Precede(Bytes::copy_from_slice(call.word("text").as_bytes())),
};

pub(super) static WRONG_ID: Kind = Kind {
    name: "wrong-id",
    does: "give the answer an unknown id",
    legal: Legality::Forbidden("a response has the id of its request"),
    example: "wrong-id tool=search id=424242",
    parameters: &[Parameter {
        name: "id",
        unit: Unit::Json,
        default: Some("\"nobody-asked\""),
        does: "the id, as JSON",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Answers,
    reach: TransportSupport::Any,
    limit: None,
    act: wrong_id,
};

pub(super) static OVERSIZE: Kind = Kind {
    name: "oversize",
    does: "add a member of this size to the result",
    legal: Legality::Yes("results may have further members, and their size is not limited"),
    example: "oversize tool=search bytes=20000000",
    parameters: &[Parameter {
        name: "bytes",
        unit: Unit::Count {
            of: "bytes",
            least: 1,
            most: 64 << 20,
        },
        default: Some("16777216"),
        does: "minimum size to add",
    }],
    on: FaultTarget::Answer,
    acts_on: ActsOn::Messages,
    reach: TransportSupport::Any,
    limit: None,
    act: oversize,
};

fn error(call: &Call<'_>) -> Act {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    line.extend_from_slice(call.id.unwrap_or(b"null"));
    line.extend_from_slice(b",\"error\":{\"code\":");
    let code: i64 = call.word("code").parse().unwrap_or(-32603);
    line.extend_from_slice(code.to_string().as_bytes());
    line.extend_from_slice(b",\"message\":\"");
    json::escape(call.word("message"), &mut line);
    line.extend_from_slice(b"\"}}");
    Act::fail(code, call.line(&line))
}

fn wrong_id(call: &Call<'_>) -> Act {
    let wrong = call.word("id").as_bytes();
    let id = json::find(call.text, &["id"]);
    let altered = match id.and_then(|id| Some((place(call.text, id)?, id.len()))) {
        Some((at, length)) => splice(call.text, at, length, wrong),
        None => call.text.to_vec(),
    };
    Act::replace(Replacement::WrongId, call.line(&altered))
}

fn oversize(call: &Call<'_>) -> Act {
    let size = call.size("bytes");
    let mut padding = b"\"x-tapewright-padding\":\"".to_vec();
    padding.resize(padding.len() + size, b'x');
    padding.push(b'"');
    let result = json::find(call.text, &["result"]).filter(|result| result.starts_with(b"{"));
    let altered = match result.and_then(|result| Some((result, place(call.text, result)?))) {
        Some((result, at)) => {
            let is_empty = result.part(1..).trim_ascii_start() == b"}";
            if !is_empty {
                padding.push(b',');
            }
            splice(call.text, at + 1, 0, &padding)
        }
        // There is no object to extend: white space has the same size, and is also legal.
        None => [call.text, vec![b' '; size].as_slice()].concat(),
    };
    Act::replace(Replacement::Oversized, call.line(&altered))
}

/// The position of a part within a message.
fn place(whole: &[u8], part: &[u8]) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (whole.get(at..at + part.len()) == Some(part)).then_some(at)
}

fn splice(text: &[u8], at: usize, gone: usize, new: &[u8]) -> Vec<u8> {
    let before = text.part(..at);
    let behind = text.part(at + gone..);
    [before, new, behind].concat()
}
