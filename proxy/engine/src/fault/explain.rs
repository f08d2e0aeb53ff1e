//! Formats the table of kinds as text, for help and documents.

use std::fmt::Write as _;

use super::kinds::{ALL, FaultTarget, Kind, Legality, Parameter, TransportSupport, Unit};

impl Kind {
    /// A description, whether the protocol allows it, its parameters and an example, as Markdown
    /// without a heading.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = capital(self.does);
        text.push_str(".\n\n");
        let legal = match self.legal {
            Legality::Forbidden(why) => format!("Against the protocol: {why}."),
            Legality::Yes(why) => format!("Allowed by the protocol: {why}."),
        };
        text.push_str(&legal);
        text.push_str(match self.on {
            FaultTarget::Answer => " Acts on the answer",
            FaultTarget::Request => " Acts on the request",
        });
        text.push_str(match self.reach {
            TransportSupport::Any => ", over standard streams and HTTP.\n",
            TransportSupport::Http => ", over HTTP.\n",
            TransportSupport::Stdio => ", over standard streams.\n",
        });
        if !self.parameters.is_empty() {
            text.push_str("\n| parameter | what it says | values | default |\n|---|---|---|---|\n");
        }
        for one in self.parameters {
            let Parameter { name, does, .. } = one;
            let default = one
                .default
                .map_or("required".to_owned(), |text| format!("`{text}`"));
            // Writing to a string cannot fail.
            writeln!(
                text,
                "| `{name}` | {does} | {} | {default} |",
                one.unit.told()
            )
            .ok();
        }
        writeln!(text, "\n```\n--fault '{}'\n```", quoted(self.example)).ok();
        text
    }
}

impl Unit {
    fn told(self) -> String {
        match self {
            Self::Count { of, least, most } => {
                format!("{least} to {most} {of}").trim_end().to_owned()
            }
            Self::Integer => "a whole number".to_owned(),
            Self::Json => "a JSON value".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Words(words) => words.join(", "),
        }
    }
}

/// All kinds, one section each.
#[must_use]
pub fn page() -> String {
    let mut page = String::new();
    for kind in ALL {
        writeln!(page, "### {}\n\n{}", kind.name, kind.explain()).ok();
    }
    page
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// For use between single quotes in a shell.
fn quoted(text: &str) -> String {
    text.replace('\'', "\"")
}
