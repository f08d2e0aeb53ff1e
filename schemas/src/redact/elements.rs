//! Secrets by name outside assignments: elements and pairs of attributes in XML, and fields of a
//! multipart form.

use std::ops::Range;

use memchr::{memchr_iter, memchr2, memmem, memrchr};

use super::finder::Finder;
use super::names::{Class, Name};
use super::rules::Rules;
use super::value::{Around, Separator, is_described, is_opaque, is_plausible, quoted};
use super::work;
use crate::slices::Part as _;

impl Finder {
    /// Elements with a secret name, `<password>…</password>`, and attributes that are a pair,
    /// `<add key="password" value="…"/>`.
    pub(super) fn elements(&mut self, rules: &Rules, text: &[u8], range: Range<usize>) {
        for at in memchr_iter(b'<', text.part(range.clone())) {
            let at = range.start + at;
            let found = match text.get(at + 1) {
                Some(b'/') => self.element(rules, text, at),
                Some(byte) if byte.is_ascii_alphabetic() => self.value_attribute(rules, text, at),
                _ => None,
            };
            if let Some((span, kind)) = found {
                self.named(rules, text, span, kind);
            }
        }
    }

    /// The content of the element that is closed at `at`.
    fn element(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<Found> {
        let tag = tag_name(text.part(at + 2..))?;
        if text.get(at + 2 + tag.len()) != Some(&b'>') {
            return None;
        }
        let local = tag.rsplit(|byte| *byte == b':').next()?;
        let name = self.names.classify(local, &rules.custom);
        if name.class == Class::Open {
            return None;
        }
        let from = at.saturating_sub(LONGEST_CONTENT);
        let before = text.part(from..at);
        let content = match before.strip_suffix(b"]]>") {
            Some(inner) => memmem::rfind(inner, CDATA)? + CDATA.len()..inner.len(),
            None => memrchr(b'>', before)? + 1..before.len(),
        };
        let opened = before.part(..content.start);
        let opened = opened
            .strip_suffix(CDATA)
            .unwrap_or(opened)
            .trim_ascii_end();
        let opened = opened.part(memrchr(b'<', opened)? + 1..);
        let rest = opened.strip_prefix(tag)?;
        if !matches!(
            rest.first(),
            Some(b'>' | b' ' | b'\t' | b'\r' | b'\n' | b'\\')
        ) {
            return None;
        }
        work::read(before.len() - content.start);
        let span = from + content.start..from + content.end;
        // Several words are a label: `<Password>Enter your password</Password>`.
        let value = text.part(span.clone()).trim_ascii();
        let word = !value.iter().any(u8::is_ascii_whitespace);
        (word && is_secret(name, value)).then_some((span, name.kind))
    }

    /// The value that belongs to a secret name in the tag at `at`.
    fn value_attribute(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<Found> {
        let rest = text.part(at + 1..text.len().min(at + 1 + LONGEST_TAG));
        let end = memchr2(b'<', b'>', rest);
        work::read(end.unwrap_or(rest.len()));
        let tag = rest.part(..end?);
        memmem::find(tag, b"value")?;
        let (mut name, mut value) = (None, None);
        for equals in memchr_iter(b'=', tag) {
            let attribute = tag.part(..equals).trim_ascii_end();
            let attribute = attribute.rsplit(u8::is_ascii_whitespace).next()?;
            let Some((span, true)) = quoted(tag, equals + 1) else {
                continue;
            };
            match attribute {
                b"name" | b"key" => {
                    name = Some(self.names.classify(tag.part(span), &rules.custom));
                }
                b"value" => value = Some(span),
                _ => {}
            }
        }
        let (name, value) = (name?, value?);
        is_secret(name, tag.part(value.clone()))
            .then_some((at + 1 + value.start..at + 1 + value.end, name.kind))
    }

    /// The field of a form whose `Content-Disposition` has its colon at `at`; returns where the
    /// field ends (RFC 7578 §4.2).
    pub(super) fn form_field(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.part(at + 1..);
        let line = rest.part(..rest.len().min(LONGEST_TAG));
        let line = line.part(..memchr::memchr(b'\n', line)?);
        if !line.trim_ascii_start().starts_with(b"form-data") {
            return None;
        }
        let parameters = memchr_iter(b';', line).find_map(|semicolon| {
            let parameter = line.part(semicolon + 1..).trim_ascii_start();
            parameter.strip_prefix(b"name=")
        })?;
        let field = match quoted(parameters, 0) {
            Some((span, _)) => parameters.part(span),
            None => parameters.split(|byte| *byte == b';').next()?.trim_ascii(),
        };
        let name = self.names.classify(field, &rules.custom);
        if name.class == Class::Open {
            return None;
        }
        let head = text.part(at..text.len().min(at + LONGEST_HEAD));
        let blank = |end: &[u8]| memmem::find(head, end).map(|blank| at + blank + end.len());
        let start = [blank(b"\r\n\r\n"), blank(b"\n\n")];
        let start = start.into_iter().flatten().min()?;
        let body = text.part(start..);
        let end = start + memmem::find(body, b"\n--").unwrap_or(body.len());
        work::read(end - at);
        let span = start..end;
        if is_secret(name, text.part(span.clone())) {
            self.named(rules, text, span, name.kind);
        }
        Some(end)
    }
}

/// The position of a value, and its kind.
type Found = (Range<usize>, &'static str);

/// Whether a value under a name is a secret, and not a type or a word of a description.
fn is_secret(name: Name, value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let number = value.iter().all(u8::is_ascii_digit);
    match name.class {
        Class::Open => false,
        Class::Secret => {
            let data = number && name.numbers_are_data;
            let around = Around {
                name: b"",
                separator: Separator::Equals,
                spaced: false,
                after: b"",
            };
            !(value.is_empty() || data || is_described(value)) && is_plausible(value, &around)
        }
        Class::Weak => is_opaque(value),
    }
}

/// The name at the start of a tag.
fn tag_name(text: &[u8]) -> Option<&[u8]> {
    let of_name =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let length = text.iter().take(LONGEST_NAME).take_while(of_name).count();
    Some(text.part(..length)).filter(|name| !name.is_empty())
}

const CDATA: &[u8] = b"<![CDATA[";

/// Longer names are not examined further.
const LONGEST_NAME: usize = 96;

/// The maximum length of a tag, or of a line of a head.
const LONGEST_TAG: usize = 1_024;

/// The maximum length of an element's content.
const LONGEST_CONTENT: usize = 16 << 10;

/// The maximum length of the head of a field.
const LONGEST_HEAD: usize = 4 << 10;
