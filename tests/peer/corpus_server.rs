//! A server that keeps every rule of every revision, but for what it is told to break.
//!
//! Each argument breaks one thing: `drop METHOD POINTER` takes a member out of the results of a method, `set METHOD
//! POINTER JSON` puts one in, `error METHOD CODE` answers with an error, `code FROM TO` changes the codes of errors,
//! `accept WHAT` answers what should be refused, and a word alone has a meaning of its own.

use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// One thing that is broken.
#[derive(Debug)]
enum Fault {
    Drop(String, String),
    Set(String, String, Value),
    Error(String, i64),
    Code(i64, i64),
    Word(String),
}

/// Reads what is to be broken.
fn faults(words: &[&str]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut words = words.iter().map(|word| (*word).to_owned());
    while let Some(word) = words.next() {
        let mut next = || words.next().expect("a fault with all its words");
        faults.push(match word.as_str() {
            "drop" => Fault::Drop(next(), next()),
            "set" => {
                let (method, pointer) = (next(), next());
                Fault::Set(
                    method,
                    pointer,
                    serde_json::from_str(&next()).expect("JSON"),
                )
            }
            "error" => Fault::Error(next(), next().parse().expect("a code")),
            "code" => {
                let from = next().parse().expect("a code");
                Fault::Code(from, next().parse().expect("a code"))
            }
            _ => Fault::Word(word),
        });
    }
    faults
}

struct Server {
    faults: Vec<Fault>,
    /// The revision of the handshake.
    version: String,
    /// How many lists were given.
    lists: u64,
}

