//! Compares the output of a command with its page.

use regex::Regex;

/// Values that are different each time, and one word for each. Columns are as wide as their
/// contents.
const NEW_EACH_TIME: [(&str, &str); 5] = [
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"\b\d+(\.\d+)? ?(ns|us|µs|ms|s|min)\b", "<duration>"),
    (r"\b127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
    (r"\bprocess \d+\b", "process <id>"),
    (r"  +", " "),
];

/// A line with one word for each value that is new each time.
fn plain(line: &str) -> String {
    let mut line = line.trim().to_owned();
    for (pattern, word) in NEW_EACH_TIME {
        let pattern = Regex::new(pattern).expect("a pattern");
        line = pattern.replace_all(&line, word).into_owned();
    }
    line
}

/// Whether a line matches the page, where `…` matches anything.
fn same(shown: &str, said: &str) -> bool {
    let shown = plain(shown);
    let said = plain(said);
    let parts: Vec<String> = shown.split('…').map(regex::escape).collect();
    let pattern = Regex::new(&format!("^{}$", parts.join(".*"))).expect("a pattern");
    pattern.is_match(&said)
}

/// Whether the lines match the page, where a line `…` matches any number of lines.
pub(super) fn matches(shown: &[&str], said: &[&str]) -> bool {
    let any = shown.first().is_some_and(|line| line.trim() == "…");
    match (shown.split_first(), said.split_first()) {
        (None, None) => true,
        (Some((_, more)), _) if any => (0..=said.len()).any(|at| matches(more, &said[at..])),
        (Some((first, more)), Some((line, rest))) => same(first, line) && matches(more, rest),
        _ => false,
    }
}

#[test]
fn an_ellipsis_stands_for_anything_and_times_for_other_times() {
    let said = ["a 12 ms", "b", "c", "at 2026-11-25T12:45:56.964Z"];
    assert!(matches(&["a 3.1 s", "…", "at 2020-01-01T00:00:00Z"], &said));
    assert!(matches(&["a …", "b", "c", "…"], &said));
    assert!(!matches(
        &["a 3.1 s", "b", "at 2020-01-01T00:00:00Z"],
        &said
    ));
    assert!(!matches(&["b …", "…"], &said));
    assert!(!matches(&["a 12 ms", "b", "c"], &said));
}
