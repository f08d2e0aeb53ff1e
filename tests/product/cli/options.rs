//! Options that are the same in every command: old spellings, colours, and hints with existing
//! names.

use std::fs;
use std::process::Output;

use super::golden::folder;
use super::helps::{commands, help};
use crate::support::system::{HOME, output};
use crate::support::tapewright;

/// Spellings from before, which still work and are in no help: the command, the old one with a value, the new one.
const OLD: [(&str, &[&str], &str); 13] = [
    ("record", &["--capture", "c.json"], "--save-capture"),
    ("record", &["--reporter", "json"], "--format"),
    ("record", &["--ignore", "INV-001"], "--skip"),
    ("run", &["--reporter", "json"], "--format"),
    ("run", &["--target-version", "2025-06-18"], "--spec-version"),
    ("eval", &["--reporter", "json"], "--format"),
    ("compliance invariants", &["--ignore", "INV-001"], "--skip"),
    ("compliance run", &["--server-label", "x"], "--label"),
    (
        "compliance run",
        &["--expected-failures", "b.yaml"],
        "--baseline",
    ),
    (
        "compliance doctor",
        &["--target-version", "2026-07-28"],
        "--target",
    ),
    ("migrate", &["--to", "2026-07-28"], "--target"),
    (
        "model-baseline capture",
        &["--candidate", "c.json"],
        "--input",
    ),
    (
        "model-compat capture",
        &["--candidate", "c.json"],
        "--input",
    ),
];

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn old_spellings_still_work_and_are_in_no_help() {
    for (command, old, new) in OLD {
        let text = help(&words(command));
        let option = |name: &str| text.lines().any(|line| is_option(line, name));
        assert!(option(new), "{command} {new}");
        assert!(!option(old[0]), "{command} {}", old[0]);
        // An unknown option is rejected before the help is printed.
        let done = tapewright()
            .args(words(command))
            .args(old)
            .arg("--help")
            .output();
        assert!(
            done.expect("the binary runs").status.success(),
            "{command} {old:?}"
        );
        let unknown = [&words(command)[..], &["--no-such-option".to_owned()]].concat();
        let refused = tapewright().args(unknown).arg("--help").output();
        assert_eq!(
            refused.expect("the binary runs").status.code(),
            Some(2),
            "{command}"
        );
    }
}

/// A letter is missing in the argument, and the tip has the name of the option in the help.
#[test]
fn a_tip_never_names_an_old_spelling() {
    for (command, old, _) in OLD {
        let [option, value] = old else {
            panic!("an option and its value: {old:?}");
        };
        let misspelled = &option[..option.len() - 1];
        let typed = [
            &words(command)[..],
            &[misspelled.to_owned(), (*value).to_owned()],
        ]
        .concat();
        let done = tapewright().args(typed).output().expect("the binary runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            done.status.code(),
            Some(2),
            "{command} {misspelled}: {said}"
        );
        assert!(!said.contains(&format!("'{option}'")), "{command}: {said}");
        // Some are too different from every option, and there is no tip.
        let tips = said
            .lines()
            .filter(|line| line.contains("similar argument"));
        for tip in tips {
            let text = help(&words(command));
            let named = tip.split('\'').nth(1).expect("an option in quotes");
            assert!(
                text.lines().any(|line| is_option(line, named)),
                "{command}: {tip}"
            );
        }
    }
    let refused = |typed: &[&str]| {
        let done = tapewright().args(typed).output().expect("the binary runs");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    for (typed, tip) in [
        (&["record", "--captur", "c.json"][..], "'--save-capture'"),
        (&["run", "--reporte", "json"], "'--format'"),
        (
            &["compliance", "doctor", "--target-versio", "x"],
            "'--target'",
        ),
        (&["model-compa"], "'model-baseline'"),
    ] {
        let said = refused(typed);
        assert!(
            said.contains(&format!("exists: {tip}")),
            "{typed:?}: {said}"
        );
    }
}

fn is_option(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('-') && line.split([' ', ',', '[', '=']).any(|word| word == name)
}

/// The error of an unknown option of a command, with colours or without.
fn refused(command: &[String], options: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut asked = tapewright();
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
        asked.env_remove(name);
    }
    asked
        .args(command)
        .args(options)
        .arg("--no-such-option")
        .env("TERM", "xterm")
        .envs(variables.iter().copied());
    output(&mut asked).expect("the binary runs")
}

