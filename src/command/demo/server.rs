//! The built-in server: a small weather service with a tool that hangs.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

/// The unit of the server's temperatures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    Celsius,
    /// The result of a careless change.
    Fahrenheit,
}

impl Scale {
    /// The temperature of every city.
    fn warm(self) -> &'static str {
        match self {
            Self::Celsius => "22 °C",
            Self::Fahrenheit => "72 °F",
        }
    }
}

/// Serves until the end of input.
pub(super) fn serve(scale: Scale) -> io::Result<()> {
    let mut output = io::stdout().lock();
    // A banner on standard output, which belongs to the protocol: the most common mistake of
    // servers.
    writeln!(output, "weather server 1.0 ready")?;
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else {
            continue;
        };
        for reply in replies(&message, scale) {
            writeln!(output, "{reply}")?;
        }
        output.flush()?;
    }
    Ok(())
}

/// The server's answers to one message.
fn replies(message: &Value, scale: Scale) -> Vec<Value> {
    let member = |pointer: &str| message.pointer(pointer).cloned().unwrap_or(Value::Null);
    let id = member("/id");
    let result = |result: Value| vec![json!({"jsonrpc": "2.0", "id": id, "result": result})];
    let error = |code: i64, message: &str| {
        let error = json!({"code": code, "message": message});
        vec![json!({"jsonrpc": "2.0", "id": id, "error": error})]
    };
    match (member("/method").as_str(), member("/params/name").as_str()) {
        (Some("initialize"), _) => result(json!({
            "protocolVersion": member("/params/protocolVersion"),
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "weather", "version": "1.0"},
        })),
        (Some("tools/list"), _) => result(json!({"tools": [tool("forecast"), tool("radar")]})),
        (Some("tools/call"), Some("forecast")) => {
            let city = member("/params/arguments/city");
            let token = member("/params/_meta/progressToken");
            let progress = json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "total": 2},
            });
            // Progress is sent only on request.
            let progress = (!token.is_null()).then_some(progress);
            let answer = result(json!({
                "content": [{"type": "text", "text": format!("{city}: {}, sunny", scale.warm())}],
            }));
            progress.into_iter().chain(answer).collect()
        }
        // Never answered: the hang that a recording must contain.
        (Some("tools/call"), Some("radar")) => Vec::new(),
        (Some("tools/call"), _) => error(-32602, "no such tool"),
        (Some(_), _) if !id.is_null() => error(-32601, "Method not found"),
        _ => Vec::new(),
    }
}

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}, "api_key": {"type": "string"}}},
    })
}