/// Serves until its input ends.
pub(crate) fn serve(words: &[&str]) -> io::Result<()> {
    let mut server = Server {
        faults: faults(words),
        version: STATELESS.to_owned(),
        lists: 0,
    };
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

type Told = Result<Value, (i64, String)>;

fn refused<T>(code: i64, why: &str) -> Result<T, (i64, String)> {
    Err((code, why.to_owned()))
}

impl Server {
    fn is(&self, word: &str) -> bool {
        let same = |fault: &Fault| matches!(fault, Fault::Word(one) if one == word);
        self.faults.iter().any(same)
    }

    /// What is said to a line.
    fn line(&mut self, line: &str) -> Vec<Value> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            if self.is("mute-on-noise") {
                return Vec::new();
            }
            return vec![self.error(&Value::Null, -32_700, "this is not JSON")];
        };
        if let Value::Array(all) = message {
            return self.batch(&all);
        }
        self.message(&message)
    }

    fn batch(&mut self, all: &[Value]) -> Vec<Value> {
        if all.is_empty() {
            return vec![self.error(&Value::Null, -32_600, "an empty batch")];
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
        if is_response {
            return Vec::new();
        }
        let (Some(method), true, true) = (method, proper, known_id) else {
            let id = id.filter(|_| known_id).unwrap_or(Value::Null);
            return vec![self.error(&id, -32_600, "this is no request")];
        };
        let Some(id) = id else {
            return if self.is("answers-notifications") {
                vec![json!({ "jsonrpc": "2.0", "id": null, "result": {} })]
            } else {
                Vec::new()
            };
        };
        let empty = Map::new();
        let params = message
            .get("params")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let mut before = Vec::new();
        let told = self.answer(method, params, &mut before);
        before.push(self.envelope(&id, method, told));
        before
    }

    fn envelope(&self, id: &Value, method: &str, told: Told) -> Value {
        for fault in &self.faults {
            if let Fault::Error(one, code) = fault
                && one == method
            {
                return self.error(id, *code, "broken on purpose");
            }
        }
        let mut result = match told {
            Ok(result) => result,
            Err((code, why)) => return self.error(id, code, &why),
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

    fn error(&self, id: &Value, code: i64, why: &str) -> Value {
        let change = |fault: &Fault| match fault {
            Fault::Code(from, to) if *from == code => Some(*to),
            _ => None,
        };
        let code = self.faults.iter().find_map(change).unwrap_or(code);
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
    }

    fn answer(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> Told {
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
            "capabilities": capabilities(),
            "serverInfo": { "name": "scripted", "version": "1.0.0" },
        })
    }

    fn stateless(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> Told {
        let meta = params.get("_meta").and_then(Value::as_object);
        let version = meta.and_then(|meta| meta.get(VERSION_KEY)?.as_str());
        let declares = meta.is_some_and(|meta| {
            meta.get("io.modelcontextprotocol/clientCapabilities")
                .is_some_and(Value::is_object)
        });
        if version.is_none() || !declares {
            return refused(-32_602, "the request does not describe itself");
        }
        if version != Some(STATELESS) {
            return refused(-32_022, "the version is not supported");
        }
        let level = meta.and_then(|meta| meta.get("io.modelcontextprotocol/logLevel"));
        if level.is_some_and(|level| level == "tapewright") && !self.is("any-level") {
            return refused(-32_602, "there is no such level");
        }
        let mut result = match method {
            "server/discover" => json!({
                "supportedVersions": [STATELESS],
                "capabilities": capabilities(),
            }),
            "initialize" | "ping" | "logging/setLevel" => {
                return refused(-32_601, "there is no such method");
            }
            _ => self
                .common(method, params, before)
                .map_err(|(code, why)| (if code == -32_002 { -32_602 } else { code }, why))?,
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

    fn common(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> Told {
        if method.ends_with("/list") && params.contains_key("cursor") && !self.is("any-cursor") {
            return refused(-32_602, "there is no such cursor");
        }
        let name = |member: &str| {
            params
                .get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        match method {
            "tools/list" => Ok(self.tools()),
            "tools/call" => self.call(name("name"), params, before),
            "resources/list" => Ok(json!({ "resources": [
                { "uri": "memo://one", "name": "one", "mimeType": "text/plain" }] })),
            "resources/templates/list" => Ok(json!({ "resourceTemplates": [
                { "uriTemplate": "memo://{name}", "name": "memo" }] })),
            "resources/read" if name("uri") == "memo://one" || self.is("any-resource") => Ok(
                json!({ "contents": [{ "uri": name("uri"), "mimeType": "text/plain", "text": "hello" }] }),
            ),
            "resources/read" => refused(-32_002, "there is no such resource"),
            "prompts/list" => Ok(json!({ "prompts": [
                { "name": "plain" },
                { "name": "greet", "arguments": [{ "name": "who", "required": true }] }] })),
            "prompts/get" => self.prompt(name("name"), params),
            "completion/complete"
                if params.get("ref").is_some_and(is_unknown) && !self.is("any-reference") =>
            {
                refused(-32_602, "there is nothing of that name")
            }
            "completion/complete" => {
                Ok(json!({ "completion": { "values": ["hello"], "total": 1, "hasMore": false } }))
            }
            _ => refused(-32_601, "there is no such method"),
        }
    }

    fn tools(&mut self) -> Value {
        self.lists += 1;
        let first = if self.is("unstable") {
            format!("echo{}", self.lists)
        } else {
            "echo".to_owned()
        };
        json!({ "tools": [
            { "name": first, "description": "Says it again.", "inputSchema": { "type": "object" },
              "annotations": { "readOnlyHint": true } },
            { "name": "add", "description": "Adds.", "inputSchema": { "type": "object",
              "required": ["a"], "properties": { "a": { "type": "integer" } } },
              "outputSchema": { "type": "object", "required": ["sum"],
                "properties": { "sum": { "type": "integer" } } },
              "annotations": { "readOnlyHint": true } },
            { "name": "wipe", "description": "Destroys.", "inputSchema": { "type": "object" },
              "annotations": { "destructiveHint": true } },
        ] })
    }

    fn call(&self, name: &str, params: &Map<String, Value>, before: &mut Vec<Value>) -> Told {
        assert!(name != "wipe", "nobody may call what destroys");
        if let Some(token) = params
            .get("_meta")
            .and_then(|meta| meta.get("progressToken"))
        {
            self.progress(token, before);
        }
        let arguments = params.get("arguments");
        if arguments.is_some_and(|all| !all.is_object()) && !self.is("any-arguments") {
            return refused(-32_602, "the arguments are no object");
        }
        // Since 2025-11-25 a mistake in arguments is for the model to mend.
        let is_old = self.version.as_str() < HANDSHAKES[3];
        match name {
            "add" => match arguments.and_then(|all| all.get("a")?.as_i64()) {
                Some(a) => Ok(
                    json!({ "content": [{ "type": "text", "text": format!("{{\"sum\":{a}}}") }],
                    "structuredContent": { "sum": a } }),
                ),
                None if is_old || self.is("protocol-error-on-arguments") => {
                    refused(-32_602, "`a` is missing")
                }
                None => Ok(
                    json!({ "content": [{ "type": "text", "text": "`a` is missing" }], "isError": true }),
                ),
            },
            _ if name.starts_with("echo") || self.is("any-tool") => {
                Ok(json!({ "content": [{ "type": "text", "text": "hello" }] }))
            }
            _ => refused(-32_602, &format!("Unknown tool: {name}")),
        }
    }

    fn progress(&self, token: &Value, before: &mut Vec<Value>) {
        let token = if self.is("wrong-token") {
            &json!("nobody's")
        } else {
            token
        };
        let steps = if self.is("falling-progress") {
            [2, 1]
        } else {
            [1, 2]
        };
        for progress in steps {
            before.push(
                json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": progress, "total": 2 } }),
            );
        }
    }

    fn prompt(&self, name: &str, params: &Map<String, Value>) -> Told {
        let who = params.get("arguments").and_then(|all| all.get("who"));
        match (name, who) {
            ("greet", None) if !self.is("any-arguments") => refused(-32_602, "`who` is missing"),
            ("plain" | "greet", _) => Ok(json!({ "messages": [
                { "role": "user", "content": { "type": "text", "text": "hello" } }] })),
            _ if self.is("any-prompt") => Ok(json!({ "messages": [] })),
            _ => refused(-32_602, "there is no such prompt"),
        }
    }
}

/// Whether a reference names something that is not there.
fn is_unknown(reference: &Value) -> bool {
    let name = reference
        .get("name")
        .or(reference.get("uri"))
        .and_then(Value::as_str);
    !matches!(
        name,
        Some("plain" | "greet" | "memo://{name}" | "memo://one")
    )
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} })
}

/// The value that holds the last step of a pointer, and that step.
fn parent<'v>(value: &'v mut Value, pointer: &str) -> Option<(&'v mut Value, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    Some((value.pointer_mut(parent)?, last))
}

fn drop_member(value: &mut Value, pointer: &str) {
    match parent(value, pointer) {
        Some((Value::Object(members), last)) => drop(members.remove(&last)),
        Some((Value::Array(items), last)) => {
            let index: usize = last.parse().expect("an index");
            drop(items.remove(index));
        }
        _ => {}
    }
}

fn set_member(value: &mut Value, pointer: &str, new: Value) {
    match parent(value, pointer) {
        Some((Value::Object(members), last)) => drop(members.insert(last, new)),
        Some((Value::Array(items), last)) => {
            let index: usize = last.parse().expect("an index");
            items[index] = new;
        }
        _ => {}
    }
}
