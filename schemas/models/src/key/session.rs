//! Values in agents' prompts that are new in every session: dates, temporary folders, hashes.

use tapewright_schemas::slices::Part as _;
use tapewright_schemas::volatile;

/// The text with a mark for everything that is new in every session.
pub(super) fn mask(text: &str) -> String {
    let mut first = Vec::with_capacity(text.len());
    volatile::mask(text.as_bytes(), &mut first);
    let first = String::from_utf8_lossy(&first);
    let mut out = String::with_capacity(first.len());
    let mut rest = &*first;
    let mut is_edge = true;
    while let Some(letter) = rest.chars().next() {
        let found = project(rest).or_else(|| at_start(rest).filter(|_| is_edge));
        let length = if let Some((length, mark)) = found {
            out.push_str(mark);
            length
        } else {
            out.push(letter);
            letter.len_utf8()
        };
        let (done, next) = rest.split_at_checked(length).unwrap_or((rest, ""));
        // A letter after a backslash of JSON belongs to the escape.
        let last = done.chars().next_back().unwrap_or(letter);
        is_edge = !last.is_alphanumeric() || done == "n" && out.ends_with("\\n");
        rest = next;
    }
    out
}

/// The value at the start of a text, and the mark for it.
fn at_start(text: &str) -> Option<(usize, &'static str)> {
    let first = *text.as_bytes().first()?;
    match first {
        b'/' => temporary(text).map(|length| (length, "<TEMP>")),
        b'0'..=b'9' => {
            let date = iso(text).or_else(|| slashed(text)).or_else(|| worded(text));
            let date = date.map(|length| (length, "<DATE>"));
            let time = || clock(text).map(|length| (length, "<TIME>"));
            let took = || took(text).map(|length| (length, "<DURATION>"));
            date.or_else(time).or_else(took).or_else(|| hash(text))
        }
        b'A'..=b'Z' => worded(text).map(|length| (length, "<DATE>")),
        b'a'..=b'f' => hash(text),
        _ => None,
    }
}

/// Folders below which everybody makes new ones.
const TEMPORARY: [&str; 7] = [
    "/private/var/folders/",
    "/var/folders/",
    "/private/tmp/",
    "/private/var/tmp/",
    "/var/tmp/",
    "/dev/shm/",
    "/tmp/",
];

/// Where one agent stores its data about a project: in a folder named after the path of the
/// project.
const PROJECTS: &str = "/.claude/projects/";

fn project(text: &str) -> Option<(usize, &'static str)> {
    let rest = text.strip_prefix(PROJECTS)?;
    let length = name_length(rest);
    (length > 0).then_some((PROJECTS.len() + length, "/.claude/projects/<PROJECT>"))
}

/// A path below one of them, without its last name if it has several.
fn temporary(text: &str) -> Option<usize> {
    let prefix = TEMPORARY.iter().find(|prefix| text.starts_with(**prefix))?;
    let mut length = prefix.len() + name_length(text.part(prefix.len()..));
    if length == prefix.len() {
        return None;
    }
    let mut before = length;
    while let Some(name) = text.part(length..).strip_prefix('/') {
        let more = name_length(name);
        if more == 0 {
            break;
        }
        before = length;
        length += 1 + more;
    }
    Some(before)
}

fn name_length(text: &str) -> usize {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.+~@".contains(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    // A full stop may end a sentence.
    let name = text.part(..end);
    name.trim_end_matches('.').len()
}

/// This many digits, and the rest after them.
fn digits(text: &str, least: usize, most: usize) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    (least..=most)
        .contains(&digits.len())
        .then_some((digits, rest))
}

fn year(text: &str) -> Option<&str> {
    let (year, rest) = digits(text, 4, 4)?;
    (year.starts_with("19") || year.starts_with("20")).then_some(rest)
}

/// The length of a text up to its rest, unless the rest continues it.
fn up_to(text: &str, rest: &str) -> Option<usize> {
    let goes_on = rest.starts_with(char::is_alphanumeric);
    (!goes_on).then_some(text.len() - rest.len())
}

/// `2026-11-25`.
fn iso(text: &str) -> Option<usize> {
    let rest = year(text)?.strip_prefix('-')?;
    let rest = digits(rest, 2, 2)?.1.strip_prefix('-')?;
    up_to(text, digits(rest, 2, 2)?.1)
}

/// `11/25/2026`.
fn slashed(text: &str) -> Option<usize> {
    let rest = digits(text, 1, 2)?.1.strip_prefix('/')?;
    let rest = digits(rest, 1, 2)?.1.strip_prefix('/')?;
    up_to(text, year(rest)?)
}

