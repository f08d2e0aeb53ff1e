//! `tapewright validate`.

use std::fs;
use std::path::{Path, PathBuf};

use super::golden::{folder, golden, of_all, run};

fn suites(folder: &str) -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/suites")
        .join(folder);
    let names = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "yaml"))
        .collect();
    names.sort();
    (folder, names)
}

/// Every example of the documentation is valid. The variables that it needs are in `.env`.
#[test]
fn every_documented_example_is_valid() {
    let (folder, names) = suites("documented");
    assert!(names.len() > 70, "{}", names.len());
    for name in names {
        let (status, stdout, stderr) = run(&folder, &["validate", &name]);
        assert_eq!((status, stderr.as_str()), (0, ""), "{name}\n{stdout}");
        // Notes precede it.
        let verdict = stdout.lines().rev().find(|line| !line.is_empty());
        let verdict = verdict.unwrap_or_default();
        assert!(verdict.starts_with(&format!("{name}: valid (")), "{stdout}");
        assert!(!stdout.contains("[reference]"), "{name}\n{stdout}");
    }
}

/// Each invalid suite is next to its error output. `TAPEWRIGHT_BLESS=1` rewrites the output.
#[test]
fn every_mistake_is_shown_where_it_is() {
    let (folder, names) = suites("bad");
    assert!(names.len() >= 60, "{}", names.len());
    let mut differing = Vec::new();
    for name in names {
        let (status, found, stderr) = run(&folder, &["validate", &name]);
        assert_eq!((status, stderr.as_str()), (2, ""), "{name}\n{found}");
        let expected = folder.join(&name).with_extension("txt");
        if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if of_all(&found) != of_all(&expected) {
            differing.push(format!(
                "{name}\n--- found\n{found}\n--- expected\n{expected}"
            ));
        }
    }
    assert!(
        differing.is_empty(),
        "TAPEWRIGHT_BLESS=1 writes them anew\n{}",
        differing.join("\n")
    );
}

