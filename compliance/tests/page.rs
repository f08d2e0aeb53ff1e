//! The documentation page matches the table. `TAPEWRIGHT_BLESS=1` rewrites it.

use std::fs;
use std::path::Path;

use tapewright_compliance::page;

const BEGIN: &str = "<!-- From the table in `compliance/src/rules`: TAPEWRIGHT_BLESS=1 cargo test -p tapewright-compliance -->\n\n";

#[test]
fn the_page_is_not_stale() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/invariants.md");
    let found = fs::read_to_string(&path).unwrap();
    let (words, _) = found.split_once(BEGIN).unwrap();
    let wanted = format!("{words}{BEGIN}{}", page::markdown());
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "docs/invariants.md is stale; TAPEWRIGHT_BLESS=1 writes it anew"
    );
}
