use super::*;
use tapewright_compliance::script;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn examine(session: &str, client_is_ours: bool) -> Vec<Finding> {
    let session = session.replace("META", META);
    let script = script::read(&session).unwrap_or_else(|error| panic!("{error}: {session}"));
    let mut doctor = Doctor::new(client_is_ours);
    for event in &script.events {
        doctor.observe(event, None);
    }
    doctor.finish()
}

fn one(id: &str, session: &str) -> Finding {
    let all = examine(session, false);
    all.into_iter().find(|one| one.case.id == id).unwrap()
}

/// A session in which a case is decided in its favour, one in which it is not, and where in it that is proven.
const EXAMPLES: &[(&str, &str, &str, (u64, &str))] = &[
    (
        "session-id-reliance",
        r#"
        conduit 1 POST /mcp
        header mcp-protocol-version: 2026-07-28
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}
        json
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}
        close <"#,
        "handshake-http",
        (4, "Mcp-Session-Id"),
    ),
    (
        "missing-server-discover",
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}
        < {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
        (2, "/error/code"),
    ),
    (
        "mcp-headers-missing",
        r#"
        conduit 1 POST /mcp
        header mcp-protocol-version: 2026-07-28
        header mcp-method: tools/list
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}
        json
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
        r#"
        conduit 1 POST /mcp
        header mcp-protocol-version: 2026-07-28
        header mcp-method: tools/call
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",META}}
        json
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
        (2, "Mcp-Name"),
    ),
    (
        "tasks-list-removed",
        r#"handshake 2025-11-25 {"tasks":{"cancel":{}}}"#,
        r#"handshake 2025-11-25 {"tasks":{"list":{}}}"#,
        (2, "/result/capabilities/tasks/list"),
    ),
    (
        "experimental-tasks-api",
        r#"handshake 2025-11-25 {"tools":{}}"#,
        r#"
        handshake 2025-11-25 {}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","task":{"ttl":5}}}"#,
        (4, "/params/task"),
    ),
    (
        "roots-deprecated",
        r#"handshake 2025-11-25 {} {"sampling":{}}"#,
        r#"handshake 2025-11-25 {} {"roots":{}}"#,
        (1, "/params/capabilities/roots"),
    ),
    (
        "sampling-deprecated",
        r#"handshake 2025-11-25 {} {"roots":{}}"#,
        r#"
        handshake 2025-11-25 {} {}
        < {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
        (4, "/method"),
    ),
    (
        "logging-deprecated",
        r#"handshake 2025-11-25 {"tools":{}}"#,
        r#"handshake 2025-11-25 {"logging":{}}"#,
        (2, "/result/capabilities/logging"),
    ),
    (
        "iss-missing",
        r"
        conduit 1 GET http://as.example/authorize
        status 302
        header location: http://localhost:1/cb?code=x&state=y&iss=http%3A%2F%2Fas.example",
        r"
        conduit 1 GET http://as.example/authorize
        status 302
        header location: http://localhost:1/cb?code=x&state=y",
        (3, "Location"),
    ),
    (
        "dcr-application-type",
        r#"
        conduit 1 POST http://as.example/register
        body > {"redirect_uris":["http://localhost/cb"],"application_type":"native"}"#,
        r#"
        conduit 1 POST http://as.example/register
        body > {"redirect_uris":["http://localhost/cb"]}"#,
        (3, "/application_type"),
    ),
    (
        "as-credentials-not-rebound",
        r"
        conduit 1 GET http://a.example/authorize?client_id=one
        conduit 2 GET http://b.example/authorize?client_id=two
        conduit 3 GET http://c.example/authorize?client_id=https://me.example/client.json",
        r"
        conduit 1 GET http://a.example/authorize?client_id=one
        conduit 2 GET http://b.example/authorize?client_id=one
        status 200",
        (4, "target"),
    ),
    (
        "legacy-error-code-32002",
        r#"
        handshake 2025-11-25 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Resource not found"}}"#,
        r#"
        handshake 2025-11-25 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found"}}"#,
        (5, "/error/code"),
    ),
    (
        "tool-schema-not-2020-12",
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"items":{"type":"array","prefixItems":[{}]}}}}]}}"#,
        r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"a/b":{"type":"array","items":[{}]}}}}]}}"#,
        (2, "/result/tools/0/inputSchema/properties/a~1b/items"),
    ),
];

