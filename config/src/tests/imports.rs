//! Imports: order, precedence, circles.

use std::path::Path;

use super::{load_files, shown};

#[test]
fn later_files_win_by_name() {
    let loaded = load_files(&[
        (
            "suite.yaml",
            "imports: [a.yaml, sub/b.yaml]\nvariables: {who: {value: main}}\ntools:\n  - {name: two, server: s, tool: main}\nperformance: {default_timeout_ms: 3}\n",
        ),
        (
            "a.yaml",
            "servers: {s: {command: [a]}, t: {cassette: x.json}}\nvariables: {who: {value: a}, x: {value: a}}\ntools:\n  - {name: one, server: s, tool: '$who'}\n  - {name: two, server: s, tool: a}\nperformance: {default_timeout_ms: 1, p95_latency_ms: 1}\ntarget_versions: ['2025-11-25']\n",
        ),
        (
            "sub/b.yaml",
            "imports: [../a.yaml, c.yaml]\nservers: {s: {command: ['$x']}}\nvariables: {x: {value: b}}\ncompliance: [{name: k, server: c, check: ping}]\n",
        ),
        (
            "sub/c.yaml",
            "servers: {c: {cassette: ./c.json}}\ncompliance: {spec_version: draft, tests: [{name: l, server: c, check: ping}]}\n",
        ),
    ]);
    assert_eq!(shown(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap();
    let servers: Vec<_> = suite
        .servers
        .iter()
        .map(|server| format!("{} {:?}", server.name, server.target))
        .collect();
    assert_eq!(
        servers,
        [
            "t Cassette(\"x.json\")",
            &format!("c Cassette({:?})", Path::new("sub").join("c.json")),
            "s Command(CommandServer { argv: [\"b\"], env: [] })",
        ]
    );
    let tools: Vec<_> = suite
        .tools
        .iter()
        .map(|test| format!("{} {}", test.name, test.tool))
        .collect();
    assert_eq!(tools, ["one main", "two main"]);
    let tests: Vec<_> = suite
        .compliance
        .tests
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    assert_eq!(
        (tests, suite.compliance.spec_version),
        (vec!["l", "k"], Some("draft"))
    );
    let limits = suite.performance;
    assert_eq!(
        limits.default_timeout.map(|limit| limit.as_millis()),
        Some(3)
    );
    assert_eq!(limits.p95_latency.map(|limit| limit.as_millis()), Some(1));
    assert_eq!(suite.target_versions, ["2025-11-25"]);
    // A place in an imported file is a place in that file.
    let place = suite.place(&suite.tools[0].place, "/tool");
    assert_eq!(
        (
            place.pointer.as_str(),
            loaded.sources.path(place.file).to_str()
        ),
        ("/tools/0/tool", Some("a.yaml"))
    );
}

#[test]
fn circles_are_refused_and_diamonds_are_not() {
    let servers = "servers: {s: {command: [x]}}\n";
    let loaded = load_files(&[
        ("suite.yaml", "imports: [a.yaml, b.yaml]\n"),
        ("a.yaml", "imports: [base.yaml]\n"),
        ("b.yaml", "imports: [base.yaml]\n"),
        ("base.yaml", servers),
    ]);
    assert_eq!(shown(&loaded), Vec::<String>::new());
    assert!(loaded.is_valid());
    let loaded = load_files(&[
        (
            "suite.yaml",
            "imports: [a.yaml]\nservers: {s: {command: [x]}}\n",
        ),
        ("a.yaml", "imports: [b.yaml]\n"),
        ("b.yaml", "imports: [a.yaml]\n"),
    ]);
    assert_eq!(
        shown(&loaded),
        ["b.yaml:1:11 /imports/0 import: imports form a cycle"]
    );
    assert_eq!(
        loaded.issues[0].help.as_deref(),
        Some("`a.yaml` imports `b.yaml` imports `a.yaml`")
    );
}

#[test]
fn too_many_files_are_refused() {
    let names: Vec<_> = (0..300).map(|number| format!("f{number}.yaml")).collect();
    let imports = names.join(", ");
    let suite = format!("servers: {{s: {{command: [x]}}}}\nimports: [{imports}]\n");
    let mut files = vec![("suite.yaml", suite.as_str())];
    files.extend(names.iter().map(|name| (name.as_str(), "tools: []\n")));
    let found = shown(&load_files(&files));
    let is_refused = |line: &String| line.contains("may consist of 256 files");
    assert!(
        !found.is_empty() && found.iter().all(is_refused),
        "{found:?}"
    );
}
