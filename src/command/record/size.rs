//! Sizes in the spelling of people.

/// Reads `64MiB`, `10MB`, `512K` or a number of bytes.
pub(super) fn parse(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let digits = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: usize = number.parse().map_err(|_| HELP.to_owned())?;
    let factor: usize = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "kb" => 1_000,
        "m" | "mib" => 1 << 20,
        "mb" => 1_000_000,
        "g" | "gib" => 1 << 30,
        "gb" => 1_000_000_000,
        _ => return Err(HELP.to_owned()),
    };
    number
        .checked_mul(factor)
        .filter(|size| *size > 0)
        .ok_or_else(|| HELP.to_owned())
}

const HELP: &str = "expected a size such as `65536`, `512KiB` or `64MiB`";

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse("1"), Ok(1));
        assert_eq!(parse("64MiB"), Ok(64 << 20));
        assert_eq!(parse("10 MB"), Ok(10_000_000));
        assert_eq!(parse("3k"), Ok(3_072));
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            "0",
            "-1",
            "MiB",
            "1.5M",
            "1X",
            "99999999999999999999",
            "9999999999999G",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
