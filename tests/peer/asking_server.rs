//! A server with one tool, which asks its client for everything that a client may offer: during the
//! call up to 2025-11-25, within its result from 2026-07-28.
//!
//! `no-schema` omits the schema of the form.

use std::io::{self, BufRead, StdinLock, StdoutLock, Write};

use serde_json::{Map, Value, json};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const STATE: &str = "tapewright ✓ state";
const OFFERED: [&str; 3] = ["elicitation", "roots", "sampling"];

struct Server<'a> {
    input: StdinLock<'a>,
    output: StdoutLock<'a>,
    broken: Vec<String>,
    next: u64,
}

/// Serves until its input ends.
pub(crate) fn serve(words: &[&str]) -> io::Result<()> {
    let mut server = Server {
        input: io::stdin().lock(),
        output: io::stdout().lock(),
        broken: words.iter().map(|word| (*word).to_owned()).collect(),
        next: 0,
    };
    while let Some(message) = server.read()? {
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            continue;
        };
        let told = server.answer(method, &message["params"])?;
        let mut envelope = json!({ "jsonrpc": "2.0", "id": id });
        match told {
            Ok(result) => envelope["result"] = result,
            Err((code, why)) => envelope["error"] = json!({ "code": code, "message": why }),
        }
        server.write(&envelope)?;
    }
    Ok(())
}

type HandlerResult = Result<Value, (i64, &'static str)>;

impl Server<'_> {
    /// The next message; other lines are ignored.
    fn read(&mut self) -> io::Result<Option<Value>> {
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if let Ok(message) = serde_json::from_str::<Value>(&line) {
                return Ok(Some(message));
            }
        }
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        writeln!(self.output, "{message}")?;
        self.output.flush()
    }

    fn answer(&mut self, method: &str, params: &Value) -> io::Result<HandlerResult> {
        let meta = &params["_meta"];
        let stateless = meta.get(VERSION_KEY).is_some();
        let mut result = match method {
            "initialize" => {
                return Ok(Ok(json!({
                    "protocolVersion": params["protocolVersion"], "capabilities": { "tools": {} },
                    "serverInfo": { "name": "asking", "version": "1" } })));
            }
            "ping" if !stateless => json!({}),
            "server/discover" => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
            }
            "tools/list" => json!({ "tools": [{ "name": "ask", "description": "Asks back.",
                "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }] }),
            "tools/call" if params["name"] != "ask" => {
                return Ok(Err((-32_602, "there is no such tool")));
            }
            "tools/call" if stateless => {
                let offered = meta.get(CAPABILITIES_KEY).cloned().unwrap_or_default();
                return Ok(self.stateless_call(params, &offered));
            }
            "tools/call" => self.call()?,
            _ => return Ok(Err((-32_601, "there is no such method"))),
        };
        if stateless {
            result["resultType"] = json!("complete");
            if method != "tools/call" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
        }
        Ok(Ok(result))
    }

    /// The requested inputs, by name.
    fn requests(&self) -> Map<String, Value> {
        let mut elicitation = json!({ "mode": "form", "message": "who?", "requestedSchema": {
            "type": "object", "required": ["who"], "properties": { "who": { "type": "string" } } } });
        if self.broken.iter().any(|word| word == "no-schema") {
            elicitation = json!({ "mode": "form", "message": "who?" });
        }
        let question = json!({ "role": "user", "content": { "type": "text", "text": "ja?" } });
        let all = json!({
            "who": { "method": "elicitation/create", "params": elicitation },
            "where": { "method": "roots/list", "params": {} },
            "model": { "method": "sampling/createMessage",
                "params": { "messages": [question], "maxTokens": 9 } },
        });
        all.as_object().cloned().unwrap_or_default()
    }

    /// Asks, one after the other, and waits for each answer.
    fn call(&mut self) -> io::Result<Value> {
        for (_, request) in self.requests() {
            self.next += 1;
            let id = format!("asks-{}", self.next);
            let mut message = request;
            message["jsonrpc"] = json!("2.0");
            message["id"] = json!(id);
            self.write(&message)?;
            while let Some(answer) = self.read()? {
                if answer["id"] == json!(id) {
                    break;
                }
            }
        }
        Ok(json!({ "content": [{ "type": "text", "text": "everything was answered" }] }))
    }

    /// Asks within the result, and continues once the same request has every answer and the state.
    fn stateless_call(&self, params: &Value, offered: &Value) -> HandlerResult {
        if OFFERED.iter().any(|name| offered.get(name).is_none()) {
            return Err((-32_021, "the client does not offer what the tool needs"));
        }
        let requests = self.requests();
        let Some(responses) = params.get("inputResponses") else {
            return Ok(
                json!({ "resultType": "input_required", "inputRequests": requests,
                "requestState": STATE }),
            );
        };
        let all = requests.keys().all(|name| responses.get(name).is_some());
        if !all || params["requestState"] != STATE {
            return Err((-32_602, "this is no answer to what was asked"));
        }
        Ok(
            json!({ "content": [{ "type": "text", "text": "everything was answered" }], "resultType": "complete" }),
        )
    }
}
