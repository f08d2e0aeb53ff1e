//! Suggestions for misspelled names.

/// ``did you mean `x`?``, when something is close: one name, or up to three that are
/// equally close.
#[must_use]
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let found = nearest(word, candidates);
    let (last, most) = found.split_last()?;
    Some(if most.is_empty() {
        format!("did you mean `{last}`?")
    } else {
        format!("did you mean `{}` or `{last}`?", most.join("`, `"))
    })
}

/// The candidates that are closest to a word, if they are close enough to be meant.
fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Every short word is close to every other one. One as long as a page was not mistyped,
    // and comparing it would take long.
    if !(SHORTEST_WORD..=LONGEST_WORD).contains(&word.chars().count()) {
        return Vec::new();
    }
    let plain = |word: &str| word.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    let mut least = ((word.chars().count() + 1) / 3).clamp(1, 3);
    let limit = least;
    let mut found = Vec::new();
    for candidate in candidates {
        let other = plain(candidate);
        let is_part = word.len() >= 4
            && (other.starts_with(&word) || word.starts_with(&other) && other.len() >= 4);
        let distance = strsim::damerau_levenshtein(&word, &other);
        let distance = if is_part {
            distance.min(limit)
        } else {
            distance
        };
        if distance < least {
            least = distance;
            found.clear();
        }
        if distance == least && found.len() < MOST_SHOWN && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

const SHORTEST_WORD: usize = 3;
const LONGEST_WORD: usize = 64;
const MOST_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::{did_you_mean, nearest};

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let keys = [
            "contains",
            "contains-all",
            "exact",
            "regex",
            "timeout_ms",
            "variables",
        ];
        let near = |word| nearest(word, keys).first().copied();
        assert_eq!(near("contain"), Some("contains"));
        assert_eq!(near("contains_all"), Some("contains-all"));
        assert_eq!(near("varables"), Some("variables"));
        assert_eq!(near("Exact"), Some("exact"));
        assert_eq!(near("timeout"), Some("timeout_ms"));
        assert_eq!(near("rexeg"), Some("regex"));
        assert_eq!(near("equals"), None);
        assert_eq!(near(&"x".repeat(100_000)), None);
        // Every short word is close to every other one.
        assert_eq!(nearest("b", ["a"]), [""; 0]);
    }

    #[test]
    fn all_that_are_equally_close_are_named() {
        let codes = [
            "INV-001",
            "INV-002",
            "INV-012",
            "INV-022",
            "INV-032",
            "fault:hang",
        ];
        let say = |word| did_you_mean(word, codes);
        let three = "did you mean `INV-002`, `INV-012` or `INV-022`?";
        assert_eq!(say("INV-0l2").as_deref(), Some(three));
        let one = Some("did you mean `INV-012`?");
        assert_eq!(say("ivn-012").as_deref(), one);
        assert_eq!(say("something else"), None);
    }
}
