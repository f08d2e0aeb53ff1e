//! The fields of heads as text, since the same heads recur.

use super::text::push_string;
use crate::event::Fields;
use crate::slices::Part as _;

/// The lists of fields that were written last, and their texts.
///
/// A new list replaces the oldest one, so that the memory is bounded and arbitrary lists only cost
/// time.
#[derive(Debug, Default)]
pub(super) struct FieldTexts {
    places: Vec<(Fields, Vec<u8>)>,
    // The place that the next one takes.
    next: usize,
}

/// Both directions of a client's few kinds of requests.
const PLACES: usize = 16;

/// Longer lists are written in full each time, in bytes of names and values.
const LONGEST: usize = 2_048;

impl FieldTexts {
    /// Appends an array of the fields that matter when the exchange is served or judged again.
    pub(super) fn push(&mut self, fields: &Fields, out: &mut Vec<u8>) {
        if fields.bytes() > LONGEST {
            return push_fields(fields, out);
        }
        if let Some((_, text)) = self.places.iter().find(|(known, _)| known == fields) {
            return out.extend_from_slice(text);
        }
        let start = out.len();
        push_fields(fields, out);
        let text = out.part(start..);
        if let Some((known, its)) = self.places.get_mut(self.next) {
            known.clone_from(fields);
            its.clear();
            its.extend_from_slice(text);
        } else {
            self.places.push((fields.clone(), text.to_vec()));
        }
        self.next = (self.next + 1) % PLACES;
    }
}

fn push_fields(fields: &Fields, out: &mut Vec<u8>) {
    out.push(b'[');
    let kept = fields.iter().filter(|(name, _)| !is_passing(name));
    for (place, (name, value)) in kept.enumerate() {
        out.extend_from_slice(if place == 0 { b"[" } else { b", [" });
        push_string(name, out);
        out.extend_from_slice(b", ");
        push_string(value, out);
        out.push(b']');
    }
    out.push(b']');
}

/// Whether a field is specific to one connection or one moment.
pub(super) fn is_passing(name: &str) -> bool {
    let first = name.as_bytes().first().map(u8::to_ascii_lowercase);
    // This runs for every field: the first letter distinguishes most of them.
    let mut alike = PASSING
        .iter()
        .filter(|known| known.len() == name.len() && known.as_bytes().first() == first.as_ref());
    alike.any(|known| known.eq_ignore_ascii_case(name))
}

/// Fields that do not matter when the exchange is served or judged again.
const PASSING: &[&str] = &[
    "accept-encoding",
    "accept-language",
    "connection",
    "content-length",
    "date",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(texts: &mut FieldTexts, fields: &[(&str, &str)]) -> String {
        let mut out = b"before".to_vec();
        texts.push(&fields.iter().copied().collect(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_that_come_again_are_the_same_text() {
        let mut texts = FieldTexts::default();
        for _ in 0..3 {
            // More lists than there are places.
            for number in 0..2 * PLACES {
                let value = format!("\"{number}");
                let fields = [("Date", "now"), ("x-a", &value), ("x-b", ""), ("Host", "h")];
                let wanted = format!("before[[\"x-a\", \"\\\"{number}\"], [\"x-b\", \"\"]]");
                assert_eq!(text(&mut texts, &fields), wanted);
                assert_eq!(text(&mut texts, &fields), wanted);
            }
        }
        assert_eq!(texts.places.len(), PLACES);
        assert_eq!(text(&mut texts, &[]), "before[]");
        assert_eq!(text(&mut texts, &[("x", "ab")]), "before[[\"x\", \"ab\"]]");
        assert_eq!(text(&mut texts, &[("xa", "b")]), "before[[\"xa\", \"b\"]]");
    }

    #[test]
    fn long_lists_take_no_place() {
        let mut texts = FieldTexts::default();
        let value = "x".repeat(LONGEST);
        let wanted = format!("before[[\"a\", \"{value}\"]]");
        assert_eq!(text(&mut texts, &[("a", &value)]), wanted);
        assert!(texts.places.is_empty());
    }
}
