//! Names of files on Windows, as text, so that they can be tested on every system.

use super::NameProblem;

/// What is wrong with the parts of a path.
pub(super) fn problem(path: &str) -> Option<NameProblem> {
    let path = path.strip_prefix(r"\\?\").unwrap_or(path);
    if path.starts_with(r"\\.\") || path.starts_with("//./") {
        return Some(NameProblem::Device(path.to_owned()));
    }
    let parts = without_drive(path).split(['/', '\\']);
    let parts = parts.filter(|part| !matches!(*part, "" | "." | ".."));
    parts.into_iter().find_map(of_part)
}

fn without_drive(path: &str) -> &str {
    let mut characters = path.chars();
    let is_drive = characters
        .next()
        .is_some_and(|one| one.is_ascii_alphabetic())
        && characters.next() == Some(':');
    if is_drive { characters.as_str() } else { path }
}

fn of_part(part: &str) -> Option<NameProblem> {
    let name = part.to_owned();
    if part.contains(':') {
        return Some(NameProblem::Stream(name));
    }
    let is_bad = |one: &char| matches!(one, '<' | '>' | '"' | '|' | '?' | '*' | '\0'..='\x1f');
    if let Some(character) = part.chars().find(is_bad) {
        return Some(NameProblem::Character { name, character });
    }
    if is_device(part) {
        return Some(NameProblem::Device(name));
    }
    part.ends_with(['.', ' '])
        .then_some(NameProblem::Ending(name))
}

/// Whether it is a device, such as `NUL`, `com1.txt` or `AUX .json`.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    let is_port = |kind: &str| {
        let number = stem.strip_prefix(kind).unwrap_or_default();
        let mut digits = number.chars();
        let is_digit = digits
            .next()
            .is_some_and(|one| "123456789¹²³".contains(one));
        is_digit && digits.next().is_none()
    };
    let fixed = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    fixed.contains(&&*stem) || is_port("COM") || is_port("LPT")
}

/// An absolute path in the form that has no limit of 260 characters, if it needs that.
pub(super) fn long(path: &str) -> String {
    /// A folder may have 12 characters less than a file, for a name in it.
    const SHORT: usize = 247;
    if path.encode_utf16().count() <= SHORT || path.starts_with(r"\\?\") {
        return path.to_owned();
    }
    // This form does not know slashes.
    let path = path.replace('/', r"\");
    match path.strip_prefix(r"\\") {
        Some(share) => format!(r"\\?\UNC\{share}"),
        None => format!(r"\\?\{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_open_something_else_are_known() {
        let device = |name: &str| Some(NameProblem::Device(name.to_owned()));
        for name in [
            "CON",
            "nul",
            "aux.json",
            "AUX .json",
            "Com1.tape.jsonl",
            "lpt9",
            "COM²",
            "conout$",
        ] {
            assert_eq!(problem(name), device(name), "{name}");
            assert_eq!(problem(&format!("C:\\x\\{name}\\y.json")), device(name));
        }
        assert_eq!(problem(r"\\.\pipe\x"), device(r"\\.\pipe\x"));
        let ending = |name: &str| Some(NameProblem::Ending(name.to_owned()));
        assert_eq!(problem("a.json."), ending("a.json."));
        assert_eq!(problem("recordings /a.json"), ending("recordings "));
        let stream = |name: &str| Some(NameProblem::Stream(name.to_owned()));
        assert_eq!(problem("a:b"), None, "a file on the drive `a`");
        assert_eq!(problem("ab:c.json"), stream("ab:c.json"));
        assert_eq!(problem(r"C:\x\a.json:s"), stream("a.json:s"));
        let character = problem("a?.json");
        assert!(matches!(
            character,
            Some(NameProblem::Character { character: '?', .. })
        ));
        assert!(problem("a\u{1}.json").is_some());
    }

    #[test]
    fn other_names_are_files() {
        for name in [
            "recording.json",
            r"..\x\.tapewright\a.b.json",
            "./a/../b c.json",
            r"C:\Users\Jürgen\a.json",
            r"\\server\share\a.json",
            r"\\?\C:\a.json",
            "console.json",
            "com0",
            "com10.json",
            "nulls",
            "lpt",
            "ｃｏｎ",
        ] {
            assert_eq!(problem(name), None, "{name}");
        }
    }

    #[test]
    fn only_a_long_path_is_written_in_the_long_form() {
        assert_eq!(long(r"C:\a\b"), r"C:\a\b");
        let deep = "x/".repeat(130);
        let drive = long(&format!("C:/{deep}"));
        assert!(
            drive.starts_with(r"\\?\C:\x\x") && !drive.contains('/'),
            "{drive}"
        );
        assert!(long(&format!(r"\\host\share\{deep}")).starts_with(r"\\?\UNC\host\share\x\"));
        assert_eq!(long(&drive), drive);
    }
}
