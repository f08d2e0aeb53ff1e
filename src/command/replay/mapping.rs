//! The options for recorded paths that are different here.

use clap::Args;
use tapewright_replay::{PathMaps, Script};

use crate::files::agent::ModelSide;
use crate::here;
use crate::report::Mistake;

/// The path mappings, shared by `replay` and `record --mode`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Paths")]
pub(crate) struct Mapping {
    /// Replace paths below FROM in the recording by TO; repeatable
    #[arg(hide_short_help = true, long, value_name = "FROM=TO")]
    map: Vec<String>,
    /// Do not map the recorder's working and home folders to yours
    #[arg(hide_short_help = true, long)]
    no_learned_map: bool,
}

impl Mapping {
    /// The mappings for a recording: those of the options, and those learned from the recording.
    pub(crate) fn paths(&self, script: &Script) -> anyhow::Result<PathMaps> {
        let mut maps = PathMaps::new(&self.map).map_err(|error| {
            let hint = "write it like `--map /home/ann/project=/home/bob/project`: the recorded folder, then yours";
            anyhow::Error::new(error).context(Mistake::new("invalid `--map`", hint))
        })?;
        if !self.no_learned_map {
            maps.learn(script, &here::here());
        }
        Ok(maps)
    }

    /// Learns from the recorded model calls where the recording was made.
    pub(super) fn learn(&self, side: &ModelSide, paths: &mut PathMaps) {
        if self.no_learned_map {
            return;
        }
        let bodies = side.exchanges.iter().map(|exchange| &*exchange.body);
        paths.learn_in(&side.header.made_in, bodies, &here::here());
    }

    /// Whether an option was given.
    pub(crate) fn is_asked(&self) -> bool {
        self.no_learned_map || !self.map.is_empty()
    }
}
