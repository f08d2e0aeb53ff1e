//! `tapewright schema`: prints the JSON Schemas of our files.

use clap::Args;
use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::published::{self, Published};

use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Print the JSON Schema of a file format
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Format to print [default: list all formats]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// Prints one schema, or the list.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let Some(name) = &arguments.name else {
        let line = |schema: &Published| format!("{:<17} {}\n", schema.name, schema.what);
        report::out(&published::ALL.iter().map(line).collect::<String>())?;
        return Ok(Exit::Pass);
    };
    let Some(schema) = published::find(name) else {
        let names = || published::ALL.iter().map(|schema| schema.name);
        let all = names()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let hint = did_you_mean(name, names()).unwrap_or_else(|| format!("expected one of {all}"));
        let what = format!("unknown format `{}`", report::safe(name));
        return Err(Mistake::new(what, hint).into());
    };
    report::out(schema.text())?;
    Ok(Exit::Pass)
}

const EXAMPLES: &str = "\
Examples:
  tapewright schema
  tapewright schema suite > suite.schema.json";
