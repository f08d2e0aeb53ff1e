//! Secret values of the environment are values: no word of the protocol changes if a password is
//! the same word, and no value survives where it is a secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tapewright_schemas::redact::{Redactor, Rules, Settings};

fn redactor(value: &str) -> Redactor {
    let settings = Settings {
        values: vec![("POSTGRES_PASSWORD".to_owned(), value.to_owned())],
        ..Settings::default()
    };
    Redactor::new(Arc::new(
        Rules::new(&settings).expect("the rules are valid"),
    ))
}

fn redacted(value: &str, text: &str) -> String {
    let mut redactor = redactor(value);
    let out = match redactor.json(text.as_bytes()) {
        Ok(out) => out.into_owned(),
        Err(_) => redactor.text(text.as_bytes()).into_owned(),
    };
    String::from_utf8(out).expect("text stays text")
}

/// A session with nearly all words of the protocol, and no secret.
const SESSION: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":123456,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{}}},"clientInfo":{"name":"client-name","version":"1.2.3"}}}"#,
    r#"{"jsonrpc":"2.0","id":123456,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"server-name","title":"A title","version":"1"},"instructions":"Call the tools with the password of the method."}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":"123457","method":"tools/list","params":{"cursor":"abc"}}"#,
    r#"{"jsonrpc":"2.0","id":"123457","result":{"tools":[{"name":"password","title":"Password tool","description":"the result of a method","inputSchema":{"type":"object","properties":{"password":{"type":"string","description":"password of the database"},"tools":{"type":"array","items":{"enum":["result","method"]}},"database":{"const":"database"}},"required":["password","tools"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}],"nextCursor":"def"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"password","arguments":{"tools":1,"result":[true]},"_meta":{"progressToken":123456}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a sentence with a password, a result and the tools/call"},{"type":"resource_link","uri":"file:///password/tools","name":"result","mimeType":"text/plain"}],"isError":false}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":123456,"progress":1,"total":2,"message":"half of the password"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"database","data":{"method":1}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":123456,"reason":"the method of the user"}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{"messages":[{"role":"assistant","content":{"type":"text","text":"the assistant says"}}],"maxTokens":7}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"elicitation/create","params":{"mode":"form","message":"Your password","requestedSchema":{"type":"object","properties":{"username":{"type":"string","title":"username"}}}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"result":{"action":"accept","content":{"other":1}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"result":{"prompts":[{"name":"database","arguments":[{"name":"username","description":"a username of the database","required":true}]}]}}"#,
    r#"{"jsonrpc":"2.0","id":6,"result":{"contents":[{"uri":"file:///a","mimeType":"application/json","text":"{\"password_policy\":\"the password has letters\",\"tools\":[1]}"}]}}"#,
    r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid params: the method takes a password"}}"#,
];

