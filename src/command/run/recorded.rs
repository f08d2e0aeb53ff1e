//! Which cassettes `--record` writes: each by one suite only.

use std::collections::HashMap;
use std::path::PathBuf;

use tapewright_config::suite::server::Target;

use super::one::Run;
use crate::report::{self, Mistake};

/// Refuses two suites that would record a server to the same cassette: the second one would replace
/// the recording of the first.
pub(super) fn check(
    folder: Option<&PathBuf>,
    loaded: &[Run],
    chosen: &[Vec<usize>],
) -> anyhow::Result<()> {
    let mut taken: HashMap<(PathBuf, String), &Run> = HashMap::new();
    for (one, chosen) in loaded.iter().zip(chosen) {
        let folder = folder.cloned().unwrap_or_else(|| one.0.cassettes());
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        let cases = chosen
            .iter()
            .filter_map(|number| one.0.plan.cases.get(*number));
        let mut names: Vec<&str> = cases.flat_map(|case| case.servers()).collect();
        names.sort_unstable();
        names.dedup();
        let servers = one.0.suite.servers.iter().filter(|server| {
            names.contains(&server.name.as_str()) && !matches!(server.target, Target::Cassette(_))
        });
        for server in servers {
            let place = (folder.clone(), server.name.clone());
            let Some(other) = taken.insert(place, one) else {
                continue;
            };
            let shown = |run: &Run| report::safe(&run.0.path.display().to_string());
            let what = format!(
                "`{}` and `{}` would record the server `{}` to the same cassette",
                shown(other),
                shown(one),
                report::safe(&server.name)
            );
            let hint = "run them one by one, each with its own `--record=FOLDER`";
            return Err(Mistake::new(what, hint).into());
        }
    }
    Ok(())
}
