//! Loading from memory.

mod imports;
mod variables;
mod yaml;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::{EnvFiles, Environment, Files, Issue, Loaded, load};

/// Files in memory; `..` and `.` are resolved, links do not exist.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) HashMap<PathBuf, Vec<u8>>);

impl Memory {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| (Path::new("/s").join(path), text.as_bytes().to_vec());
        Self(files.iter().map(file).collect())
    }
}

impl Files for Memory {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let bytes = self
            .0
            .get(&self.canonical(path)?)
            .ok_or(io::ErrorKind::NotFound)?;
        assert!(bytes.len() as u64 <= limit_bytes);
        Ok(bytes.clone())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let mut real = PathBuf::new();
        for component in Path::new("/s").join(path).components() {
            if component == std::path::Component::ParentDir {
                real.pop();
            } else {
                real.push(component);
            }
        }
        if self.0.contains_key(&real) {
            Ok(real)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// Loads `suite.yaml` of these files, without an environment.
pub(crate) fn load_files(files: &[(&str, &str)]) -> Loaded {
    load_with(files, &Environment::default(), &EnvFiles::Beside)
}

pub(crate) fn load_with(
    files: &[(&str, &str)],
    environment: &Environment,
    env_files: &EnvFiles,
) -> Loaded {
    load(
        Path::new("suite.yaml"),
        &Memory::of(files),
        environment,
        env_files,
    )
}

pub(crate) fn load_text(text: &str) -> Loaded {
    load_files(&[("suite.yaml", text)])
}

/// `file:line:column pointer code: message`.
pub(crate) fn shown(loaded: &Loaded) -> Vec<String> {
    let line = |issue: &Issue| {
        let place = issue.place.as_ref().map(|place| {
            let excerpt = loaded.sources.excerpt(place).unwrap();
            let path = loaded.sources.path(place.file).display().to_string();
            format!(
                "{path}:{}:{} {} ",
                excerpt.line, excerpt.column, place.pointer
            )
        });
        format!(
            "{}{}: {}",
            place.unwrap_or_default(),
            issue.code.name(),
            issue.message
        )
    };
    loaded.issues.iter().map(line).collect()
}

#[test]
fn a_suite_becomes_typed_values() {
    let loaded = load_text(
        "servers:\n  s: {command: [a, b], env: {X: '1'}}\ntools:\n  - name: t\n    server: s\n    tool: echo\n    args: {b: 1, a: $$}\n    timeout_ms: 5\n    expect:\n      - target: result.content\n        matcher: {exact: [1, 2.5, ~]}\n",
    );
    assert_eq!(shown(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap();
    let test = &suite.tools[0];
    assert_eq!(
        serde_json::to_string(&test.args).unwrap(),
        r#"{"b":1,"a":"$"}"#
    );
    let assertion = &test.expect.assertions[0];
    assert_eq!(
        assertion.value["matcher"]["exact"],
        serde_json::json!([1, 2.5, null])
    );
    assert_eq!(assertion.place.pointer, "/tools/0/expect/0");
    let place = suite.place(&assertion.place, "/matcher/exact/1");
    let excerpt = loaded.sources.excerpt(&place).unwrap();
    assert_eq!((excerpt.line, excerpt.column, excerpt.width), (11, 30, 3));
}

#[test]
fn mistakes_are_found_where_they_are() {
    let loaded = load_text(
        "servers:\n  s:\n    comand: [a]\n  t: {url: nowhere, command: [x]}\ntools:\n  - name: 5\n    server: s\n    tool: x\n    expect:\n      - matcher: {contain: x, equals: 1}\nvarables: {}\n",
    );
    assert_eq!(
        shown(&loaded),
        [
            "suite.yaml:3:5 /servers/s/comand unknown-key: `comand` is not a key of `s`",
            "suite.yaml:4:21 /servers/t/command choice: `t` has `command`, `url`, which cannot be used together",
            "suite.yaml:6:11 /tools/0/name type: `name` must be a string, not a number",
            "suite.yaml:10:19 /tools/0/expect/0/matcher/contain unknown-key: `contain` is not a matcher",
            "suite.yaml:10:31 /tools/0/expect/0/matcher/equals unknown-key: `equals` is not a matcher",
            "suite.yaml:11:1 /varables unknown-key: `varables` is not a key of a suite",
        ]
    );
}
