//! The codes of `validate`, explained.

use tapewright_config::issue::Code;

use super::families::Family;

/// The errors in a suite.
pub(super) const FAMILY: Family = Family {
    title: "Errors and warnings in a suite (tapewright validate, run)",
    list,
    page,
};

fn list() -> Vec<(String, String)> {
    Code::ALL
        .iter()
        .map(|code| (code.name().to_owned(), code.about().to_owned()))
        .collect()
}

fn page(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let code = Code::ALL.iter().find(|code| code.name() == word)?;
    Some(format!(
        "{}\n\n{}\n\n{}\n",
        code.name(),
        code.about(),
        code.remedy()
    ))
}
