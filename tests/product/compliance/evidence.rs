//! Findings, cut out of their recording.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tapewright_schemas::event::{Carrier, Direction, Event, EventBody};
use tapewright_schemas::recording::Document;

use crate::cli::golden::{folder, run};
use crate::support::{Tape, native, tapewright};

/// A long session with one stray response and one line of noise in its middle.
fn tape() -> String {
    let mut lines = vec![
        r#"{"tape":"1.2","by":"tapewright 0.1.0","transport":"stdio","label":"my server","pid":1}"#.to_owned(),
        r#"{"seq":1,"at_us":1000,"dir":"to_server","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}"#.to_owned(),
        r#"{"seq":2,"at_us":2000,"dir":"to_client","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}"#.to_owned(),
        r#"{"seq":3,"at_us":3000,"dir":"to_server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}"#.to_owned(),
    ];
    let mut say = |dir: &str, what: &str| {
        let seq = lines.len();
        lines.push(format!(
            r#"{{"seq":{seq},"at_us":{},"dir":"{dir}",{what}}}"#,
            seq * 1_000
        ));
    };
    for id in 1..=200 {
        let method = if id == 100 { "no/such" } else { "ping" };
        say(
            "to_server",
            &format!(r#""message":{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
        );
        if id == 100 {
            say(
                "to_client",
                r#""message":{"jsonrpc":"2.0","id":999,"result":{}}"#,
            );
            say(
                "to_client",
                r#""text":"listening on 3000","why":"not JSON""#,
            );
            let error = r#"{"code":-32000,"message":"Method not found: no/such"}"#;
            say(
                "to_client",
                &format!(r#""message":{{"jsonrpc":"2.0","id":100,"error":{error}}}"#),
            );
        } else {
            say(
                "to_client",
                &format!(r#""message":{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
            );
        }
    }
    let events = lines.len() - 1;
    lines.push(format!(
        r#"{{"end":{{"at_us":999999,"events":{events},"complete":true}}}}"#
    ));
    lines.join("\n") + "\n"
}

fn judge(folder: &Path, file: &str, options: &[&str]) -> Value {
    let mut all = vec![
        "compliance",
        "invariants",
        "--format",
        "json",
        "--capture",
        file,
    ];
    all.extend(options);
    let (_, text, errors) = run(folder, &all);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// Code, detail and file of every finding.
fn findings(report: &Value) -> Vec<(String, String, Option<String>)> {
    let mut found = Vec::new();
    for server in report["servers"].as_array().unwrap() {
        for outcome in server["outcomes"].as_array().unwrap() {
            for one in outcome["findings"].as_array().unwrap() {
                found.push((
                    outcome["id"].as_str().unwrap().to_owned(),
                    one["detail"].as_str().unwrap().to_owned(),
                    one["evidence_file"].as_str().map(str::to_owned),
                ));
            }
        }
    }
    found
}

#[test]
fn each_finding_is_reproduced_by_a_small_file_of_its_own() {
    let text = tape();
    let folder = folder(&[("fs.tape.jsonl", &text)]);
    let path = folder.path();
    let report = judge(path, "fs.tape.jsonl", &["--all", "--evidence", "proof"]);
    let found = findings(&report);
    let codes: Vec<&str> = found.iter().map(|(code, ..)| code.as_str()).collect();
    for code in ["INV-007", "INV-012", "INV-053"] {
        assert!(codes.contains(&code), "{found:?}");
    }
    for (code, detail, file) in found {
        let file = file.unwrap();
        let again = judge(path, &file, &["--select", &code]);
        let shown = findings(&again);
        assert!(
            shown
                .iter()
                .any(|(one, words, _)| *one == code && *words == detail),
            "{file}: {shown:?}"
        );
        // Hundreds of messages were removed.
        let text = fs::read_to_string(path.join(&file)).unwrap();
        assert!(text.len() < 2_000, "{file}: {text}");
    }
    // The documented format if it is sufficient: a cassette also contains content that is not a
    // message.
    let names: Vec<String> = fs::read_dir(path.join("proof"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in [
        "my-server-INV-007-1.json",
        "my-server-INV-012-1.json",
        "my-server-INV-053-1.json",
    ] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains(".tmp")), "{names:?}");
    let cassette = fs::read_to_string(path.join("proof/my-server-INV-007-1.json")).unwrap();
    let cassette: Value = serde_json::from_str(&cassette).unwrap();
    assert_eq!(cassette["version"], "1");
    // Without the handshake the file would show that it is missing, which is another finding.
    assert_eq!(cassette["exchanges"].as_array().unwrap().len(), 2);
}

#[test]
fn a_capture_of_others_is_cut_down_as_a_capture_where_it_must_be() {
    let ping = r#"{"request":{"jsonrpc":"2.0","id":7,"method":"ping"},"response":{"jsonrpc":"2.0","id":7,"result":{}}}"#;
    let list = r#"{"request":{"jsonrpc":"2.0","id":1,"method":"initialize"},"response":{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}}}}},
        {"request":{"jsonrpc":"2.0","id":2,"method":"tools/list"},"response":{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}}"#;
    let pings = vec![ping; 50].join(",");
    let capture = format!(
        r#"{{"server_label":"s","server_capabilities":{{"prompts":{{}}}},"exchanges":[{list},{pings}]}}"#
    );
    let folder = folder(&[("s.capture.json", &capture)]);
    let report = judge(folder.path(), "s.capture.json", &["--evidence", "proof"]);
    let found = findings(&report);
    let [(code, _, Some(file))] = found.as_slice() else {
        panic!("{found:?}")
    };
    // Only the member of a capture shows that the server has no tools.
    assert_eq!(
        (code.as_str(), file.clone()),
        ("INV-003", native("proof/s-INV-003-1.capture.json"))
    );
    let text = fs::read_to_string(folder.path().join(file)).unwrap();
    assert!(!text.contains("ping"), "{text}");
    let again = judge(folder.path(), file, &["--select", code]);
    assert_eq!(findings(&again).len(), 1, "{text}");
}

/// A recorded session in which one text of one carrier is changed to be wrong.
struct Flaw {
    session: &'static str,
    carrier: Carrier,
    right: &'static str,
    wrong: &'static str,
    code: &'static str,
}

const FLAWS: [Flaw; 8] = [
    Flaw {
        session: "handshake-stdio",
        carrier: Carrier::Line,
        right: r#""result":{"tools":["#,
        wrong: r#""result":{"toolz":["#,
        code: "INV-087",
    },
    Flaw {
        session: "stateless-http",
        carrier: Carrier::PostAnswer,
        right: r#""result":{"tools":["#,
        wrong: r#""result":{"toolz":["#,
        code: "INV-087",
    },
    Flaw {
        session: "handshake-http",
        carrier: Carrier::PostStream,
        right: r#""result":{"tools":["#,
        wrong: r#""result":{"toolz":["#,
        code: "INV-087",
    },
    Flaw {
        session: "handshake-sse",
        carrier: Carrier::LegacyStream,
        right: r#""result":{"tools":["#,
        wrong: r#""result":{"toolz":["#,
        code: "INV-087",
    },
    Flaw {
        session: "handshake-http",
        carrier: Carrier::GetStream,
        right: r#""level":"info","logger""#,
        wrong: r#""level":"loud","logger""#,
        code: "INV-086",
    },
    Flaw {
        session: "stateless-http",
        carrier: Carrier::Listen,
        right: r#""params":{"notifications":{"toolsListChanged":true},"#,
        wrong: r#""params":{"notificationz":{"toolsListChanged":true},"#,
        code: "INV-086",
    },
    Flaw {
        session: "handshake-http",
        carrier: Carrier::Post,
        right: r#""clientInfo":{"#,
        wrong: r#""clientInfz":{"#,
        code: "INV-085",
    },
    Flaw {
        session: "handshake-sse",
        carrier: Carrier::LegacyPost,
        right: r#""clientInfo":{"#,
        wrong: r#""clientInfz":{"#,
        code: "INV-085",
    },
];

/// The messages of the client in a recording.
fn sent(file: &Path) -> Vec<String> {
    let text = fs::read(file).unwrap();
    let events = if file.extension().is_some_and(|one| one == "jsonl") {
        Tape::read(file).events
    } else {
        Document::read(text).unwrap().recording().events
    };
    let message = |event: Event| match event.body {
        EventBody::Message { payload, .. } if event.dir == Direction::ToServer => {
            Some(String::from_utf8(payload.kept().to_vec()).unwrap())
        }
        _ => None,
    };
    events.into_iter().filter_map(message).collect()
}

/// All messages that a replay of a file sends to the client in it.
fn replayed(file: &Path) -> String {
    let mut command = tapewright();
    let command = command.arg("replay").arg(file).stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut replay = command.spawn().unwrap();
    let mut input = replay.stdin.take().unwrap();
    for message in sent(file) {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = replay.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether a message came on a carrier in a tape.
fn came_on(carrier: Carrier, wrong: &str, tape: &Path) -> bool {
    let tape = Tape::read(tape);
    tape.events.iter().any(|event| match &event.body {
        EventBody::Message {
            payload, origin, ..
        } => {
            let text = String::from_utf8_lossy(payload.kept());
            origin.carrier == carrier && text.contains(wrong)
        }
        _ => false,
    })
}

#[test]
fn evidence_of_every_carrier_is_served_by_a_replay() {
    for flaw in FLAWS {
        let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
        let text = fs::read_to_string(wire.join(format!("{}.tape.jsonl", flaw.session))).unwrap();
        let text = text.replacen(flaw.right, flaw.wrong, 1);
        let folder = folder(&[("s.tape.jsonl", &text)]);
        let name = format!("{} {:?}", flaw.session, flaw.carrier);
        let whole = folder.path().join("s.tape.jsonl");
        assert!(came_on(flaw.carrier, flaw.wrong, &whole), "{name}");
        let options = ["--select", flaw.code, "--evidence", "proof"];
        let report = judge(folder.path(), "s.tape.jsonl", &options);
        let found = findings(&report);
        let [(_, _, Some(file))] = found.as_slice() else {
            panic!("{name}: {found:?}")
        };
        let file = folder.path().join(file);
        let kept = fs::read_to_string(&file).unwrap();
        assert!(kept.len() < text.len(), "{name}: {}", kept.len());
        // A client is served as recorded, including a server's errors.
        let said = replayed(&file);
        let by_client = matches!(flaw.carrier, Carrier::Post | Carrier::LegacyPost);
        let again = if by_client { "serverInfo" } else { flaw.wrong };
        assert!(said.contains(again), "{name}: {said}\n{kept}");
    }
}
