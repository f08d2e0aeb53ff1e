//! Pages of `explain`.

use tapewright_compliance::{Basis, Invariant, page};
use tapewright_corpus::migration::Case;

use super::figures;

/// What an invariant requires, why, and examples of sessions that keep and break it.
pub(crate) fn invariant(rule: &Invariant) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&format!("{}  {}", rule.code, rule.category));
    line("");
    for text in wrapped(&format!("{}.", rule.property)) {
        line(&format!("  {text}"));
    }
    line("");
    let facts = [
        ("binding", page::binding(rule.levels)),
        ("over", rule.carriers.words().to_owned()),
        ("at fault", rule.who.name().to_owned()),
        ("judged by", basis(rule.basis).to_owned()),
        ("source", rule.source.to_owned()),
    ];
    for (name, value) in facts {
        line(&format!("  {name:<10} {value}"));
    }
    line("");
    for text in wrapped(rule.why) {
        line(&format!("  {text}"));
    }
    for (title, example) in [("Holds", rule.holds), ("Is broken", rule.breaks)] {
        line("");
        line(&format!("{title}:"));
        for text in example
            .lines()
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            line(&format!("    {text}"));
        }
    }
    line("");
    line(
        "`>` is a message to the server, `<` one to the client; other words are what else happened.",
    );
    out
}

/// What a migration case is about, how it shows, and what to do.
pub(crate) fn case(case: &Case) -> String {
    let mut lines = vec![case.id.to_owned(), String::new()];
    lines.extend(
        wrapped(&format!("{}.", case.summary))
            .iter()
            .map(|text| format!("  {text}")),
    );
    lines.push(String::new());
    for (name, value) in [
        ("before", case.old_contract),
        ("from then", case.new_contract),
        ("shown by", case.detection_signal),
        ("instead", case.replacement),
        ("severity", case.severity.name()),
        ("revision", case.spec_version),
        ("proposal", case.sep),
        ("source", case.doc_link),
    ] {
        for (number, text) in wrapped(value).iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            lines.push(format!("  {name:<10} {text}"));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Message => "the message alone",
        Basis::Exchange => "a request and its answer",
        Basis::Conduit => "what crossed on the same pipe, or in the same HTTP exchange",
        Basis::Sent => "what its sender has sent before in the session",
        Basis::Session => "what both sides have sent in the session",
    }
}

/// The text in lines that fit a terminal.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    figures::wrapped(text, WIDTH)
}

const WIDTH: usize = 88;

#[cfg(test)]
mod tests {
    use tapewright_compliance::table::TABLE;

    #[test]
    fn every_page_has_everything_and_no_line_of_prose_is_long() {
        for rule in TABLE {
            let page = super::invariant(rule);
            for part in ["binding", "source", "Holds:", "Is broken:"] {
                assert!(page.contains(part), "{page}");
            }
        }
        let lines = super::wrapped(&"word ".repeat(100));
        assert!(lines.iter().all(|line| line.len() <= super::WIDTH));
        assert_eq!(lines.join(" "), "word ".repeat(100).trim_end());
    }
}