#[test]
fn every_command_has_colours_where_they_are_asked_for_and_nowhere_else() {
    for command in commands().iter().filter(|command| !command.is_empty()) {
        assert!(help(command).contains("--color <WHEN>"), "{command:?}");
        for (options, variables, coloured) in [
            (&[][..], &[][..], false),
            (&["--color", "always"], &[], true),
            (&["--color=always"], &[("NO_COLOR", "1")], true),
            (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
            (&["--color", "auto"], &[("CLICOLOR_FORCE", "1")], true),
        ] {
            let done = refused(command, options, variables);
            let said = String::from_utf8(done.stderr).expect("text");
            assert_eq!(done.status.code(), Some(2), "{command:?}: {said}");
            assert_eq!(
                said.contains('\u{1b}'),
                coloured,
                "{command:?} {options:?}: {said}"
            );
        }
    }
}

#[test]
fn what_a_command_prints_is_coloured_by_the_same_option() {
    let tape = include_str!("../../wire/handshake-http.tape.jsonl");
    let folder = folder(&[("http.tape.jsonl", tape)]);
    let colours = |words: &[&str]| {
        let mut show = tapewright();
        show.args(words)
            .current_dir(folder.path())
            .env_remove("NO_COLOR");
        let done = show
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the binary runs");
        [done.stdout, done.stderr].map(|text| text.contains(&0x1b))
    };
    let show = ["show", "http.tape.jsonl", "--all"];
    assert_eq!(colours(&show), [false, false]);
    let always = ["show", "http.tape.jsonl", "--all", "--color", "always"];
    assert_eq!(colours(&always), [true, false]);
    let front = ["--color", "always", "show", "http.tape.jsonl", "--all"];
    assert_eq!(colours(&front), [true, false]);
    // An error of tapewright, not one in the arguments.
    assert_eq!(colours(&["inspect", "none.json"]), [false, false]);
    assert_eq!(
        colours(&["inspect", "none.json", "--color=always"]),
        [false, true]
    );
}

const SUITE: &str = "servers:\n  weather: { command: [\"false\"] }\ntools:\n  - { name: tells the time, server: weather, tool: forecast, tags: [smoke] }\n";

#[test]
fn a_name_that_does_not_exist_is_answered_with_the_one_that_does() {
    let folder = folder(&[("suite.yaml", SUITE), ("session.json", "{}")]);
    fs::create_dir(folder.path().join(".cursor")).expect("a folder");
    let servers = "{ \"mcpServers\": { \"weather\": { \"command\": \"npx\" } } }";
    fs::write(folder.path().join(".cursor/mcp.json"), servers).expect("a file");
    for (words, meant) in [
        (
            &["run", "suite.yaml", "--filter", "tool:forcast"][..],
            "forecast",
        ),
        (
            &["run", "suite.yaml", "--filter", "server:wether"],
            "weather",
        ),
        (
            &["run", "suite.yaml", "--filter", "tells the tine"],
            "tells the time",
        ),
        (
            &["run", "suite.yaml", "--include", "tells the tine"],
            "tells the time",
        ),
        (&["run", "suite.yaml", "--tag", "smok"], "smoke"),
        (
            &["wrap", "wether", "--client", "cursor", "--dry-run"],
            "weather",
        ),
        (&["explain", "fault:hnag"], "fault:hang"),
        (&["schema", "cassete"], "cassette"),
        (&["record", "--fault", "hang tol=x", "--", "true"], "tool"),
        (&["run", "siute.yaml"], "suite.yaml"),
        (&["validate", "siute.yaml"], "suite.yaml"),
        (&["migrate", "siute.yaml"], "suite.yaml"),
        (&["scrub", "sesion.json"], "session.json"),
        (
            &["model-baseline", "diff", "sesion.json", "session.json"],
            "session.json",
        ),
        (&["wrap", "--all", "--client", "cursr"], "cursor"),
    ] {
        let done = tapewright()
            .args(words)
            .current_dir(folder.path())
            .env(HOME, folder.path())
            .env("TAPEWRIGHT_HOME", folder.path().join("state"))
            .output()
            .expect("the binary runs");
        // Mistakes in suites are the result of `validate`.
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8(said).expect("text");
        assert!(!done.status.success(), "{words:?}: {said}");
        let hint = format!("did you mean `{meant}`");
        assert!(said.contains(&hint), "{words:?}: {said}");
    }
}

#[test]
fn a_filter_that_nothing_matches_is_answered_with_what_exists() {
    let tape = include_str!("../../wire/handshake-http.tape.jsonl");
    let folder = folder(&[("http.tape.jsonl", tape)]);
    for (filter, hint) in [
        ("tool:ecko", "no tool matches `ecko`; did you mean `echo`?"),
        (
            "tool:quite-another",
            "no tool matches `quite-another`; the recording has `echo`",
        ),
        ("session:9", "no session 9; the recording has session 1"),
        ("method:tools/cal1", "did you mean `tools/call`?"),
        (
            "model:claude",
            "no model matches `claude`; the recording has no models",
        ),
    ] {
        for recording in ["http.tape.jsonl", "."] {
            let mut show = tapewright();
            show.args(["show", recording, filter])
                .current_dir(folder.path());
            let done = show.output().expect("the binary runs");
            let said = String::from_utf8(done.stderr).expect("text");
            assert_eq!(done.status.code(), Some(3), "{filter}: {said}");
            assert!(said.contains(hint), "{filter}: {said}");
        }
    }
    // An existing option that is merely in another line of the usage needs no hint.
    let mut show = tapewright();
    show.args(["show", "http.tape.jsonl", "tool:echo", "method:ping"]);
    let done = show.current_dir(folder.path()).output();
    let said = String::from_utf8(done.expect("the binary runs").stderr).expect("text");
    assert!(!said.contains("matches"), "{said}");
}

#[test]
fn a_capture_is_written_by_one_option_and_read_by_another() {
    for command in commands() {
        let text = help(&command);
        let line = text.lines().find(|line| is_option(line, "--capture"));
        assert!(
            line.is_none_or(|line| line.contains("<RECORDING>")),
            "{command:?}: {line:?}"
        );
    }
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let folder = folder(&[("ping", ping)]);
    let record = |option: &str| {
        let mut record = tapewright();
        record.args([
            "record",
            "-o",
            "s.json",
            option,
            "c.capture.json",
            "--",
            "cat",
        ]);
        let done = record
            .current_dir(folder.path())
            .stdin(fs::File::open(folder.path().join("ping")).expect("a file"))
            .output();
        String::from_utf8(done.expect("the binary runs").stderr).expect("text")
    };
    assert_eq!(record("--save-capture"), "");
    assert!(fs::remove_file(folder.path().join("c.capture.json")).is_ok());
    let said = record("--capture");
    assert!(said.contains("deprecated; use `--save-capture`"), "{said}");
    assert!(folder.path().join("c.capture.json").exists());
}

/// At the same time: before a file is read, and whatever other errors there are.
#[test]
fn a_bad_header_gets_one_message_on_every_command_that_takes_headers() {
    let mut met = 0;
    for command in commands() {
        let text = help(&command);
        if !text.lines().any(|line| is_option(line, "--header")) {
            continue;
        }
        met += 1;
        for (option, bad, form) in [
            ("--header", "hunter2", "NAME: VALUE"),
            ("--header", "X A: hunter2", "NAME: VALUE"),
            ("--header", "X-A: hunter2\n3", "NAME: VALUE"),
            ("--header-env", "hunter2", "NAME=VARIABLE"),
            ("--header-env", "X A=hunter2", "NAME=VARIABLE"),
        ] {
            let done = tapewright().args(&command).args([option, bad]).output();
            let done = done.expect("the binary runs");
            let said = String::from_utf8_lossy(&done.stderr);
            let expected = format!("invalid value for '{option}': expected `{form}`");
            assert_eq!(done.status.code(), Some(2), "{command:?} {said}");
            assert!(said.contains(&expected), "{command:?} {said}");
            assert!(!said.contains("hunter2"), "{command:?} {said}");
        }
    }
    assert!(met >= 6, "{met} commands take headers");
}

/// Only commands that write a tape mention one.
#[test]
fn the_help_of_no_redact_speaks_of_a_tape_where_one_is_written() {
    for (command, writes) in [
        ("record", true),
        ("replay", true),
        ("compliance run", true),
        ("compliance doctor", true),
        ("diff", false),
        ("verify", false),
        ("init", false),
    ] {
        let text = help(&words(command));
        let mut lines = text
            .lines()
            .skip_while(|line| !is_option(line, "--no-redact"));
        let option = lines.next().unwrap_or_else(|| panic!("{command}"));
        let below = lines.next().unwrap_or_default();
        let shown = format!("{option} {below}");
        assert_eq!(shown.contains("tape"), writes, "{command}: {shown}");
    }
}

#[test]
fn options_for_clients_over_http_need_a_way_for_them_to_connect() {
    for option in [
        &["--allow-host", "example.com"][..],
        &["--client-token", "TOKEN"],
        &["--drain-timeout", "1s"],
        &["--max-connections", "3"],
        &["--metrics", "127.0.0.1:0"],
        &["--session-idle", "1m"],
        &["--preserve-host"],
    ] {
        let recorded = [&["record"][..], option, &["--", "server"]].concat();
        let done = tapewright().args(recorded).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{option:?}");
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.contains("--listen <ADDR>"), "{said}");
        assert!(said.contains("--forward-proxy <ADDR>"), "{said}");
    }
    for command in [&["replay", "x.json"][..], &["mcp"]] {
        let words = [command, &["--allow-host", "example.com"]].concat();
        let done = tapewright().args(words).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{command:?}");
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.contains("--listen <ADDR>"), "{said}");
    }
}

#[test]
fn options_for_a_server_over_http_need_its_url() {
    for option in [
        &["--header", "X-Tenant: acme"][..],
        &["--header-env", "X-Key=KEY"],
        &["--ca-bundle", "ca.pem"],
        &["--connect-timeout", "1s"],
        &["--insecure-skip-verify"],
        &["--upstream-http2"],
    ] {
        for command in [
            &["record"][..],
            &["compliance", "run"],
            &["compliance", "doctor"],
            &["init"],
        ] {
            let words = [command, option, &["--", "server"]].concat();
            let mut command = tapewright();
            let done = command.args(&words).env("KEY", "value").output().unwrap();
            assert_eq!(done.status.code(), Some(2), "{words:?}");
            let said = String::from_utf8(done.stderr).unwrap();
            assert!(said.contains("--upstream"), "{said}");
        }
    }
}
