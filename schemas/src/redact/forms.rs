//! The forms in which a secret value comes again.

mod written;

use std::ops::Range;

use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::slices::Part as _;
use written::{html, json, percents};

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

/// A value unchanged, as JSON and HTML escape it, and as URLs, forms, base64 and hex write it.
pub(super) fn anywhere(value: &str) -> Vec<(Vec<u8>, Form)> {
    let hex = hex(value.as_bytes());
    let mut forms = vec![
        value.as_bytes().to_vec(),
        hex.to_ascii_uppercase().into_bytes(),
        hex.into_bytes(),
    ];
    forms.extend(json(value));
    forms.extend(html(value));
    forms.extend(percents(value));
    forms.sort_unstable();
    forms.dedup();
    let mut literals: Vec<_> = forms
        .into_iter()
        .map(|form| (form, Form::Anywhere))
        .collect();
    for offset in 0..3 {
        let (plain, form) = base64(value.as_bytes(), offset, &STANDARD);
        let (url, _) = base64(value.as_bytes(), offset, &URL_SAFE);
        let mut letters = vec![url, plain.clone()];
        // In a URL its signs are encoded.
        if let Ok(plain) = str::from_utf8(&plain) {
            letters.extend(percents(plain));
        }
        letters.sort_unstable();
        letters.dedup();
        literals.extend(letters.into_iter().map(|letters| (letters, form)));
    }
    literals
}

/// The letters of base64 that only depend on the value when `offset` bytes precede it, or a
/// multiple of three more.
fn base64(value: &[u8], offset: usize, engine: &impl base64::Engine) -> (Vec<u8>, Form) {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value);
    let whole = engine.encode(&padded);
    // Six bits each: the letters with bits of the padding come first.
    let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
    let form = Form::Base64 {
        before: offset > 0,
        after: !padded.len().is_multiple_of(3),
    };
    (whole.as_bytes().part(own).to_vec(), form)
}

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
