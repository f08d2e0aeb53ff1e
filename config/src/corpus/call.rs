//! Reading `call`: the request.

use serde_json::Value;

use super::names;
use super::placeholder;
use super::rule::Call;
use crate::issue::Code;
use crate::read::{Cursor, is_header_name};

/// The keys of `call`.
pub(super) const KEYS: &[&str] = &[
    "method",
    "params",
    "raw",
    "transport",
    "repeat",
    "timeout_ms",
];

/// The maximum number of concurrent calls.
const MOST_AT_ONCE: u64 = 64;

/// The longest that an answer is waited for.
const LONGEST_WAIT_MS: u64 = 600_000;

impl Call {
    /// The request on one line: `tools/call {"name":"a"}`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = match (&self.method, &self.raw) {
            (Some(method), _) => method.clone(),
            (None, Some(raw)) => format!("raw {raw:?}"),
            (None, None) => String::new(),
        };
        if let Some(params) = &self.params {
            words.extend([" ", &Value::Object(params.clone()).to_string()]);
        }
        for (name, value) in &self.headers {
            words.extend([", ", name, ": ", value]);
        }
        if let Some(repeat) = self.repeat {
            words.extend([", ", &repeat.to_string(), " at once"]);
        }
        if let Some(transport) = self.transport {
            words.extend([", over ", transport.name()]);
        }
        words
    }
}

/// Reads a call.
pub(super) fn call(at: &Cursor<'_>) -> Call {
    let mut fields = at.fields();
    let mut call = Call::default();
    match fields.exactly_one(&["method", "raw"]) {
        Some(("method", method)) => call.method = Some(method.name()),
        Some((_, raw)) => {
            placeholder::check(&raw);
            call.raw = Some(raw.text());
        }
        None => {}
    }
    if let Some(params) = fields.optional("params") {
        placeholder::check(&params);
        if call.raw.is_some() {
            let help = "write the parameters into `raw`".to_owned();
            params.error_at_key(Code::Choice, "`raw` cannot be used with `params`", help);
        }
        call.params = Some(params.object());
    }
    let transport = fields.optional("transport");
    call.transport = transport.and_then(|at| names::transport(&at));
    if let Some(at) = fields.optional("headers") {
        placeholder::check(&at);
        call.headers = headers(&at);
    }
    let repeat = fields.optional("repeat");
    let repeat = repeat.map(|at| at.integer_within(2, MOST_AT_ONCE));
    call.repeat = repeat.and_then(|number| u32::try_from(number).ok());
    let timeout = fields.optional("timeout_ms");
    call.timeout_ms = timeout.map(|at| at.integer_within(1, LONGEST_WAIT_MS));
    fields.finish();
    call
}

/// Reads header fields: names, or pseudo-header fields that begin with a colon, and strings.
pub(super) fn headers(at: &Cursor<'_>) -> Vec<(String, String)> {
    let header = |(name, value): (&str, Cursor<'_>)| {
        name_of_header(name, &value);
        (name.to_owned(), value.text())
    };
    at.entries().into_iter().map(header).collect()
}

fn name_of_header(name: &str, at: &Cursor<'_>) {
    if !is_header_name(name) && !PSEUDO.contains(&name) {
        let message = format!("`{}` is not the name of a header", name.escape_debug());
        let help =
            "a name of HTTP, or `:method` and `:path` in a call and `:status` in what is expected";
        at.error_at_key(Code::Value, message, help.to_owned());
    }
}

/// From HTTP/2: the method and the path of a request, the status of a response.
const PSEUDO: &[&str] = &[":method", ":path", ":status"];
