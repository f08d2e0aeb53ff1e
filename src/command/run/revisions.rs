//! The protocol revisions to run a suite with.

use tapewright_config::Suite;
use tapewright_config::suite::settings::TARGET_VERSIONS;

use crate::report::Mistake;

/// The revisions of the suite, or the given one. `None` leaves the choice to server and client.
pub(super) fn effective(suite: &Suite, asked: Option<&str>) -> anyhow::Result<Vec<String>> {
    let listed = &suite.target_versions;
    let Some(asked) = asked else {
        return Ok(listed.iter().map(|one| (*one).to_owned()).collect());
    };
    if !TARGET_VERSIONS.contains(&asked) {
        let what = format!("unknown revision `--spec-version {asked}`");
        let hint = format!("the revisions are {}", TARGET_VERSIONS.join(", "));
        return Err(Mistake::new(what, hint).into());
    }
    if !listed.is_empty() && !listed.contains(&asked) {
        let what = format!("{asked} is not in the suite's `target_versions`");
        let hint = format!("it lists {}", listed.join(", "));
        return Err(Mistake::new(what, hint).into());
    }
    Ok(vec![asked.to_owned()])
}
