//! The difference of two texts, line by line, in hunks as `diff -u` writes them.
//!
//! One algorithm is called directly: through `TextDiff` the program would contain all six of
//! `similar`.

use std::ops::Range;

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use tapewright_schemas::slices::Part as _;

/// The lines of the hunks, with this many context lines around changes.
#[must_use]
pub fn hunks(before: &str, after: &str, around: usize) -> Vec<String> {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let mut made = Vec::new();
    for changes in differing(&before, &after).into_grouped_ops(around) {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
            continue;
        };
        let old = place(first.old_range().start..last.old_range().end);
        let new = place(first.new_range().start..last.new_range().end);
        made.push(format!("@@ -{old} +{new} @@"));
        for change in &changes {
            tell(change, &before, &after, &mut made);
        }
    }
    made
}

/// The edits that turn one list of texts into the other.
pub(crate) fn differing(before: &[&str], after: &[&str]) -> Capture {
    let mut found = Compact::new(Replace::new(Capture::new()), before, after);
    let Ok(()) = myers::diff(&mut found, before, 0..before.len(), after, 0..after.len());
    found.into_inner().into_inner()
}

fn tell(change: &DiffOp, before: &[&str], after: &[&str], made: &mut Vec<String>) {
    let is_equal = matches!(change, DiffOp::Equal { .. });
    let mut tell = |sign: char, lines: &[&str]| {
        let line = |line: &&str| format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line));
        made.extend(lines.iter().map(line));
    };
    let old = before.part(change.old_range());
    if is_equal {
        return tell(' ', old);
    }
    tell('-', old);
    tell('+', after.part(change.new_range()));
}

/// The line range of a hunk: counted from one; for an empty range, the line before it.
fn place(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines that result from applying the hunks to the old ones.
    fn applied(before: &[&str], hunks: &[String]) -> Vec<String> {
        let (mut made, mut at) = (Vec::new(), 0);
        for line in hunks {
            let (sign, text) = line.split_at(1);
            if sign == "@" {
                let place = text.strip_prefix("@ -").unwrap();
                let (place, _) = place.split_once(' ').unwrap();
                let (first, count) = place.split_once(',').unwrap_or((place, "1"));
                let first: usize = first.parse().unwrap();
                let first = if count == "0" { first } else { first - 1 };
                made.extend(before[at..first].iter().map(ToString::to_string));
                at = first;
                continue;
            }
            if sign != "+" {
                assert_eq!(before[at], text);
                at += 1;
            }
            if sign != "-" {
                made.push(text.to_owned());
            }
        }
        made.extend(before[at..].iter().map(ToString::to_string));
        made
    }

    fn ended(lines: &[String]) -> String {
        let ended = lines.iter().flat_map(|line| [line.as_str(), "\n"]);
        ended.collect()
    }

    #[test]
    fn a_hunk_says_where_it_is_and_shows_what_is_around() {
        let found = hunks("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", 2);
        assert_eq!(
            found,
            ["@@ -2,5 +2,5 @@", " b", " c", "-d", "+D", " e", " f"]
        );
        assert_eq!(hunks("", "a", 2), ["@@ -0,0 +1 @@", "+a"]);
        assert!(hunks("a\nb", "a\nb", 2).is_empty());
        assert_eq!(hunks("a\n", "a", 2), ["@@ -1 +1 @@", "-a", "+a"]);
    }

    proptest! {
        #[test]
        fn the_hunks_make_the_new_text_of_the_old_one(
            before in proptest::collection::vec("[a-d]", 0..40),
            after in proptest::collection::vec("[a-d]", 0..40),
            around in 0_usize..4,
        ) {
            let found = hunks(&ended(&before), &ended(&after), around);
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            prop_assert_eq!(applied(&before, &found), after);
        }
    }
}
