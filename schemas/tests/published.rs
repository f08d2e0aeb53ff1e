//! The schemas that are published are the files of `json`.

use std::fs;

use tapewright_schemas::published::ALL;

#[test]
fn every_schema_is_as_it_stands_in_its_folder() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/json");
    for schema in ALL {
        let path = format!("{folder}/{}.schema.json", schema.name);
        assert_eq!(schema.text(), fs::read_to_string(&path).unwrap(), "{path}");
    }
    assert_eq!(
        ALL.len(),
        fs::read_dir(folder).unwrap().count(),
        "every file of the folder is published"
    );
}
