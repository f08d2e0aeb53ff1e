//! Running the program on small files, and comparing its output with golden files.
//! `TAPEWRIGHT_BLESS=1` rewrites them.

use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::system::output;

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Runs the program in a folder and compares status and output with
/// `tests/golden/CASE/expected.txt`.
pub(crate) fn golden(case: &str, folder: &Path, arguments: &[&str]) {
    let (status, stdout, stderr) = run(folder, arguments);
    let found = format!(
        "$ tapewright {}\nexit: {status}\n--- stdout\n{stdout}--- stderr\n{stderr}",
        arguments.join(" ")
    );
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(case)
        .join("expected.txt");
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        of_all(&found),
        of_all(&expected),
        "`{case}` differs; TAPEWRIGHT_BLESS=1 writes it anew"
    );
}

/// A message as it is on every system: the separators and some words are the system's.
pub(crate) fn of_all(text: &str) -> String {
    text.replace(MAIN_SEPARATOR, "/").replace(
        "program not found",
        "No such file or directory (os error 2)",
    )
}

/// Without these, Windows starts no other program and opens no socket.
const NEEDED: &[&str] = if cfg!(windows) {
    &["PATH", "SystemRoot"]
} else {
    &[]
};

/// Exit status, standard output and standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let kept = NEEDED
        .iter()
        .map(|name| (name, std::env::var_os(name).unwrap_or_default()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(kept)
        .env("CHECK_VALUE", "Xq7vB2kPz9sLm4Wd8");
    let output = output(&mut command).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The tape of a recorder that was killed.
pub(crate) fn cut_short() -> &'static str {
    TAPE.get(..TAPE.len() - 200).unwrap()
}

/// A short session with something of everything.
pub(crate) const TAPE: &str = r#"{"tape":"1.0","created":"2026-11-21T04:00:00Z","by":"tapewright 0.1.0","transport":"stdio","label":"files","command":["node","my server.js"],"pid":1}
{"seq":1,"at_us":100,"opened":{"pid":7}}
{"seq":2,"at_us":1000,"dir":"to_server","era":"handshake","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}}
{"seq":3,"at_us":3500,"dir":"to_client","era":"handshake","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"2"}}}}
{"seq":4,"at_us":4000,"dir":"to_server","era":"handshake","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"seq":5,"at_us":5000,"dir":"to_server","era":"handshake","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","_meta":{"progressToken":1}}}}
{"seq":6,"at_us":6000,"dir":"to_client","era":"handshake","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}}
{"seq":7,"at_us":6500,"stderr":"reading"}
{"seq":8,"at_us":7000,"dir":"to_client","era":"handshake","message":{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}}
{"seq":9,"at_us":8000,"dir":"to_client","text":"Listening \u001b[31mon 3000\u202e","why":"not JSON"}
{"seq":10,"at_us":9000,"dir":"to_server","era":"handshake","message":{"jsonrpc":"2.0","id":"a\u009b1","method":"tools/call","params":{"name":"hang"}}}
{"seq":11,"at_us":90000,"dir":"to_client","closed":"end of input"}
{"seq":12,"at_us":90100,"exited":{"code":3}}
{"end":{"at_us":90200,"events":12,"complete":true,"redactions":{"token":2}}}
"#;
