//! The stateless era, from 2026-07-28.

use std::sync::Arc;

use tapewright_proxy::front::FrontSettings;

use crate::fake::{Seen, id_of, plain};
use crate::front_server::FrontServer;

fn request(id: &str, method: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{more}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn head(method: &str, name: &str) -> String {
    let name = if name.is_empty() {
        String::new()
    } else {
        format!("Mcp-Name: {name}\r\n")
    };
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

const CALL: &str = r#""name":"t","#;

#[test]
fn a_request_stands_alone_and_a_free_process_is_used_again() {
    let fake = plain("", |_, _| false);
    let front_server = FrontServer::of(fake.clone());
    let mut http = front_server.http();
    for id in ["1", "1", "\"a\""] {
        let (answer, body) = http.post(&head("tools/list", ""), &request(id, "tools/list", ""));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.get("mcp-session-id"), None);
        assert_eq!(
            body,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
    assert_eq!(fake.started(), 1);
}

#[test]
fn head_and_body_must_agree() {
    let front_server = FrontServer::of(plain("", |_, _| false));
    let mut http = front_server.http();
    let body = request("1", "tools/call", CALL);
    for wrong in [
        head("tools/list", "t"),
        head("tools/call", "other"),
        head("tools/call", ""),
        "MCP-Protocol-Version: 2026-07-28\r\n".to_owned(),
        "Mcp-Method: tools/call\r\nMcp-Name: t\r\n".to_owned(),
        "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/call\r\nMcp-Name: t\r\n".to_owned(),
    ] {
        let (answer, text) = http.post(&wrong, &body);
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(
            text.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"#),
            "{text}"
        );
    }
    assert_eq!(
        http.post(&head("tools/call", "=?base64?dA==?="), &body)
            .0
            .status,
        200
    );
}

#[test]
fn mirrored_arguments_are_checked_once_the_tools_are_known() {
    let fake = plain("", |out, line| {
        if line.contains("tools/list") {
            out.say(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}]}}"#);
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let call = request("1", "tools/call", r#""name":"t","arguments":{"r":"eu"},"#);
    let fields = head("tools/call", "t");
    assert_eq!(
        http.post(&fields, &call).0.status,
        200,
        "nothing is known yet"
    );
    http.post(&head("tools/list", ""), &request("1", "tools/list", ""));
    assert_eq!(http.post(&fields, &call).0.status, 400);
    assert_eq!(
        http.post(&format!("{fields}Mcp-Param-Region: us\r\n"), &call)
            .0
            .status,
        400
    );
    assert_eq!(
        http.post(&format!("{fields}mcp-param-region: eu\r\n"), &call)
            .0
            .status,
        200
    );
}

#[test]
fn an_error_has_the_status_of_its_code() {
    let fake = plain("", |out, line| {
        let code = line
            .split("\"code-")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        if let Some(code) = code {
            let id = id_of(line).unwrap();
            out.say(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-{code},"message":"x"}}}}"#
            ));
        }
        code.is_some()
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    for (code, status) in [
        ("32601", 404),
        ("32022", 400),
        ("32021", 400),
        ("32602", 200),
        ("1", 200),
    ] {
        let method = format!("code-{code}");
        let (answer, body) = http.post(&head(&method, ""), &request("1", &method, ""));
        assert_eq!(answer.status, status, "{code}");
        assert!(body.contains(code), "the server's own words: {body}");
    }
    // Without `_meta` the server's −32602 is a bad request.
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"code-32602","params":{}}"#;
    assert_eq!(http.post(&head("code-32602", ""), bare).0.status, 400);
}

#[test]
fn leaving_is_cancelling() {
    let fake = plain("", |_, line| line.contains("\"slow\""));
    let front_server = FrontServer::of(fake.clone());
    let mut http = front_server.http();
    http.begin_post(
        &head("tools/call", "slow"),
        &request("7", "tools/call", r#""name":"slow","#),
    );
    assert!(fake.next().1.contains("slow"));
    // Even before there is a head.
    drop(http);
    let (number, cancel) = fake.next();
    assert_eq!(number, 1);
    assert_eq!(
        cancel,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"the client closed the stream"}}"#
    );
    // The id is not reused there: a late answer must not reach another request.
    let mut http = front_server.http();
    assert_eq!(
        http.post(&head("tools/call", "t"), &request("7", "tools/call", CALL))
            .0
            .status,
        200
    );
    assert_eq!(fake.next().0, 2);
    assert_eq!(
        http.post(&head("tools/call", "t"), &request("8", "tools/call", CALL))
            .0
            .status,
        200
    );
    assert_eq!(fake.next().0, 1);
}

#[test]
fn requests_at_once_get_processes_of_their_own_up_to_the_limit() {
    let held: Arc<Seen<String>> = Arc::default();
    let tell = Arc::clone(&held);
    let fake = plain("", move |_, line| {
        if line.contains("\"slow\"") {
            tell.push(line.to_owned());
            return true;
        }
        false
    });
    let settings = FrontSettings {
        pool: 2,
        ..FrontSettings::default()
    };
    let front_server = FrontServer::with(fake.clone(), settings);
    let slow = |id| request(id, "tools/call", r#""name":"slow","#);
    let mut clients = Vec::new();
    for id in ["1", "1"] {
        let mut http = front_server.http();
        http.begin_post(&head("tools/call", "slow"), &slow(id));
        held.next();
        clients.push(http);
    }
    assert_eq!(fake.started(), 2);
    let mut third = front_server.http();
    let (answer, body) = third.post(&head("tools/call", "t"), &request("1", "tools/call", CALL));
    assert_eq!(answer.status, 503, "{body}");
    assert_eq!(answer.get("retry-after"), Some("5"));
    let (answer, _) = third.post(&head("tools/call", "t"), &request("2", "tools/call", CALL));
    assert_eq!(answer.status, 200, "shared, since no ids meet");
    assert_eq!(fake.started(), 2);
}

#[test]
fn clients_with_other_credentials_have_other_processes() {
    let fake = plain("", |_, _| false);
    let front_server = FrontServer::of(fake.clone());
    let mut http = front_server.http();
    for (token, number) in [("a", 1), ("b", 2), ("a", 1)] {
        let fields = format!(
            "{}Authorization: Bearer {token}\r\n",
            head("tools/list", "")
        );
        http.post(&fields, &request("1", "tools/list", ""));
        assert_eq!(fake.next().0, number);
    }
}

#[test]
fn a_subscription_is_a_stream_of_its_own() {
    let fake = plain("", |out, line| {
        if line.contains("subscriptions/listen") {
            let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"l"}"#;
            out.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{tag}}}}}"#));
            out.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{tag}}}}}"#));
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    http.begin_post(
        &head("subscriptions/listen", ""),
        &request("\"l\"", "subscriptions/listen", ""),
    );
    assert_eq!(http.head().get("content-type"), Some("text/event-stream"));
    let first = http.event().unwrap();
    assert!(
        first.starts_with("event: message\ndata: ") && first.contains("acknowledged"),
        "{first}"
    );
    assert!(http.data().unwrap().contains("list_changed"));
}

#[test]
fn get_and_delete_are_not_of_this_era() {
    let front_server = FrontServer::of(plain("", |_, _| false));
    let mut http = front_server.http();
    for method in ["GET", "DELETE"] {
        let fields = "Accept: text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n";
        let (answer, _) = http.ask(&format!("{method} /mcp"), fields, "");
        assert_eq!(answer.status, 405);
    }
}
