//! How conversations start.

use tapewright_proxy::client::{ClientError, Opening, Revision};
use tapewright_schemas::era::Era;

use crate::server::{LIMIT, Server, Voice, id_of};

fn of(revision: Revision) -> Opening {
    Opening {
        revision,
        ..Opening::default()
    }
}

/// A server of the handshake era with this revision.
fn handshake(version: &'static str) -> Server {
    Server::new(move |voice, line| {
        let id = id_of(line).unwrap_or_default();
        if line.contains("\"initialize\"") {
            voice.say(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            ));
        } else {
            voice.answer(line);
        }
    })
}

/// A server of the stateless era.
fn stateless() -> Server {
    Server::new(|voice, line| {
        if line.contains("io.modelcontextprotocol/protocolVersion") {
            voice.answer(line);
        } else if let Some(id) = id_of(line) {
            voice.say(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"_meta is missing"}}}}"#
            ));
        }
    })
}

#[test]
fn a_handshake_ends_with_initialized() {
    let server = handshake("2025-03-26");
    let mut client = server.client();
    let opening = of(Revision::Handshake("2025-06-18".to_owned()));
    let greeting = client.greet(&opening, LIMIT).unwrap();
    assert_eq!(greeting.era, Era::Handshake);
    assert_eq!(greeting.revision, "2025-03-26");
    client.request("tools/list", None, LIMIT).unwrap();
    let heard = server.heard();
    assert!(
        heard[0].contains(r#""protocolVersion":"2025-06-18""#),
        "{heard:?}"
    );
    assert!(
        heard[0].contains(r#""clientInfo":{"name":"tapewright","#),
        "{heard:?}"
    );
    assert_eq!(
        heard[1],
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    );
    assert_eq!(
        heard[2],
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#
    );
}

#[test]
fn a_stateless_client_describes_itself_in_each_request() {
    for discover in [true, false] {
        let server = stateless();
        let mut client = server.client();
        let opening = of(Revision::Stateless {
            version: "2026-07-28".to_owned(),
            discover,
        });
        let greeting = client.greet(&opening, LIMIT).unwrap();
        assert_eq!(greeting.era, Era::Stateless);
        assert_eq!(greeting.reply.is_some(), discover);
        let params = Some(r#"{"name":"a","_meta":{"progressToken":7}}"#);
        client.request("tools/call", params, LIMIT).unwrap();
        client.notify("notifications/x", None).unwrap();
        client.request("tools/list", None, LIMIT).unwrap();
        let heard = server.heard();
        let first = usize::from(discover);
        assert_eq!(heard[0].contains("server/discover"), discover);
        for member in [
            "progressToken\":7",
            "clientCapabilities\":{}",
            "clientInfo\":{",
        ] {
            assert!(heard[first].contains(member), "{heard:?}");
        }
        assert!(!heard[first + 1].contains("_meta"), "{heard:?}");
        assert!(heard[first + 2].contains("protocolVersion\":\"2026-07-28\""));
    }
}

#[test]
fn without_a_wish_the_server_decides_the_era() {
    let mut client = handshake("2025-11-25").client();
    let greeting = client.greet(&Opening::default(), LIMIT).unwrap();
    assert_eq!(
        (greeting.era, greeting.revision.as_str()),
        (Era::Handshake, "2025-11-25")
    );
    let server = stateless();
    let mut client = server.client();
    let greeting = client.greet(&Opening::default(), LIMIT).unwrap();
    assert_eq!(
        (greeting.era, greeting.revision.as_str()),
        (Era::Stateless, "2026-07-28")
    );
    let heard = server.heard();
    assert!(
        heard[0].contains("\"initialize\"") && !heard[0].contains("_meta"),
        "{heard:?}"
    );
}

#[test]
fn a_refusal_is_told_without_secrets() {
    let server = Server::new(|voice, line| {
        let id = id_of(line).unwrap_or_default();
        voice.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32001,"message":"bad key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123"}}}}"#
        ));
    });
    let error = server
        .client()
        .greet(&Opening::default(), LIMIT)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(
            error,
            ClientError::Refused {
                code: Some(-32_001),
                ..
            }
        ),
        "{text}"
    );
    assert!(text.contains("refused `initialize`"), "{text}");
    assert!(!text.contains("abcdefghij"), "{text}");
}

#[test]
fn an_answer_that_is_no_opening_is_refused() {
    let server = Server::new(Voice::answer);
    let error = server
        .client()
        .greet(&Opening::default(), LIMIT)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server's answer to `initialize` cannot be used: no `protocolVersion`"
    );
}
