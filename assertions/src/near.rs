//! What was probably meant.

/// Which of `known` is closest to `word`, when it is close: two edits for a long word, one
/// for a short one.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_LIMIT {
        return None;
    }
    let limit = if word.chars().count() > 4 { 2 } else { 1 };
    known
        .into_iter()
        .map(|one| (strsim::osa_distance(word, one), one))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

/// The same as a sentence.
#[must_use]
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|one| format!("did you mean `{one}`?"))
}

/// Longer words are no typing mistakes.
const WORD_LIMIT: usize = 128;
