//! Placeholders that recorders write in place of a secret.
//!
//! Those of tapewright and the documented provider names are in angle brackets,
//! `<REDACTED:token#2>` and `<OPENAI_API_KEY>`; other tools write `[REDACTED:length=40]` and
//! similar, and treat more text as secret than tapewright. Theirs therefore match any text that
//! fits them.

use std::borrow::Cow;
use std::ops::Range;

use crate::slices::Part as _;

/// One placeholder in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its position.
    pub range: Range<usize>,
    /// The tool that wrote it.
    pub style: Style,
}

/// Whose rules made a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `<REDACTED:env#1>`: the value of an environment variable. Without the variable the text
    /// cannot be recognized again, so it matches any text.
    Environment,
    /// Any other `<REDACTED:…>`.
    Ours,
    /// `[REDACTED:…]`.
    Others,
    /// `<OPENAI_API_KEY>`, by the number of its provider.
    Provider(usize),
}

/// Documented placeholders, and how the values begin that they replace.
const PROVIDERS: [(&str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "sk-ant-"),
    ("OPENAI_API_KEY", "sk-"),
    ("GOOGLE_API_KEY", "AIzaSy"),
];

/// Beginnings of the values that other tools call `token`.
const TOKENS: [&str; 8] = [
    "sk-", "pk-", "ghp_", "gho_", "ghs_", "xoxb-", "xoxp-", "eyJ",
];

/// No placeholder is longer.
const LONGEST: usize = 96;

/// Whether a text may contain a placeholder.
#[must_use]
pub fn is_likely(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"REDACTED").is_some()
        || memchr::memmem::find(text, b"_API_KEY").is_some()
}

/// The placeholders of a text, in order.
#[must_use]
pub fn find(text: &[u8]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for start in memchr::memchr2_iter(b'<', b'[', text) {
        if found.last().is_some_and(|last| last.range.end > start) {
            continue;
        }
        let rest = text.part(start..);
        if let Some((length, style)) = at_start(rest) {
            found.push(Found {
                range: start..start + length,
                style,
            });
        }
    }
    found
}

fn at_start(text: &[u8]) -> Option<(usize, Style)> {
    let (open, rest) = text.split_first()?;
    let close = if *open == b'<' { b'>' } else { b']' };
    let window = rest.part(..LONGEST.min(rest.len()));
    let inner = window.part(..memchr::memchr(close, window)?);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:#=.".contains(byte);
    if !inner.iter().all(plain) {
        return None;
    }
    let name = inner.split(|byte| *byte == b'#').next().unwrap_or(inner);
    let provider = PROVIDERS
        .iter()
        .position(|(known, _)| known.as_bytes() == name);
    let style = match (open, provider) {
        (b'<', Some(provider)) => Style::Provider(provider),
        (b'<', None) if name == b"REDACTED:env" => Style::Environment,
        (b'<', None) if inner.starts_with(b"REDACTED") => Style::Ours,
        (b'[', _) if inner.starts_with(b"REDACTED") => Style::Others,
        _ => return None,
    };
    Some((inner.len() + 2, style))
}

/// Whether a text contains placeholders that match any text that fits them.
#[must_use]
pub fn is_pattern(text: &[u8]) -> bool {
    is_likely(text) && find(text).iter().any(|one| one.style != Style::Ours)
}

/// A text with every placeholder of tapewright and of a provider replaced by one mark, regardless
/// of its number.
#[must_use]
pub fn generic(text: &[u8]) -> Cow<'_, [u8]> {
    if !is_likely(text) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for one in find(text) {
        if one.style != Style::Others {
            out.extend_from_slice(text.part(at..one.range.start));
            out.extend_from_slice(b"<REDACTED>");
            at = one.range.end;
        }
    }
    out.extend_from_slice(text.part(at..));
    Cow::Owned(out)
}

/// Whether the placeholders of a recorded text match the contents of `live` in their places.
#[must_use]
pub fn fits(recorded: &[u8], live: &[u8]) -> bool {
    recorded == live || captures(recorded, live).is_some()
}

