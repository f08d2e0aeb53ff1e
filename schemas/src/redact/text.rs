//! Secrets in free text: after a name, in a URL, by their shape.
//!
//! The search looks for `:`, `=` and `--` and reads the name before or after them, so that text
//! without any of the three costs one vector search.

use std::ops::Range;

use memchr::{memchr2, memchr3, memchr3_iter};

use super::edits::Rank;
use super::finder::{Finder, MAX_NESTING};
use super::forms::Within;
use super::header;
use super::names::{Class, Name, Role};
use super::regions::Regions;
use super::rules::Rules;
use super::value::{
    self, Around, Separator, is_described, is_no_value, is_opaque, is_plausible, placeholder_at,
    quoted, unquoted,
};
use super::vocabulary::SCHEMA_WORDS;
use super::work;
use crate::slices::Part as _;

/// A name in free text.
#[derive(Clone, Debug)]
struct Label {
    span: Range<usize>,
    name: Name,
    /// The backslashes before its quotes, when it has any.
    quotes: Option<u32>,
    /// It follows `?` or `&`.
    query: bool,
}

impl Finder {
    /// Finds secrets in a string value or a free text; `depth` counts the strings around it.
    pub(super) fn free_text(&mut self, rules: &Rules, text: &[u8], depth: usize) {
        if text.len() < rules.shortest {
            return;
        }
        let from = self.edits.len();
        let mut end = text.len();
        // One search for the brackets of JSON and the tags of XML: most texts have neither.
        let special = memchr3(b'{', b'[', b'<', text);
        if depth < MAX_NESTING {
            if let Some(start) = self.embedded_json(rules, text, depth) {
                end = start;
            } else if let Some(start) = special.and_then(|special| bracket(text, special)) {
                // JSON up to an error: what it contains counts in addition to the findings below.
                let from = self.edits.len();
                self.walk_front(rules, text.part(start..), depth);
                self.edits.shift(from, start);
            }
        }
        if let Some(special) = special.filter(|special| *special < end) {
            self.elements(rules, text, special..end);
        }
        if end > 0 {
            self.loose(rules, text, 0..end);
        }
        self.edits.settle(text, from);
    }

    /// Everything that can be found without reading JSON or XML; names and tokens start inside
    /// `range`.
    pub(super) fn loose(&mut self, rules: &Rules, text: &[u8], range: Range<usize>) {
        work::read(range.len());
        let mut decided = 0;
        for region in Regions::of(text, range) {
            self.shapes(rules, text, region.clone());
            decided = self.separators(rules, text, region, decided);
        }
        self.values(rules, text, self.place);
    }

    /// Only tokens and configured values: the secrets that a member name may contain.
    pub(super) fn tokens(&mut self, rules: &Rules, text: &[u8]) {
        let from = self.edits.len();
        self.shapes(rules, text, 0..text.len());
        self.values(rules, text, Within::Word);
        self.edits.settle(text, from);
    }

    fn shapes(&mut self, rules: &Rules, text: &[u8], region: Range<usize>) {
        rules.shapes.find(text, region, |kind, span| {
            self.learn(text.get(span.clone()).unwrap_or_default(), kind);
            self.edits.text(span, kind, Rank::Shape);
        });
    }

    fn values(&mut self, rules: &Rules, text: &[u8], place: Within) {
        rules.find_values(text, place, |span| {
            self.edits.text(span, "env", Rank::Value);
        });
        let Self { learned, edits, .. } = self;
        learned.find(text, place, |span, secret| {
            edits.valued(span, secret.kind, Rank::Value, secret.mark);
        });
        rules.find_patterns(text, |span| self.edits.text(span, "pattern", Rank::Pattern));
    }

    /// Reads JSON that is the whole text or its end, and returns where it starts.
    fn embedded_json(&mut self, rules: &Rules, text: &[u8], depth: usize) -> Option<usize> {
        let last = text.trim_ascii_end().last()?;
        if !matches!(last, b'}' | b']' | b'"') {
            return None;
        }
        let begin = text.len() - text.trim_ascii_start().len();
        let start = match text.get(begin)? {
            b'{' | b'[' | b'"' => begin,
            _ => memchr2(b'{', b'[', text)?,
        };
        let from = self.edits.len();
        if self.walk(rules, text.part(start..), depth).is_err() {
            self.edits.truncate(from);
            return None;
        }
        self.edits.shift(from, start);
        Some(start)
    }

