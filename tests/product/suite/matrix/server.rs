//! An HTTP server that answers as requested, fails, and drops connections.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http::{Head, Upstream, Wire};

/// The fields of every response in addition to those that HTTP needs.
const KIND: &str = "X-Kind: plain\r\nX-Api-Key: canary-9c1f77aa20d3e4b5\r\n";

/// Starts a server; its URL.
pub(super) fn start() -> String {
    let upstream = Upstream::start();
    let address: SocketAddr = upstream.address();
    let listener = upstream.into_listener();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || serve(Wire::of(socket)));
        }
    });
    format!("http://{address}/mcp")
}

/// Serves a connection until it ends, or a request makes it drop the connection.
fn serve(mut wire: Wire) {
    while let Ok(head) = wire.try_head() {
        let Some(response) = body(&mut wire, &head).and_then(|body| respond(&head, &body)) else {
            return;
        };
        if wire.try_send(response).is_err() {
            return;
        }
    }
}

fn body(wire: &mut Wire, head: &Head) -> Option<Vec<u8>> {
    let Some(length) = head.get("content-length") else {
        if head.get("transfer-encoding").is_none() {
            return Some(Vec::new());
        }
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&wire.try_line().ok()?, 16).ok()?;
            body.extend(wire.try_take(size).ok()?);
            wire.try_take(2).ok()?;
            if size == 0 {
                return Some(body);
            }
        }
    };
    wire.try_take(length.parse().ok()?).ok()
}

/// The response to a request; `None` drops the connection.
fn respond(head: &Head, body: &[u8]) -> Option<String> {
    let plain = |status: &str| Some(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"));
    if !head.line.starts_with("POST ") {
        return plain("405 Method Not Allowed");
    }
    let message: Value = serde_json::from_slice(body).expect("JSON");
    let Some(id) = message.get("id") else {
        return plain("202 Accepted");
    };
    let (params, arguments) = (&message["params"], &message["params"]["arguments"]);
    let result = match (message["method"].as_str(), params["name"].as_str()) {
        (Some("initialize"), _) => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "matrix", "version": "1.0"},
        }),
        (Some("tools/call"), Some("answer")) => arguments["result"].clone(),
        (Some("tools/call"), Some("wait")) => {
            thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0)));
            json!({"content": []})
        }
        (Some("tools/call"), Some("broken")) => return plain("500 Internal Server Error"),
        (Some("tools/call"), Some("die")) => return None,
        _ => {
            let error = json!({"code": -32_000, "message": "boom"});
            let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return Some(crate::support::http::json(
                "200 OK",
                KIND,
                &message.to_string(),
            ));
        }
    };
    let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
    Some(crate::support::http::json(
        "200 OK",
        KIND,
        &message.to_string(),
    ))
}
