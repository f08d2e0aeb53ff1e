//! docs/faults.md agrees with the table of kinds.

use std::path::Path;

use tapewright_engine::fault::{Fault, page};

const BEGIN: &str =
    "<!-- the table of kinds; made by `UPDATE_DOCS=1 cargo test -p tapewright-engine` -->\n";

#[test]
fn the_document_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = std::fs::read_to_string(&path).expect("docs/faults.md");
    let (before, found) = text.split_once(BEGIN).expect("the place of the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}\n{}", page())).expect("written");
        return;
    }
    assert!(
        found.trim() == page().trim(),
        "docs/faults.md is out of date: UPDATE_DOCS=1 cargo test -p tapewright-engine"
    );
}

#[test]
fn every_example_of_the_document_is_a_fault() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = std::fs::read_to_string(path).expect("docs/faults.md");
    let mut seen = 0;
    for part in text.split("--fault '").skip(1) {
        let spec = part.split('\'').next().unwrap_or_default();
        Fault::parse(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        seen += 1;
    }
    assert!(seen > 20, "{seen} examples");
}
