//! Rows of exchanges, from tapes of real peers.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tapewright_schemas::conversation::{Conversation, Does, ExchangeRow};
use tapewright_schemas::published;
use tapewright_schemas::tape::Reader;

/// The rows of a tape, and its number of requests.
fn rows(tape: &[u8]) -> (Vec<Value>, usize) {
    let mut reader = Reader::open(tape).unwrap();
    let (mut rows, mut requests) = (Vec::new(), 0);
    let mut conversation = Conversation::<()>::default();
    let mut drain = |conversation: &mut Conversation<()>| {
        while let Some(over) = conversation.poll() {
            rows.push(serde_json::to_value(ExchangeRow::of(&over)).unwrap());
        }
    };
    while let Some(event) = reader.next_event().unwrap() {
        conversation.observe(&event, None, |step| {
            requests += usize::from(step.what == Does::Asks);
        });
        drain(&mut conversation);
    }
    conversation.finish();
    drain(&mut conversation);
    (rows, requests)
}

#[test]
fn rows_of_real_tapes_are_as_their_schema_says() {
    let schema = published::find("exchange").unwrap();
    let schema: Value = serde_json::from_str(schema.text()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if !path.to_string_lossy().ends_with(".tape.jsonl") {
            continue;
        }
        let (rows, requests) = rows(&fs::read(&path).unwrap());
        assert_eq!(rows.len(), requests, "{}", path.display());
        assert!(requests > 5, "{}", path.display());
        for row in &rows {
            let wrong: Vec<String> = validator
                .iter_errors(row)
                .map(|one| one.to_string())
                .collect();
            assert!(wrong.is_empty(), "{row}: {wrong:?}");
            let mut members = row.as_object().unwrap().keys();
            assert!(members.all(|name| schema["properties"].get(name).is_some()));
        }
        let outcome = |outcome: &str| rows.iter().filter(|row| row["outcome"] == outcome).count();
        assert!(outcome("answered") > 3, "{}", path.display());
        assert_eq!(outcome("unknown"), 0, "{}", path.display());
        assert!(
            rows.iter()
                .any(|row| row["tool"].is_string() && row["answer_bytes"].is_u64())
        );
        seen += 1;
    }
    assert!(seen >= 5, "the tapes are there");
}
