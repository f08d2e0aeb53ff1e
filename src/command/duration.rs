//! Durations in the spelling of people.

use std::time::Duration;

/// Reads `200ms`, `5s`, `2m`, `12h`, `30d`, or a number of seconds.
///
/// # Errors
///
/// It is none of these, or too long to count; the error is for the user.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("invalid duration `{text}`; write it like `200ms`, `5s` or `2m`");
    let digits = text
        .find(|char: char| !char.is_ascii_digit() && char != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(invalid()),
    };
    let number: f64 = number.parse().map_err(|_| invalid())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| invalid())
}

/// Like `parse`, where no time at all cannot be meant: nothing is done within it.
///
/// # Errors
///
/// Those of `parse`, or it is zero.
pub(crate) fn positive(text: &str) -> Result<Duration, String> {
    let duration = parse(text)?;
    if duration.is_zero() {
        return Err("it must be longer than 0, such as `200ms`, `5s` or `2m`".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, millis) in [
            ("200ms", 200),
            ("2.5s", 2_500),
            ("3", 3_000),
            ("0.5", 500),
            ("90m", 5_400_000),
            ("2min", 120_000),
            ("12h", 43_200_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn no_time_is_refused_where_it_cannot_be_meant() {
        assert_eq!(positive("1ms"), Ok(Duration::from_millis(1)));
        for text in ["0", "0ms", "0.0s"] {
            let error = positive(text).unwrap_err();
            assert!(error.contains("longer than 0"), "{text}: {error}");
        }
        assert!(positive("soon").unwrap_err().contains("invalid duration"));
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "",
            "s",
            "5x",
            "-1s",
            "1w",
            "1.2.3s",
            "9e9s",
            "99999999999999999999d",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.contains(&format!("invalid duration `{text}`")),
                "{error}"
            );
        }
    }
}
