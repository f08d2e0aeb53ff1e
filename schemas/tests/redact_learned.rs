//! A value that is a secret by its name in one place is a secret wherever it occurs again.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use tapewright_schemas::event::Fields;
use tapewright_schemas::json;
use tapewright_schemas::redact::{Redactor, Rules, Settings};

const SECRET: &str = "Tr0ub4dor&3/horse";
const PLACE: &str = "<REDACTED:password#1>";

fn redactor() -> Redactor {
    let rules = Rules::new(&Settings::default()).expect("the built-in rules are sound");
    Redactor::new(Arc::new(rules))
}

fn json(redactor: &mut Redactor, text: &str) -> String {
    let out = redactor.json(text.as_bytes()).expect("it is JSON");
    assert!(json::is_valid(&out));
    String::from_utf8(out.into_owned()).expect("text stays text")
}

/// A redactor that has seen `secret` under a secret name in a request.
fn told(secret: &str) -> Redactor {
    let mut redactor = redactor();
    let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "login", "arguments": {"user": "bob", "password": secret}}});
    let out = json(&mut redactor, &request.to_string());
    assert!(out.contains(PLACE), "{out}");
    redactor
}

#[test]
fn an_answer_that_echoes_a_secret_of_its_request_holds_none() {
    let hex = "547230756234646f7226332f686f727365".to_owned();
    let inner = serde_json::json!({"said": SECRET}).to_string();
    for (form, wanted) in [
        (SECRET.to_owned(), PLACE.to_owned()),
        (
            format!("welcome bob, {SECRET} is fine"),
            format!("welcome bob, {PLACE} is fine"),
        ),
        (
            "https://h.example/?q=Tr0ub4dor%263%2Fhorse&r=1".to_owned(),
            format!("https://h.example/?q={PLACE}&r=1"),
        ),
        (hex.clone(), PLACE.to_owned()),
        (hex.to_uppercase(), PLACE.to_owned()),
        (STANDARD.encode(SECRET), PLACE.to_owned()),
        (inner, format!("{{\"said\":\"{PLACE}\"}}")),
    ] {
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": 1,
            "result": {"content": [{"type": "text", "text": form}]}});
        let out = json(&mut told(SECRET), &answer.to_string());
        let out: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(out["result"]["content"][0]["text"], wanted, "{form}");
    }
}

/// The ways in which programs write `p4ss!W"o/r&d+é'9 ~<x` in a text.
#[test]
fn a_secret_comes_again_as_any_program_writes_it() {
    let secret = "p4ss!W\"o/r&d+é'9 ~<x";
    for form in [
        // JSON in a text: JavaScript and Rust, Python, Go, .NET, PHP.
        r#"{"a": "p4ss!W\"o/r&d+é'9 ~<x"} done"#,
        r#"{"a": "p4ss!W\"o/r&d+\u00e9'9 ~<x"} done"#,
        r#"{"a": "p4ss!W\"o/r\u0026d+é'9 ~\u003cx"} done"#,
        r#"{"a": "p4ss!W\u0022o/r\u0026d\u002B\u00E9\u00279 ~\u003Cx"} done"#,
        r#"{"a": "p4ss!W\"o\/r&d+\u00e9'9 ~<x"} done"#,
        // HTML: in a text, and in attributes as Go, Python, PHP and XML have them.
        r#"<p>p4ss!W"o/r&amp;d+é'9 ~&lt;x</p>"#,
        r#"<i a="p4ss!W&#34;o/r&amp;d+é&#39;9 ~&lt;x">"#,
        r#"<i a="p4ss!W&quot;o/r&amp;d+é&#x27;9 ~&lt;x">"#,
        r#"<i a="p4ss!W&quot;o/r&amp;d+é&#039;9 ~&lt;x">"#,
        r#"<i a="p4ss!W&quot;o/r&amp;d+é&apos;9 ~&lt;x">"#,
        // URLs: a browser, RFC 3986, Python, a form, in small letters, and one in another.
        "https://h.example/?q=p4ss!W%22o%2Fr%26d%2B%C3%A9'9%20~%3Cx",
        "https://h.example/?q=p4ss%21W%22o%2Fr%26d%2B%C3%A9%279%20~%3Cx",
        "https://h.example/?q=p4ss%21W%22o/r%26d%2B%C3%A9%279%20~%3Cx",
        "https://h.example/?q=p4ss%21W%22o%2Fr%26d%2B%C3%A9%279+%7E%3Cx",
        "https://h.example/?q=p4ss%21W%22o%2fr%26d%2b%c3%a9%279+%7e%3cx",
        "https://h.example/?u=https%3A%2F%2Fi.example%2F%3Fq%3Dp4ss!W%2522o%252Fr%2526d%252B%25C3%25A9'9%2520~%253Cx",
    ] {
        let mut redactor = told(secret);
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"text": form}});
        let out = json(&mut redactor, &answer.to_string());
        assert!(
            out.contains(PLACE) && !out.contains("p4ss"),
            "{form}: {out}"
        );
    }
}

