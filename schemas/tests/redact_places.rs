//! Secrets that are identified by the text around them: commands, files of passwords, elements,
//! fields of forms, pairs, blobs. Each row has look-alikes that are kept.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tapewright_schemas::redact::{Redactor, Rules, Settings};

fn redacted(text: &str) -> String {
    let mut redactor = Redactor::new(Arc::new(
        Rules::new(&Settings::default()).expect("the rules are valid"),
    ));
    let out = match redactor.json(text.as_bytes()) {
        Ok(out) => out.into_owned(),
        Err(_) => redactor.text(text.as_bytes()).into_owned(),
    };
    String::from_utf8(out).expect("it was text")
}

/// Each text has `hunter22x` in place of `{}`, and loses nothing else.
fn gone(templates: &[&str]) {
    for template in templates {
        let text = template.replace("{}", "hunter22x");
        let shown = redacted(&text);
        let (before, after) = template.split_once("{}").expect("it has a place");
        assert!(!shown.contains("hunter22x"), "survives: {shown}");
        assert!(shown.contains("<REDACTED:"), "{shown}");
        let whole = shown.starts_with(before) && shown.ends_with(after);
        assert!(whole, "damage: {text} -> {shown}");
        assert_eq!(redacted(&shown), shown, "not idempotent");
    }
}

fn kept(texts: &[&str]) {
    for text in texts {
        assert_eq!(redacted(text), *text);
    }
}

#[test]
fn the_password_of_a_command_of_curl() {
    gone(&[
        "curl -ubob:{} https://x.example",
        "curl -s -u bob:{} https://x.example",
        "curl --user=bob:{} https://x.example",
        "curl --user='bob:{}' https://x.example",
        "curl --user bob:{} https://x.example",
        "curl -U proxy:{} https://x.example",
        "curl --proxy-user=proxy:{} https://x.example",
        "curl \\\n  -H 'A: b' \\\n  -u bob:{} https://x.example",
        "curl.exe -u bob:{} https://x.example",
        "sh -c \"/usr/bin/curl -H 'x: y z' -u bob:{} x\"",
        "curl --user-agent x:y -u bob:{} https://x.example",
        r#"{"command":"curl","args":["-s","-u","bob:{}","https://x.example"]}"#,
        r#"{"cmd":["curl","-ubob:{}","https://x.example"]}"#,
        r#"{"cmd":["curl","--user=bob:{}"]}"#,
        r#"{"text":"run `curl -ubob:{} x`"}"#,
    ]);
    kept(&[
        "docker run -u node:node22 image",
        "curl -u $USER:$PASSWORD https://x.example",
        "curl -u bob https://x.example",
        "curl --user-agent tool:hunter22x https://x.example",
        "libcurl -u bob:hunter22x",
        "curl x; sudo -u postgres:postgres1 psql",
        r#"{"cmd":["docker","run","-u","node:node2022","x"]}"#,
        r#"{"cmd":["curl","-u","bob","https://x.example:8443/a1"]}"#,
    ]);
}

#[test]
fn files_of_passwords() {
    gone(&[
        "machine x.example login bob password {}",
        "machine x.example\n  login bob\n  password {}\n",
        "machine x.example password {}",
        "db.example:5432:app:bob:{}",
        "db.example:5433:app:bob:{}",
        "db.example:*:app:bob:{}\n",
        "*:*:*:bob:{}",
        "localhost:6543:postgres:postgres.abc:{}",
        r#"{"text":"comment\nlocalhost:5433:*:bob:{}\n"}"#,
        "bob:{}@tcp(db.example:3306)/app",
        "bob:{}@unix(/run/mysql.sock)/app",
    ]);
    kept(&[
        "any machine with password protection",
        "the default password is set by the administrator",
        "arn:aws:logs:*:*:log-group:/aws/lambda/x1",
        "0:0:5432:1:2:3",
        "x.example:5432:app:bob",
    ]);
}

