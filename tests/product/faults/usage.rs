//! Error messages about invalid faults.

use crate::support::tapewright;

fn refused(options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let done = tapewright()
        .arg("record")
        .args(options)
        .env("TAPEWRIGHT_HOME", folder.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "{options:?}");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "nothing is half done");
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn mistakes_say_what_was_meant() {
    let text = refused(&["--fault", "hnag tool=search", "--", "true"]);
    assert!(
        text.contains(
            "`--fault hnag tool=search`: column 1: unknown fault `hnag`; did you mean `hang`?"
        ),
        "{text}"
    );
    let text = refused(&["--fault", "slow tool=search", "--", "true"]);
    assert!(text.contains("`slow` needs `delay_ms`"), "{text}");
}

#[test]
fn a_suite_declares_faults() {
    use crate::support::{Session, peer, record};

    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("suite.yaml");
    // A whole suite will do as well; see below.
    let text = "faults:\n  - name: down\n    target: { tool: search }\n    kind: recover_after\n    failures: 1\n";
    std::fs::write(&suite, text).unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let log = folder.path().join("log");
    let peer = peer();
    let options = [
        "-o",
        tape.to_str().unwrap(),
        "--faults",
        suite.to_str().unwrap(),
    ];
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&options, &server));
    session.send(&super::call(1, "search"));
    session.send(&super::call(2, "search"));
    assert!(session.line().contains("\"id\":2,"));
    let status = session.finish(std::time::Duration::from_secs(60));
    assert_eq!(status.code(), Some(0));

    std::fs::write(
        &suite,
        "servers:\n  fs: { command: [x] }\nfaults:\n  - name: down\n    kind: slow\n",
    )
    .unwrap();
    let text = refused(&["--faults", suite.to_str().unwrap(), "--", "true"]);
    assert!(
        text.contains("delay_ms") && text.contains("target"),
        "{text}"
    );
}

#[test]
fn a_file_of_faults_says_where_it_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faults.yaml");
    let say = |faults: &str| {
        std::fs::write(&file, format!("faults:\n{faults}")).unwrap();
        refused(&["--faults", file.to_str().unwrap(), "--", "true"])
    };
    let one = |rest: &str| format!("  - name: a\n    target: {{ tool: search }}\n    {rest}\n");
    let text = say(&one("kind: slow\n    delay_ms: 86400001"));
    assert!(text.contains("faults.yaml:5:15"), "{text}");
    assert!(text.contains("from 0 to 86400000, not 86400001"), "{text}");
    let text = say(&one("kind: recover_after\n    failures: 5000000"));
    assert!(text.contains("from 1 to 1000000, not 5000000"), "{text}");
    let text = say(&one("kind: recover_after\n    failures: 0"));
    assert!(text.contains("faults.yaml:5:15"), "{text}");
    assert!(text.contains("from 1 to 1000000, not 0"), "{text}");
    let text = say(&(one("kind: hang") + &one("kind: wedged")));
    assert!(
        text.contains("faults.yaml:5:5`: fault `a` already exists"),
        "{text}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (fault, why) in [
        ("hang=3", "`hang` takes no value"),
        (
            "error on=request",
            "`error` acts on answers, not on requests",
        ),
        (
            "reset on=request",
            "`reset` acts on answers, not on requests",
        ),
    ] {
        let text = refused(&["--fault", fault, "--", "true"]);
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn where_chance_begins_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let faults = folder.path().join("faults.yaml");
    let text = "faults:\n  - name: a\n    target: { tool: search }\n    kind: slow\n    delay_ms: 1\n    jitter_ms: 1\n";
    std::fs::write(&faults, text).unwrap();
    let control = format!("unix:{}", folder.path().join("c.sock").display());
    let tape = folder.path().join("run.tape.jsonl");
    let run = |options: &[&str]| {
        std::fs::remove_file(&tape).ok();
        let done = tapewright()
            .args(["record", "-o", tape.to_str().unwrap(), "--seed", "5"])
            .args(options)
            .args(["--", "true"])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{options:?}");
        let tape = std::fs::read_to_string(&tape).unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        (said.contains("--seed 5"), tape.contains("\"seed\":5"))
    };
    assert_eq!(run(&["--fault", "drop probability=0.5"]), (true, true));
    assert_eq!(run(&["--faults", faults.to_str().unwrap()]), (true, true));
    assert_eq!(run(&["--fault", "drop tool=search"]), (false, true));
    assert_eq!(run(&["--fault", "drop tool=search", "-v"]), (true, true));
    // There may be faults later.
    assert_eq!(run(&["--control", &control]), (false, true));
    assert_eq!(run(&["--control", &control, "-v"]), (true, true));
    assert_eq!(run(&[]), (false, false));
}

