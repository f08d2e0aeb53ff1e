//! No secret reaches a disk: canaries in every place of a real session, and look-alikes that must
//! survive it.
//!
//! Every rule has its own examples in `schemas/tests`; here the whole path is tested, from the wire
//! to every byte of every file.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::support::{record, wait};

/// A body that no rule recognizes by itself, different for each number.
fn body(number: usize, length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(ALPHABET[(state >> 33) as usize % ALPHABET.len()])
    };
    // Two digits, so that it looks like a key.
    (0..length)
        .map(|at| if at % 9 == 4 { '7' } else { next() })
        .collect()
}

/// Secrets by their shape. Put together here, so that nothing in this file has one.
fn shapes() -> Vec<String> {
    let prefixes = [
        ("sk-", "ant-api03-", 24),
        ("sk-", "proj-", 24),
        ("AIza", "Sy", 33),
        ("gh", "p_", 36),
        ("gh", "o_", 36),
        ("gh", "u_", 36),
        ("gh", "s_", 36),
        ("gh", "r_", 36),
        ("github_", "pat_", 40),
        ("glp", "at-", 20),
        ("xox", "b-1234567890-", 24),
        ("xox", "p-1234567890-", 24),
        ("sk_", "live_", 24),
        ("rk_", "live_", 24),
        ("np", "m_", 36),
        ("h", "f_", 34),
        ("gs", "k_", 40),
        ("xa", "i-", 40),
        ("dckr_", "pat_", 27),
        ("hv", "s.", 30),
        ("gl", "sa_", 32),
        ("NR", "AK-", 27),
        ("lin_", "api_", 40),
        ("PM", "AK-", 40),
        ("ya", "29.", 40),
        ("GOC", "SPX-", 28),
        ("wh", "sec_", 32),
        ("pp", "lx-", 40),
        ("r", "8_", 37),
        ("fig", "d_", 40),
    ];
    let mut all: Vec<String> = prefixes
        .iter()
        .enumerate()
        .map(|(number, (one, two, length))| format!("{one}{two}{}", body(number, *length)))
        .collect();
    all.push(format!("{}{}", "AK", "IAQ3EGRV7WLMNB5XYZ"));
    all.push(format!("SG.{}.{}", body(40, 22), body(41, 43)));
    all.push(format!(
        "eyJ{}.eyJ{}.{}",
        body(42, 20),
        body(43, 40),
        body(44, 43)
    ));
    all
}

/// Secrets that are only recognizable by their place: the text that crosses, and the secret that
/// must not be found.
fn places() -> Vec<(String, String)> {
    let secret = |number: usize| format!("canary{}", body(100 + number, 12));
    let templates = [
        r#"{"password":"@"}"#,
        r#"{"dbPassword":"@"}"#,
        r#"{"DB_PASSWORD":"@"}"#,
        r#"{"user-passwd":"@"}"#,
        r#"{"token":"@"}"#,
        r#"{"accessToken":"@"}"#,
        r#"{"client_secret":"@"}"#,
        r#"{"apiKey":"@"}"#,
        r#"{"x-api-key":"@"}"#,
        r#"{"Authorization":"Bearer @"}"#,
        r#"{"authorization":["@"]}"#,
        r#"{"cookie":"sid=@; Path=/"}"#,
        r#"{"credentials":{"user":"@"}}"#,
        r#"{"private_key":"@"}"#,
        r#"{"sessionId":"@"}"#,
        r#"{"Mcp-Session-Id":"@"}"#,
        r#"{"passphrase":"@"}"#,
        r#"{"text":"{\"api_key\":\"@\"}"}"#,
        r#"{"text":"{\"a\":\"{\\\"password\\\":\\\"@\\\"}\"}"}"#,
        r#"{"url":"https://h.example/p?api_key=@&x=1"}"#,
        r#"{"dsn":"postgres://user:@@db.example/x"}"#,
        r#"{"text":"Authorization: Bearer @"}"#,
        r#"{"text":"curl -H 'X-Api-Key: @' https://h.example"}"#,
        r#"{"env":["API_TOKEN=@"]}"#,
        r#"{"name":"Authorization","value":"@"}"#,
        r#"{"value":"@","name":"password"}"#,
        r#"{"text":"password=@"}"#,
        r#"{"secret":{"deep":[{"er":"@"}]}}"#,
    ];
    templates
        .iter()
        .enumerate()
        .map(|(number, template)| {
            let secret = secret(number);
            let text = template
                .replace("@@db", &format!("{secret}@db"))
                .replace('@', &secret);
            // The only template with an intended at sign.
            let text = text.replace(&format!("{secret}{secret}db"), &format!("{secret}@db"));
            (text, secret)
        })
        .collect()
}