/// A target that can never have a value is a mistake, though an assertion may hold there.
#[test]
fn targets_without_a_value_are_warned_about() {
    let suite = "\
servers: {s: {command: [server]}}
tools:
  - {name: near, server: s, tool: x, expect: [{target: reslt.content, matcher: {exact: null}}]}
  - {name: part, server: s, tool: x, expect: [{target: \"content[0]\", matcher: {not: {contains: x}}}]}
  - name: changed
    server: s
    tool: x
    transform: {response: program}
    expect: [{target: anything, matcher: {exact: 1}}]
  - {name: other, server: s, tool: x, expect: [{target: tool_names, matcher: {exact: null}}]}
  - {name: whole, server: s, tool: x, expect: [{matcher: {cel: \"has(value.result)\"}}]}
compositions:
  - name: several
    nodes: [{id: first, tool: x}]
    expect:
      - {target: nodes.first.status, matcher: {exact: ok}}
      - {target: nodes.fist.status, matcher: {exact: ok}}
      - {target: order, matcher: {exact: [first]}}
agents:
  - name: asked
    servers: [s]
    models: [gpt-5]
    prompt: hello
    expect:
      - {target: tool_names, matcher: {exact: []}}
      - {target: final_respose, matcher: {exact: null}}
";
    let folder = folder(&[("suite.yaml", suite)]);
    golden(
        "validate_targets",
        folder.path(),
        &["validate", "suite.yaml"],
    );
}

const SUITE: &str = "servers:\n  s: {command: [server]}\ntools:\n  - {name: one, server: t, tool: x}\nagents: [{}]\n";

#[test]
fn programs_and_github_get_their_own_forms() {
    let folder = folder(&[
        ("bad.yaml", SUITE),
        (
            "good.yaml",
            "servers: {s: {command: [x]}}\nvariables: {a-b: {value: 1}}\n",
        ),
    ]);
    golden(
        "validate_json",
        folder.path(),
        &["validate", "--format", "json", "bad.yaml", "good.yaml"],
    );
    golden(
        "validate_github",
        folder.path(),
        &[
            "validate",
            "--format",
            "github",
            "bad.yaml",
            "good.yaml",
            "none.yaml",
        ],
    );
    golden(
        "validate_several",
        folder.path(),
        &["validate", "good.yaml", "bad.yaml", "none.yaml", "."],
    );
    golden("validate_nothing", folder.path(), &["validate"]);
}

#[test]
fn variables_come_from_where_they_should() {
    let suite = "servers: {s: {command: [x]}}\ntools: [{name: \"${A}${B}\", server: s, tool: x}]\n";
    let folder = folder(&[
        ("suite.yaml", suite),
        (".env", "A=1\n"),
        ("other.env", "B=2\n"),
        ("bad.env", "A=1\noops\n"),
    ]);
    let status = |arguments: &[&str]| run(folder.path(), arguments).0;
    assert_eq!(status(&["validate", "suite.yaml"]), 2);
    assert_eq!(status(&["validate", "suite.yaml", "--var", "B="]), 0);
    assert_eq!(
        status(&["validate", "suite.yaml", "--env-file", "other.env"]),
        2
    );
    assert_eq!(
        status(&[
            "validate",
            "suite.yaml",
            "--env-file",
            "other.env",
            "--env-file",
            ".env"
        ]),
        0
    );
    assert_eq!(
        status(&["validate", "suite.yaml", "--no-env-file", "--var", "B=1"]),
        2
    );
    golden(
        "validate_env_file",
        folder.path(),
        &[
            "validate",
            "suite.yaml",
            "--env-file",
            "bad.env",
            "--env-file",
            "none.env",
        ],
    );
    golden(
        "validate_var",
        folder.path(),
        &["validate", "suite.yaml", "--var", "B"],
    );
}

/// Next to the suite, not in the current folder.
#[test]
fn the_env_file_stands_beside_the_suite() {
    let folder = folder(&[(".env", "A=here\n")]);
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(
        below.join("suite.yaml"),
        "servers: {s: {command: [\"${A}\"]}}\n",
    )
    .unwrap();
    assert_eq!(run(folder.path(), &["validate", "below/suite.yaml"]).0, 2);
    fs::write(below.join(".env"), "A=there\n").unwrap();
    assert_eq!(run(folder.path(), &["validate", "below/suite.yaml"]).0, 0);
}

/// A link is resolved before its target is checked.
#[cfg(unix)]
#[test]
fn an_import_may_not_leave_the_folder_of_the_suite() {
    let folder = folder(&[("outside.yaml", "servers: {s: {command: [x]}}\n")]);
    let below = folder.path().join("suites");
    fs::create_dir(&below).unwrap();
    std::os::unix::fs::symlink("../outside.yaml", below.join("link.yaml")).unwrap();
    fs::write(
        below.join("suite.yaml"),
        "imports: [link.yaml, ../outside.yaml]\n",
    )
    .unwrap();
    golden(
        "validate_escape",
        folder.path(),
        &["validate", "suites/suite.yaml"],
    );
}

/// A suite may contain a secret by mistake.
#[test]
fn no_secret_is_shown() {
    let secret = "ghp_Xq7vB2kPz9sLm4Wd8Rt5Yn3Hc6Jf1Ga0Eb2T";
    let suite = format!(
        "servers:\n  s: {{url: \"{secret}\", http: {{timeout: \"{secret}\"}}}}\ntools:\n  - {{name: x, server: s, tool: x, args: {{token: \"{secret}\"}}, timeout_ms: \"{secret}\"}}\n"
    );
    let folder = folder(&[
        ("suite.yaml", &suite),
        ("v.yaml", "servers: {s: {url: \"${CHECK_VALUE}\"}}\n"),
    ]);
    for format in ["pretty", "json", "github"] {
        let (status, stdout, stderr) = run(
            folder.path(),
            &["validate", "--format", format, "suite.yaml", "v.yaml"],
        );
        assert_eq!(status, 2);
        for secret in [secret, "Xq7vB2kPz9sLm4Wd8"] {
            assert!(
                !stdout.contains(secret) && !stderr.contains(secret),
                "{stdout}{stderr}"
            );
        }
    }
}

#[test]
fn the_schemas_are_printed() {
    let folder = folder(&[]);
    golden("schema_list", folder.path(), &["schema"]);
    golden("schema_unknown", folder.path(), &["schema", "siute"]);
    let (status, stdout, _) = run(folder.path(), &["schema", "suite"]);
    assert_eq!(status, 0);
    assert_eq!(
        stdout,
        fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/json/suite.schema.json")
        )
        .unwrap()
    );
}
