//! Which differences count as drift, and how they are reported.

use std::fs;

use super::{run, verify};
use crate::replay::replay_server::ReplayServer;
use crate::replay::{call, cassette, exchange, opening};
use crate::support::system::STOPPED;

fn error(code: i32, message: &str) -> String {
    format!(
        r#"{{"request":{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":1}}}}}},"response":{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"{message}"}}}}}}"#
    )
}

#[test]
fn a_server_that_answers_as_recorded_has_not_drifted() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[
        opening(),
        call("1", "one"),
        call("1", "two"),
        error(-32000, "no"),
    ]);
    let done = verify(folder.path(), &tape, &tape, &[]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    assert!(
        done.out.ends_with("Result: 0 drifted, 4 the same\n"),
        "{}",
        done.out
    );
    assert_eq!(done.error, "");
}

#[test]
fn drift_is_told_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = cassette(&[opening(), call("1", "one"), call("2", "two")]);
    let live = cassette(&[opening(), call("1", "uno"), call("2", "two")]);
    let done = verify(folder.path(), &recorded, &live, &[]);
    assert_eq!(done.status, 1);
    let expected = "\
Drift

tape.json
  SAME          /exchanges/0  initialize
  DRIFT         /exchanges/1  tools/call echo
      $.result.content[0].text: recorded \"one\", now \"uno\"
  SAME          /exchanges/2  tools/call echo

Result: 1 drifted, 2 the same
";
    assert_eq!(done.out, expected);
}

#[test]
fn a_tool_that_is_defined_otherwise_is_told_as_diff_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let tools = |what: &str, more: &str| {
        let tool = format!(
            r#"{{"name":"echo","description":"{what}","inputSchema":{{"type":"object"}}}}"#
        );
        exchange(
            "tools/list",
            "{}",
            &format!(r#"{{"tools":[{tool}{more}]}}"#),
        )
    };
    let new = r#",{"name":"new","inputSchema":{"type":"object"}}"#;
    let recorded = cassette(&[opening(), tools("says it again", "")]);
    let live = cassette(&[opening(), tools("says it twice", new)]);
    let done = verify(folder.path(), &recorded, &live, &[]);
    assert_eq!(done.status, 1, "{}", done.error);
    let expected = "\
      $.result.tools[?@.name=='echo'].description: recorded \"says it again\", now \"says it twice\"
      $.result.tools[?@.name=='new']: recorded nothing, now {\"name\":\"new\",\"inputSchema\":{\"type\":\"object\"}}
      tools `echo`:
        @@ -1,5 +1,5 @@
         {
           \"name\": \"echo\",
        -  \"description\": \"says it again\",
        +  \"description\": \"says it twice\",
           \"inputSchema\": {
             \"type\": \"object\"
      tools `new` is new
";
    assert!(done.out.contains(expected), "{}", done.out);
}

#[test]
fn what_is_new_in_every_session_is_no_drift_unless_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let one = "6fa459ea-ee8a-3ca4-894e-db77e160355e";
    let other = "0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56";
    let (recorded, live) = (cassette(&[call("1", one)]), cassette(&[call("1", other)]));
    for (options, status) in [
        (&[][..], 0),
        (&["--match", "strict"], 1),
        (
            &["--match", "strict", "--ignore", "/result/content/0/text"],
            0,
        ),
        (&["--match", "strict", "--ignore", "/content/*/text"], 0),
        (&["--match", "structural"], 0),
    ] {
        let done = verify(folder.path(), &recorded, &live, options);
        assert_eq!(
            done.status, status,
            "{options:?}: {}{}",
            done.out, done.error
        );
    }
}

#[test]
fn codes_of_errors_are_compared_and_an_error_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    for (recorded, live, path) in [
        (error(-32000, "no"), error(-32001, "no"), "$.error.code"),
        (
            error(-32000, "no"),
            error(-32000, "never"),
            "$.error.message",
        ),
        (error(-32000, "no"), call("1", "one"), "$"),
        (call("1", "one"), error(-32000, "no"), "$"),
    ] {
        let done = verify(
            folder.path(),
            &cassette(&[recorded]),
            &cassette(&[live]),
            &["--format", "json"],
        );
        let report = done.json();
        assert_eq!(done.status, 1, "{report}");
        assert_eq!(
            report["checks"][0]["differences"][0]["path"], path,
            "{report}"
        );
    }
}

