//! Keys and credentials files, with a server that requires them.

use std::fs;
use std::path::Path;

use nkeys::KeyPair;
use serde_json::{Value, json};

use super::server::Server;
use super::ship;
use crate::support::{Fleet, Recorder};

/// A server with this configuration.
fn server(folder: &Path, configuration: &str) -> Server {
    let path = folder.join("nats.conf");
    fs::write(&path, configuration).unwrap();
    Server::start(&["-c", path.to_str().unwrap()])
}

/// Ships and listens with the credentials in a variable, and is refused with others; no output has
/// the contents of either file.
fn only_these_are_let_in(server: &Server, variable: &str, right: &str, wrong: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.calls(3);
    recorder.end();
    let secrets: Vec<&str> = [right, wrong]
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.starts_with("SU") || line.starts_with("ey"))
        .collect();
    assert!(secrets.len() >= 2, "{}", secrets.len());
    let ships = |path: &Path| {
        let mut once = ship(&fleet, server, &["--once", "--json", "--verbose"]);
        let output = once.env(variable, path).output().unwrap();
        assert!(output.status.success());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!secrets.iter().any(|secret| told.contains(secret)));
        told
    };
    let hears = |path: &Path| {
        let url = server.url();
        let arguments = [
            "tail",
            "--announce",
            &url,
            "--count",
            "1",
            "--json",
            "--since",
            "1h",
        ];
        let output = fleet
            .command(&arguments)
            .env(variable, path)
            .output()
            .unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!secrets.iter().any(|secret| told.contains(secret)));
        (output.status.success(), told)
    };
    let (is_heard, told) = hears(&file("wrong", wrong));
    assert!(
        !is_heard && told.contains("authorization violation"),
        "{told}"
    );
    let right = file("right", right);
    let told = ships(&right);
    assert!(!told.contains("not_announced"), "{told}");
    let (is_heard, told) = hears(&right);
    assert!(is_heard && told.contains("\"gateway\":\"g1\""), "{told}");
}

#[test]
fn nats_is_reached_with_an_nkey() {
    let (user, other) = (KeyPair::new_user(), KeyPair::new_user());
    let folder = tempfile::tempdir().unwrap();
    let users = format!(
        "authorization {{ users = [ {{ nkey: {} }} ] }}\n",
        user.public_key()
    );
    let server = server(folder.path(), &users);
    let seed = |pair: &KeyPair| pair.seed().unwrap() + "\n";
    only_these_are_let_in(&server, "NATS_NKEY", &seed(&user), &seed(&other));
}

/// Base64 in the form of JWTs.
fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = 0_usize;
        for at in 0..3 {
            group = group << 8 | usize::from(chunk.get(at).copied().unwrap_or_default());
        }
        for at in 0..=chunk.len() {
            text.push(char::from(DIGITS[group >> (18 - 6 * at) & 63]));
        }
    }
    text
}

/// A JWT of NATS.
fn jwt(issuer: &KeyPair, subject: &KeyPair, name: &str, nats: &Value) -> String {
    let header = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let claims = json!({
        "jti": name, "iat": 1_790_000_000, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": name, "nats": nats,
    });
    let text = [header, claims].map(|part| encoded(part.to_string().as_bytes()));
    let text = text.join(".");
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", encoded(&signature))
}

fn account(operator: &KeyPair, account: &KeyPair, name: &str, storage: i64) -> String {
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": storage, "disk_storage": storage, "streams": storage,
        "consumer": storage,
    });
    let nats = json!({"limits": limits, "type": "account", "version": 2});
    jwt(operator, account, name, &nats)
}

/// The file that `nsc` writes for a user.
fn credentials(account: &KeyPair) -> String {
    let user = KeyPair::new_user();
    let nats = json!({"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2});
    let jwt = jwt(account, &user, "u", &nats);
    let seed = user.seed().unwrap();
    format!(
        "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

#[test]
fn nats_is_reached_with_a_file_of_credentials() {
    let operator = KeyPair::new_operator();
    let (ours, system, unknown) = (
        KeyPair::new_account(),
        KeyPair::new_account(),
        KeyPair::new_account(),
    );
    let of_operator = jwt(
        &operator,
        &operator,
        "o",
        &json!({"type": "operator", "version": 2}),
    );
    let configuration = format!(
        "operator: {of_operator}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n{ours}: {}\n{system}: {}\n}}\n",
        account(&operator, &ours, "a", -1),
        account(&operator, &system, "s", 0),
        ours = ours.public_key(),
        system = system.public_key(),
    );
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &configuration);
    only_these_are_let_in(
        &server,
        "NATS_CREDS",
        &credentials(&ours),
        &credentials(&unknown),
    );
}