/// `Wednesday, November 25, 2026`, `Nov 25 2026`, `25 November 2026`.
fn worded(text: &str) -> Option<usize> {
    let mut rest = text;
    if let Some(after) = word(rest, &DAYS) {
        rest = after.trim_start_matches(',').trim_start_matches(' ');
    }
    let day = |text| digits(text, 1, 2).map(|(_, rest)| rest);
    let rest = if let Some(after) = word(rest, &MONTHS) {
        day(after.trim_start_matches('.').strip_prefix(' ')?)?
    } else {
        word(day(rest)?.strip_prefix(' ')?, &MONTHS)?
    };
    let rest = rest.strip_prefix(',').unwrap_or(rest).strip_prefix(' ')?;
    up_to(text, year(rest)?)
}

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The rest after one of these words, or after its first three letters.
fn word<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    let end = text.find(|letter: char| !letter.is_ascii_alphabetic());
    let (found, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let is_one = |word: &&&str| **word == found || word.get(..3) == Some(found);
    words.iter().find(is_one).map(|_| rest)
}

/// `14:05:09`, `2:05 PM`, `2:05:09 PM`.
fn clock(text: &str) -> Option<usize> {
    let rest = digits(text, 1, 2)?.1.strip_prefix(':')?;
    let rest = digits(rest, 2, 2)?.1;
    let seconds = rest.strip_prefix(':').and_then(|rest| digits(rest, 2, 2));
    let rest = seconds.map_or(rest, |(_, rest)| rest);
    let half = ["\u{202f}AM", "\u{202f}PM", " AM", " PM"];
    let after = half.iter().find_map(|half| rest.strip_prefix(half));
    if seconds.is_none() && after.is_none() {
        return None;
    }
    up_to(text, after.unwrap_or(rest))
}

/// A duration with a fraction: `0.0152 seconds`, `1.2s`, `35.1 ms`.
fn took(text: &str) -> Option<usize> {
    let rest = digits(text, 1, 9)?.1.strip_prefix('.')?;
    let rest = digits(rest, 1, 9)?.1;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let units = [
        "seconds",
        "secs",
        "sec",
        "s",
        "ms",
        "milliseconds",
        "µs",
        "us",
    ];
    let end = |unit: &str| up_to(text, rest.strip_prefix(unit)?);
    units.iter().find_map(|unit| end(unit))
}

/// A hash, short or long: seven digits of base sixteen or more, of both kinds.
fn hash(text: &str) -> Option<(usize, &'static str)> {
    let is_digit = |letter: char| matches!(letter, '0'..='9' | 'a'..='f');
    let end = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (found, rest) = text.split_at_checked(end)?;
    let is_mixed = found.contains(|letter: char| letter.is_ascii_digit())
        && found.contains(|letter: char| letter.is_ascii_alphabetic());
    let is_hash = (7..=128).contains(&found.len()) && is_mixed;
    let length = up_to(text, rest).filter(|_| is_hash)?;
    Some((length, "<HASH>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_in_every_session_has_a_mark() {
        for (text, masked) in [
            ("Today's date: 2026-11-25", "Today's date: <DATE>"),
            (
                "today is Wednesday, November 25, 2026 (local)",
                "today is <DATE> (local)",
            ),
            ("on 25 Nov 2026, 3/4/2026", "on <DATE>, <DATE>"),
            ("at 14:05:09 or 2:05 PM", "at <TIME> or <TIME>"),
            (
                "Wall time: 0.0152 seconds, 1.2s.",
                "Wall time: <DURATION>, <DURATION>.",
            ),
            ("cwd: /tmp/agent-x1Y/src/a.rs.", "cwd: <TEMP>/a.rs."),
            ("/private/var/folders/ab/cd_e/T/x.1/y", "<TEMP>/y"),
            ("see /tmp/run.", "see <TEMP>."),
            (
                "in ~/.claude/projects/-tmp-x-1/memory/",
                "in ~/.claude/projects/<PROJECT>/memory/",
            ),
            ("commits:\\na1b2c3d fix", "commits:\\n<HASH> fix"),
            ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "id <UUID>"),
            ("2026-11-25T02:46:25Z", "<TIMESTAMP>"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn what_is_the_same_in_every_session_stays() {
        for text in [
            "version 2026-11-2",
            "deadbeef and 1234567890",
            "x2026-11-25",
            "/home/tmp/x /tmp",
            "March on, 12 Monkeys",
            "12:30 lines, ratio 4:3",
            "wait 5 seconds, 0.5 steps, version 1.2",
            "May I ask 5 things",
            "ü€",
            "",
        ] {
            assert_eq!(mask(text), text);
        }
    }
}
