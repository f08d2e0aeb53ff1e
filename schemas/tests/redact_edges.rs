//! Secrets that are cut: by the lines of a stream, or by the end of the recorded part.

use std::sync::Arc;

use tapewright_schemas::redact::{LineState, Redactor, Rules, Settings};

const BODY: &str = "A1b2C3d4E5f6G7h8I9j0";

fn redactor() -> Redactor {
    Redactor::new(Arc::new(
        Rules::new(&Settings::default()).expect("the rules are valid"),
    ))
}

fn key_lines() -> Vec<String> {
    let mut lines = vec![format!("-----BEGIN RSA {} KEY-----", "PRIVATE")];
    lines.extend((0..3).map(|at| format!("MIIEow{at}BAAKCAQEA{BODY}{BODY}{BODY}")));
    lines.extend([
        "Qw==".to_owned(),
        format!("-----END RSA {} KEY-----", "PRIVATE"),
    ]);
    lines
}

#[test]
fn a_private_key_over_many_lines_is_gone() {
    for prefix in ["", "12:00:00 [srv] ", "    "] {
        let (mut redactor, mut state) = (redactor(), LineState::default());
        let mut seen = Vec::new();
        for line in ["hello"]
            .into_iter()
            .map(str::to_owned)
            .chain(key_lines())
            .chain(["done".to_owned()])
        {
            let line = format!("{prefix}{line}\n");
            seen.extend(redactor.line(&mut state, line.as_bytes()).into_owned());
        }
        let seen = String::from_utf8(seen).unwrap();
        assert!(
            !seen.contains("MII") && !seen.contains("Qw==") && !seen.contains("-----"),
            "{seen}"
        );
        assert!(
            seen.contains("hello\n") && seen.contains("done\n"),
            "{seen}"
        );
        let mut state = LineState::default();
        for line in seen.lines() {
            assert_eq!(redactor.line(&mut state, line.as_bytes()), line.as_bytes());
        }
    }
}

#[test]
fn a_private_key_in_one_text_is_gone() {
    for (place, joint) in [
        ("key: {} end", "\n"),
        ("key: {} end", "\\n"),
        (r#"{"text":"key: {}"}"#, "\\n"),
    ] {
        let text = place.replace("{}", &key_lines().join(joint));
        let mut redactor = redactor();
        let expected = place.replace("{}", "<REDACTED:private-key#1>");
        assert_eq!(
            String::from_utf8_lossy(&redactor.text(text.as_bytes())),
            expected
        );
        assert_eq!(redactor.text(expected.as_bytes()), expected.as_bytes());
    }
    let certificate = key_lines()
        .join("\n")
        .replace("RSA PRIVATE KEY", "CERTIFICATE");
    assert_eq!(
        redactor().text(certificate.as_bytes()),
        certificate.as_bytes()
    );
}

#[test]
fn a_head_cut_inside_a_secret_keeps_no_half_of_it() {
    let key = key_lines().join("\\n");
    let anthropic = format!("sk-{}-api03-{BODY}{BODY}", "ant");
    let jwt = [
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJzdWIiOiIxMjM0In0",
        "SflKxwRJSMeKKF2QT4fwpMeJ",
    ]
    .join(".");
    for (before, canary) in [
        (
            r#"{"params":{"arguments":{"password":""#,
            "correct horse battery staple",
        ),
        (
            r#"{"params":{"arguments":{"credentials":{"user":""#,
            "correct horse battery staple",
        ),
        (
            r#"{"params":{"arguments":{"secrets":["#,
            r#""one two three","four five six""#,
        ),
        (
            r#"{"text":"{\"password\":\""#,
            "correct horse battery staple",
        ),
        (r#"{"text":"token "#, "abcdefghijklmnopqrstuvwx"),
        (r#"{"text":"see "#, &anthropic),
        (r#"{"text":"see "#, &jwt),
        (r#"{"text":"key "#, &key),
        (r#"{"text":"postgres://bob:"#, "p!a$s*w(o)r,d"),
        ("GET / HTTP/1.1\r\nCookie: sid=", "abc def ghi jkl mno"),
        ("password = '", "correct horse battery staple"),
        (r#"{"pin":"#, "123456789"),
    ] {
        let whole = format!("{before}{canary}");
        for end in before.len()..=whole.len() {
            let head = redactor().head(&whole.as_bytes()[..end]);
            let shown = String::from_utf8_lossy(&head).into_owned();
            for start in 0..(end - before.len()).saturating_sub(3) {
                let Some(piece) = canary.get(start..start + 4) else {
                    continue;
                };
                if "-----BEGIN RSA PRIVATE KEY-----".contains(piece) {
                    continue;
                }
                assert!(!shown.contains(piece), "`{piece}` in `{shown}`");
            }
        }
    }
    assert_eq!(
        redactor().head("{\"a\": 1, \"b\": \"é".as_bytes()),
        "{\"a\": 1, \"b\": \"é".as_bytes()
    );
    assert_eq!(
        redactor().head(&"{\"a\": 1, \"b\": \"é".as_bytes()[..16]),
        b"{\"a\": 1, \"b\": \""
    );
}

#[test]
fn a_secret_that_begins_inside_a_character_ends_the_search() {
    // Found by fuzzing: this never terminated.
    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    let line = b"{\"password\":\"\xa3i_key\\\":\\\"abcdefgh12345678\\\",xru\"}cdefgh12345678\"}";
    let redacted = Redactor::new(rules).text(line).into_owned();
    let gone = br#"{"password":"<REDACTED:password#1>"}"#;
    assert!(redacted.starts_with(gone), "{}", redacted.escape_ascii());
}
