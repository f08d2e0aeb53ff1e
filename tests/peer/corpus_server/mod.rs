//! A server that satisfies every rule of every revision, except for those that its arguments break:
//! over stdio, and over HTTP.
//!
//! Each argument breaks one thing: [`faults::Fault`] has those that are followed by further words,
//! and each single word has its own meaning.

mod access;
mod faults;
mod http;
mod methods;

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

use self::faults::{Fault, drop_member, faults, set_member};

pub(crate) use self::http::serve as serve_http;

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

struct Server {
    faults: Vec<Fault>,
    /// The revision of the handshake.
    version: String,
    /// The number of lists that were sent.
    lists: u64,
    /// The number of conversations that were opened.
    openings: u64,
    /// How often the same request was made.
    asked: HashMap<String, u32>,
    /// The messages to send once the client has answered, by the id of the request to it.
    held: HashMap<String, Value>,
    /// It answers nothing more.
    is_stuck: bool,
}

/// Serves until its input ends.
pub(crate) fn serve(words: &[&str]) -> io::Result<()> {
    let mut server = Server::new(words);
    let mut output = io::stdout().lock();
    if server.is("noise") {
        output.write_all(b"listening\n")?;
    }
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        for answer in server.line(&line) {
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
        if server.is("die") && line.contains("\"tools/call\"") {
            return Ok(());
        }
    }
    Ok(())
}

/// An error: its code, its message, its data.
type Refusal = (i64, String, Option<Value>);
type HandlerResult = Result<Value, Refusal>;

fn refused<T>(code: i64, why: &str) -> Result<T, Refusal> {
    Err((code, why.to_owned(), None))
}

impl Server {
    fn new(words: &[&str]) -> Self {
        Self {
            faults: faults(words),
            version: STATELESS.to_owned(),
            lists: 0,
            openings: 0,
            asked: HashMap::new(),
            held: HashMap::new(),
            is_stuck: false,
        }
    }

    fn is(&self, word: &str) -> bool {
        let same = |fault: &Fault| matches!(fault, Fault::Word(one) if one == word);
        self.faults.iter().any(same)
    }

