//! The corpora that are part of the program.

/// The path of a file below the repository, and what is in it.
type Text = (&'static str, &'static str);

/// A file of a version.
macro_rules! texts {
    ($version:literal: $($name:literal)*) => {
        ($version, &[$((
            concat!("compliance/", $version, "/", $name, ".yml"),
            include_str!(concat!("../../", $version, "/", $name, ".yml")),
        )),*] as &[Text])
    };
}

/// Every version and its files. A test compares the list with the folders.
pub(crate) static VERSIONS: &[(&str, &[Text])] = &[
    texts!("v2024-11-05": "proto"),
    texts!("v2025-03-26": "proto"),
    texts!("v2025-06-18": "proto"),
    texts!("v2025-11-25": "proto"),
    texts!("v2026-07-28": "proto"),
    texts!("draft": "proto"),
];