#[test]
fn each_case_is_decided_both_ways_with_its_evidence() {
    assert_eq!(EXAMPLES.len(), CASES.len());
    for (id, holds, breaks, (event, pointer)) in EXAMPLES {
        let holding = one(id, holds);
        assert_eq!(holding.status, Status::Pass, "{id}: {holding:?}");
        let breaking = one(id, breaks);
        assert_eq!(breaking.status, Status::Fail, "{id}: {breaking:?}");
        let first = &breaking.evidence[0];
        assert_eq!(
            (first.event, first.pointer.as_str()),
            (*event, *pointer),
            "{id}"
        );
        assert!(!breaking.detail.is_empty());
    }
}

#[test]
fn what_the_wire_does_not_tell_is_skipped_with_a_reason() {
    let all = examine(r#"> {"jsonrpc":"2.0","id":1,"method":"ping"}"#, false);
    assert_eq!(all.len(), 13);
    for finding in all {
        assert_eq!(finding.status, Status::Skipped, "{finding:?}");
        assert!(!finding.detail.is_empty() && finding.evidence.is_empty());
    }
}

#[test]
fn breaking_one_case_breaks_no_other() {
    for (id, _, breaks, _) in EXAMPLES {
        for finding in examine(breaks, false) {
            let expected = finding.case.id == *id
                // A request without its headers that is answered is self-contained all the same.
                || finding.status != Status::Fail
                // The list is a part of the experimental capability.
                || (*id == "tasks-list-removed" && finding.case.id == "experimental-tasks-api");
            let in_tasks = *id == "tasks-list-removed";
            assert!(expected || in_tasks, "{id} breaks {finding:?}");
        }
    }
}

#[test]
fn what_we_say_ourselves_as_a_client_blames_nobody() {
    for finding in examine(
        r#"handshake 2025-11-25 {} {"roots":{},"sampling":{}}"#,
        true,
    ) {
        assert_ne!(finding.status, Status::Fail, "{finding:?}");
    }
    let used = r#"
        handshake 2025-11-25 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let found = examine(used, true);
    let roots = found
        .iter()
        .find(|one| one.case.id == "roots-deprecated")
        .unwrap();
    assert_eq!(roots.status, Status::Fail);
    assert_eq!(roots.evidence[0].event, 4);
}

#[test]
fn a_refusal_of_a_wrong_request_says_nothing_about_a_server_that_answers_right_ones() {
    let session = r#"
        > {"jsonrpc":"2.0","id":1,"method":"server/discover"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no _meta"}}
        > {"jsonrpc":"2.0","id":2,"method":"server/discover","params":{META}}
        < {"jsonrpc":"2.0","id":2,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#;
    assert_eq!(one("missing-server-discover", session).status, Status::Pass);
}

#[test]
fn a_request_for_input_uses_what_it_asks_for() {
    let session = r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",META}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a/b":{"method":"sampling/createMessage","params":{}}}}}"#;
    let found = one("sampling-deprecated", session);
    assert_eq!(found.evidence[0].pointer, "/result/inputRequests/a~1b");
}

#[test]
fn a_server_that_answers_a_request_without_its_headers_is_told() {
    let mut doctor = Doctor::new(true);
    doctor.probed(Probed {
        status: 200,
        code: None,
        is_result: true,
    });
    let found = doctor.finish();
    let headers = found
        .iter()
        .find(|one| one.case.id == "mcp-headers-missing")
        .unwrap();
    assert_eq!(headers.status, Status::Fail);
    let mut doctor = Doctor::new(true);
    doctor.probed(Probed {
        status: 400,
        code: Some(-32_020),
        is_result: false,
    });
    let found = doctor.finish();
    let headers = found
        .iter()
        .find(|one| one.case.id == "mcp-headers-missing")
        .unwrap();
    assert_eq!(headers.status, Status::Pass);
}

