//! `tapewright explain`: explains the codes that the program prints.

mod answers;
mod corpus;
mod doctor;
mod families;
mod faults;
mod invariants;
mod suites;

use clap::Args;
use tapewright_schemas::near::did_you_mean;

use self::families::FAMILIES;
use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Explain a code that tapewright prints
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Code to explain, in upper or lower case [default: list all codes]
    #[arg(allow_negative_numbers = true)]
    code: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright explain INV-012
  tapewright explain PROTO-002
  tapewright explain roots-deprecated
  tapewright explain fault:hang
  tapewright explain -32020
  tapewright explain unknown-key
  tapewright explain";

/// Prints the page of a code, or the list of all.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let Some(word) = &arguments.code else {
        report::out(&list())?;
        return Ok(Exit::Pass);
    };
    report::out(&page(word)?)?;
    Ok(Exit::Pass)
}

/// The page of a code.
pub(crate) fn page(word: &str) -> Result<String, Mistake> {
    let page = FAMILIES.iter().find_map(|family| (family.page)(word));
    page.ok_or_else(|| unknown(word))
}

/// Every code, with one line about it.
pub(crate) fn codes() -> impl Iterator<Item = (String, String)> {
    FAMILIES.iter().flat_map(|family| (family.list)())
}

fn list() -> String {
    let mut out = String::new();
    for family in FAMILIES {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(family.title);
        out.push_str("\n\n");
        for (name, words) in (family.list)() {
            out.extend(["  ", &name, "  ", &words, "\n"]);
        }
    }
    out
}

fn unknown(word: &str) -> Mistake {
    let shown = report::safe(word);
    let names: Vec<String> = codes().map(|(name, _)| name).collect();
    let hint = did_you_mean(word.trim(), names.iter().map(String::as_str));
    Mistake::new(
        format!("unknown code `{shown}`"),
        hint.unwrap_or_else(|| "list all codes with `tapewright explain`".to_owned()),
    )
}
