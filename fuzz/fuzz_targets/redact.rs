//! The redactor: no input stops it, JSON stays JSON, and what is redacted stays as it is.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use tapewright_schemas::json;
use tapewright_schemas::redact::{LineState, Redactor, Rules, Settings};

static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| {
    let settings = Settings {
        keys: vec!["pet_name".to_owned()],
        patterns: vec!["id-([0-9]{4})".to_owned()],
        values: vec![("TOKEN".to_owned(), "correct horse".to_owned())],
        off: false,
    };
    Arc::new(Rules::new(&settings).expect("a good pattern"))
});

fuzz_target!(|data: &[u8]| {
    let mut redactor = Redactor::new(Arc::clone(&RULES));
    match redactor.json(data) {
        Ok(once) => {
            assert!(json::is_valid(data) && json::is_valid(&once));
            let once = once.into_owned();
            let twice = redactor.json(&once).expect("it is JSON").into_owned();
            assert_eq!(once, twice);
        }
        Err(_) => assert!(!json::is_valid(data)),
    }
    let text = redactor.text(data).into_owned();
    if std::str::from_utf8(data).is_ok() {
        assert!(std::str::from_utf8(&text).is_ok());
    }
    redactor.head(data);
    redactor.findings(data);
    redactor.adopt(data);
    redactor.argv(
        &data
            .split(|byte| *byte == b' ')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>(),
    );
    let mut state = LineState::default();
    for line in data.split(|byte| *byte == b'\n') {
        redactor.line(&mut state, line);
    }
});
