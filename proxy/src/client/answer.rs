//! Answers to requests of the server.

use bytes::Bytes;
use tapewright_schemas::json;

use crate::bridge::line::one_line;

/// A request of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRequest<'a> {
    /// Source text of its id.
    pub id: &'a [u8],
    /// Its method.
    pub method: &'a str,
    /// Source text of its parameters.
    pub params: Option<&'a [u8]>,
}

/// The answer to a request of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// `{}` to a `ping`, and a method-not-found error to anything else.
    Default,
    /// An error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// A result, as the source text of a JSON value.
    Result(String),
    /// No answer.
    Silence,
}

/// Answers requests of the server: sampling, elicitation, roots, ping.
pub trait Answers: Send {
    /// Decides about the answer. Runs while the caller waits for a reply, so it must not take long.
    fn answer(&mut self, asked: &ServerRequest<'_>) -> Answer;
}

impl<F: FnMut(&ServerRequest<'_>) -> Answer + Send> Answers for F {
    fn answer(&mut self, asked: &ServerRequest<'_>) -> Answer {
        self(asked)
    }
}

/// A client without any features: the default answers.
#[derive(Clone, Copy, Debug)]
pub struct NoAnswers;

impl Answers for NoAnswers {
    fn answer(&mut self, _: &ServerRequest<'_>) -> Answer {
        Answer::Default
    }
}

/// The line of an answer; `None` for no answer.
pub(super) fn line(asked: &ServerRequest<'_>, answers: &mut dyn Answers) -> Option<Bytes> {
    let mut body = Vec::new();
    match answers.answer(asked) {
        Answer::Silence => return None,
        Answer::Result(result) if json::is_valid(result.as_bytes()) => {
            body.extend_from_slice(b"\"result\":");
            body.extend_from_slice(result.as_bytes());
        }
        // An invalid result would break the whole line.
        Answer::Result(_) => error(-32_603, "the answer is not JSON", &mut body),
        Answer::Error { code, message } => error(code, &message, &mut body),
        Answer::Default if asked.method == "ping" => body.extend_from_slice(b"\"result\":{}"),
        Answer::Default => {
            let message = format!("this client does not support {}", asked.method);
            error(-32_601, &message, &mut body);
        }
    }
    let line = [
        b"{\"jsonrpc\":\"2.0\",\"id\":".as_slice(),
        asked.id,
        b",",
        &body,
        b"}",
    ];
    one_line(&line.concat().into())
}

fn error(code: i64, message: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"error\":{{\"code\":{code},\"message\":\"").as_bytes());
    json::escape(message, out);
    out.extend_from_slice(b"\"}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(method: &str, answer: Answer) -> Option<String> {
        let asked = ServerRequest {
            id: b"\"a\"",
            method,
            params: None,
        };
        let mut answers = move |_: &ServerRequest<'_>| answer.clone();
        line(&asked, &mut answers).map(|line| String::from_utf8(line.to_vec()).unwrap())
    }

    #[test]
    fn a_ping_is_answered_and_an_unknown_method_is_refused() {
        let pong = r#"{"jsonrpc":"2.0","id":"a","result":{}}"#;
        assert_eq!(answered("ping", Answer::Default).unwrap(), pong);
        let refused = answered("roots/list", Answer::Default).unwrap();
        assert!(refused.contains(r#""code":-32601"#), "{refused}");
        assert_eq!(answered("ping", Answer::Silence), None);
    }

    #[test]
    fn an_answer_is_one_line_of_json() {
        let spread = Answer::Result("{\n\"roots\":[]}".to_owned());
        let line = answered("roots/list", spread).unwrap();
        assert_eq!(line, r#"{"jsonrpc":"2.0","id":"a","result":{ "roots":[]}}"#);
        let broken = answered("roots/list", Answer::Result("{".to_owned())).unwrap();
        assert!(broken.contains("-32603"), "{broken}");
    }
}
