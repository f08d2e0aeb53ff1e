//! Any bytes can be a suite: they are read or refused, without a panic, in bounded time and
//! memory. What is read says the same when it is written as JSON and read again.
#![no_main]

use std::io;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use tapewright_config::{EnvFiles, Environment, Files, load, to_json};

/// The input, as the suite and as everything that it imports but itself.
struct Input<'a>(&'a [u8]);

impl Files for Input<'_> {
    fn read(&self, _path: &Path, _limit_bytes: u64) -> io::Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(Path::new("/s").join(path))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let environment = Environment::new([("A".to_owned(), "${B}".to_owned())].into(), [].into());
    for env_files in [EnvFiles::None, EnvFiles::Beside] {
        let loaded = load(Path::new("suite.yaml"), &Input(bytes), &environment, &env_files);
        for issue in &loaded.issues {
            if let Some(place) = &issue.place {
                let excerpt = loaded.sources.excerpt(place).expect("a place is in a file");
                assert!(excerpt.column >= 1 && excerpt.width >= 1);
            }
        }
        assert_eq!(loaded.suite.is_none(), loaded.issues.iter().any(|issue| issue.severity == tapewright_config::Severity::Error));
    }
    let Some(value) = std::str::from_utf8(bytes).ok().and_then(to_json) else { return };
    // JSON may hold characters that YAML takes only escaped, and longer keys.
    if let Some(again) = to_json(&value.to_string()) {
        assert_eq!(again, value);
    }
});