/// The placeholders of a recorded text, in order, each with the contents of `live` in its place;
/// `None` if they do not match it.
#[must_use]
pub fn captures<'t>(recorded: &'t [u8], live: &'t [u8]) -> Option<Vec<(&'t [u8], &'t [u8])>> {
    let found = find(recorded);
    let text = |one: &Found| recorded.part(one.range.clone());
    if recorded == live {
        return Some(found.iter().map(|one| (text(one), text(one))).collect());
    }
    if let [one] = found.as_slice()
        && one.range == (0..recorded.len())
    {
        let stands = one.stands_for(recorded, live);
        return stands.then(|| vec![(recorded, live)]);
    }
    let mut rest = live.strip_prefix(recorded.part(..found.first()?.range.start))?;
    let mut pairs = Vec::with_capacity(found.len());
    for (number, one) in found.iter().enumerate() {
        let next = found.get(number + 1).map(|next| next.range.start);
        let literal = recorded.part(one.range.end..next.unwrap_or(recorded.len()));
        // A placeholder matches at least one byte.
        let after = rest.get(1..)?;
        let length = 1 + match next {
            Some(_) => memchr::memmem::find(after, literal)?,
            None => after.strip_suffix(literal)?.len(),
        };
        pairs.push((text(one), rest.part(..length)));
        rest = rest.part(length + literal.len()..);
    }
    Some(pairs)
}

impl Found {
    fn stands_for(&self, recorded: &[u8], live: &[u8]) -> bool {
        if live.is_empty() {
            return false;
        }
        match self.style {
            Style::Environment => true,
            Style::Ours => find(live).iter().any(|one| one.range == (0..live.len())),
            Style::Provider(provider) => PROVIDERS
                .get(provider)
                .is_some_and(|(_, prefix)| live.starts_with(prefix.as_bytes())),
            Style::Others => {
                let inner = recorded.part(self.range.start + 1..self.range.end - 1);
                let detail = inner.strip_prefix(b"REDACTED:");
                let detail = detail
                    .and_then(|detail| std::str::from_utf8(detail).ok())
                    .unwrap_or_default();
                if detail == "token" {
                    return TOKENS.iter().any(|one| live.starts_with(one.as_bytes()));
                }
                match detail.strip_prefix("length=") {
                    Some(length) => length.parse() == Ok(live.len()),
                    None => true,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_text() {
        let text = b"a <REDACTED:jwt#1> [REDACTED:length=4] <OPENAI_API_KEY#2> <b> [REDACTED no] <REDACTED:env#7> <REDACTED:envoy#1>";
        let styles: Vec<_> = find(text).into_iter().map(|one| one.style).collect();
        let provider = Style::Provider(1);
        assert_eq!(
            styles,
            [
                Style::Ours,
                Style::Others,
                provider,
                Style::Environment,
                Style::Ours
            ]
        );
    }

    #[test]
    fn what_stands_in_each_place_is_told() {
        let recorded = b"https://<REDACTED:env#1>:<REDACTED:env#2>@host/-<REDACTED:env#1>-";
        let found = captures(recorded, b"https://ann:pw@host/--x--").unwrap();
        let live: Vec<_> = found.iter().map(|pair| pair.1).collect();
        assert_eq!(live, [b"ann".as_slice(), b"pw", b"-x-"]);
        assert_eq!(found[0].0, b"<REDACTED:env#1>");
        assert_eq!(captures(recorded, b"https://ann:pw@other/-x-"), None);
        assert_eq!(captures(recorded, b"https://ann:pw@host/--"), None);
    }

    #[test]
    fn other_tools_placeholders_fit_what_they_hid() {
        let cases = [
            ("[REDACTED:length=4]", "abcd", true),
            ("[REDACTED:length=4]", "abc", false),
            ("[REDACTED:hint=api_key]", "x", true),
            ("[REDACTED:hint=api_key]", "", false),
            ("[REDACTED:token]", "ghp_abc", true),
            ("[REDACTED:token]", "abc", false),
            ("Bearer [REDACTED:secret]!", "Bearer abc!", true),
            ("Bearer [REDACTED:secret]!", "Bearer !", false),
            ("Basic [REDACTED:secret]", "Bearer abc", false),
            ("[REDACTED:secret]-[REDACTED:secret]", "a-b", true),
            ("[REDACTED:secret]-[REDACTED:secret]", "ab", false),
            ("<ANTHROPIC_API_KEY>", "sk-ant-1", true),
            ("ta<OPENAI_API_KEY>", "task-force", true),
            ("<ANTHROPIC_API_KEY>", "sk-1", false),
            ("<REDACTED:env#1>", "abc", true),
            ("Bearer <REDACTED:env#1>", "Bearer abc", true),
            ("Bearer <REDACTED:env#1>", "Bearer ", false),
            ("<REDACTED:token#1>", "abc", false),
            ("<REDACTED:token#1>", "<REDACTED:password#4>", true),
            ("abc", "abc", true),
            ("abc", "abd", false),
        ];
        for (recorded, live, expected) in cases {
            assert_eq!(
                fits(recorded.as_bytes(), live.as_bytes()),
                expected,
                "{recorded} {live}"
            );
        }
    }
}
