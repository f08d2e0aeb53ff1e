//! Secrets in the parts of HTTP other than messages: none is on the tape, in any place, and
//! look-alikes are.
#![cfg(test)] // so that clippy counts the helpers as tests

mod plain;
mod tape;

use std::sync::Arc;

use proptest::prelude::*;
use tapewright_schemas::event::{
    Direction, Edit, EditTarget, EventBody, Head, InPlace, LineEnd, Payload, Peer, ResponseHead,
    SseNote,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::scrub::TapeScrubber;

use self::tape::{Tape, own};

/// Every secret holds this.
const CANARY: &str = "c4n4ry";

/// A JWT, whose parts hold no canary that one could grep.
const JWT: &str = "eyJhbGciOiJFUzI1NiJ9.eyJqdGkiOiJjNG40cnkifQ.c4n4ryc4n4ryc4n4ry";

#[rustfmt::skip]
const FIELDS: &[(&str, &str)] = &[
    ("Authorization", "Bearer c4n4ry-Ab12"), ("authorization", "Basic YzRuNHJ5OmM0bjRyeQ==c4n4ry"),
    ("AUTHORIZATION", "c4n4ry without a scheme"), ("Authorization", "Unknown c4n4ry"),
    ("Authorization", "Digest username=\"u\", response=\"c4n4ry\""), ("Authorization", "DPoP c4n4ry.x"),
    ("Proxy-Authorization", "Basic c4n4ry"), ("Authentication-Info", "nextnonce=\"c4n4ry\""),
    ("Cookie", "a=c4n4ry; path=c4n4ry; Secure; domain=\"c4n4ry\""), ("cookie", "c4n4ry"),
    ("Set-Cookie", "sid=c4n4ry; Path=/; HttpOnly; Max-Age=10; SameSite=Lax; x=c4n4ry"),
    ("Set-Cookie", "path=c4n4ry; Path=/x"), ("set-cookie", "c4n4ry"), ("Set-Cookie", "=c4n4ry"),
    ("DPoP", JWT), ("dpop", "c4n4ry"), ("X-Api-Key", "c4n4ry"), ("x-goog-api-key", "c4n4ry"),
    ("Mcp-Session-Id", "c4n4ry"), ("mcp-session-id", "1868a90c-c4n4ry"), ("MCP-Session-Id", "c4n4ry c4n4ry"),
    ("X-Auth-Token", "c4n4ry"), ("X-Amz-Security-Token", "c4n4ry"), ("Private-Token", "c4n4ry"), ("apikey", "c4n4ry"),
    ("CF-Access-Client-Secret", "c4n4ry"), ("Ocp-Apim-Subscription-Key", "c4n4ry"),
    ("Cf-Access-Jwt-Assertion", JWT), ("X-Signature", "c4n4ry12345"), ("Mcp-Param-Api-Key", "c4n4ry"),
    ("Mcp-Param-Note", "use ghp_c4n4ryA1b2C3d4E5f6G7h8I9j0K1l2M3 please"),
    ("Location", "https://app.example/cb?code=c4n4ry&state=c4n4ry"), ("Location", "http://localhost:1/callback?code=c4n4ry"),
    ("Location", "/cb#access_token=c4n4ry&token_type=bearer&state=c4n4ry"),
    ("Location", "https://as.example/authorize?response_type=code&client_id=x&state=c4n4ry&redirect_uri=http%3A%2F%2Flocalhost%2Fcallback%3Fsession_id%3Dc4n4ry"),
    ("Location", "https://u:c4n4ry@h.example/"), ("Location", "https://c4n4ry0123456789abcdef@h.example/"),
    ("Content-Location", "/x?sessionId=c4n4ry"), ("Referer", "https://app.example/cb?code=c4n4ry&iss=x"),
    ("Link", "<https://x.example/?a=1&access_token=c4n4ry>; rel=\"next\", </y?token=c4n4ry>; rel=prev"),
    ("Refresh", "0; url=/cb?state=c4n4ry&client_id=x"), ("X-Redirect", "/x?api_key=c4n4ry"),
    ("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", session_token=\"c4n4ry\""),
    ("WWW-Authenticate", "Bearer error=\"invalid_token\", error_description=\"The access token c4n4ry7f3K9xQ2mZ8p expired\""),
    ("WWW-Authenticate", "DPoP error=\"invalid_token\", error_description=\"no such token 'c4n4ry7f3K9xQ2mZ8p'\", algs=\"ES256\""),
];

#[test]
fn no_field_holds_a_secret() {
    let mut tape = Tape::new(&Settings::default());
    let mut leaks = Vec::new();
    for field in FIELDS {
        for line in [tape.request("/mcp", &[*field]), tape.response(&[*field])] {
            if line.contains(CANARY) || line.contains("eyJqdGki") {
                leaks.push(line);
            }
        }
        let trailers = EventBody::Trailers(Box::new(own(&[*field])));
        let line = tape.line(Direction::ToClient, trailers);
        if line.contains(CANARY) {
            leaks.push(line);
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.concat());
}

#[rustfmt::skip]
const TARGETS: &[&str] = &[
    "/mcp?access_token=c4n4ry", "/messages/?session_id=c4n4ry", "/message?sessionId=c4n4ry&x=1", "/mcp?a=1&api_key=c4n4ry#x",
    "/token?grant_type=authorization_code&code=c4n4ry&code_verifier=c4n4ry&redirect_uri=x",
    "/oauth/callback?code=c4n4ry", "/authorize?client_id=x&state=c4n4ry", "/cb?code=c4n4ryA1b2C3d4E5f6",
    "https://user:c4n4ry@up.example/mcp", "/x?next=%2Flogin%3Ftoken%3Dc4n4ry", "/v1/ghp_c4n4ryA1b2C3d4E5f6G7h8I9j0K1l2M3/mcp",
    "/mcp?%61ccess_token=c4n4ry", "/mcp?access_token=%634n4ry-c4n4ry", "/saml?SAMLResponse=c4n4ry",
    "/mcp?x=<REDACTED:token#9>&password=c4n4ry", "/mcp?password=c4n4ry+c4n4ry&y",
    "/cb?error=invalid_grant&error_description=the+token+c4n4ry7f3K9xQ2mZ8p+ended", "/cb?error_description=API%20key%20c4n4ry7f3K9xQ2mZ8p",
];

#[test]
fn no_target_holds_a_secret() {
    let mut tape = Tape::new(&Settings::default());
    for target in TARGETS {
        let line = tape.request(target, &[]);
        assert!(!line.contains(CANARY), "{target}\n{line}");
    }
}

#[rustfmt::skip]
const BODIES: &[&str] = &[
    "grant_type=authorization_code&code=c4n4ry&code_verifier=c4n4ry&client_id=x&client_secret=c4n4ry&redirect_uri=http%3A%2F%2Flocalhost",
    "grant_type=refresh_token&refresh_token=c4n4ry%2F%2Fx", "grant_type=password&username=u&password=c4n4ry",
    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=c4n4ry",
    "client_assertion_type=x&client_assertion=c4n4ry&grant_type=client_credentials",
    "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=c4n4ry&actor_token=c4n4ry&subject_token_type=x",
    "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=c4n4ry&client_id=x",
    "token=c4n4ry&token_type_hint=refresh_token&client_id=x",
    r#"{"access_token":"c4n4ry","token_type":"Bearer","expires_in":3600,"refresh_token":"c4n4ry","id_token":"c4n4ry","scope":"a b"}"#,
    r#"{"grant_type":"authorization_code","code":"c4n4ry","code_verifier":"c4n4ry","assertion":"c4n4ry"}"#,
    r#"{"device_code":"c4n4ry","user_code":"c4n4ry","verification_uri":"https://as.example/device","interval":5}"#,
    r#"{"client_id":"x","client_secret":"c4n4ry","registration_access_token":"c4n4ry","client_secret_expires_at":0}"#,
    r#" {"redirect_uri":"x","code":"c4n4ry"} "#, "{\n  \"access_token\": \"c4n4ry\"\n}\n",
    "<html><a href=\"http://localhost/cb?code=c4n4ry&amp;state=c4n4ry&amp;iss=x\">go</a></html>",
    "<form method=post><input type=\"hidden\" name=\"code\" value=\"c4n4ry\"/><input value='c4n4ry' type=hidden name='access_token'></form>",
    "go to /message?sessionId=c4n4ry now", "Bearer c4n4ryA1b2C3d4E5f6G7h8",
];

#[test]
fn no_body_holds_a_secret() {
    let mut tape = Tape::new(&Settings::default());
    for body in BODIES {
        let line = tape.body(body);
        assert!(!line.contains(CANARY), "{body}\n{line}");
        let head = body.as_bytes().to_vec().into();
        let line = tape.line(
            Direction::ToServer,
            EventBody::Body {
                payload: Payload::Clipped { len: 1 << 40, head },
            },
        );
        assert!(!line.contains(CANARY), "{body}\n{line}");
    }
}

#[test]
fn no_error_of_an_authorization_server_holds_a_secret() {
    let mut tape = Tape::new(&Settings::default());
    for body in [
        r#"{"error":"invalid_grant","error_description":"The refresh token c4n4ry7f3K9xQ2mZ8p is not known."}"#,
        "error=invalid_client&error_description=wrong+client+secret+c4n4ry7f3K9xQ2mZ8p",
        "Bearer error=\"invalid_token\", error_description=\"token \\\"c4n4ry7f3K9xQ2mZ8p\\\" ended\"",
    ] {
        let line = tape.body(body);
        assert!(
            !line.contains(CANARY) && line.contains("error_description"),
            "{body}\n{line}"
        );
    }
}

proptest! {
    #[test]
    fn a_body_cut_anywhere_holds_no_secret(which in 0..BODIES.len(), cut in 0..300_usize) {
        // A canary that is itself cut cannot be searched for, so only whole ones are.
        let body = BODIES[which];
        let head = body.as_bytes()[..cut.min(body.len())].to_vec();
        let mut tape = Tape::new(&Settings::default());
        let payload = Payload::Clipped { len: 1 << 40, head: head.into() };
        let line = tape.line(Direction::ToServer, EventBody::Body { payload });
        prop_assert!(!line.contains(CANARY), "{}", line);
    }
}

#[test]
fn what_names_a_legacy_session_is_a_credential_wherever_it_stands() {
    for endpoint in [
        "/message?sessionId=c4n4ry-0123",
        "/messages/?session_id=c4n4ry0123",
        "/message?id=c4n4ry-0123&transport=sse",
        "/message/c4n4ry0123456789abcd",
        "https://up.example/s/550e8400-e29b-41d4-a716-c4n4ry440000/message",
    ] {
        let mut tape = Tape::new(&Settings::default());
        let note = SseNote {
            event: Some("endpoint".to_owned()),
            ..SseNote::default()
        };
        tape.sse(note);
        let announced = tape.body(endpoint);
        let placeholder = "<REDACTED:session-id#1>";
        assert!(announced.contains(placeholder), "{announced}");
        let posted = tape.request(endpoint, &[]);
        assert!(
            posted.contains(placeholder),
            "the same session has the same name: {posted}"
        );
        let edit = Edit {
            what: EditTarget::Endpoint,
            field: String::new(),
            before: format!("https://up.example{endpoint}"),
            after: endpoint.to_owned(),
        };
        let edited = tape.line(Direction::ToClient, EventBody::Edited(Box::new(edit)));
        assert_eq!(edited.matches(placeholder).count(), 2, "{edited}");
        let text = String::from_utf8_lossy(&tape.text);
        assert!(!text.contains(CANARY), "{text}");
    }
}

#[test]
fn streams_sessions_edits_and_reasons_hold_no_secret() {
    let mut tape = Tape::new(&Settings::default());
    let token = "ghp_c4n4ryA1b2C3d4E5f6G7h8I9j0K1l2M3";
    let some = Some(format!("see {token}"));
    tape.sse(SseNote {
        id: Some(token.to_owned()),
        event: some.clone(),
        retry_ms: Some(1),
        comment: Some("ping /x?access_token=c4n4ry".to_owned()),
        message: true,
        cut: false,
    });
    for what in [EditTarget::Location, EditTarget::Resource] {
        let edit = Edit {
            what,
            field: String::new(),
            before: "https://up.example/cb?code=c4n4ry&state=c4n4ry".to_owned(),
            after: "http://127.0.0.1:1/cb?code=c4n4ry&state=c4n4ry".to_owned(),
        };
        tape.line(Direction::ToClient, EventBody::Edited(Box::new(edit)));
    }
    for what in [EditTarget::FieldRemoved, EditTarget::FieldChanged] {
        for field in ["proxy-authorization", "cookie", "x-api-key"] {
            let edit = Edit {
                what,
                field: field.to_owned(),
                before: "Bearer c4n4ry".to_owned(),
                after: String::new(),
            };
            tape.line(Direction::ToServer, EventBody::Edited(Box::new(edit)));
        }
    }
    let ours = ResponseHead {
        status: 502,
        ours: Some(InPlace::Unreachable),
        ours_cause: None,
        ours_about: Some(format!(
            "cannot reach https://u:c4n4ry@up.example/?token=c4n4ry: {token}"
        )),
        ..ResponseHead::default()
    };
    tape.line(
        Direction::ToClient,
        EventBody::Head(Box::new(Head::Response(ours))),
    );
    let address = token.to_owned();
    tape.line(
        Direction::ToServer,
        EventBody::Opened(Peer::Client {
            address,
            connection: 1,
        }),
    );
    let text = String::from_utf8_lossy(&tape.text);
    assert!(!text.contains(CANARY), "{text}");
}

#[test]
fn a_header_that_encodes_its_value_is_looked_into() {
    use base64::Engine as _;
    let encode = |text: &str| {
        let inner = base64::engine::general_purpose::STANDARD.encode(text);
        format!("=?base64?{inner}?=")
    };
    let mut tape = Tape::new(&Settings::default());
    let secret = encode("ü password=c4n4ry12");
    let line = tape.request("/mcp", &[("Mcp-Param-Note", &secret)]);
    assert!(
        line.contains(&encode("ü password=<REDACTED:password#1>")),
        "{line}"
    );
    let plain = encode("grüße");
    let line = tape.request("/mcp", &[("Mcp-Param-Note", &plain)]);
    assert!(line.contains(&plain), "{line}");
}

/// Like a model's thinking, whose signature an agent sends back.
#[test]
fn what_was_secret_under_its_name_before_is_one_secret_when_its_body_names_it_again() {
    let mut tape = Tape::new(&Settings::default());
    let before = r#"{"type":"thinking","signature":"c4n4ryc4n4ryAb12"}"#;
    tape.body(before);
    let again = r#"{"say":"Is it?","turns":[{"signature":"c4n4ryc4n4ryAb12"},{"token":"c4n4ry9Zq","x":1}]}"#;
    let line = tape.body(again);
    let expected = r#"{"say":"Is it?","turns":[{"signature":"<REDACTED:signature#1>"},{"token":"<REDACTED:token#1>","x":1}]}"#;
    assert!(line.contains(expected), "{line}");
}

#[test]
fn the_same_value_has_the_same_placeholder_in_every_place() {
    let mut tape = Tape::new(&Settings::default());
    let issued = tape.body(r#"{"access_token":"c4n4ry/1+x","refresh_token":"other"}"#);
    assert!(issued.contains("<REDACTED:token#1>"), "{issued}");
    let used = tape.request("/mcp?x=1", &[("Authorization", "Bearer c4n4ry/1+x")]);
    assert!(used.contains("Bearer <REDACTED:token#1>"), "{used}");
    let form = tape.body("grant_type=refresh_token&refresh_token=other&x=c4n4ry%2F1%2Bx");
    assert!(form.contains("refresh_token=<REDACTED:token#2>"), "{form}");
    assert!(form.contains("x=<REDACTED:token#1>"), "{form}");
    let message = EventBody::message(
        Payload::Whole(r#"{"id":1,"method":"x","params":{"token":"other"}}"#.into()),
        LineEnd::None,
    );
    let message = tape.line(Direction::ToServer, message);
    assert!(message.contains("<REDACTED:token#2>"), "{message}");
    // Another tape of the same run is independent.
    let mut other = Tape::new(&Settings::default());
    let line = other.request("/", &[("Authorization", "Bearer fresh-one")]);
    assert!(line.contains("#1>"), "{line}");
}

#[test]
fn credentials_are_not_written_even_when_nothing_is_to_be_redacted() {
    let mut tape = Tape::new(&Settings {
        off: true,
        ..Settings::default()
    });
    for (name, value) in [
        ("Authorization", "Bearer c4n4ry"),
        ("Cookie", "a=c4n4ry"),
        ("Set-Cookie", "a=c4n4ry; Path=/"),
        ("Mcp-Session-Id", "c4n4ry"),
        ("X-API-Key", "c4n4ry"),
        ("DPoP", JWT),
        ("Proxy-Authorization", "c4n4ry"),
    ] {
        let line = tape.request("/mcp", &[(name, value)]);
        assert!(!line.contains(CANARY), "{line}");
    }
    let body = tape.body("grant_type=password&password=plain");
    assert!(body.contains("plain"), "{body}");
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    let mut redactor = Redactor::new(Arc::clone(&rules));
    let mut again = Redactor::new(rules);
    let fields = redactor.fields(&own(FIELDS));
    assert_eq!(again.fields(&fields), fields);
    for text in TARGETS {
        let once = redactor.url(text);
        assert_eq!(again.url(&once), once);
        let once = redactor.endpoint(text.as_bytes());
        assert_eq!(again.endpoint(once.as_bytes()), once);
    }
    for body in BODIES {
        let once = redactor.body(body.as_bytes()).into_owned();
        assert_eq!(
            again.body(&once),
            once,
            "{}",
            String::from_utf8_lossy(&once)
        );
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_lines_are_json(name in ".{0,20}", value in ".{0,60}", target in ".{0,60}", body in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut tape = Tape::new(&Settings::default());
        tape.request(&target, &[(&name, &value), ("cookie", &value), ("set-cookie", &value), ("authorization", &value), ("location", &value)]);
        tape.sse(SseNote { event: Some("endpoint".to_owned()), ..SseNote::default() });
        tape.body(&value);
        tape.line(Direction::ToClient, EventBody::Body { payload: Payload::Whole(body.clone().into()) });
        tape.line(Direction::ToClient, EventBody::Body { payload: Payload::Clipped { len: 9, head: body.into() } });
    }

    #[test]
    fn no_credential_survives_whatever_stands_around_it(scheme in "[A-Za-z0-9 ,;=\"-]{0,12}", tail in "[ -~]{0,12}") {
        let mut tape = Tape::new(&Settings::default());
        let value = format!("{scheme}{CANARY}{tail}");
        for name in ["authorization", "mcp-session-id", "x-api-key", "dpop", "proxy-authorization"] {
            let line = tape.request("/", &[(name, &value)]);
            prop_assert!(!line.contains(CANARY), "{}: {}", name, line);
        }
        let line = tape.request("/", &[("cookie", &format!("a={value}"))]);
        // The text before an equals sign of a cookie is its name.
        prop_assert!(!line.contains(CANARY) || value.contains('='), "{}", line);
    }
}

#[test]
fn a_tape_that_was_written_without_redaction_is_scrubbed_in_every_place() {
    let mut tape = Tape::new(&Settings {
        off: true,
        ..Settings::default()
    });
    let mut lines = Vec::new();
    for field in FIELDS {
        lines.push(tape.request("/mcp", &[*field]));
        lines.push(tape.response(&[*field]));
        let trailers = EventBody::Trailers(Box::new(own(&[*field])));
        lines.push(tape.line(Direction::ToClient, trailers));
    }
    for target in TARGETS {
        lines.push(tape.request(target, &[]));
        let comment = Some(format!("see {target}"));
        lines.push(tape.sse(SseNote {
            comment,
            ..SseNote::default()
        }));
    }
    for body in BODIES {
        lines.push(tape.body(body));
        let bytes = [b"\xff ", body.as_bytes()].concat();
        if body.contains("Bearer c4") || body.contains("html") {
            let payload = Payload::Whole(bytes.into());
            lines.push(tape.line(Direction::ToClient, EventBody::Body { payload }));
        }
        let payload = Payload::Clipped {
            len: 1 << 40,
            head: body.as_bytes().to_vec().into(),
        };
        lines.push(tape.line(Direction::ToServer, EventBody::Body { payload }));
    }
    let endpoint = Some("endpoint".to_owned());
    lines.push(tape.sse(SseNote {
        event: endpoint,
        ..SseNote::default()
    }));
    lines.push(tape.body("/message?id=c4n4ry-0123"));
    assert!(lines.concat().contains(CANARY));

    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    let mut scrubber = TapeScrubber::new(Redactor::new(Arc::clone(&rules)));
    let mut redactor = Redactor::new(rules);
    let mut once = Vec::new();
    for line in &lines {
        let line = line.trim_end().as_bytes();
        let clean = scrubber.line(line).into_owned();
        let text = String::from_utf8(clean.clone()).unwrap();
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "{text}"
        );
        assert!(!text.contains(CANARY) && !base64_holds(&text), "{text}");
        redactor.adopt(&clean);
        once.push(clean);
    }
    let mut again = TapeScrubber::new(redactor);
    for line in &once {
        let text = String::from_utf8_lossy(line);
        assert_eq!(String::from_utf8_lossy(&again.line(line)), text);
    }
}

/// Whether the base64 of a line contains a canary.
fn base64_holds(line: &str) -> bool {
    use base64::Engine as _;
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let Some(text) = value["body"]["base64"].as_str() else {
        return false;
    };
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap();
    String::from_utf8_lossy(&bytes).contains(CANARY)
}
