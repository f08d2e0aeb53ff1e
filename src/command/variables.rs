//! The options that give values to the variables of a suite, shared by the commands that
//! read suites.

use std::path::{Path, PathBuf};

use clap::Args;
use tapewright_config::{EnvFiles, Environment, Loaded};

use crate::files::Disk;

/// Where the variables of a suite get their values.
#[derive(Debug, Args)]
#[command(next_help_heading = "Variables")]
pub(crate) struct Variables {
    /// Set a variable; overrides every other source; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    var: Vec<Pair>,
    /// Read variables from this file instead of `.env` next to the suite
    ///
    /// Repeatable; later files override earlier ones.
    #[arg(long, value_name = "FILE", conflicts_with = "no_env_file")]
    env_file: Vec<PathBuf>,
    /// Do not read `.env`
    #[arg(hide_short_help = true, long)]
    no_env_file: bool,
}

/// A name and its value, which may be a secret.
#[derive(Clone)]
struct Pair(String, String);

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pair").field(&self.0).finish_non_exhaustive()
    }
}

impl Variables {
    /// Whether no option was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.var.is_empty() && self.env_file.is_empty() && !self.no_env_file
    }

    /// Loads a suite with these variables and those of our environment.
    pub(crate) fn load(&self, suite: &Path) -> Loaded {
        let env_files = if self.no_env_file {
            EnvFiles::None
        } else if self.env_file.is_empty() {
            EnvFiles::Beside
        } else {
            EnvFiles::Named(self.env_file.clone())
        };
        tapewright_config::load(suite, &Disk, &self.environment(), &env_files)
    }

    fn environment(&self) -> Environment {
        let process = std::env::vars_os();
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let given = self
            .var
            .iter()
            .map(|Pair(name, value)| (name.clone(), value.clone()));
        Environment::new(given.collect(), process.filter_map(text).collect())
    }
}

fn pair(text: &str) -> Result<Pair, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Pair(name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