/// Every member name, every method and every word in a schema of a JSON value.
fn words(value: &Value, in_schema: bool, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.insert(name.clone());
                let named = [
                    "method", "type", "role", "name", "action", "level", "mimeType", "mode",
                    "logger",
                ];
                if (named.contains(&name.as_str()) || in_schema)
                    && let Some(word) = value.as_str()
                {
                    found.insert(word.to_owned());
                }
                if ["protocolVersion", "id", "requestId"].contains(&name.as_str()) {
                    found.insert(value.to_string().trim_matches('"').to_owned());
                }
                words(value, in_schema || name.ends_with("Schema"), found);
            }
        }
        Value::Array(list) => {
            for value in list {
                if let (true, Some(word)) = (in_schema, value.as_str()) {
                    found.insert(word.to_owned());
                }
                words(value, in_schema, found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_password_that_is_a_word_of_the_protocol_changes_no_message() {
    let mut all = BTreeSet::new();
    for message in SESSION {
        words(&serde_json::from_str(message).unwrap(), false, &mut all);
        assert_eq!(redacted("unrelated", message), *message);
    }
    assert!(all.len() > 80 && all.contains("tools/call") && all.contains("123456"));
    for word in &all {
        for message in SESSION {
            assert_eq!(redacted(word, message), *message, "{word}");
        }
    }
}

#[test]
fn a_cassette_is_spared_in_the_same_places() {
    // When `scrub` reads them, messages are not outermost objects.
    let cassette = format!("{{\"exchanges\":[{}]}}", SESSION.join(","));
    for word in [
        "password",
        "tools",
        "result",
        "method",
        "123456",
        "2025-11-25",
        "object",
        "text",
    ] {
        assert_eq!(redacted(word, &cassette), cassette, "{word}");
    }
}

#[test]
fn names_go_on_saying_what_is_secret() {
    for word in [
        "password",
        "tools",
        "result",
        "method",
        "my_password_2024x",
        "token",
        "12345678",
    ] {
        for name in ["password", "token", "my_password_2024x", "db.password"] {
            let out = redacted(
                word,
                &format!(r#"{{"{name}":"Canary7Zq","b":{{"{name}":["x"]}}}}"#),
            );
            assert!(
                !out.contains("Canary7Zq") && !out.contains("[\"x\"]"),
                "{word}: {out}"
            );
            if name != word {
                assert_eq!(
                    out.matches(&format!("\"{name}\":")).count(),
                    2,
                    "{word}: {out}"
                );
            }
            let again = redacted(word, &out);
            assert_eq!(again, out, "{word}");
        }
    }
    // Text that is not JSON as a whole.
    let out = redacted(
        "password",
        r#"{"password":"Canary7Zq", oops password: Canary8Zq"#,
    );
    assert!(
        !out.contains("Canary") && out.starts_with(r#"{"password":"#),
        "{out}"
    );
}

#[test]
fn a_common_value_is_gone_where_it_is_all_of_a_value() {
    for word in [
        "password", "tools", "blue", "abc", "postgres", "s3cr3t", "123456",
    ] {
        for place in [
            r#"{"params":{"name":"x","arguments":{"a":"{}"}}}"#,
            r#"{"params":{"name":"x","arguments":{"name":"{}","type":[" {}\n"]}}}"#,
            r#"{"params":{"a":"{}"}}"#,
            r#"{"result":{"content":[{"type":"text","text":"{}"}]}}"#,
            r#"{"result":{"structuredContent":{"id":"{}","method":"{}"}}}"#,
            r#"{"result":{"content":[{"type":"text","text":"{\"type\":\"{}\"}"}]}}"#,
            r#"["{}"]"#,
            "\"{}\"",
            " {}\r\n",
        ] {
            let text = place.replace("{}", word);
            if text.trim() == "123456" {
                // JSON that is only a number is not a message.
                continue;
            }
            let out = redacted(word, &text);
            assert_eq!(out, place.replace("{}", "<REDACTED:env#1>"), "{text}");
        }
    }
    let number = redacted(
        "123456",
        r#"{"params":{"arguments":{"id":123456,"n":1234567}}}"#,
    );
    assert_eq!(
        number,
        r#"{"params":{"arguments":{"id":"<REDACTED:env#1>","n":1234567}}}"#
    );
}

#[test]
fn what_is_no_word_is_gone_everywhere_and_in_every_form() {
    let secret = "Tr0ub4dor&3 horse";
    for form in [
        secret.to_owned(),
        "Tr0ub4dor%263%20horse".to_owned(),
        "Tr0ub4dor%263+horse".to_owned(),
        "547230756234646f722633 20686f727365".replace(' ', ""),
    ] {
        for place in [
            r#"{"{}":1}"#,
            r#"{"id":"{}","method":"x{}x"}"#,
            r#"{"a":"see {} there"}"#,
            r#"{"inputSchema":{"default":"{}"}}"#,
            "https://h.example/?q={}&r=1",
            "noise {} noise",
        ] {
            let out = redacted(secret, &place.replace("{}", &form));
            assert!(
                !out.contains(&form) && out.contains("<REDACTED:env#1>"),
                "{out}"
            );
        }
    }
    // `user:Tr0ub4dor&3 horse`, as clients write it.
    let out = redacted(
        secret,
        r#"{"a":"sent dXNlcjpUcjB1YjRkb3ImMyBob3JzZQ== to it"}"#,
    );
    assert_eq!(out, r#"{"a":"sent dXNlcj<REDACTED:env#1> to it"}"#);
}

#[test]
fn heads_of_http_keep_their_words() {
    use tapewright_schemas::event::Fields;
    for word in ["content-type", "application/json", "x-request-id", "gzip"] {
        let mut redactor = redactor(word);
        let field = ("content-type".to_owned(), "text/html".to_owned());
        let fields = redactor.fields(&Fields::from_iter([field]));
        assert_eq!(
            fields.iter().next(),
            Some(("content-type", "text/html")),
            "{word}"
        );
    }
    let mut redactor = redactor("blue42");
    let field = ("x-color".to_owned(), "blue42".to_owned());
    let fields = redactor.fields(&Fields::from_iter([field]));
    assert_eq!(fields.iter().next(), Some(("x-color", "<REDACTED:env#1>")));
}
