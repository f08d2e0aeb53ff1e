//! Numbers of things.

/// Reads a number of things, of which at least one is needed.
///
/// # Errors
///
/// It is not a number, or 0; the error is for the user.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be 1 or more".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("expected a whole number, such as `8`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::positive;

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(positive("1"), Ok(1));
        assert_eq!(positive("0"), Err("it must be 1 or more".to_owned()));
        for text in ["", "-1", "1.5", "many", "99999999999999999999"] {
            assert!(
                positive(text).unwrap_err().contains("whole number"),
                "{text}"
            );
        }
    }
}
