//! The page about redaction tells what the table of shapes holds.

use std::path::Path;

use tapewright_schemas::redact::page;

const BEGIN: &str = "<!-- made from the table of shapes: TAPEWRIGHT_BLESS=1 cargo test --workspace --test redact_page -->\n\n";

#[test]
fn the_page_is_of_this_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/redaction.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (words, _) = text.split_once(BEGIN).expect("the mark is there");
    let wanted = format!("{words}{BEGIN}{}", page::markdown());
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert_eq!(
            text, wanted,
            "docs/redaction.md is stale; TAPEWRIGHT_BLESS=1 writes it anew"
        );
    }
}