#[test]
fn only_an_answer_after_the_handshake_says_anything_about_a_missing_resource() {
    const EARLY: &str = r#"
        > {"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"a://b",META}}
        < {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"Invalid request parameters"}}
        > {"jsonrpc":"2.0","id":"b","method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":"b","error":{"code":-32002,"message":"Server not initialized"}}"#;
    let about = |session: &str| one("legacy-error-code-32002", session);
    let early = about(EARLY);
    assert_eq!(early.status, Status::Skipped, "{early:?}");
    assert!(early.detail.contains("before the handshake"), "{early:?}");
    let read = r#"
        > {"jsonrpc":"2.0","id":"c","method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":"c","error":{"code":CODE,"message":"Resource not found"}}"#;
    let handshake = r#"
        > {"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        < {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    for (code, status) in [
        ("0", Status::Skipped),
        ("-32602", Status::Pass),
        ("-32002", Status::Fail),
    ] {
        let read = read.replace("CODE", code);
        let found = about(&format!("{EARLY}{handshake}{read}"));
        assert_eq!(found.status, status, "{code}: {found:?}");
    }
    // A server of 2026-07-28 shows that it is one by a result, before or after.
    let listed = r#"
        > {"jsonrpc":"2.0","id":"l","method":"resources/list","params":{META}}
        < {"jsonrpc":"2.0","id":"l","result":{"resources":[]}}"#;
    let read = EARLY.lines().take(3).collect::<Vec<_>>().join("\n");
    for session in [format!("{listed}{read}"), format!("{read}{listed}")] {
        assert_eq!(about(&session).status, Status::Pass, "{session}");
    }
}

#[test]
fn metadata_tells_whether_an_authorization_server_sends_iss() {
    for (body, status) in [
        (
            r#"{"issuer":"https://a","authorization_response_iss_parameter_supported":true}"#,
            Status::Pass,
        ),
        (r#"{"issuer":"https://a"}"#, Status::Fail),
        ("{}", Status::Skipped),
    ] {
        let mut doctor = Doctor::new(true);
        doctor.fetched(
            "a",
            "/.well-known/oauth-authorization-server",
            body.as_bytes(),
        );
        let found = doctor.finish();
        let iss = found
            .iter()
            .find(|one| one.case.id == "iss-missing")
            .unwrap();
        assert_eq!(iss.status, status, "{body}");
    }
}

#[test]
fn the_code_of_a_missing_resource_has_three_outcomes() {
    let fail = check_resource_error_code(-32_002);
    assert_eq!(fail.status, Status::Fail);
    assert!(fail.detail.contains("-32002") && fail.detail.contains("-32602"));
    assert!(fail.case.replacement.contains("-32602"));
    let pass = check_resource_error_code(-32_602);
    assert_eq!((pass.status, pass.detail.as_str()), (Status::Pass, ""));
    for code in [0, -32_603, -32_601, -32_001, 404] {
        let skipped = check_resource_error_code(code);
        assert_eq!(skipped.status, Status::Skipped);
        assert!(skipped.detail.contains("inconclusive"));
    }
    assert_eq!(fail.case.id, "legacy-error-code-32002");
}

#[test]
fn the_cases_have_distinct_names_and_say_what_to_do() {
    for (at, case) in CASES.iter().enumerate() {
        assert!(CASES[..at].iter().all(|other| other.id != case.id));
        assert!(TARGETS.contains(&case.spec_version));
        for text in [
            case.summary,
            case.old_contract,
            case.new_contract,
            case.detection_signal,
            case.replacement,
        ] {
            assert!(text.len() > 10, "{}", case.id);
        }
        assert!(
            case.doc_link
                .starts_with("https://modelcontextprotocol.io/specification/2026-07-28")
        );
        assert_eq!(find(case.id).map(|one| one.id), Some(case.id));
    }
}