    fn separators(
        &mut self,
        rules: &Rules,
        text: &[u8],
        region: Range<usize>,
        decided: usize,
    ) -> usize {
        let mut decided = decided;
        for at in memchr3_iter(b':', b'=', b'-', text.part(region.clone())) {
            let at = region.start + at;
            if at < decided {
                continue;
            }
            let end = match text.get(at..at + 3) {
                Some(b"://") => self.url(text, at),
                Some([b'-', b'-', _]) => self.flag(rules, text, at),
                _ if text.get(at) == Some(&b'-') => None,
                _ => self.assignment(rules, text, at),
            };
            decided = end.unwrap_or(decided);
        }
        decided
    }

    /// `name: value`, `name=value`, `"name": "value"`; returns where the value ends.
    fn assignment(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<usize> {
        let label = self.label(rules, text, at)?;
        if label.name.class == Class::Open {
            if label.name.role == Role::Told {
                let (sentence, _) = quoted(text, at + 1)?;
                self.told(rules, text, sentence);
                return None;
            }
            let name = text.part(label.span);
            return if name.eq_ignore_ascii_case(b"content-disposition") {
                self.form_field(rules, text, at)
            } else {
                None
            };
        }
        let mut start = at + 1;
        let separator = match text.get(at..at + 2) {
            Some(b"==") => Separator::Comparison,
            Some([b'=', _]) => Separator::Equals,
            _ => Separator::Colon,
        };
        while matches!(text.get(start), Some(b'=' | b'>' | b'*')) {
            start += 1;
        }
        if text.get(start) == Some(&b':') {
            return None;
        }
        let unspaced = start;
        start += blanks(text, start);
        if matches!(text.get(start), Some(b'b' | b'f' | b'r' | b'u'))
            && matches!(text.get(start + 1), Some(b'"' | b'\''))
        {
            start += 1;
        }
        if let Some(end) = placeholder_at(text, start) {
            return Some(end);
        }
        // A quote that was opened before the name is closed here: `grep 'password='`.
        let before = label.span.start.checked_sub(1).and_then(|at| text.get(at));
        if label.quotes.is_none()
            && before.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'))
            && text.get(start) == before
        {
            return None;
        }
        if let Some((span, _closed)) = quoted(text, start) {
            return self.quoted_value(rules, text, &label, span);
        }
        if label.quotes.is_some() && matches!(text.get(start), Some(b'{' | b'[')) {
            return self.bracketed(text, &label, start);
        }
        self.bare_value(rules, text, &label, start, separator, start > unspaced)
    }

    fn quoted_value(
        &mut self,
        rules: &Rules,
        text: &[u8],
        label: &Label,
        span: Range<usize>,
    ) -> Option<usize> {
        let value = text.part(span.clone());
        let secret = match label.name.class {
            Class::Secret => !is_described(value),
            _ => is_opaque(value),
        };
        if secret {
            self.named(rules, text, span.clone(), label.name.kind);
            return Some(span.end);
        }
        None
    }

    fn bare_value(
        &mut self,
        rules: &Rules,
        text: &[u8],
        label: &Label,
        start: usize,
        separator: Separator,
        spaced: bool,
    ) -> Option<usize> {
        let kind = label.name.kind;
        let header = label.name.class == Class::Secret && !label.query;
        if header && let Some(end) = header::value(text, kind, label.span.start, start) {
            self.named(rules, text, start..end, kind);
            return Some(end);
        }
        // Without this limit, the end of a value that is not one would be searched for again and
        // again.
        let window = text.part(start..text.len().min(start + 128));
        let name = text.part(label.span.clone());
        let mut around = Around {
            name,
            separator,
            spaced,
            after: b"",
        };
        if label.name.class == Class::Secret && is_no_value(window, &around) {
            return None;
        }
        let text_of = if label.name.class == Class::Weak {
            text.part(..text.len().min(start + 1_024))
        } else {
            text
        };
        let end = unquoted(text_of, start, label.query);
        let value = text.part(start..end);
        around.after = text.part(end..);
        let secret = match label.name.class {
            Class::Secret => is_plausible(value, &around),
            _ => is_opaque(value),
        };
        let number = value
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
        if !secret || number && label.name.numbers_are_data {
            return None;
        }
        self.named(rules, text, start..end, kind);
        Some(end)
    }

    /// An object or array under a quoted secret name in text that is not JSON as a whole.
    fn bracketed(&mut self, text: &[u8], label: &Label, start: usize) -> Option<usize> {
        if label.name.class != Class::Secret {
            return None;
        }
        let rest = text.part(start..);
        if begins_schema(rest) {
            return None;
        }
        let end = start + brackets(rest);
        if text.part(start + 1..end).trim_ascii().len() < 2 {
            return None;
        }
        self.edits.value(
            start..end,
            label.name.kind,
            label.quotes.unwrap_or_default(),
        );
        Some(end)
    }

    /// `--name value` and `"--name", "value"`; returns where the value ends.
    fn flag(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<usize> {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return None;
        }
        let start = at + 2;
        let name = text
            .part(start..)
            .iter()
            .take(LONGEST_LABEL)
            .take_while(|byte| is_name_byte(**byte))
            .count();
        let span = start..start + name;
        let found = self.names.classify(text.part(span.clone()), &rules.custom);
        if found.class != Class::Secret {
            return None;
        }
        let mut value = span.end;
        let quotes = |at: usize| {
            let slashes = value::backslashes(text.part(at..));
            if matches!(text.get(at + slashes), Some(b'"' | b'\'')) {
                slashes + 1
            } else {
                0
            }
        };
        let closing = quotes(value);
        value += closing;
        let comma = closing > 0 && text.get(value) == Some(&b',');
        value += usize::from(comma);
        let spaces = blanks(text, value);
        value += spaces;
        if spaces == 0 && !comma
            || text.get(value) == Some(&b'-')
            || quotes(value) > 0 && text.get(value + quotes(value)) == Some(&b'-')
        {
            return None;
        }
        if let Some(end) = placeholder_at(text, value) {
            return Some(end);
        }
        let label = Label {
            span,
            name: found,
            quotes: None,
            query: false,
        };
        match quoted(text, value) {
            Some((span, _)) => self.quoted_value(rules, text, &label, span),
            None => self.bare_value(rules, text, &label, value, Separator::Colon, true),
        }
    }

    /// The name before a separator at `at`.
    fn label(&mut self, rules: &Rules, text: &[u8], at: usize) -> Option<Label> {
        let before = text.part(..at);
        if before.last() == Some(&b':') || text.get(at + 1) == Some(&b':') {
            return None;
        }
        let spaces = before
            .iter()
            .rev()
            .take(4)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let mut end = at - spaces;
        let mut quotes = None;
        if let Some(b'"' | b'\'' | b'`') = before.part(..end).last() {
            end -= 1;
            let slashes = before
                .part(..end)
                .iter()
                .rev()
                .take(31)
                .take_while(|byte| **byte == b'\\')
                .count();
            end -= slashes;
            quotes = Some(u32::try_from(slashes).unwrap_or_default());
        }
        let head = before.part(..end);
        let length = head
            .iter()
            .rev()
            .take(LONGEST_LABEL)
            .take_while(|byte| is_name_byte(**byte))
            .count();
        let start = end - length;
        let text_of = head.part(start..);
        if length < 2 || !text_of.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        let mut name = self.names.classify(text_of, &rules.custom);
        if quotes.is_none() && name.class != Class::Weak && is_last_of_many(text_of) {
            name = self.phrase(rules, head, start).unwrap_or(name);
        }
        let query = matches!(
            start.checked_sub(1).and_then(|at| text.get(at)),
            Some(b'?' | b'&')
        );
        Some(Label {
            span: start..end,
            name,
            quotes,
            query,
        })
    }

    /// `API key`, `next page token`: the name with the word before it.
    fn phrase(&mut self, rules: &Rules, head: &[u8], start: usize) -> Option<Name> {
        let before = head.part(..start).strip_suffix(b" ")?;
        let length = before
            .iter()
            .rev()
            .take(24)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        if length == 0 {
            return None;
        }
        Some(
            self.names
                .classify(head.part(before.len() - length..), &rules.custom),
        )
    }
}

/// Words whose meaning the word before them decides.
pub(super) fn is_last_of_many(name: &[u8]) -> bool {
    let list: [&[u8]; 8] = [
        b"key", b"keys", b"id", b"string", b"code", b"codes", b"phrase", b"token",
    ];
    list.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$') || byte >= 0x80
}

fn blanks(text: &[u8], at: usize) -> usize {
    let rest = text.part(at..);
    rest.iter()
        .take(64)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// The first opening bracket of JSON at or after `from`.
fn bracket(text: &[u8], from: usize) -> Option<usize> {
    memchr2(b'{', b'[', text.part(from..)).map(|at| from + at)
}

/// Whether the first member of the object at the start of `text` is a word of JSON Schema.
fn begins_schema(text: &[u8]) -> bool {
    let window = text.part(1..64.min(text.len()));
    let first = quoted(window, window.len() - window.trim_ascii_start().len());
    let first = first
        .and_then(|(span, _)| window.get(span))
        .unwrap_or_default();
    SCHEMA_WORDS
        .iter()
        .any(|word| word.as_bytes().eq_ignore_ascii_case(first))
}

/// The length of the bracketed text at the start of `text`; all of it if the brackets do not close.
fn brackets(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string && text.get(at + 1) != Some(&b'"') => at += 1,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    work::read(at);
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    work::read(text.len());
    text.len()
}

/// A longer name is not examined further.
const LONGEST_LABEL: usize = 96;
