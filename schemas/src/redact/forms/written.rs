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
            let digits = hex(&unit.to_be_bytes());
            let digits = if upper { digits.to_uppercase() } else { digits };
            out.extend_from_slice(b"\\u");
            out.extend_from_slice(digits.as_bytes());
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

/// A value in URLs and forms, and in a URL that is in a URL.
pub(super) fn percents(value: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for upper in [true, false] {
        for (kept, space) in KEPT {
            let once = percent(value, kept, space, upper);
            let twice = percent(&once, kept, space, upper);
            all.extend([once.into_bytes(), twice.into_bytes()]);
        }
    }
    all
}

/// The characters that are not escaped, and how a space is written: in components of URLs (WHATWG
/// URL), in parts of URIs (RFC 3986), the same with slashes as in Python, and in forms.
const KEPT: [(&[u8], &str); 4] = [
    (b"-_.!~*'()", "%20"),
    (b"-_.~", "%20"),
    (b"-_.~/", "%20"),
    (b"*-._", "+"),
];

fn percent(value: &str, kept: &[u8], space: &str, upper: bool) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        match byte {
            b' ' => out.push_str(space),
            _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => out.push(byte.into()),
            _ => {
                let digits = hex(&[byte]);
                out.push('%');
                out.push_str(&if upper { digits.to_uppercase() } else { digits });
            }
        }
    }
    out
}

pub(in crate::redact) fn hex(value: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    let halves = value.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(digit).collect()
}
