//! Strings with a grammar: durations, addresses, names of headers, commands.

use std::time::Duration;

use super::cursor::Cursor;
use crate::issue::Code;

impl Cursor<'_> {
    /// A duration such as `500ms`, `30s`, `2m` or `1h`.
    pub(crate) fn duration(&self) -> Option<Duration> {
        let Some(text) = self.string() else {
            self.wrong_type("a duration such as `30s`");
            return None;
        };
        let found = duration(&text.value);
        if found.is_none() && !self.is_open() {
            let message = format!("{} must be a duration, not {}", self.label(), self.shown());
            let help = "a whole number and `ms`, `s`, `m` or `h`: `500ms`, `30s`".to_owned();
            self.error(Code::Value, message, help);
        }
        found
    }

    /// Milliseconds, at least one.
    pub(crate) fn milliseconds(&self) -> Duration {
        Duration::from_millis(self.integer(1))
    }

    /// An address that begins with `http://` or `https://`.
    pub(crate) fn web_address(&self) -> String {
        let text = self.text();
        let is_text = self.string().is_some();
        if is_text && !is_web_address(&text) && !self.is_open() {
            let message = format!("{} must be an address, not {}", self.label(), self.shown());
            let help = "it begins with `http://` or `https://` and names a host".to_owned();
            self.error(Code::Value, message, help);
        }
        text
    }

    /// A command line as the words that a POSIX shell would make of it.
    pub(crate) fn command_line(&self) -> Vec<String> {
        let text = self.name();
        if text.is_empty() || self.is_open() {
            return Vec::new();
        }
        match shell_words::split(&text) {
            Ok(words) if !words.is_empty() => words,
            Ok(_) => {
                let message = format!("{} is empty", self.label());
                self.error(Code::Command, message, None);
                Vec::new()
            }
            Err(_) => {
                let message = format!("{} has an unclosed quote", self.label());
                let help = "the command is split into words as a shell would, but no shell runs it"
                    .to_owned();
                self.error(Code::Command, message, help);
                Vec::new()
            }
        }
    }
}

/// Whole milliseconds, seconds, minutes or hours.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim_ascii();
    let unit_at = text.find(|char: char| !char.is_ascii_digit())?;
    let (digits, unit) = text.split_at_checked(unit_at)?;
    // Longer numbers would exceed the range of a duration with some units.
    if digits.is_empty() || digits.len() > 12 {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit.trim_ascii_start() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number * 60)),
        "h" => Some(Duration::from_secs(number * 3600)),
        _ => None,
    }
}

fn is_web_address(text: &str) -> bool {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    let has_host = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#']));
    has_host && !text.contains(|char: char| char.is_whitespace() || char.is_control())
}

/// Whether every character is valid in the name of a header (RFC 7230, section 3.2.6).
pub(crate) fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_|~`".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration, is_web_address};

    #[test]
    fn durations_have_one_unit_and_no_fraction() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration(" 2 m "), Some(Duration::from_secs(120)));
        assert_eq!(
            duration("999999999999h"),
            Some(Duration::from_secs(999_999_999_999 * 3600))
        );
        for text in [
            "",
            "30",
            "s",
            "1.5s",
            "-1s",
            "1s1s",
            "1 min",
            "9999999999999h",
            "١s",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_name_a_host() {
        assert!(is_web_address("https://a.example/mcp?x=1"));
        for text in [
            "",
            "a.example",
            "ftp://a",
            "http://",
            "http:///x",
            "https://a b",
            "HTTP//x",
        ] {
            assert!(!is_web_address(text), "{text}");
        }
    }
}
