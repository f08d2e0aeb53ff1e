//! The errors that a client gets.

use crate::server::Server;
use crate::session::welcomes;
use crate::talk::{INITIALIZE, Talk};

const PING: &str = r#"{"jsonrpc":"2.0","id":"p\"1","method":"ping"}"#;

/// The line that the client gets when a ping is answered in this way.
fn heard(status: &'static str, head: &'static str, body: &'static str) -> String {
    let server = Server::start(move |request, reply| {
        if request.body == PING {
            reply.whole(status, head, body);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(PING);
    talk.hear()
}

const JSON: &str = "Content-Type: application/json; charset=utf-8\r\n";

#[test]
fn the_servers_own_error_comes_under_the_right_id() {
    for id in ["\"id\":null,", "", "\"id\":\"server-error\","] {
        let body = format!(
            r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"message":"x","data":[1e9]}}}}"#
        );
        assert_eq!(
            heard("400 Bad Request", JSON, body.leak()),
            r#"{"jsonrpc":"2.0","id":"p\"1","error":{"code":-32600,"message":"x","data":[1e9]}}"#
        );
    }
    let own = r#"{"id":"p\"1","error":{"message":"mine","code":1},"jsonrpc":"2.0"}"#;
    assert_eq!(heard("500 Oh", JSON, own), own);
}

#[test]
fn another_error_is_ours_and_says_so() {
    for (status, head, body) in [
        (
            "502 Bad Gateway",
            "Content-Type: text/html\r\n",
            "<h1>no</h1>",
        ),
        ("500 Internal Server Error", JSON, "{\"detail\":\"no\"}"),
        ("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", ""),
        ("304 Not Modified", "", ""),
        ("202 Accepted", "", ""),
        ("200 OK", "Content-Type: text/plain\r\n", "hello"),
    ] {
        let error = heard(status, head, body);
        let code = status.split(' ').next().unwrap();
        assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":"p\"1","error":{"code":-32000,"message":"tapewright: the server answered "#), "{error}");
        assert!(
            error.ends_with(&format!(
                r#""data":{{"origin":"tapewright","status":{code}}}}}}}"#
            )),
            "{error}"
        );
    }
}

#[test]
fn an_answer_to_another_request_is_passed_on_and_told() {
    let server = Server::start(move |request, reply| {
        if request.body == PING {
            reply.json(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(PING);
    assert!(talk.hear().contains("99"));
    assert!(talk.hear().contains("a different request"));
}

#[test]
fn no_connection_is_an_error_of_ours() {
    // Port 1 is reserved, and no server of a test uses it.
    let mut talk = Talk::with("http://127.0.0.1:1/mcp");
    talk.say(INITIALIZE);
    let error = talk.hear();
    assert!(
        error.contains("tapewright: cannot connect to 127.0.0.1"),
        "{error}"
    );
    assert!(error.contains("\"id\":0"), "{error}");
    talk.leave();
    talk.ends();
}

#[test]
fn a_connection_that_breaks_in_a_body_is_an_error_of_ours() {
    let server = Server::start(|request, reply| {
        if request.body == PING {
            reply.raw(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
            );
            reply.close();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(PING);
    assert!(talk.hear().contains("broke in the middle"));
}

#[test]
fn a_line_that_is_no_message_gets_the_servers_answer() {
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    let server = Server::start(move |request, reply| {
        if request.body == "{\"oops" {
            reply.whole("400 Bad Request", JSON, body);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say("");
    talk.say("{\"oops");
    assert_eq!(talk.hear(), body);
}

#[test]
fn redirects_are_followed_within_the_origin_and_not_beyond() {
    let server = Server::start(|request, reply| match request.path.as_str() {
        "/mcp" => reply.whole("307 Temporary Redirect", "Location: /mcp/\r\n", ""),
        "/mcp/" => {
            welcomes(request, reply);
        }
        "/circle" => reply.whole("308 Permanent Redirect", "Location: circle\r\n", ""),
        _ => reply.whole(
            "307 Temporary Redirect",
            "Location: http://localhost:1/x?key=1\r\n",
            "",
        ),
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    assert_eq!(server.next().path, "/mcp");
    let posted = server.next();
    assert_eq!(
        (posted.path.as_str(), posted.body.as_str()),
        ("/mcp/", INITIALIZE)
    );

    let mut talk = Talk::with(&server.url("/other"));
    talk.say(INITIALIZE);
    let error = talk.hear();
    assert!(
        error.contains("redirects to another origin; use that URL instead: http://localhost:1"),
        "{error}"
    );
    let mut talk = Talk::with(&server.url("/circle"));
    talk.say(INITIALIZE);
    assert!(talk.hear().contains("redirects more than 5 times"));
}
