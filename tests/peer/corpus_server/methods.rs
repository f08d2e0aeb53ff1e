//! The contents of the server: tools, resources, prompts.

use serde_json::{Map, Value, json};

use super::{HANDSHAKES, HandlerResult, Server, refused};

impl Server {
    pub(super) fn common(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> HandlerResult {
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
                let count = if self.is("many-values") { 101 } else { 1 };
                Ok(json!({ "completion": { "values": vec!["hello"; count], "hasMore": false } }))
            }
            "tasks/list" if self.version == HANDSHAKES[3] => Ok(json!({ "tasks": [] })),
            "tasks/get" | "tasks/result" | "tasks/cancel" if self.version == HANDSHAKES[3] => {
                refused(-32_602, "there is no such task")
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
            { "name": "now", "description": "Tells a time.", "inputSchema": { "type": "object" },
              "outputSchema": { "type": "object", "properties": { "hour": { "type": "integer" } } },
              "annotations": { "readOnlyHint": true } },
            { "name": "wipe", "description": "Destroys.", "inputSchema": { "type": "object" },
              "annotations": { "destructiveHint": true } },
        ] })
    }

    fn call(
        &self,
        name: &str,
        params: &Map<String, Value>,
        before: &mut Vec<Value>,
    ) -> HandlerResult {
        assert!(name != "wipe", "nobody may call what destroys");
        if let Some(token) = params
            .get("_meta")
            .and_then(|meta| meta.get("progressToken"))
        {
            self.progress(token, before);
        } else if self.is("unasked-progress") {
            self.progress(&json!("not-asked-for"), before);
        }
        if self.is("unasked-log") {
            before.push(json!({ "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "info", "data": "called" } }));
        }
        let arguments = params.get("arguments");
        if arguments.is_some_and(|all| !all.is_object()) && !self.is("any-arguments") {
            return refused(-32_602, "the arguments are no object");
        }
        // Since 2025-11-25 an error in arguments is for the model to fix.
        let is_old = self.version.as_str() < HANDSHAKES[3];
        match name {
            "add" => match arguments.and_then(|all| all.get("a")?.as_i64()) {
                Some(a) => Ok(
                    json!({ "content": [{ "type": "text", "text": format!("{{\"sum\":{a}}}") }],
                    "structuredContent": { "sum": a } }),
                ),
                None if self.is("lenient") => {
                    Ok(json!({ "content": [{ "type": "text", "text": "whatever" }],
                        "structuredContent": { "sum": 0 } }))
                }
                None if is_old || self.is("protocol-error-on-arguments") => {
                    refused(-32_602, "`a` is missing")
                }
                None => Ok(
                    json!({ "content": [{ "type": "text", "text": "`a` is missing" }], "isError": true }),
                ),
            },
            "now" => Ok(
                json!({ "content": [{ "type": "text", "text": "{\"hour\":9}" }],
                "structuredContent": { "hour": 9 } }),
            ),
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

    fn prompt(&self, name: &str, params: &Map<String, Value>) -> HandlerResult {
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

/// Whether a reference is to something that does not exist.
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

/// The declared capabilities of a revision.
pub(super) fn capabilities(version: &str) -> Value {
    let mut all = json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true },
        "prompts": {}, "completions": {}, "logging": {} });
    if version == HANDSHAKES[3] {
        all["tasks"] = json!({ "list": {}, "cancel": {} });
    }
    all
}
