//! Numbers and wrapped text, for people.

use std::fmt::Write as _;

/// The singular or plural of a word.
pub(crate) fn plural(count: u64, word: &str) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

/// A time, in milliseconds.
pub(crate) fn duration(ms: f64) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let written = if ms < 1.0 {
        write!(text, "{:.0} us", ms * 1_000.0)
    } else if ms < 100.0 {
        write!(text, "{ms:.1} ms")
    } else if ms < 1_000.0 {
        write!(text, "{ms:.0} ms")
    } else {
        write!(text, "{:.1} s", ms / 1_000.0)
    };
    written.map(|()| text).unwrap_or_default()
}

/// A number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

/// A text in lines of at most `most` characters.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > most {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [size(999), size(1_250), size(52_000_000)],
            ["999 B", "1.2 kB", "52.0 MB"]
        );
        let times = [
            duration(0.0124),
            duration(1.26),
            duration(250.4),
            duration(61_000.0),
        ];
        assert_eq!(times, ["12 us", "1.3 ms", "250 ms", "61.0 s"]);
    }
}
