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
    texts!("v2024-11-05": "proto" "schema" "seq" "tool" "res" "prompt" "edge" "header" "replay" "transport"),
    texts!("v2025-03-26": "proto" "schema" "seq" "tool" "res" "prompt" "edge" "header" "replay" "transport" "elicit" "sample" "roots" "compl" "restpl" "prog" "auth"),
    texts!("v2025-06-18": "proto" "elicit" "sample" "roots" "compl" "restpl" "prog" "auth"),
    texts!("v2025-11-25": "proto" "schema" "seq" "tool" "res" "prompt" "edge" "header" "replay" "transport" "elicit" "sample" "roots" "compl" "restpl" "prog" "auth"),
    texts!("v2026-07-28": "proto" "schema" "seq" "tool" "res" "prompt" "edge" "header" "replay" "transport" "elicit" "sample" "roots" "compl" "restpl" "prog" "auth" "compat"),
    texts!("draft": "proto" "elicit" "sample" "roots" "compl" "restpl" "prog" "auth"),
];
