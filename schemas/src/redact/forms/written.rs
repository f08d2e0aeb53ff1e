//! How programs write a value in JSON, in HTML, in URLs and forms, and in hex. Programs differ.

use crate::json::escape;

/// A value in the strings of JSON.
pub(super) fn json(value: &str) -> Vec<Vec<u8>> {
    let wide = |char: char| !char.is_ascii();
    // Go: safe in HTML. .NET: safe in HTML, in capitals, and wide characters as well.
    let go = |char| matches!(char, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    let dot_net = |char| wide(char) || matches!(char, '"' | '&' | '\'' | '+' | '<' | '>' | '`');
    let python = escaped(value, wide, false);
    let slashes = |text: &[u8]| String::from_utf8_lossy(text).replace('/', "\\/").into();
    vec![
        escaped(value, |_| false, false),
        escaped(value, go, false),
        escaped(value, dot_net, true),
        // PHP.
        slashes(&python),
        python,
    ]
}

/// A value in a string of JSON, where some characters are written as numbers.
fn escaped(value: &str, numbered: impl Fn(char) -> bool, upper: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for char in value.chars() {
        if !numbered(char) {
            escape(char.encode_utf8(&mut [0; 4]), &mut out);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            out.extend_from_slice(b"\\u");
            push_hex(&unit.to_be_bytes(), upper, &mut out);
        }
    }
    out
}

/// A value in the text and in the attributes of HTML and XML.
pub(super) fn html(value: &str) -> impl Iterator<Item = Vec<u8>> {
    let quotes = [
        ("\"", "'"),
        ("&quot;", "'"),
        ("&quot;", "&apos;"),
        ("&quot;", "&#39;"),
        ("&quot;", "&#039;"),
        ("&quot;", "&#x27;"),
        ("&#34;", "&#39;"),
    ];
    let text = value.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;");
    quotes.into_iter().map(move |(double, single)| {
        let text = text.replace('"', double).replace('\'', single);
        text.into_bytes()
    })
}

/// Calls `each` with a value in URLs and forms, and in a URL that is in a URL, where it differs from
/// the value.
pub(super) fn each_percent(value: &str, mut each: impl FnMut(&[u8])) {
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    let signs = signs(value);
    let mut known = Vec::with_capacity(KEPT.len());
    for (kept, space) in KEPT {
        // Most values contain few signs, so that most programs write them alike.
        let signs = signs.iter().copied();
        let escaped: Vec<u8> = signs.filter(|sign| !kept.contains(sign)).collect();
        let space_here = if escaped.contains(&b' ') { space } else { "" };
        let style = (escaped, space_here);
        let (escaped, _) = &style;
        if escaped.is_empty() || known.contains(&style) {
            continue;
        }
        for upper in [true, false] {
            once.clear();
            percent(value.as_bytes(), kept, space, upper, &mut once);
            twice.clear();
            percent(&once, kept, space, upper, &mut twice);
            each(&once);
            each(&twice);
        }
        known.push(style);
    }
}

/// The different bytes of a value that some program escapes.
fn signs(value: &str) -> Vec<u8> {
    let mut signs = Vec::new();
    for byte in value.bytes() {
        if !byte.is_ascii_alphanumeric() && !signs.contains(&byte) {
            signs.push(byte);
        }
    }
    signs
}

/// The characters that are not escaped, and how a space is written: in components of URLs (WHATWG
/// URL), in parts of URIs (RFC 3986), the same with slashes as in Python, and in forms.
const KEPT: [(&[u8], &str); 4] = [
    (b"-_.!~*'()", "%20"),
    (b"-_.~", "%20"),
    (b"-_.~/", "%20"),
    (b"*-._", "+"),
];

fn percent(value: &[u8], kept: &[u8], space: &str, upper: bool, out: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b' ' => out.extend_from_slice(space.as_bytes()),
            _ if byte.is_ascii_alphanumeric() || kept.contains(byte) => out.push(*byte),
            _ => {
                out.push(b'%');
                push_hex(&[*byte], upper, out);
            }
        }
    }
}

#[cfg(test)]
pub(in crate::redact) fn hex(value: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let halves = value.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(digit).collect()
}

/// Appends a value in hex.
pub(super) fn push_hex(value: &[u8], upper: bool, out: &mut Vec<u8>) {
    let ten = if upper { b'A' } else { b'a' };
    let digit = |half: u8| match half {
        0..=9 => b'0' + half,
        _ => ten + half - 10,
    };
    out.reserve(2 * value.len());
    for byte in value {
        out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
}

/// Whether no program writes a value differently in JSON.
pub(super) fn is_same_in_json(value: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\"\\/<>&'+`".contains(&byte);
    value.bytes().all(plain)
}

/// Whether no program writes a value differently in HTML.
pub(super) fn is_same_in_html(value: &str) -> bool {
    !value.bytes().any(|byte| b"&<>\"'".contains(&byte))
}

/// Like [`each_percent`], with the value itself and equal texts.
#[cfg(test)]
pub(super) fn each_percent_plainly(value: &str, mut each: impl FnMut(Vec<u8>)) {
    for upper in [true, false] {
        for (kept, space) in KEPT {
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            percent(value.as_bytes(), kept, space, upper, &mut once);
            percent(&once, kept, space, upper, &mut twice);
            each(once);
            each(twice);
        }
    }
}
