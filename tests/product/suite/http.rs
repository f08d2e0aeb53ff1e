//! Servers with a URL: headers, credentials, readiness.

use crate::suite::stage::{Stage, said, verdicts};
use crate::support::http::Gateway;
use crate::support::peer;

fn front() -> Gateway {
    let peer = peer().display().to_string();
    Gateway::start(&["--listen", "127.0.0.1:0", "--", &peer, "suite"])
}

fn url(front: &Gateway) -> &str {
    front.line["listening"].as_str().expect("a URL")
}

#[test]
fn response_headers_are_judged() {
    let stage = Stage::new();
    let front = front();
    let suite = format!(
        r#"servers:
  peer:
    url: "{}"
    headers: {{ X-Tenant: acme }}
    wait_for_ready: /healthz
tools:
  - name: good
    server: peer
    tool: echo
    expect:
      response_headers: {{ content-type: {{ exists: true }} }}
      response_headers_absent: [set-cookie]
  - name: bad
    server: peer
    tool: echo
    expect:
      response_headers: {{ content-type: text/plain }}
      response_headers_absent: [Content-Type]
"#,
        url(&front)
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = stage.json(&["suite.yaml"]);
    assert_eq!(status, 1, "{report:#}");
    let statuses: Vec<_> = verdicts(&report)
        .into_iter()
        .map(|(_, status)| status)
        .collect();
    assert_eq!(statuses, ["pass", "fail"]);
    let failures = &report["suites"][0]["tests"][1]["failures"];
    assert_eq!(failures.as_array().map(Vec::len), Some(2), "{failures:#}");
}

#[test]
fn a_command_line_url_replaces_a_command() {
    let stage = Stage::new();
    let front = front();
    let suite = "servers:\n  peer:\n    command: [\"false\"]\ntools:\n  - { name: a, server: peer, tool: echo }\n";
    stage.write("suite.yaml", suite);
    let said = stage.run(&[
        "suite.yaml",
        "--server-url",
        url(&front),
        "--http-timeout",
        "30",
    ]);
    assert_eq!(said.status, 0, "{}", said.err);
}

#[test]
fn credentials_stay_out_of_every_report() {
    const CANARY: &str = "canary-9f3b1c77-token";
    const SECRET: &str = "canary-5d20a8e1-value";
    let stage = Stage::new();
    let front = front();
    let suite = format!(
        r#"servers:
  peer:
    url: "{}"
    auth: {{ bearer_token_env: PEER_CREDENTIAL }}
tools:
  - name: echoes the secret
    server: peer
    tool: echo
    args: {{ message: "bearer {CANARY} and ${{MY_API_TOKEN}}" }}
    expect:
      - target: result.content[0].text
        matcher: {{ exact: "nothing of ${{MY_API_TOKEN}}" }}
        message: "not ${{MY_API_TOKEN}}"
      - target: result.content
        matcher: {{ snapshot: echoed }}
"#,
        url(&front)
    );
    stage.write("suite.yaml", &suite);
    for reporter in ["pretty", "json", "junit", "tap", "github", "markdown"] {
        let said = said(
            stage
                .command()
                .args(["run", "suite.yaml", "--reporter", reporter, "--record=rec"])
                .env("PEER_CREDENTIAL", CANARY)
                .env("MY_API_TOKEN", SECRET),
        );
        assert_eq!(said.status, 1, "{reporter}: {}", said.err);
        for text in [&said.out, &said.err] {
            assert!(
                !text.contains(SECRET) && !text.contains(CANARY),
                "{reporter}: {text}"
            );
        }
    }
    for file in [
        "snapshots/echoed.json",
        "rec/peer.json",
        "rec/peer.tape.jsonl",
    ] {
        let text = stage.read(file);
        assert!(
            !text.contains(SECRET) && !text.contains(CANARY),
            "{file}: {text}"
        );
    }
}

#[test]
fn a_credential_that_is_not_set_is_named() {
    let stage = Stage::new();
    let suite = "servers:\n  peer:\n    url: http://127.0.0.1:1/mcp\n    auth: { bearer_token_env: NO_SUCH_VARIABLE }\ntools:\n  - { name: a, server: peer, tool: echo }\n";
    stage.write("suite.yaml", suite);
    let said = stage.run(&["suite.yaml"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("NO_SUCH_VARIABLE"), "{}", said.err);
}