#[test]
fn a_secret_in_base64_is_found_where_a_url_holds_it() {
    // Base64 of it has both signs.
    let secret = "k9>>>?x7?~Zq4>~?w2";
    for before in ["", "a", "ab"] {
        let text = STANDARD.encode(format!("{before}{secret}"));
        assert!(text.contains('/') || text.contains('+'), "{text}");
        for (plus, slash) in [("%2B", "%2F"), ("%2b", "%2f")] {
            let text = text
                .replace('+', plus)
                .replace('/', slash)
                .replace('=', "%3D");
            let answer = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"text": text}});
            let out = json(&mut told(secret), &answer.to_string());
            assert!(out.contains(PLACE), "{text}: {out}");
        }
    }
}

#[test]
fn every_way_to_read_a_text_knows_it() {
    let mut redactor = told(SECRET);
    let noise = format!("debug: got {SECRET} from bob\n");
    assert_eq!(
        redactor.text(noise.as_bytes()).into_owned(),
        format!("debug: got {PLACE} from bob\n").into_bytes()
    );
    let fields: Fields = [("x-echo".to_owned(), format!("<{SECRET}>"))]
        .into_iter()
        .collect();
    let fields = redactor.fields(&fields);
    assert_eq!(
        fields.iter().next(),
        Some(("x-echo", format!("<{PLACE}>").as_str()))
    );
    let argv = redactor.argv(&[SECRET.as_bytes().to_vec()]);
    assert_eq!(argv, [PLACE.as_bytes()]);
    let name = serde_json::json!({"seen": {SECRET: 1, "Tr0ub4dor": 2}}).to_string();
    let out = json(&mut redactor, &name);
    assert_eq!(
        out,
        serde_json::json!({"seen": {PLACE: 1, "Tr0ub4dor": 2}}).to_string()
    );
    let body = redactor
        .body(format!("<p>{SECRET}</p>").as_bytes())
        .into_owned();
    assert_eq!(body, format!("<p>{PLACE}</p>").into_bytes());
    assert!(!format!("{redactor:?}").contains(SECRET));
}

