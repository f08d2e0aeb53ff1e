//! What somebody meant who wrote something else.

/// The candidate that is closest to a word, when one is close enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Every short word is close to every other one. One as long as a page was not mistyped,
    // and comparing it would take long.
    if !(SHORTEST_WORD..=LONGEST_WORD).contains(&word.chars().count()) {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    let limit = ((word.chars().count() + 1) / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| {
            let other = plain(candidate);
            let distance = strsim::damerau_levenshtein(&word, &other);
            let is_part = word.len() >= 4
                && (other.starts_with(&word) || word.starts_with(&other) && other.len() >= 4);
            (
                if is_part {
                    distance.min(limit)
                } else {
                    distance
                },
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `x`?``, when something is close.
#[must_use]
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

const SHORTEST_WORD: usize = 3;
const LONGEST_WORD: usize = 64;

#[cfg(test)]
mod tests {
    use super::nearest;

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
        let near = |word| nearest(word, keys);
        assert_eq!(near("contain"), Some("contains"));
        assert_eq!(near("contains_all"), Some("contains-all"));
        assert_eq!(near("varables"), Some("variables"));
        assert_eq!(near("Exact"), Some("exact"));
        assert_eq!(near("timeout"), Some("timeout_ms"));
        assert_eq!(near("rexeg"), Some("regex"));
        assert_eq!(near("equals"), None);
        assert_eq!(near(&"x".repeat(100_000)), None);
    }
}
