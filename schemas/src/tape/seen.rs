//! Caches repeated header fields: a client sends the same with each of its requests.

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;

use crate::event::Fields;
use crate::json::escape;
use crate::redact::Redactor;
use crate::slices::Part as _;

/// The fields of heads as they were last written.
///
/// A new list of fields replaces the oldest one, so that the memory is bounded and arbitrary fields
/// only cost time. A list is only stored as a hash, since it may contain secrets. An entry is valid
/// until another secret becomes known.
#[derive(Debug, Default)]
pub(super) struct SeenFields {
    // None before the first head.
    places: Vec<Slot>,
    // The place that the next one takes.
    next: usize,
    seeds: [RandomState; 2],
    // The number of known secrets.
    known: u64,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    mark: u128,
    text: Vec<u8>,
    // The kinds that were replaced in it.
    kinds: Vec<&'static str>,
}

/// Both directions of a client's few kinds of requests.
const PLACES: usize = 32;

/// Longer lists are written in full each time, in bytes of names and values.
const LONGEST: usize = 2_048;

impl SeenFields {
    /// Appends a member that holds fields without their secrets.
    pub(super) fn push(&mut self, redactor: &mut Redactor, fields: &Fields, out: &mut Vec<u8>) {
        if fields.bytes() > LONGEST || fields.is_empty() {
            return write(redactor, fields, out);
        }
        self.forget_unless_known(redactor);
        let mark = self.mark(fields);
        let is_it = |place: &&Slot| place.mark == mark && !place.text.is_empty();
        if let Some(place) = self.places.iter().find(is_it) {
            redactor.replaced_again(&place.kinds);
            return out.extend_from_slice(&place.text);
        }
        let start = out.len();
        let kinds = redactor.replaced_by(|redactor| write(redactor, fields, out));
        // It may have revealed a secret itself.
        self.forget_unless_known(redactor);
        let at = self.next;
        self.next = (at + 1) % PLACES;
        if let Some(place) = self.places.get_mut(at) {
            let text = out.part(start..);
            place.mark = mark;
            place.text.clear();
            place.text.extend_from_slice(text);
            place.kinds = kinds;
        }
    }

    /// Starts over when there is a new secret.
    fn forget_unless_known(&mut self, redactor: &Redactor) {
        if self.places.is_empty() || self.known != redactor.known() {
            self.known = redactor.known();
            self.places.clear();
            self.next = 0;
            self.places.resize_with(PLACES, Slot::default);
        }
    }

    /// Not as the marks of secrets are made: that takes as long as it would save.
    fn mark(&self, fields: &Fields) -> u128 {
        let [one, two] = &self.seeds;
        u128::from(one.hash_one(fields)) << 64 | u128::from(two.hash_one(fields))
    }
}

fn write(redactor: &mut Redactor, fields: &Fields, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"fields\":[");
    let start = out.len();
    redactor.each_field(fields, |name, value| {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(b"[\"");
        escape(name, out);
        out.extend_from_slice(b"\",\"");
        escape(value, out);
        out.extend_from_slice(b"\"]");
    });
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::redact::{Rules, Settings};

    fn redactor() -> Redactor {
        Redactor::new(Arc::new(Rules::new(&Settings::default()).unwrap()))
    }

    fn pushed(seen: &mut SeenFields, redactor: &mut Redactor, pairs: &[(&str, &str)]) -> String {
        let mut out = Vec::new();
        seen.push(redactor, &pairs.iter().copied().collect(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_comes_again_is_written_and_counted_as_if_it_were_new() {
        let (mut seen, mut one, mut other) = (SeenFields::default(), redactor(), redactor());
        let secret = [("mcp-session-id", "blue-42-heron"), ("a", "\"b\"")];
        let open = [("accept", "text/plain")];
        for pairs in [&secret[..], &open, &secret, &secret, &open, &[]] {
            let plain = pushed(&mut SeenFields::default(), &mut other, pairs);
            assert_eq!(pushed(&mut seen, &mut one, pairs), plain);
            assert!(!plain.contains("heron"), "{plain}");
        }
        assert_eq!(one.counts(), other.counts());
        assert_eq!(one.counts().get("session-id"), Some(&3));
    }

    #[test]
    fn what_turns_out_to_be_a_secret_is_not_written_again() {
        let (mut seen, mut redactor) = (SeenFields::default(), redactor());
        let place = [("x-place", "blue-42-heron")];
        let session = [("mcp-session-id", "blue-42-heron")];
        assert!(pushed(&mut seen, &mut redactor, &place).contains("heron"));
        assert!(pushed(&mut seen, &mut redactor, &place).contains("heron"));
        assert!(!pushed(&mut seen, &mut redactor, &session).contains("heron"));
        assert!(!pushed(&mut seen, &mut redactor, &place).contains("heron"));
    }

    #[test]
    fn fields_are_told_apart_by_where_they_end() {
        let (mut seen, mut redactor) = (SeenFields::default(), redactor());
        let one = pushed(&mut seen, &mut redactor, &[("ab", "c")]);
        assert_ne!(one, pushed(&mut seen, &mut redactor, &[("a", "bc")]));
    }

    #[test]
    fn as_many_lists_as_there_are_places_are_known_at_once() {
        let (mut seen, mut redactor) = (SeenFields::default(), redactor());
        for _ in 0..2 {
            for number in 0..PLACES {
                pushed(
                    &mut seen,
                    &mut redactor,
                    &[("content-length", &number.to_string())],
                );
            }
        }
        let is_taken = |place: &Slot| !place.text.is_empty();
        assert!(seen.places.iter().all(is_taken));
        assert_eq!(seen.next, 0);
    }

    #[test]
    fn strangers_take_places_and_no_more() {
        let (mut seen, mut redactor) = (SeenFields::default(), redactor());
        for number in 0..1_000 {
            let value = number.to_string();
            let text = pushed(&mut seen, &mut redactor, &[("x", &value)]);
            assert_eq!(text, format!(",\"fields\":[[\"x\",\"{value}\"]]"));
        }
        assert_eq!(seen.places.len(), PLACES);
        let long = "x".repeat(LONGEST);
        let text = pushed(&mut seen, &mut redactor, &[("x", &long)]);
        assert!(text.contains(&long));
        assert!(seen.places.iter().all(|place| place.text.len() < 100));
    }
}