    /// The messages in response to a line.
    fn line(&mut self, line: &str) -> Vec<Value> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            self.is_stuck |= self.is("stuck-on-noise");
            if self.is("mute-on-noise") || self.is_stuck {
                return Vec::new();
            }
            return vec![self.error(&Value::Null, (-32_700, "this is not JSON".into(), None))];
        };
        if let Value::Array(all) = message {
            return self.batch(&all);
        }
        self.message(&message)
    }

    fn batch(&mut self, all: &[Value]) -> Vec<Value> {
        if all.is_empty() {
            return vec![self.error(&Value::Null, (-32_600, "an empty batch".into(), None))];
        }
        let answers: Vec<Value> = all.iter().flat_map(|one| self.message(one)).collect();
        if answers.is_empty() {
            Vec::new()
        } else {
            vec![Value::Array(answers)]
        }
    }

    fn message(&mut self, message: &Value) -> Vec<Value> {
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str);
        let proper = message.get("jsonrpc") == Some(&json!("2.0"));
        let known_id = matches!(id, None | Some(Value::String(_) | Value::Number(_)));
        let is_response = method.is_none()
            && id.is_some()
            && (message.get("result").is_some() || message.get("error").is_some());
        if self.is_stuck {
            return Vec::new();
        }
        if is_response {
            let id = id.as_ref().and_then(Value::as_str).unwrap_or_default();
            let held = self.held.remove(id);
            return held.into_iter().collect();
        }
        let (Some(method), true, true) = (method, proper, known_id) else {
            let id = id.filter(|_| known_id).unwrap_or(Value::Null);
            return vec![self.error(&id, (-32_600, "this is no request".into(), None))];
        };
        match id {
            Some(id) => self.request(&id, method, message),
            None => self.notified(method),
        }
    }

    fn notified(&mut self, method: &str) -> Vec<Value> {
        self.is_stuck |= method == "notifications/cancelled" && self.is("stuck-on-cancel");
        if self.is("answers-notifications") {
            vec![json!({ "jsonrpc": "2.0", "id": null, "result": {} })]
        } else {
            Vec::new()
        }
    }

    fn request(&mut self, id: &Value, method: &str, message: &Value) -> Vec<Value> {
        let empty = Map::new();
        let params = message.get("params").and_then(Value::as_object);
        let params = params.unwrap_or(&empty);
        let asked = Value::Object(params.clone()).to_string();
        let times = self.asked.entry(format!("{method} {asked}")).or_default();
        *times += 1;
        let times = *times;
        if self.is_silent(method, &asked, times) {
            return Vec::new();
        }
        let mut before = Vec::new();
        let told = self.answer(method, params, &mut before);
        if method == "subscriptions/listen" && told.is_ok() {
            return before;
        }
        let is_tired =
            |fault: &Fault| matches!(fault, Fault::Thrice(one) if one == method && times > 3);
        let answer = if self.faults.iter().any(is_tired) {
            self.error(id, (-32_603, "too often".into(), None))
        } else {
            self.envelope(id, method, told)
        };
        let asks = self.asks(&format!("asked-{id}"));
        match asks.filter(|_| method == "tools/call" && is_plain_echo(params)) {
            Some(asks) => {
                before.push(asks);
                if times > 1 || !self.is("never-goes-on") {
                    self.held.insert(format!("asked-{id}"), answer);
                }
            }
            None => before.push(answer),
        }
        before
    }

    /// Whether a request is not answered, given how often it was made.
    fn is_silent(&self, method: &str, params: &str, times: u32) -> bool {
        let loses = self.is("loses-calls") && method == "tools/call" && times > 3;
        let is_silent = |fault: &Fault| match fault {
            Fault::Mute(one, part) => one == method && params.contains(part) && times == 1,
            _ => false,
        };
        loses || self.faults.iter().any(is_silent)
    }

    /// The request to the client during a tool call.
    fn asks(&self, id: &str) -> Option<Value> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::Asks(method, params) => {
                Some(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            }
            _ => None,
        })
    }

    fn envelope(&self, id: &Value, method: &str, told: HandlerResult) -> Value {
        for fault in &self.faults {
            if let Fault::Error(one, code) = fault
                && one == method
            {
                return self.error(id, (*code, "broken on purpose".into(), None));
            }
        }
        let mut result = match told {
            Ok(result) => result,
            Err(refusal) => return self.error(id, refusal),
        };
        for fault in &self.faults {
            match fault {
                Fault::Drop(one, pointer) if one == method => drop_member(&mut result, pointer),
                Fault::Set(one, pointer, value) if one == method => {
                    set_member(&mut result, pointer, value.clone());
                }
                _ => {}
            }
        }
        let mut envelope = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        if self.is("no-jsonrpc") {
            drop_member(&mut envelope, "/jsonrpc");
        }
        envelope
    }

    fn error(&self, id: &Value, (code, why, data): Refusal) -> Value {
        let change = |fault: &Fault| match fault {
            Fault::Code(from, to) if *from == code => Some(*to),
            _ => None,
        };
        let code = self.faults.iter().find_map(change).unwrap_or(code);
        let mut error = json!({ "code": code, "message": why });
        if self.is("bare-errors") {
            drop_member(&mut error, "/message");
        }
        if let Some(data) = data.filter(|_| !self.is("no-data")) {
            set_member(&mut error, "/data", data);
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }

    fn answer(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> HandlerResult {
        let version = params.get("_meta").and_then(|meta| meta.get(VERSION_KEY));
        if version.is_some() || method == "server/discover" {
            return self.stateless(method, params, before);
        }
        match method {
            "initialize" => Ok(self.initialize(params)),
            "logging/setLevel"
                if !self.is("any-level")
                    && params
                        .get("level")
                        .is_none_or(|level| level == "tapewright") =>
            {
                refused(-32_602, "there is no such level")
            }
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                Ok(json!({}))
            }
            _ => self.common(method, params, before),
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let known = asked.filter(|asked| HANDSHAKES.contains(asked));
        let version = if self.is("echo-any-version") {
            asked
        } else {
            known
        };
        version
            .unwrap_or(HANDSHAKES[3])
            .clone_into(&mut self.version);
        json!({
            "protocolVersion": self.version,
            "capabilities": methods::capabilities(&self.version),
            "serverInfo": self.info(),
        })
    }

    /// The server's name: always the same, unless it is configured to change.
    fn info(&mut self) -> Value {
        self.openings += u64::from(self.is("unstable-opening"));
        json!({ "name": "scripted", "version": format!("1.0.{}", self.openings) })
    }

    /// Whether a request of the stateless era describes itself, with a supported revision.
    fn described(&self, meta: Option<&Map<String, Value>>) -> Result<(), Refusal> {
        let of = |key: &str| meta.and_then(|meta| meta.get(key));
        let version = of(VERSION_KEY).and_then(Value::as_str);
        let declares = of(CAPABILITIES_KEY).is_some_and(Value::is_object);
        let names = version.is_some() || self.is("no-version-needed");
        if !names || !(declares || self.is("no-capabilities-needed")) {
            return refused(-32_602, "the request does not describe itself");
        }
        if version.is_some_and(|version| version != STATELESS) {
            let data = json!({ "supported": [STATELESS], "requested": version });
            return Err((-32_022, "the version is not supported".into(), Some(data)));
        }
        let level = of("io.modelcontextprotocol/logLevel");
        if level.is_some_and(|level| level == "tapewright") && !self.is("any-level") {
            return refused(-32_602, "there is no such level");
        }
        Ok(())
    }

    fn stateless(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> HandlerResult {
        self.described(params.get("_meta").and_then(Value::as_object))?;
        let mut result = match method {
            "server/discover" => {
                let mut capabilities = methods::capabilities(STATELESS);
                if self.is("unstable-opening") {
                    self.openings += 1;
                    set_member(
                        &mut capabilities,
                        "/experimental",
                        json!({ "turn": self.openings }),
                    );
                }
                json!({ "supportedVersions": [STATELESS], "capabilities": capabilities })
            }
            "initialize" | "ping" | "logging/setLevel" => {
                return refused(-32_601, "there is no such method");
            }
            "subscriptions/listen" => {
                if !self.is("no-acknowledgement") {
                    before.push(json!({ "jsonrpc": "2.0",
                        "method": "notifications/subscriptions/acknowledged", "params": {} }));
                }
                json!({})
            }
            _ => self
                .common(method, params, before)
                .map_err(|refusal| self.of_this_era(refusal))?,
        };
        let cached = [
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        ];
        set_member(&mut result, "/resultType", json!("complete"));
        if cached.contains(&method) {
            set_member(&mut result, "/ttlMs", json!(0));
            set_member(&mut result, "/cacheScope", json!("private"));
        }
        let info = json!({ "name": "scripted", "version": "1.0.0" });
        set_member(
            &mut result,
            "/_meta",
            json!({ "io.modelcontextprotocol/serverInfo": info }),
        );
        Ok(result)
    }

    /// The code of a missing resource changed with the stateless era.
    fn of_this_era(&self, (code, why, data): Refusal) -> Refusal {
        let is_old = code == -32_002 && !self.is("legacy-missing");
        (if is_old { -32_602 } else { code }, why, data)
    }
}

/// Whether a call is one of `echo` with empty arguments.
fn is_plain_echo(params: &Map<String, Value>) -> bool {
    params.get("name") == Some(&json!("echo")) && params.get("arguments") == Some(&json!({}))
}
