//! Secrets that are recognized by their shape.
//!
//! [`table`] has one small item per shape. [`ShapeFinder`] searches for the beginnings of all of
//! them at once and checks each hit with its item.

mod encoded;
mod extent;
mod finder;
mod marks;
mod places;
mod table;
mod vendors;

use std::ops::Range;

pub(super) use extent::pem_header;
pub(super) use finder::ShapeFinder;
pub(super) use table::shapes;

/// One kind of token.
#[derive(Debug)]
pub(super) struct Shape {
    /// Its name in the placeholder.
    pub(super) kind: &'static str,
    /// What it starts with, or contains at a known offset.
    pub(super) prefixes: &'static [&'static str],
    /// Finds where it starts and ends, given the position of a prefix.
    extent: Extent,
    /// A made-up one in two halves, so that this source contains no token.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the table is its own test data")
    )]
    example: (&'static str, &'static str),
    /// The documentation by its vendor or standard.
    pub(super) docs: &'static str,
    /// Similar text that is data.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the table is its own test data")
    )]
    look_alike: &'static str,
}

/// The extent of a token.
#[derive(Debug)]
enum Extent {
    /// The prefix and a run of bytes after it.
    Body(Body),
    /// Anything else: called with the text, and the start and end of the prefix.
    Special(fn(&[u8], Range<usize>) -> Option<Range<usize>>),
}

/// The characters after a prefix.
#[derive(Debug)]
struct Body {
    alphabet: fn(u8) -> bool,
    min: usize,
    max: usize,
    /// Refuses bodies that are words.
    check: fn(&[u8]) -> bool,
    /// The prefix may follow `_`, `-` or `.`: it is never part of another word.
    loose: bool,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn kinds(text: &str) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let finder = ShapeFinder::shared();
        finder.find(text.as_bytes(), 0..text.len(), |kind, span| {
            found.push((kind, text.get(span).unwrap().to_owned()));
        });
        found
    }

    #[test]
    fn every_example_is_found_and_every_look_alike_is_not() {
        for shape in shapes() {
            let example = format!("{}{}", shape.example.0, shape.example.1);
            for text in [
                example.clone(),
                format!("see {example} there"),
                format!("\"{example}\","),
                format!("x={example}&y=1"),
                format!("(é{example})"),
                format!("line\\n{example}\\n"),
            ] {
                let found = kinds(&text);
                assert!(
                    found.iter().any(|(kind, _)| *kind == shape.kind),
                    "{}: {text}: {found:?}",
                    shape.kind
                );
            }
            for text in [
                shape.look_alike.to_owned(),
                format!("see {} there", shape.look_alike),
            ] {
                assert!(
                    kinds(&text).is_empty(),
                    "{}: {text}: {:?}",
                    shape.kind,
                    kinds(&text)
                );
            }
        }
    }

    #[test]
    fn a_token_inside_a_word_is_part_of_the_word() {
        for shape in shapes().filter(|shape| matches!(shape.extent, Extent::Body(_))) {
            let text = format!("x{}{}", shape.example.0, shape.example.1);
            assert!(kinds(&text).is_empty(), "{text}");
        }
    }

    #[test]
    fn kinds_can_stand_in_a_placeholder() {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        for shape in shapes() {
            assert!(shape.kind.bytes().all(plain), "{}", shape.kind);
            assert!(
                !shape.prefixes.is_empty() && shape.prefixes.iter().all(|prefix| prefix.len() > 2)
            );
            let placeholder = format!("<REDACTED:{}#1>", shape.kind);
            assert!(kinds(&placeholder).is_empty(), "{placeholder}");
        }
        let all: BTreeSet<_> = shapes().flat_map(|shape| shape.prefixes).collect();
        assert_eq!(
            all.len(),
            shapes().map(|shape| shape.prefixes.len()).sum::<usize>()
        );
    }

    #[test]
    fn the_most_special_shape_wins() {
        let body = "A1b2C3d4E5f6G7h8I9j0K1l2";
        assert_eq!(kinds(&format!("sk-ant-{body}"))[0].0, "anthropic-api-key");
        assert_eq!(kinds(&format!("sk-proj-{body}"))[0].0, "openai-api-key");
        assert_eq!(kinds(&format!("sk-{body}"))[0].0, "openai-api-key");
    }
}
