//! The forms in which a secret value comes again.

mod written;

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::slices::{Part as _, PartMut as _};
use written::{each_percent, html, is_same_in_html, is_same_in_json, json, push_hex};

#[cfg(test)]
pub(super) use written::hex;

/// The kind of text in which values are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Within {
    /// A value: of a member, a header, an option; a line.
    #[default]
    Value,
    /// A word from the protocol or a peer's program: the name of a member or a header, a method, a
    /// part of a schema. Only values that are not words may be found there.
    Word,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Unchanged, between word boundaries.
    Words,
    /// Unchanged, or encoded, anywhere.
    Anywhere,
    /// In the middle of base64: without the letters that it shares with its neighbours, possibly
    /// one on each side.
    Base64 { before: bool, after: bool },
}

impl Form {
    /// The range to replace for a hit of this form, if the form applies to such a text.
    pub(super) fn span(
        self,
        text: &[u8],
        hit: Range<usize>,
        place: Within,
    ) -> Option<Range<usize>> {
        match self {
            Self::Words if place == Within::Word || !has_edges(text, hit.clone()) => None,
            Self::Base64 { before, after } => Some(with_shared(text, hit, before, after)),
            Self::Words | Self::Anywhere => Some(hit),
        }
    }
}

/// The forms of one value, in one buffer that the next value reuses: a peer may send another secret
/// with each message.
#[derive(Default)]
pub(super) struct Forms {
    bytes: Vec<u8>,
    all: Vec<(Range<usize>, Form)>,
    // The value behind the bytes that may precede it in base64, and its letters.
    padded: Vec<u8>,
    letters: Vec<u8>,
}

impl Forms {
    /// Writes a value unchanged, as JSON and HTML escape it, and as URLs, forms, base64 and hex
    /// write it.
    pub(super) fn write(&mut self, value: &str) {
        self.bytes.clear();
        self.all.clear();
        self.push(value.as_bytes(), Form::Anywhere);
        for upper in [true, false] {
            self.add(Form::Anywhere, |out| {
                push_hex(value.as_bytes(), upper, out);
            });
        }
        if !is_same_in_json(value) {
            for text in json(value) {
                self.push(&text, Form::Anywhere);
            }
        }
        if !is_same_in_html(value) {
            for text in html(value) {
                self.push(&text, Form::Anywhere);
            }
        }
        self.percents(value, Form::Anywhere);
        self.settle(0);
        self.padded.clear();
        self.padded.extend_from_slice(&[0; MOST_BEFORE]);
        self.padded.extend_from_slice(value.as_bytes());
        for offset in 0..=MOST_BEFORE {
            let from = self.all.len();
            self.base64(offset);
            self.settle(from);
        }
    }

    /// All forms of the value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Form)> {
        let all = self.all.iter();
        all.map(|(range, form)| (self.bytes.part(range.clone()), *form))
    }

    /// Adds the letters of base64 that only depend on the value when `offset` bytes precede it, or a
    /// multiple of three more.
    fn base64(&mut self, offset: usize) {
        let padded = self.padded.part(MOST_BEFORE - offset..);
        let form = Form::Base64 {
            before: offset > 0,
            after: !padded.len().is_multiple_of(3),
        };
        // Six bits each: the letters with bits of the padding come first.
        let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
        let mut letters = std::mem::take(&mut self.letters);
        letters.resize(padded.len().div_ceil(3) * 4, 0);
        // The buffer has the exact length.
        let _always_fits = STANDARD.encode_slice(padded, &mut letters);
        let own = letters.part(own);
        self.push(own, form);
        if memchr::memchr2(b'+', b'/', own).is_some() {
            self.add(form, |out| {
                let start = out.len();
                out.extend_from_slice(own);
                for letter in out.part_mut(start..) {
                    match letter {
                        b'+' => *letter = b'-',
                        b'/' => *letter = b'_',
                        _ => {}
                    }
                }
            });
            // In a URL its signs are encoded.
            if let Ok(own) = str::from_utf8(own) {
                self.percents(own, form);
            }
        }
        self.letters = letters;
    }

    fn percents(&mut self, value: &str, form: Form) {
        each_percent(value, |text| self.push(text, form));
    }

    fn push(&mut self, text: &[u8], form: Form) {
        self.add(form, |out| out.extend_from_slice(text));
    }

    fn add(&mut self, form: Form, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.all.push((start..self.bytes.len(), form));
    }

    /// Sorts the forms from `from` on, and removes equal ones.
    fn settle(&mut self, from: usize) {
        let Self { bytes, all, .. } = self;
        let text = |(range, _): &(Range<usize>, Form)| bytes.part(range.clone());
        let fresh = all.part_mut(from..);
        fresh.sort_unstable_by(|one, other| text(one).cmp(text(other)));
        let mut kept = 0_usize;
        for at in 0..fresh.len() {
            let last = kept.checked_sub(1).and_then(|last| fresh.get(last));
            if last.map(text) != fresh.get(at).map(text) {
                fresh.swap(kept, at);
                kept += 1;
            }
        }
        all.truncate(from + kept);
    }
}