/// Data that looks like a secret.
fn lookalikes() -> Vec<serde_json::Value> {
    let mut all = vec![
        json!({"progressToken": "abc-123", "nextCursor": "eyJwYWdlIjoyfQ==", "cursor": "eyJvZmZzZXQiOjEwMH0"}),
        json!({"max_tokens": 4096, "tokenizer": "cl100k_base", "total_tokens": 99, "primary_key": "users_pkey"}),
        json!({"sha": "9fceb02d0ae598e95dc970b74767f19372d61af8", "md5": "d41d8cd98f00b204e9800998ecf8427e"}),
        json!({"integrity": "sha512-oVVHmLnVnNnJzAeI0yGTNYGqjYQ3f0aDJ0wkzKdPpKqCZ1yJ7oK5d5V7FzqZ2m1V"}),
        json!({"uuid": "123e4567-e89b-42d3-a456-426614174000", "email": "ada@example.org", "risk": "task-force"}),
        json!({"type": "image", "mimeType": "image/png", "data": format!("iVBORw0KGgo{}==", body(900, 400))}),
        json!({"properties": {"password": {"type": "string"}, "api_key": {"type": "string", "description": "key"}}}),
        json!({"text": "the token type is bearer; password: required; see task-force.md and sk-learn"}),
        json!({"blob": format!("UklGR{}", body(901, 300)), "secretary": "Ada", "keyboard": "qwerty", "author": "Bob"}),
        json!({"path": "/home/me/project", "PWD": "/home/me", "model": "claude-sonnet-4-5", "version": "1.0.0"}),
    ];
    for number in 0..50 {
        all.push(json!({"id": number, "name": format!("get_item_{number}_by_id"), "hash": format!("{number:064x}"),
            "etag": format!("W/\"{number:x}-{}\"", number * 77), "big": format!("order-{number:012}")}));
    }
    all
}

#[test]
fn no_canary_survives_in_any_byte_of_any_file_and_every_lookalike_does() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("s.json");
    let capture = folder.path().join("s.capture.json");
    let argument = format!("canary{}", body(201, 14));
    let variable = format!("canary{}", body(202, 14));
    let key = format!("canary{}", body(203, 30));
    // Answers each request with its argument, and also prints it on standard error and, as noise,
    // on standard output.
    let script = r#"while IFS= read -r line; do
        case $line in
        *'"method"'*) id=${line##*\"id\":}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${id%?}" "$line";;
        esac
        printf 'log %s\n' "$line" >&2
        printf 'noise %s\n' "$line"
    done"#;
    let mut command = record(
        &[
            "-o",
            cassette.to_str().unwrap(),
            "--save-capture",
            capture.to_str().unwrap(),
        ],
        &["sh", "-c", script, "sh", "--api-key", &argument],
    );
    command
        .env("SERVICE_PASSWORD", &variable)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();

    let mut canaries = vec![argument, variable.clone()];
    let mut messages =
        vec![json!({"text": format!("the value {variable} stands in a text")}).to_string()];
    for shape in shapes() {
        messages.push(
            json!({"argument": shape, "text": format!("found {shape} in a log")}).to_string(),
        );
        canaries.push(shape);
    }
    for (text, secret) in places() {
        messages.push(text);
        canaries.push(secret);
    }
    assert!(canaries.len() >= 60);
    for (id, arguments) in messages.iter().enumerate() {
        let request = format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"arguments":{arguments}}},"id":{id}}}"#
        );
        writeln!(input, "{request}").unwrap();
        // Malformed, and not UTF-8.
        writeln!(input, "{}", &request[..request.len() - 2]).unwrap();
        input.write_all(b"\xff ").unwrap();
        writeln!(input, "{arguments}").unwrap();
    }
    let begin = format!("-----BEGIN {} KEY-----", "PRIVATE");
    writeln!(input, "{begin}\n{key}\n{key}\n-----END PRIVATE KEY-----").unwrap();
    canaries.push(key);
    let kept = lookalikes();
    assert!(kept.len() >= 60);
    for (id, lookalike) in kept.iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"arguments": lookalike}, "id": 1_000 + id});
        writeln!(input, "{request}").unwrap();
    }
    drop(input);
    assert!(wait(&mut child, Duration::from_secs(60)).success());

    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        files += 1;
        for canary in &canaries {
            // Half of a secret is also a secret.
            let half = &canary[canary.len() / 2..];
            for part in [canary.as_str(), half] {
                assert!(
                    !text.contains(part),
                    "{part} is in {}: {:?}",
                    path.display(),
                    text.find(part)
                        .map(|at| &text[at.saturating_sub(160)..at + part.len() + 20])
                );
            }
        }
        for lookalike in &kept {
            let source = lookalike.to_string();
            assert!(
                text.contains(&source),
                "{source} was damaged in {}",
                path.display()
            );
        }
    }
    assert_eq!(files, 3);
}