#[test]
fn a_fault_that_can_never_fire_is_refused() {
    let text = refused(&["--fault", "http-status status=404", "--", "true"]);
    assert!(
        text.contains("`http-status` only works over HTTP"),
        "{text}"
    );
    let text = refused(&[
        "--fault",
        "exit",
        "--listen",
        "0",
        "--upstream",
        "http://127.0.0.1:9/mcp",
    ]);
    assert!(
        text.contains("`exit` only works over standard streams"),
        "{text}"
    );
    for (fault, says) in [
        (
            "hang first=2 nth=3",
            "column 14: `nth=3` means number 3 alone, which is not among `first=2`; say one of them",
        ),
        (
            "hang tool=x method=tools/list",
            "column 13: no message matches both `method=tools/list` and `tool` (which means `tools/call`)",
        ),
        (
            "hang resource=x prompt=y",
            "column 17: no message matches both `resource`",
        ),
        (
            "hang /params/name=x /params/name/y=z",
            "column 21: `/params/name` leaves no room for `/params/name/y`",
        ),
        (
            "hang probability=0",
            "column 6: with a `probability` of less than one in a million it never acts",
        ),
    ] {
        let text = refused(&["--fault", fault, "--", "true"]);
        assert!(
            text.contains(&format!("`--fault {fault}`: {says}")),
            "{text}"
        );
    }
}

/// Sends requests to a reference server under a fault; returns the ids that were answered.
fn answered(fault: &str, asked: &[(&str, &str)]) -> Vec<usize> {
    use crate::support::{Session, peer, record};

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (tape, log, peer) = (path("run.tape.jsonl"), path("log"), peer());
    let server = [peer.to_str().unwrap(), "answer", &log];
    let mut session = Session::start(record(&["-o", &tape, "--fault", fault], &server));
    for (id, (method, params)) in (1..).zip(asked) {
        session.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params},\"id\":{id}}}"
        ));
    }
    session.close_input();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut session.output, &mut rest).unwrap();
    crate::support::wait(&mut session.child, std::time::Duration::from_secs(60));
    let is_answered = |id: &usize| rest.contains(&format!("\"id\":{id},"));
    (1..=asked.len()).filter(is_answered).collect()
}

#[test]
fn the_first_calls_resources_and_prompts_are_met_by_name() {
    let asked = [
        ("tools/call", "{\"name\":\"search\"}"),
        ("resources/read", "{\"uri\":\"file:///a\"}"),
        ("prompts/get", "{\"name\":\"greet\"}"),
        ("tools/call", "{\"name\":\"search\"}"),
        ("resources/read", "{\"uri\":\"file:///b\"}"),
        ("prompts/get", "{\"name\":\"leave\"}"),
        ("tools/call", "{\"name\":\"search\"}"),
    ];
    assert_eq!(
        answered("drop tool=search first=2", &asked),
        [2, 3, 5, 6, 7]
    );
    assert_eq!(
        answered("drop resource=file:///b", &asked),
        [1, 2, 3, 4, 6, 7]
    );
    assert_eq!(answered("drop prompt=greet", &asked), [1, 2, 4, 5, 6, 7]);
}

#[test]
fn every_kind_is_explained() {
    let explain = |words: &[&str]| {
        let done = tapewright().arg("explain").args(words).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{words:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let list = explain(&[]);
    let kinds: Vec<&str> = list
        .lines()
        .filter_map(|line| line.trim_start().split(' ').next())
        .filter(|word| word.starts_with("fault:"))
        .collect();
    assert!(kinds.contains(&"fault:hang") && kinds.len() >= 23, "{list}");
    for kind in kinds {
        let page = explain(&[kind]);
        let name = kind.trim_start_matches("fault:");
        assert!(page.starts_with(kind), "{page}");
        assert!(page.contains(&format!("--fault '{name}")), "{page}");
    }
}

#[test]
fn what_cannot_be_done_over_http_is_refused() {
    for (fault, why) in [
        (
            "truncate on=request",
            "`truncate` cannot act on HTTP requests",
        ),
        ("wedged on=request", "`wedged` cannot act on HTTP requests"),
        (
            "error method=sampling/createMessage dir=to_client",
            "omit `dir=to_client` to use it on answers of the server",
        ),
    ] {
        let upstream = "http://127.0.0.1:9/mcp";
        let text = refused(&[
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            upstream,
            "--fault",
            fault,
        ]);
        assert!(text.contains(why), "{text}");
    }
}