/// At most this many bytes before a value change its letters in base64.
const MOST_BEFORE: usize = 2;

/// A hit in base64 with the adjacent letters that contain bits of the value as well.
fn with_shared(text: &[u8], hit: Range<usize>, before: bool, after: bool) -> Range<usize> {
    let letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
    };
    let start = hit.start - usize::from(before && letter(hit.start.checked_sub(1)));
    let end = hit.end + usize::from(after && letter(Some(hit.end)));
    let rest = text.part(end..);
    let padding = rest.iter().take(2).take_while(|byte| **byte == b'=');
    start..end + if after { padding.count() } else { 0 }
}

fn has_edges(text: &[u8], hit: Range<usize>) -> bool {
    let letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    !letter(hit.start.checked_sub(1)) && !letter(Some(hit.end))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE;
    use proptest::prelude::*;

    use super::written::each_percent_plainly;
    use super::*;

    /// The forms of a value, each made for itself.
    fn plainly(value: &str) -> Vec<(Vec<u8>, Form)> {
        let hex = hex(value.as_bytes());
        let mut forms = vec![
            value.as_bytes().to_vec(),
            hex.to_ascii_uppercase().into_bytes(),
            hex.into_bytes(),
        ];
        forms.extend(json(value));
        forms.extend(html(value));
        each_percent_plainly(value, |text| forms.push(text));
        forms.sort_unstable();
        forms.dedup();
        let anywhere = |form| (form, Form::Anywhere);
        let mut all: Vec<_> = forms.into_iter().map(anywhere).collect();
        for offset in 0..3 {
            let mut padded = vec![0; offset];
            padded.extend_from_slice(value.as_bytes());
            let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
            let letters_of = |text: String| text.get(own.clone()).unwrap().to_owned();
            let plain = letters_of(STANDARD.encode(&padded));
            let url = letters_of(URL_SAFE.encode(&padded));
            let mut letters = vec![plain.clone().into_bytes(), url.into_bytes()];
            each_percent_plainly(&plain, |text| letters.push(text));
            letters.sort_unstable();
            letters.dedup();
            let form = Form::Base64 {
                before: offset > 0,
                after: padded.len() % 3 != 0,
            };
            all.extend(letters.into_iter().map(|letters| (letters, form)));
        }
        all
    }

    fn check(value: &str, forms: &mut Forms) -> Result<(), TestCaseError> {
        forms.write(value);
        let written = forms.iter().map(|(text, form)| (text.to_vec(), form));
        prop_assert_eq!(written.collect::<Vec<_>>(), plainly(value));
        Ok(())
    }

    proptest! {
        #[test]
        fn all_forms_of_any_value_are_written(
            values in prop::collection::vec("[ -~]{1,40}|[a-zA-Z0-9+/_-]{1,60}|\\PC{1,12}|[\t\n\"\\\\<>&' ]{1,9}", 1..4),
        ) {
            let mut forms = Forms::default();
            for value in &values {
                check(value, &mut forms)?;
            }
        }
    }
}
