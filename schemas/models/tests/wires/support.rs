//! Recorded exchanges, and reading them.

use bytes::Bytes;
use serde_json::Value;
use tapewright_models::conversation::{Request, Response};
use tapewright_models::{Call, Ended, Framing, Operation, StreamReader, recognise};

/// One recorded exchange.
pub(crate) struct Exchange {
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) heads: Vec<(String, String)>,
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) response: String,
}

pub(crate) const FILES: [(&str, &str); 4] = [
    ("anthropic", include_str!("../recorded/anthropic.jsonl")),
    ("gemini", include_str!("../recorded/gemini.jsonl")),
    ("mistral", include_str!("../recorded/mistral.jsonl")),
    ("openai", include_str!("../recorded/openai.jsonl")),
];

pub(crate) fn exchanges() -> Vec<Exchange> {
    let mut all = Vec::new();
    for (provider, lines) in FILES {
        for line in lines.lines() {
            let file: Value = serde_json::from_str(line).unwrap();
            let name = file["name"].as_str().unwrap();
            for (at, exchange) in file["exchanges"].as_array().unwrap().iter().enumerate() {
                all.push(read(format!("{provider}/{name}#{at}"), exchange));
            }
        }
    }
    all
}

fn read(name: String, exchange: &Value) -> Exchange {
    let (when, then) = (&exchange["when"], &exchange["then"]);
    let pairs = |list: &Value| -> Vec<(String, String)> {
        let text = |pair: &Value, name: &str| pair[name].as_str().unwrap_or_default().to_owned();
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter()
            .map(|pair| (text(pair, "name"), text(pair, "value")))
            .collect()
    };
    let query: Vec<String> = pairs(&when["query_param"])
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let path = when["path"].as_str().unwrap();
    let kind = pairs(&then["header"])
        .into_iter()
        .find(|(name, _)| name == "content-type");
    Exchange {
        name,
        method: when["method"].as_str().unwrap().to_owned(),
        target: format!("{path}?{}", query.join("&")),
        heads: pairs(&when["header"]),
        request: when["body"].as_str().unwrap_or_default().to_owned(),
        status: u16::try_from(then["status"].as_u64().unwrap()).unwrap(),
        kind: kind.unwrap().1,
        response: then["body"].as_str().unwrap_or_default().to_owned(),
    }
}

impl Exchange {
    pub(crate) fn call(&self) -> Option<Call> {
        let head = |name: &str| {
            let found = self
                .heads
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        recognise(
            &self.method,
            &self.target,
            head,
            Some(self.request.as_bytes()),
        )
    }

    /// The call, if it is a request to generate something.
    pub(crate) fn generated(&self) -> Option<Call> {
        self.call()
            .filter(|call| call.operation == Operation::Generate)
    }

    pub(crate) fn asked(&self, call: &Call) -> Request {
        let read = call.wire.read_request(call, self.request.as_bytes());
        read.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.kind.starts_with("text/event-stream")
    }

    pub(crate) fn answered(&self, call: &Call) -> Response {
        if self.is_stream() {
            return self.streamed(call, self.response.len().max(1)).response;
        }
        let read = call.wire.read_response(self.response.as_bytes());
        read.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The stream, in chunks of this many bytes.
    pub(crate) fn streamed(&self, call: &Call, chunk: usize) -> Ended {
        let mut reader = StreamReader::new(call.wire, Framing::Sse);
        for chunk in self.response.as_bytes().chunks(chunk) {
            let fed = reader.feed(&Bytes::copy_from_slice(chunk));
            fed.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        }
        reader.finish()
    }
}
