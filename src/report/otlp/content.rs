//! Optional message contents: arguments and results of tools, as they are on the tape.

use tapewright_schemas::json;
use tapewright_schemas::listing::Body;
use tapewright_schemas::slices::Front as _;

use super::span::Attributes;

/// The longest value to export, in bytes; longer ones are cut, as OpenTelemetry cuts long
/// attributes.
const LONGEST: usize = 64 << 10;

/// Adds the arguments and the result of a call.
pub(super) fn content(request: &Body, answer: &Body, attributes: &mut Attributes) {
    let parts = [
        (
            "gen_ai.tool.call.arguments",
            request,
            &["params", "arguments"][..],
        ),
        ("gen_ai.tool.call.result", answer, &["result"]),
    ];
    for (name, body, path) in parts {
        let value = body.text().and_then(|text| json::find(text, path));
        if let Some(value) = value {
            attributes.text(name, cut(&String::from_utf8_lossy(value)));
        }
    }
}

fn cut(text: &str) -> &str {
    text.front(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "é".repeat(LONGEST);
        assert_eq!(cut(&format!("x{long}")).len(), LONGEST - 1);
        assert_eq!(cut(&long).len(), LONGEST);
    }
}
