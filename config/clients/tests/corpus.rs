//! Files as clients and people write them, wrapped and put back. A server whose name begins
//! with `no-` must be refused; all others must be wrapped.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use tapewright_clients::{
    CLIENTS, Document, Format, OriginalEntry, RecordOptions, RefusalReason, Transport, Wrapped,
    apply, client, unified,
};

const PROGRAM: &str = "/usr/local/bin/tapewright";

struct Sample {
    name: String,
    client: &'static tapewright_clients::Client,
    format: Format,
    servers: Vec<Vec<String>>,
    text: String,
}

impl Sample {
    fn read<'t>(&self, text: &'t str) -> Document<'t> {
        Document::read(self.client, self.format, &self.servers, text).unwrap()
    }
}

fn samples() -> Vec<Sample> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut samples = Vec::new();
    for known in CLIENTS {
        let files = fs::read_dir(corpus.join(known.id)).unwrap();
        let before = samples.len();
        for file in files {
            let path = file.unwrap().path();
            let name = path.display().to_string();
            let places = known.places.first().unwrap().servers.iter();
            let servers = places.map(|path| path.iter().map(|step| (*step).to_owned()).collect());
            samples.push(Sample {
                client: known,
                format: Format::of(&name),
                servers: servers.collect(),
                text: fs::read_to_string(&path).unwrap(),
                name,
            });
        }
        assert!(samples.len() > before, "{} has no sample", known.id);
    }
    samples
}

fn how(server: &str) -> RecordOptions {
    RecordOptions {
        program: PROGRAM.to_owned(),
        options: vec!["--label".to_owned(), server.to_owned()],
        gateway: None,
    }
}

fn wrapped(
    document: &Document<'_>,
    server: &str,
    how: &RecordOptions,
) -> (Vec<tapewright_clients::Edit>, OriginalEntry) {
    match document.wrap(server, how) {
        Ok(Wrapped::Changed(edits, kept)) => (edits, kept),
        Ok(Wrapped::Already) => panic!("`{server}` is no recorder yet"),
        Err(refusal) => panic!("`{server}` is refused: {refusal}"),
    }
}

/// Wraps every server that can be, one after the other.
fn wrap_all(sample: &Sample) -> (String, Vec<OriginalEntry>) {
    let mut text = sample.text.clone();
    let mut all = Vec::new();
    for server in sample.read(&sample.text).servers() {
        if server.name.starts_with("no-") {
            continue;
        }
        let document = sample.read(&text);
        let (edits, kept) = wrapped(&document, &server.name, &how(&server.name));
        text = apply(&text, &edits);
        all.push(kept);
    }
    (text, all)
}

fn unwrap_all(sample: &Sample, text: &str, all: &[OriginalEntry]) -> String {
    let mut text = text.to_owned();
    for kept in all {
        let restored = sample.read(&text).unwrap(kept).unwrap();
        text = apply(&text, &restored.edits);
    }
    text
}

#[test]
fn a_wrapped_entry_means_the_recorder_with_the_old_command_behind_it() {
    for sample in samples() {
        let (text, all) = wrap_all(&sample);
        assert!(
            !all.is_empty() || sample.name.contains("held"),
            "{}",
            sample.name
        );
        let before = sample.read(&sample.text).servers();
        let after = sample.read(&text).servers();
        assert_eq!(before.len(), after.len(), "{}: {text}", sample.name);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.name, after.name);
            if before.name.starts_with("no-") {
                assert_eq!(before, after);
                continue;
            }
            let mut wanted = vec![
                "record".to_owned(),
                "--label".to_owned(),
                before.name.clone(),
            ];
            match &before.transport {
                Transport::Process { program, arguments } => {
                    wanted.extend(["--".to_owned(), program.clone()]);
                    wanted.extend(arguments.iter().cloned());
                }
                Transport::Remote { url } => wanted.extend(["--upstream".to_owned(), url.clone()]),
                Transport::Other => panic!("{}: {} is neither", sample.name, before.name),
            }
            let process = Transport::Process {
                program: PROGRAM.to_owned(),
                arguments: wanted,
            };
            assert_eq!(after.transport, process, "{}", sample.name);
            assert!(after.transport.is_recorder());
        }
    }
}

