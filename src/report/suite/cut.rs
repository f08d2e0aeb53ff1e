//! Cuts values that are too long for a report around the first difference.

use std::fmt::Write as _;

use tapewright_assertions::Json;
use tapewright_schemas::slices::Part as _;

/// The longest text of a value in a report, in bytes.
const LONGEST: usize = 64 * 1024;
/// How much of a longer one is kept before the first difference, and how much behind it.
const BEFORE: usize = 16 * 1024;
const BEHIND: usize = 32 * 1024;

/// Cuts two texts around their first difference.
pub(super) fn pair(one: &mut String, other: &mut String) {
    if one.len().max(other.len()) <= LONGEST {
        return;
    }
    let bytes = one.bytes().zip(other.bytes());
    let differs = bytes.take_while(|(left, right)| left == right).count();
    for text in [one, other] {
        around(text, differs);
    }
}

/// Cuts a text that is not compared with another.
pub(super) fn alone(text: &mut String) {
    around(text, 0);
}

/// The text without its end, if it is too long.
pub(super) fn short(mut text: String) -> String {
    alone(&mut text);
    text
}

/// The documented object: `expected` and `actual` cut as they are shown, every other text at its
/// end.
pub(super) fn object(object: &mut Json, [expected, actual]: &[Option<String>; 2]) {
    let Json::Object(members) = object else {
        return;
    };
    for (name, text) in [("expected", expected), ("actual", actual)] {
        let long = |value: &Json| value.to_string().len() > LONGEST;
        if let Some(text) = text
            && members.get(name).is_some_and(long)
        {
            members.insert(name.to_owned(), Json::from(text.as_str()));
        }
    }
    let compared = ["expected", "actual"];
    for (name, value) in members {
        if !compared.contains(&name.as_str()) {
            texts(value);
        }
    }
}

fn texts(value: &mut Json) {
    match value {
        Json::String(text) => alone(text),
        Json::Array(all) => all.iter_mut().for_each(texts),
        Json::Object(all) => all.values_mut().for_each(texts),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn around(text: &mut String, place: usize) {
    if text.len() <= LONGEST {
        return;
    }
    let start = boundary(text, place.min(text.len()).saturating_sub(BEFORE));
    let end = boundary(text, start.saturating_add(BEFORE + BEHIND).min(text.len()));
    let kept = text.part(start..end);
    let (before, behind) = (start, text.len() - end);
    let mut cut = match before {
        0 => kept.to_owned(),
        count => format!("[{count} bytes left out]… {kept}"),
    };
    if behind > 0 {
        // Writing to a string does not fail.
        let _never_fails = write!(cut, " …[{behind} bytes left out]");
    }
    *text = cut;
}

/// The last character boundary at or before `place`.
fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_short_stays_as_it_is() {
        let (mut one, mut other) = ("a".repeat(LONGEST), "b".to_owned());
        pair(&mut one, &mut other);
        assert_eq!((one.len(), other.as_str()), (LONGEST, "b"));
    }

    #[test]
    fn what_differs_is_kept_and_what_is_left_out_is_counted() {
        let same = "x".repeat(1_000_000);
        let mut one = format!("{same}THIS{same}");
        let mut other = format!("{same}THAT{same}");
        pair(&mut one, &mut other);
        for (text, word) in [(&one, "THIS"), (&other, "THAT")] {
            assert!(text.len() < LONGEST, "{}", text.len());
            assert!(text.contains(word));
            assert!(text.starts_with("[983618 bytes left out]… "));
            assert!(text.ends_with(" …[967234 bytes left out]"));
        }
    }

    proptest! {
        #[test]
        fn no_cut_is_within_a_character(place in 0..200_000_usize, lead in 0..3_usize) {
            let mut text = format!("{}{}", "a".repeat(lead), "é漢".repeat(40_000));
            around(&mut text, place);
            prop_assert!(text.len() <= LONGEST);
        }
    }
}
