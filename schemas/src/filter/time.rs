//! Times, as people write them.

/// The microseconds of `5s`, `200ms`, `50us` or `2m`; a number without a unit is in seconds. `None`
/// for anything else.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was compared with the bounds"
)]
pub fn micros(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "us" => 1.0,
        "ms" => 1_000.0,
        "" | "s" => 1_000_000.0,
        "m" | "min" => 60_000_000.0,
        _ => return None,
    };
    let is_plain = digits
        .chars()
        .all(|char| char.is_ascii_digit() || char == '.');
    let number: f64 = digits.parse().ok().filter(|_| is_plain)?;
    let micros = number * factor;
    (micros < LONGEST).then_some(micros as u64)
}

/// Half a million years.
const LONGEST: f64 = 1.8e19;
