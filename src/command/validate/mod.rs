//! `tapewright validate`: finds mistakes in a suite without running it.

mod cassettes;

use std::path::PathBuf;

use clap::Args;
use tapewright_config::Loaded;

use super::variables::Variables;
use crate::exit::Exit;
use crate::files::suites;
use crate::report;
use crate::report::formats::{Format, Reportable as _};
use crate::report::issues::Issues;
use crate::suite::plan::{self, Plan};

/// Check suites without running them
///
/// Checks keys, types, patterns, names, imports, variables and cassettes, and shows the
/// line of every mistake. Connects to nothing.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Suites, or folders of them
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    variables: Variables,
}

impl Arguments {
    /// The format of the report.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Checks every suite. The exit status is 2 if one cannot be used.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut results = Vec::new();
    for path in suites(&arguments.suites)? {
        let mut loaded = arguments.variables.load(&path);
        check(&mut loaded, true);
        results.push((path.display().to_string(), loaded));
    }
    report::out(&Issues(&results).text(arguments.format())?)?;
    let all_valid = results.iter().all(|(_, loaded)| loaded.is_valid());
    Ok(if all_valid {
        Exit::Pass
    } else {
        Exit::Unusable
    })
}

/// Compiles a suite, and notes mistakes that loading does not find: in patterns, schemas,
/// expressions and targets, and in recordings that are `served`. Returns the plan if the suite can be
/// used.
pub(crate) fn check(loaded: &mut Loaded, served: bool) -> Option<Plan> {
    let suite = loaded.suite.as_ref()?;
    let (plan, mut found) = plan::build(suite);
    if served {
        found.extend(cassettes::check(suite));
    }
    loaded.add(found);
    plan.filter(|_| loaded.is_valid())
}

const EXAMPLES: &str = "\
Examples:
  tapewright validate suites/*.yaml
  tapewright validate --format github --var API_TOKEN=none suite.yaml";
