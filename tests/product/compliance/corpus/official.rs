//! The official suite compared with tapewright's rules.

use std::fs;

use serde_json::Value;

use super::report;
use crate::support::http::Gateway;
use crate::support::peer;

#[test]
fn the_official_suite_is_asked_as_well_and_what_differs_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = folder.path().join("suite.sh");
    let checks = r#"[{"id":"ping","status":"SUCCESS"},{"id":"server-initialize","status":"FAILURE","errorMessage":"no"},{"id":"their-own","status":"SUCCESS"}]"#;
    let script = format!(
        "test \"$1 $4 $5 $6\" = 'server --requirements 2025-11-25 -o' || exit 9\nmkdir \"$7/one\"\nprintf '%s' '{checks}' > \
         \"$7/one/checks.json\"\n"
    );
    fs::write(&suite, script).expect("a file");
    let peer = peer().display().to_string();
    let gateway = Gateway::start(&["--listen", "127.0.0.1:0", "--", &peer, "corpus"]);
    let url = gateway.line["listening"].as_str().expect("a URL");
    let command = format!("sh '{}'", suite.display());
    let asked = ["--upstream", url, "--official", "--official-cmd", &command];
    let (report, status) = report(&asked);
    // Its results are shown next to the grade, and do not change it.
    assert_eq!(status, 0, "{report:#}");
    let official = &report["official"];
    assert_eq!(
        official["results"].as_array().map(Vec::len),
        Some(3),
        "{official:#}"
    );
    let pairs = official["pairs"].as_array().expect("pairs");
    let agrees = |rule: &str| {
        let pair = pairs.iter().find(|pair| pair["rule_id"] == rule);
        pair.and_then(|pair| pair["agrees"].as_bool())
    };
    assert_eq!(agrees("PROTO-005"), Some(true), "{official:#}");
    assert_eq!(agrees("PROTO-001"), Some(false), "{official:#}");
    super::formats::is_of_the_schema(&report);
    assert_eq!(report["results"][0]["source"], Value::from("local"));
}
