//! The name of a cassette's file.

/// The file name of an agent test with a model, below `cassettes/`, and the name that other tools
/// look for if it differs: they replace dots as well.
#[must_use]
pub fn file_names(agent: &str, provider: Option<&str>, model: &str) -> (String, Option<String>) {
    let name = |keeps_dots: bool| {
        let parts = [Some(agent), provider, Some(model)];
        let parts: Vec<String> = parts
            .into_iter()
            .flatten()
            .map(|part| slug(part, keeps_dots))
            .collect();
        parts.join("__") + ".json"
    };
    let ours = name(true);
    let other = name(false);
    let other = (other != ours).then_some(other);
    (ours, other)
}

fn slug(text: &str, keeps_dots: bool) -> String {
    let is_kept = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_') || keeps_dots && letter == '.'
    };
    let letter = |letter| if is_kept(letter) { letter } else { '_' };
    text.chars().map(letter).collect()
}