#[test]
fn ids_that_a_server_gives_are_handed_back_as_the_live_one_gave_them() {
    let folder = tempfile::tempdir().unwrap();
    let pages = |cursor: &str| {
        cassette(&[
            exchange(
                "tools/list",
                "{}",
                &format!(r#"{{"tools":[],"nextCursor":"{cursor}"}}"#),
            ),
            exchange(
                "tools/list",
                &format!(r#"{{"cursor":"{cursor}"}}"#),
                r#"{"tools":[]}"#,
            ),
        ])
    };
    // The live server only accepts its own cursors.
    let done = verify(
        folder.path(),
        &pages("page-2"),
        &pages("seite-2"),
        &["--ignore", "/nextCursor"],
    );
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
}

#[test]
fn what_was_redacted_is_not_sent_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = call("\"key <REDACTED:token#1>\"", "one");
    let recorded = cassette(&[opening(), call("1", "one"), hidden]);
    let done = verify(folder.path(), &recorded, &recorded, &["--format", "json"]);
    let report = done.json();
    assert_eq!(done.status, 0, "{report}");
    assert_eq!(report["skipped"], 1);
    assert!(report.get("inconclusive").is_none(), "{report}");
    let why = report["checks"][2]["why"].as_str().unwrap();
    assert!(why.contains("$.params.arguments.text"), "{why}");
}

#[test]
fn live_secrets_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = cassette(&[call("1", "one")]);
    let live = cassette(&[call(
        "1",
        "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    )]);
    for format in ["pretty", "json", "junit", "tap", "github", "markdown"] {
        let done = verify(folder.path(), &recorded, &live, &["--format", format]);
        assert_eq!(done.status, 1);
        assert!(
            !done.out.contains("abcdefghij") && !done.error.contains("abcdefghij"),
            "{}",
            done.out
        );
        let shown = done.out.replace('\\', "");
        assert!(shown.contains("ANTHROPIC_API_KEY"), "{shown}");
    }
}

#[test]
fn questions_of_the_server_get_the_recorded_answers() {
    let asking = r#"{"version":"1","exchanges":[{"request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}},"response":{"jsonrpc":"2.0","id":1,"result":{"content":[]}},"stream":[{"from":"server","message":{"jsonrpc":"2.0","id":0,"method":"roots/list"}},{"from":"client","message":{"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///x"}]}}}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("tape.json"), asking).unwrap();
    fs::write(path.join("live.json"), asking).unwrap();
    let binary = env!("CARGO_BIN_EXE_tapewright");
    // The live server is recorded, to see its requests.
    let server = ["--", binary, "replay", "live.json", "-o", "seen.json"];
    let done = run(path, &[&["verify", "tape.json"][..], &server].concat(), &[]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    let seen = fs::read_to_string(path.join("seen.json")).unwrap();
    assert!(
        seen.contains(r#""result":{"roots":[{"uri":"file:///x"}]}"#),
        "{seen}"
    );
}

#[test]
fn a_server_on_http_is_verified_too_and_each_session_over_a_link_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let in_session = |exchange: String, number: u32| {
        let (head, _) = exchange.rsplit_once('}').unwrap();
        format!(r#"{head},"session":{number}}}"#)
    };
    // The live server gives each session its first answer.
    let recorded = cassette(&[
        in_session(opening(), 1),
        in_session(call("1", "one"), 1),
        in_session(opening(), 2),
        in_session(call("1", "one"), 2),
    ]);
    let live = cassette(&[opening(), call("1", "one"), call("1", "two")]);
    let replay_server = ReplayServer::start(path, &live, &["--report", "report.json"]);
    fs::write(path.join("recorded.json"), recorded).unwrap();
    let arguments = ["verify", "recorded.json", "--upstream", &replay_server.url];
    let done = run(path, &arguments, &[]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    assert!(done.out.contains("0 drifted, 4 the same"), "{}", done.out);
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    let report = fs::read_to_string(path.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["sessions"], 2);
}

#[test]
fn junit_and_github_tell_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = cassette(&[opening(), call("1", "a<b")]);
    let live = cassette(&[opening(), call("1", "x%y")]);
    let junit = verify(folder.path(), &recorded, &live, &["--format", "junit"]).out;
    for part in [
        r#"tests="2""#,
        r#"failures="1""#,
        "a&lt;b",
        "/exchanges/1 tools/call echo",
    ] {
        assert!(junit.contains(part), "{part}: {junit}");
    }
    let github = verify(folder.path(), &recorded, &live, &["--format", "github"]).out;
    assert!(github.starts_with("::error file=tape.json,title=drift%3A /exchanges/1 tools/call echo::$.result.content[0].text"), "{github}");
    assert!(github.contains("x%25y"), "{github}");
}

#[test]
fn an_update_replaces_what_has_drifted_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let pretty = |said: &str| {
        format!(
            "{{\n  \"version\": \"1\",\n  \"note\": \"kept\",\n  \"exchanges\": [\n    {},\n    {}\n  ]\n}}\n",
            call("1", said).replace("\"id\":1", "\"id\":\"a\""),
            call("2", "two")
        )
    };
    let done = verify(path, &pretty("one"), &pretty("uno"), &["--update"]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    assert_eq!(done.error, "tapewright: replaced 1 answer in tape.json\n");
    let updated = fs::read_to_string(path.join("tape.json")).unwrap();
    assert_eq!(updated, pretty("uno"));
    let again = verify(path, &updated, &pretty("uno"), &["--update"]);
    assert_eq!((again.status, again.error.as_str()), (0, ""));
}
