//! Finds the parts of a text that change each time.

use std::sync::LazyLock;

use regex::Regex;
use tapewright_schemas::slices::Part as _;

/// The variable parts, and the patterns that replace them: times, ids, ports, temporary folders,
/// and redaction placeholders. The first match counts.
const TABLE: &[(&str, &str)] = &[
    (r"<REDACTED[^>]*>", r".+"),
    (
        r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        r"[0-9a-fA-F-]{36}",
    ),
    (
        r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?",
        r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}\S*",
    ),
    (r"\b\d{4}-\d{2}-\d{2}\b", r"\d{4}-\d{2}-\d{2}"),
    (
        r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b",
        r"\d{1,2}:\d{2}:\d{2}\S*",
    ),
    (
        r"\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b",
        r"\d{10,19}\S*",
    ),
    (
        r"\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}\b",
        r"[\w.:\[\]]+:\d+",
    ),
    (r"/(?:private/)?(?:tmp|var/folders)/[\w./-]+", r"/[\w./-]+"),
    (r"\bpid[ =:]+\d+", r"pid\D+\d+"),
    (
        r"\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|milliseconds|seconds)\b",
        r"[\d.]+ ?\S+",
    ),
    // Whole numbers of longer units are often settings.
    (
        r"\b\d+\.\d+ ?(?:s|secs?|min|minutes|h|hours)\b",
        r"[\d.]+ ?\S+",
    ),
    (
        r"\b(?:[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*[0-9][0-9a-f]*)\b",
        r"[0-9a-f]+",
    ),
];

/// The shortest run of hexadecimal digits that counts as an id.
const SHORTEST_ID: usize = 12;

static ALL: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let compile = |(look, put): &(&str, &'static str)| Some((Regex::new(look).ok()?, *put));
    TABLE.iter().filter_map(compile).collect()
});

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A stable part.
    Stable(&'t str),
    /// A variable part, which matches this pattern.
    Volatile(&'static str),
}

/// The text in pieces.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, end, pattern)) = first(rest) {
        let before = rest.part(..start);
        found.extend(
            Some(before)
                .filter(|one| !one.is_empty())
                .map(Piece::Stable),
        );
        found.push(Piece::Volatile(pattern));
        rest = rest.part(end..);
    }
    if !rest.is_empty() {
        found.push(Piece::Stable(rest));
    }
    found
}

/// Whether no part of the text looks variable.
pub(super) fn is_stable(text: &str) -> bool {
    first(text).is_none()
}

/// The pattern that matches the whole text.
pub(super) fn pattern(pieces: &[Piece<'_>]) -> String {
    let mut pattern = "^".to_owned();
    for piece in pieces {
        match piece {
            Piece::Stable(text) => pattern.push_str(&regex::escape(text)),
            Piece::Volatile(one) => pattern.push_str(one),
        }
    }
    pattern.push('$');
    pattern
}

/// The range of the first variable part, and its pattern.
fn first(text: &str) -> Option<(usize, usize, &'static str)> {
    let hit = |(look, put): &(Regex, &'static str)| {
        let long = |one: &regex::Match<'_>| *put != "[0-9a-f]+" || one.len() >= SHORTEST_ID;
        let one = look.find_iter(text).find(long)?;
        Some((one.start(), one.end(), *put))
    };
    ALL.iter()
        .filter_map(hit)
        .min_by_key(|(start, _, _)| *start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(ALL.len(), TABLE.len());
    }

    #[test]
    fn what_changes_is_seen_and_its_pattern_matches() {
        for text in [
            "id 0b5e2f0e-7d3c-4a53-9d43-9c0f5a0f3f11 done",
            "at 2026-11-23T10:00:00.123Z",
            "at 2026-11-23 10:00 sharp",
            "on 2026-11-23",
            "it is 10:00:01",
            "stamp 1795428000123",
            "http://localhost:49152/mcp",
            "wrote /tmp/tmp.a81/x.txt",
            "pid 4711",
            "took 12.5 ms",
            "took 0.331 s",
            "took 1.25s in all",
            "done in 2.5 minutes",
            "token <REDACTED:token#1>",
            "commit 3cd5ce44aa12",
        ] {
            let pieces = pieces(text);
            assert!(!is_stable(text), "{text}");
            let pattern = Regex::new(&pattern(&pieces)).unwrap();
            assert!(pattern.is_match(text), "{text} {pattern}");
        }
    }

    #[test]
    fn what_stays_is_left_alone() {
        for text in [
            "Echo: hello",
            "The sum of 2 and 3 is 5.",
            "v1.2.3",
            "deadbeef",
            "port 8080",
            "at 10:30",
            "every 5 s",
            "costs 0.331 shares",
        ] {
            assert!(is_stable(text), "{text}");
            assert_eq!(pieces(text), [Piece::Stable(text)]);
        }
    }
}