#[test]
fn a_body_with_a_secret_in_a_url_in_front_of_another_one_holds_neither() {
    for middle in ["x", "a\\u0062c", "<REDACTED:password#1>"] {
        let body = format!(
            r#"{{"url":"https://h.example/a?access_token=Xq7vB2kPz9sLm4","between":"{middle}","password":"{SECRET}","b":1}}"#
        );
        let out = redactor().body(body.as_bytes()).into_owned();
        let out = String::from_utf8(out).expect("text stays text");
        assert!(json::is_valid(out.as_bytes()), "{out}");
        assert!(
            !out.contains(SECRET) && !out.contains("Xq7vB2kPz9sLm4"),
            "{out}"
        );
        assert!(
            out.ends_with(r#"","b":1}"#) && out.contains(middle),
            "{out}"
        );
    }
}

type Teach = fn(&mut Redactor, &str);

#[test]
fn every_place_that_tells_a_secret_teaches_it() {
    let basic = STANDARD.encode(format!("bob:{SECRET}"));
    let plain = "Xq7vB2kPz9sLm4";
    let fields = |name: &str, value: &str| -> Fields {
        [(name.to_owned(), value.to_owned())].into_iter().collect()
    };
    let teachers: &[(&str, Teach)] = &[
        ("a member", |redactor, secret| {
            let text = serde_json::json!({"client_secret": secret}).to_string();
            redactor.json(text.as_bytes()).unwrap();
        }),
        ("a list", |redactor, secret| {
            let text = serde_json::json!({"passwords": ["", secret]}).to_string();
            redactor.json(text.as_bytes()).unwrap();
        }),
        ("an object", |redactor, secret| {
            let text = serde_json::json!({"credentials": {"what": [secret]}}).to_string();
            redactor.json(text.as_bytes()).unwrap();
        }),
        ("a pair", |redactor, secret| {
            let text = serde_json::json!({"name": "API_KEY", "value": secret}).to_string();
            redactor.json(text.as_bytes()).unwrap();
        }),
        ("JSON in a string", |redactor, secret| {
            let inner = serde_json::json!({"token": secret}).to_string();
            let text = serde_json::json!({"text": inner}).to_string();
            redactor.json(text.as_bytes()).unwrap();
        }),
        ("a text", |redactor, secret| {
            redactor.text(format!("export DB_PASSWORD={secret}\n").as_bytes());
        }),
        ("a command", |redactor, secret| {
            redactor.argv(&[b"--api-key".to_vec(), secret.into()]);
        }),
        ("a URL", |redactor, secret| {
            redactor.text(format!("postgres://bob:{secret}@db/x").as_bytes());
        }),
        ("a query", |redactor, secret| {
            redactor.url(&format!("/mcp?api_key={secret}"));
        }),
        ("a form", |redactor, secret| {
            redactor.body(format!("grant_type=password&password={secret}").as_bytes());
        }),
    ];
    for (name, teach) in teachers {
        let mut redactor = redactor();
        teach(&mut redactor, plain);
        let out = json(&mut redactor, &format!("{{\"text\":\"so {plain} it is\"}}"));
        assert!(
            !out.contains(plain) && out.contains("so <REDACTED"),
            "{name}: {out}"
        );
    }
    for (name, value, echo) in [
        ("authorization", format!("Bearer {plain}"), plain),
        ("authorization", format!("Basic {basic}"), SECRET),
        ("cookie", format!("a=b; s={plain}"), plain),
        ("x-api-key", plain.to_owned(), plain),
    ] {
        let mut redactor = redactor();
        redactor.fields(&fields(name, &value));
        let out = json(
            &mut redactor,
            &serde_json::json!({"text": format!("({echo})")}).to_string(),
        );
        assert!(!out.contains(echo), "{name}: {out}");
    }
}

#[test]
fn the_password_of_a_url_is_known_as_it_is_meant() {
    let mut redactor = redactor();
    redactor.text(b"postgres://bob:Tr0ub4dor%263%2Fhorse@db/x");
    assert_eq!(
        redactor.text(SECRET.as_bytes()).into_owned(),
        b"<REDACTED:url-password#2>"
    );
}

#[test]
fn in_one_text_it_does_not_matter_which_comes_first() {
    let text =
        serde_json::json!({"a": format!("it is {SECRET}"), "z_password": SECRET}).to_string();
    let mut redactor = redactor();
    let once = json(&mut redactor, &text);
    assert_eq!(
        once,
        format!("{{\"a\":\"it is {PLACE}\",\"z_password\":\"{PLACE}\"}}")
    );
    assert_eq!(json(&mut redactor, &once), once);
    let mut other = self::redactor();
    let found = other.findings(text.as_bytes());
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn what_another_learned_is_known_before_it_is_named() {
    let early = format!("{{\"text\":\"it is {SECRET}\"}}");
    let mut first = redactor();
    assert_eq!(json(&mut first, &early), early);
    json(
        &mut first,
        &serde_json::json!({"password": SECRET}).to_string(),
    );
    let mut second = redactor();
    second.learn_from(&first);
    assert_eq!(
        json(&mut second, &early),
        format!("{{\"text\":\"it is {PLACE}\"}}")
    );
    let mut third = redactor();
    third.stop_learning();
    json(
        &mut third,
        &serde_json::json!({"password": SECRET}).to_string(),
    );
    assert_eq!(json(&mut third, &early), early);
}

#[test]
fn values_that_may_mean_something_else_damage_nothing() {
    for value in [
        "test",
        "true",
        "none",
        "production",
        "changeme",
        "us-east-1",
        "hunter22",
        "password",
        "123456",
        "12345678",
        "2025-11-25",
        "2025-11-25T10:00:00Z",
        "https://h.example/a1b2c3",
        "/home/b0b/x1y2",
        "bob@example.com",
        "my-project-2024",
        "gpt-4o-mini",
        "tools/call",
        "text/plain",
        "Please enter your password",
    ] {
        let mut redactor = redactor();
        for name in ["password", "api_key", "client_secret", "token"] {
            json(&mut redactor, &serde_json::json!({name: value}).to_string());
        }
        for text in [
            serde_json::json!({"a": value, "b": [value], value: null}).to_string(),
            serde_json::json!({"text": format!("x {value} y, {value}z")}).to_string(),
        ] {
            assert_eq!(json(&mut redactor, &text), text, "{value}");
        }
    }
}

#[test]
fn a_message_of_the_protocol_is_spared() {
    let mut redactor = redactor();
    json(
        &mut redactor,
        &serde_json::json!({"password": "notifications/initialized"}).to_string(),
    );
    json(
        &mut redactor,
        &serde_json::json!({"token": "resources/templates/list"}).to_string(),
    );
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(json(&mut redactor, text), text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_form_of_a_told_secret_passes(
        secret in "[A-Za-z][A-Za-z0-9!$%&*+/=_-]{5,20}[a-z][0-9][A-Z][0-9][a-z]",
        before in any::<Vec<u8>>(),
        after in any::<Vec<u8>>(),
        escape in any::<bool>(),
    ) {
        let mut redactor = redactor();
        let named = serde_json::json!({"password": secret}).to_string();
        prop_assume!(json(&mut redactor, &named).contains("<REDACTED:password#1>"));
        let around = [before.as_slice(), secret.as_bytes(), &after].concat();
        let coded = if escape { URL_SAFE_NO_PAD.encode(&around) } else { STANDARD.encode(&around) };
        let out = json(&mut redactor, &serde_json::json!({"blob": coded}).to_string());
        // A text in base64 may itself look like a token of any shape: then all of it is hidden,
        // under that name.
        let whole = out.strip_prefix(r#"{"blob":"<REDACTED:"#).and_then(|rest| rest.strip_suffix(r#"#1>"}"#));
        let known = out.contains("<REDACTED:password#1>") || whole.is_some_and(|name| !name.contains('<'));
        prop_assert!(known, "{secret} in {out}");
        let plain = json(&mut redactor, &serde_json::json!({"text": format!("a {secret} b")}).to_string());
        prop_assert!(!plain.contains(&secret), "{plain}");
    }
}