#[test]
fn elements_and_attributes_of_xml() {
    gone(&[
        "<a><password>{}</password></a>",
        "<c:Password xmlns:c='x'>{}</c:Password>",
        "<apiKey>\n  {}\n</apiKey>",
        "<password><![CDATA[{}]]></password>",
        r#"{"text":"<user><password>{}</password></user>"}"#,
        r#"<add key="Password" value="{}"/>"#,
        r#"<input type="hidden" value='{}' name='client_secret'>"#,
        r#"<conn host="x" password="{}"/>"#,
        r#"{"text":"<add value=\"{}\" key=\"ApiKey\"/>"}"#,
    ]);
    kept(&[
        "<password></password>",
        "<password>string</password>",
        "<b>hunter22x</b></password>",
        "<title>hunter22x</title>",
        "<Password>Enter your password, twice</Password>",
        "<password>{{ password }}</password><password>$PASSWORD</password>",
        "<Input name=\"password\" value={password} /><option value=\"a1b2c3d4\">x</option>",
        r#"<label for="password">Password</label>"#,
        r#"<input type="password" name="password">"#,
        r#"<add key="Title" value="hunter22x"/>"#,
        "a < b and c </d",
    ]);
}

#[test]
fn fields_of_a_multipart_form() {
    gone(&[
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n{}\r\n--b--\r\n",
        "--b\nContent-Disposition: form-data; name=api_key\n\n{}\n--b",
        "--b\r\ncontent-disposition: form-data; name=\"secret\"\r\nContent-Type: text/plain\r\n\r\n{}\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nhello\r\n--b--",
        "--b\r\nContent-Disposition: form-data; filename=\"k\"; name=\"private_key\"\r\n\r\n{}\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{}",
    ]);
    kept(&[
        "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nhunter22x\r\n--b--\r\n",
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"password\"\r\n\r\nhunter22x\r\n--b--\r\n",
        "Content-Disposition: attachment; name=\"password\"\r\n\r\nhunter22x",
    ]);
}

#[test]
fn two_strings_of_an_array() {
    gone(&[
        r#"{"headers":[["Accept","*/*"],["X-Api-Key","{}"]]}"#,
        r#"{"env":[ [ "API_KEY" , "{}" ] ]}"#,
        r#"{"text":"[[\"API_KEY\",\"{}\"]]"}"#,
        r#"{"env":[{"key":"API_KEY","val":"{}"}]}"#,
    ]);
    kept(&[
        r#"{"required":["password","username"]}"#,
        r#"{"fields":["api_key","hunter22x","created"]}"#,
        r#"{"columns":["id","password","hunter22x"]}"#,
        r#"{"pair":["title","hunter22x"]}"#,
    ]);
}

#[test]
fn a_blob_that_holds_a_text_with_a_secret() {
    let blob = |text: &str| {
        let blob = STANDARD.encode(text);
        format!(r#"{{"uri":"file:///a","blob":"{blob}","mimeType":"text/plain"}}"#)
    };
    for text in [
        "PASSWORD=hunter22x\n",
        "{\"a\":{\"password\":\"hunter22x\"}}",
        "<password>hunter22x</password>",
        "key: sk-ant-api03-A1b2C3d4E5f6G7h8I9j0",
        "é: password=hunter22x",
    ] {
        let shown = redacted(&blob(text));
        let wanted = r#"{"uri":"file:///a","blob":"<REDACTED:blob#1>","mimeType":"text/plain"}"#;
        assert_eq!(shown, wanted, "{text}");
        assert_eq!(redacted(&shown), shown);
    }
    for text in ["hello world\n", "", "password=<REDACTED:password#1>"] {
        assert_eq!(redacted(&blob(text)), blob(text));
    }
    // Binary data is not text, whatever it may look like.
    let image = STANDARD.encode([b"\x89PNG\r\n\x1a\n\0password=hunter22x\n".as_slice()].concat());
    let image = format!(r#"{{"blob":"{image}"}}"#);
    assert_eq!(redacted(&image), image);
    // A secret in a blob is known from then on.
    let both = format!(r#"[{},"Xy7-hunter22x"]"#, blob("password=Xy7-hunter22x"));
    assert!(!redacted(&both).contains("hunter22x"));
}

#[test]
fn tokens_in_base64() {
    let jwt = [
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJzdWIiOiIxMjM0In0",
        "SflKxwRJSMeKKF2QT4",
    ]
    .join(".");
    for text in [
        jwt.as_str(),
        r#"[{"password":"hunter22x"}]"#,
        r#"{"a":[{"token":"hunter22x"}]}"#,
    ] {
        let shown = redacted(&format!("got {} here", STANDARD.encode(text)));
        assert_eq!(shown, "got <REDACTED:jwt#1> here", "{text}");
    }
    for text in [
        "eyJhbGciOiJIUzI1NiJ9, no token",
        r#"[{"title":"hunter22x"}]"#,
    ] {
        let text = STANDARD.encode(text);
        assert_eq!(redacted(&text), text);
    }
}