#[test]
fn a_recorder_on_windows_is_quoted_and_removed_again() {
    let how = RecordOptions {
        program: r"C:\Program Files\tapewright\tapewright.exe".to_owned(),
        options: vec!["-o".to_owned(), r"C:\Users\Jürgen\tapes\".to_owned()],
        gateway: None,
    };
    for sample in samples() {
        for server in sample.read(&sample.text).servers() {
            if server.name.starts_with("no-") {
                continue;
            }
            let document = sample.read(&sample.text);
            let (edits, kept) = wrapped(&document, &server.name, &how);
            let text = apply(&sample.text, &edits);
            let document = sample.read(&text);
            let found = document.servers();
            let found = found.iter().find(|one| one.name == server.name).unwrap();
            let Transport::Process { program, arguments } = &found.transport else {
                panic!("{text}");
            };
            assert_eq!(*program, how.program);
            assert_eq!(arguments.get(1..3), Some(how.options.as_slice()));
            assert!(found.transport.is_recorder());
            let restored = document.unwrap(&kept).unwrap();
            assert_eq!(apply(&text, &restored.edits), sample.text);
        }
    }
}

#[test]
fn a_batch_file_and_a_shell_stay_what_they_were_behind_the_recorder() {
    let samples = samples();
    let sample = samples
        .iter()
        .find(|one| one.name.ends_with("windows.json"));
    let sample = sample.unwrap();
    assert!(sample.text.contains("\r\n") && sample.text.starts_with('\u{feff}'));
    let (text, _) = wrap_all(sample);
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    for (name, words) in [
        ("shell", vec!["cmd", "/c", "npx", "-y", "server"]),
        (
            "batch",
            vec![
                r"C:\Program Files\nodejs\npx.cmd",
                "-y",
                "@scope/server",
                r"D:\notes\",
            ],
        ),
        ("only", vec![r"C:\tools\server.exe"]),
    ] {
        let document = sample.read(&text);
        let servers = document.servers();
        let server = servers.iter().find(|server| server.name == name).unwrap();
        let Transport::Process { arguments, .. } = &server.transport else {
            panic!("{text}");
        };
        let behind = arguments.iter().skip_while(|word| *word != "--").skip(1);
        assert_eq!(behind.collect::<Vec<_>>(), words);
    }
}

#[test]
fn what_cannot_be_spliced_is_refused() {
    let mut refused = 0;
    for sample in samples() {
        let document = sample.read(&sample.text);
        for server in document.servers() {
            if server.name.starts_with("no-") {
                let done = document.wrap(&server.name, &how(&server.name));
                assert!(done.is_err(), "{}: {}", sample.name, server.name);
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_refusal_says_why() {
    let why = |file: &str, server: &str| {
        let samples = samples();
        let sample = samples
            .iter()
            .find(|sample| sample.name.ends_with(file))
            .unwrap();
        let document = sample.read(&sample.text);
        let refusal = document.wrap(server, &how(server)).err().unwrap();
        (refusal.why.to_string(), refusal.by_hand)
    };
    let held = |server: &str| why("held.yaml", server).0;
    assert!(held("no-merge").contains("`<<`"));
    assert!(held("no-anchor").contains("anchor"));
    assert!(held("no-own-anchor").contains("anchor"));
    assert!(held("no-tag").contains("tag"));
    assert!(held("no-block").contains("multi-line"));
    assert!(held("no-twice").contains("twice"));
    assert_eq!(
        why("user.json", "no-headers").0,
        RefusalReason::Credentials("headers".to_owned()).to_string()
    );
    let (why, by_hand) = why("dotted.toml", "no-bare");
    assert_eq!(why, RefusalReason::Dotted.to_string());
    assert_eq!(
        by_hand.first().unwrap(),
        &format!("set `command` to \"{PROGRAM}\"")
    );
}

#[test]
fn unwrap_is_the_identity() {
    for sample in samples() {
        let (text, mut all) = wrap_all(&sample);
        assert_eq!(
            unwrap_all(&sample, &text, &all),
            sample.text,
            "{}",
            sample.name
        );
        all.reverse();
        assert_eq!(
            unwrap_all(&sample, &text, &all),
            sample.text,
            "{}",
            sample.name
        );
    }
}

#[test]
fn wrapping_twice_changes_nothing() {
    for sample in samples() {
        let (text, all) = wrap_all(&sample);
        let document = sample.read(&text);
        for kept in all {
            let again = document.wrap(&kept.name, &how(&kept.name));
            assert!(matches!(again, Ok(Wrapped::Already)), "{}", sample.name);
        }
    }
}

#[test]
fn no_byte_outside_the_reported_ranges_changes_and_no_secret_moves() {
    for sample in samples() {
        let document = sample.read(&sample.text);
        for server in document.servers() {
            let Ok(Wrapped::Changed(edits, kept)) = document.wrap(&server.name, &how("x")) else {
                continue;
            };
            let text = apply(&sample.text, &edits);
            let mut at = 0;
            let mut new_at = 0;
            for edit in &edits {
                let same = edit.range.start - at;
                assert_eq!(
                    sample.text.get(at..at + same),
                    text.get(new_at..new_at + same)
                );
                new_at += same + edit.new.len();
                at = edit.range.end;
                assert!(!edit.new.contains("not-for-you"), "{}", sample.name);
            }
            assert_eq!(sample.text.get(at..), text.get(new_at..));
            assert!(
                kept.slices
                    .iter()
                    .all(|slice| !slice.original.contains("not-for-you"))
            );
            let diff = unified("f", &sample.text, &edits, &document.hidden());
            assert!(!diff.contains("not-for-you"), "{diff}");
            assert!(diff.contains("\n+"), "{diff}");
        }
    }
}

#[test]
fn unwrap_leaves_foreign_changes_alone() {
    for sample in samples() {
        let (text, all) = wrap_all(&sample);
        // Something before, and something after.
        let (front, back) = match sample.format {
            Format::Json => ("// new\n", "\n// newer"),
            Format::Toml | Format::Yaml => ("# new\n", "\n# newer"),
        };
        let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let foreign = |text: &str| {
            let (mark, body) = text.split_at(mark);
            format!("{mark}{front}{body}{back}")
        };
        let restored = unwrap_all(&sample, &foreign(&text), &all);
        assert_eq!(restored, foreign(&sample.text), "{}", sample.name);
    }
}

#[test]
fn unwrap_refuses_what_was_edited_since() {
    for sample in samples() {
        let (text, all) = wrap_all(&sample);
        let edited = text.replace(PROGRAM, "/usr/bin/other");
        for kept in all {
            let why = sample.read(&edited).unwrap(&kept).err();
            assert!(
                matches!(why, Some(RefusalReason::Edited(_))),
                "{}: {why:?}",
                sample.name
            );
        }
    }
}

#[test]
fn a_client_that_lays_out_json_anew_does_not_keep_unwrap_from_working() {
    let text = r#"{"mcpServers":{"fs":{"command":"npx","env":{"A":"b"}},"r":{"url":"https://mcp.example.com/mcp"}}}"#;
    let client = client("claude-code").unwrap();
    let servers = vec![vec!["mcpServers".to_owned()]];
    let read = |text: &'static str| Document::read(client, Format::Json, &servers, text).unwrap();
    let document = read(text);
    let mut text = text.to_owned();
    let mut all = Vec::new();
    for name in ["fs", "r"] {
        let document = Document::read(client, Format::Json, &servers, &text).unwrap();
        let (edits, kept) = wrapped(&document, name, &how(name));
        text = apply(&text, &edits);
        all.push(kept);
    }
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut anew = format!("{value:#}");
    // The order of members may be another one there.
    for kept in &all {
        let document = Document::read(client, Format::Json, &servers, &anew).unwrap();
        let restored = document.unwrap(kept);
        if let Ok(restored) = restored {
            anew = apply(&anew, &restored.edits);
        } else {
            panic!("{anew}");
        }
    }
    let document_after = Document::read(client, Format::Json, &servers, &anew).unwrap();
    let mut before = document.servers();
    before.sort_by(|one, other| one.name.cmp(&other.name));
    let mut after = document_after.servers();
    after.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(before, after);
}

#[test]
fn a_gateway_takes_the_place_of_a_url_and_nothing_else() {
    let samples = samples();
    let sample = samples
        .iter()
        .find(|sample| sample.name.ends_with("user.json"))
        .unwrap();
    let document = sample.read(&sample.text);
    let how = RecordOptions {
        gateway: Some("http://127.0.0.1:4000/mcp".to_owned()),
        ..how("x")
    };
    let (edits, kept) = wrapped(&document, "no-headers", &how);
    assert_eq!(edits.len(), 1);
    let text = apply(&sample.text, &edits);
    let old = "\"url\": \"https://mcp.example.com/mcp\",\n      \"headers\"";
    let new = "\"url\": \"http://127.0.0.1:4000/mcp\",\n      \"headers\"";
    assert_eq!(text, sample.text.replace(old, new));
    let restored = sample.read(&text).unwrap(&kept).unwrap();
    assert_eq!(apply(&text, &restored.edits), sample.text);
    assert_eq!(
        document.wrap("fs", &how).err().unwrap().why,
        RefusalReason::NotRemote
    );
}

#[test]
fn an_entry_to_paste_is_read_as_what_it_should_say() {
    use tapewright_clients::{Run, entry};
    for client in CLIENTS {
        let arguments = vec!["record".to_owned(), "a \"b\"".to_owned()];
        let process = Run::Process {
            program: PROGRAM.to_owned(),
            arguments: arguments.clone(),
        };
        let format = Format::of(client.places.first().unwrap().path);
        let places = client.places.first().unwrap().servers.iter();
        let servers: Vec<Vec<String>> = places
            .map(|path| path.iter().map(|step| (*step).to_owned()).collect())
            .collect();
        let check = |run: &Run, wanted: Transport| {
            let text = entry(client, "my server", run);
            let document = Document::read(client, format, &servers, &text).unwrap();
            let found = document.servers();
            let [server] = found.as_slice() else {
                panic!("{text}");
            };
            assert_eq!(server.name, "my server");
            assert_eq!(server.transport, wanted, "{text}");
        };
        let program = PROGRAM.to_owned();
        check(&process, Transport::Process { program, arguments });
        if !client.shape.urls.is_empty() {
            let url = "http://127.0.0.1:4000/mcp".to_owned();
            check(&Run::Url(url.clone()), Transport::Remote { url });
        }
    }
}

#[test]
fn broken_files_are_refused_with_their_line() {
    let read = |id: &str, format, text: &'static str| {
        let why = Document::read(client(id).unwrap(), format, &[], text).err();
        why.unwrap().to_string()
    };
    assert!(read("cursor", Format::Json, "{\n\"a\": }").contains("line 2"));
    assert!(read("cursor", Format::Json, "{\"a\": 1} x").contains("line 1"));
    assert!(read("cursor", Format::Json, "{ /* ").contains("comment"));
    assert!(read("codex", Format::Toml, "a = 1\nb = \n").contains("line 2"));
    assert!(read("goose", Format::Yaml, "a: 1\n---\nb: 2\n").contains("more than one document"));
    let deep = "[".repeat(100_000);
    let deep: &'static str = Box::leak(deep.into_boxed_str());
    for (id, format) in [
        ("cursor", Format::Json),
        ("codex", Format::Toml),
        ("goose", Format::Yaml),
    ] {
        read(id, format, deep);
    }
}
