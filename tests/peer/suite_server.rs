//! A server with a little of everything, for suites: tools that answer, fail, wait and
//! remember, resources and prompts.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

/// Serves until the end of input.
pub(super) fn serve() -> io::Result<()> {
    let mut notes: BTreeMap<String, String> = BTreeMap::new();
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else {
            continue;
        };
        if message["method"] == "tools/call" && message["params"]["name"] == "die" {
            return Ok(());
        }
        let answer = match answer(&message["method"], &message["params"], &mut notes) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, text)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
            }
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

type Answer = Result<Value, (i64, String)>;

fn answer(method: &Value, params: &Value, notes: &mut BTreeMap<String, String>) -> Answer {
    match method.as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "suite", "version": "1.0"},
        })),
        "ping" => Ok(json!({})),
        "tools/list" => {
            let names = [
                "echo", "add", "answer", "env", "fail", "note", "picture", "refuse", "wait",
            ];
            let tools = names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
            Ok(json!({"tools": tools}))
        }
        "tools/call" => call(&params["name"], &params["arguments"], notes),
        "resources/list" => Ok(json!({"resources": [{"uri": "note://readme", "name": "readme"}]})),
        "resources/read" if params["uri"] == "note://readme" => Ok(json!({
            "contents": [{"uri": "note://readme", "mimeType": "text/plain", "text": "read me"}],
        })),
        "resources/read" => Err((-32_002, "no such resource".to_owned())),
        "prompts/list" => Ok(json!({"prompts": [{"name": "triage"}]})),
        "prompts/get" if params["name"] == "triage" => {
            let severity = params["arguments"]["severity"].as_str().unwrap_or("any");
            let text = format!("triage of {severity} bugs");
            Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
        }
        "prompts/get" => Err((-32_602, "no such prompt".to_owned())),
        other => Err((-32_601, format!("there is no {other}"))),
    }
}

fn call(name: &Value, arguments: &Value, notes: &mut BTreeMap<String, String>) -> Answer {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    Ok(match name.as_str().unwrap_or_default() {
        "echo" => said(&text("message")),
        "add" => {
            let sum = arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0);
            let mut result = said(&sum.to_string());
            result["structuredContent"] = json!({"sum": sum, "exact": true});
            result
        }
        // The requested value, as the whole result.
        "answer" => arguments["result"].clone(),
        "env" => said(&std::env::var(text("name")).unwrap_or_default()),
        "fail" => {
            let mut result = said("it went wrong");
            result["isError"] = json!(true);
            result
        }
        "note" => note(&text("do"), text("id"), text("text"), notes),
        "picture" => {
            json!({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]})
        }
        "refuse" => return Err((-32_000, "boom".to_owned())),
        "wait" => {
            std::thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0)));
            said("done")
        }
        other => return Err((-32_602, format!("no tool {other}"))),
    })
}

/// Notes that are kept from one call to the next.
fn note(what: &str, id: String, text: String, notes: &mut BTreeMap<String, String>) -> Value {
    match what {
        "write" => {
            notes.insert(id, text);
            said("written")
        }
        "forget" if notes.remove(&id).is_some() => said("forgotten"),
        "forget" => said("none"),
        _ => said(notes.get(&id).map_or("none", String::as_str)),
    }
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": false})
}
