//! The selected tests: names for people and scripts, or JSON.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::report::{formats, safe};
use crate::suite::plan::Case;

/// Each suite with its tests, in order.
pub(crate) fn text(suites: &[(&Path, Vec<&Case>)], as_json: bool) -> anyhow::Result<String> {
    if as_json {
        let suites: Vec<Value> = suites
            .iter()
            .map(|(path, cases)| suite(path, cases))
            .collect();
        return formats::json::text(&json!({ "suites": suites }));
    }
    let mut out = String::new();
    for (path, cases) in suites {
        let _never_fails = writeln!(out, "Suite {}", safe(&path.display().to_string()));
        for case in cases {
            line(case, &mut out);
        }
    }
    Ok(out)
}

fn line(case: &Case, out: &mut String) {
    let _never_fails = write!(out, "  {}  [{}]", safe(&case.name), case.kind.name());
    for tag in &case.tags {
        let _never_fails = write!(out, "  #{}", safe(tag));
    }
    if let Some(why) = &case.options.skip {
        let _never_fails = write!(out, "  skipped: {}", safe(why));
    }
    out.push('\n');
}

fn suite(path: &Path, cases: &[&Case]) -> Value {
    let test = |case: &&Case| {
        let mut test = json!({
            "name": case.name,
            "kind": case.kind.name(),
            "servers": case.named_servers(),
            "tags": case.tags,
        });
        if let (Some(why), Some(members)) = (&case.options.skip, test.as_object_mut()) {
            members.insert("skip".to_owned(), why.as_str().into());
        }
        test
    };
    let tests: Vec<Value> = cases.iter().map(test).collect();
    json!({ "suite": path.display().to_string(), "tests": tests })
}
