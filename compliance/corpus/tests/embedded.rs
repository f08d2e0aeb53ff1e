//! The data that is part of the program.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use tapewright_config::corpus::Read;
use tapewright_corpus::registry;
use tapewright_corpus::version::{VersionCorpus, embedded_versions};

fn sound<T>(read: Read<T>) -> T {
    let said: Vec<String> = read
        .issues
        .iter()
        .map(|issue| {
            let place = issue.place.as_ref().unwrap();
            let line = read.sources.excerpt(place).unwrap().line;
            format!(
                "{}:{line}: {}",
                read.sources.path(place.file).display(),
                issue.message
            )
        })
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    read.value.unwrap()
}

#[test]
fn the_registry_and_every_corpus_have_no_issues() {
    sound(registry::embedded());
    for version in embedded_versions() {
        assert!(
            !sound(VersionCorpus::embedded_read(version).unwrap())
                .rules
                .is_empty(),
            "{version}"
        );
    }
    assert!(VersionCorpus::embedded("v1999-01-01").is_none());
}

#[test]
fn every_file_of_the_folders_is_part_of_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for version in embedded_versions() {
        let entries = fs::read_dir(folder.join(version)).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let mut embedded: Vec<_> = VersionCorpus::embedded(version)
            .unwrap()
            .sources
            .iter()
            .map(|source| source.path.clone())
            .collect();
        embedded.sort();
        let names = |paths: &[std::path::PathBuf]| -> Vec<_> {
            paths
                .iter()
                .map(|path| path.file_name().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(&files), names(&embedded), "{version}");
    }
}
