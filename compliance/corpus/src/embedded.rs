//! The corpora, the registry and the table of official checks embedded in the program, packed by
//! `build.rs`.

use std::sync::LazyLock;

use tapewright_packed::Texts;

/// Every version, oldest first, the draft last.
pub(crate) const VERSIONS: [&str; 6] = [
    "v2024-11-05",
    "v2025-03-26",
    "v2025-06-18",
    "v2025-11-25",
    "v2026-07-28",
    "draft",
];

/// The text of a file, by its path in the repository.
pub(crate) fn text(path: &str) -> &'static str {
    FILES.text(path)
}

/// The files of a version: their paths in the repository, and their contents.
pub(crate) fn of_version(version: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let folder = format!("compliance/{version}/");
    FILES
        .iter()
        .filter(move |(path, _)| path.starts_with(&folder))
}

static FILES: LazyLock<Texts> = LazyLock::new(|| {
    Texts::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/corpora.packed")))
        .expect("they are as `build.rs` has written them")
});
