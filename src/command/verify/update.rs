//! Updates a cassette.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use tapewright_replay::Script;
use tapewright_replay::verify::Findings;

use crate::files::NewFile;
use crate::report::{self, Mistake};

/// Refuses to change files in CI, where the changes would go unseen.
pub(super) fn allowed(everywhere: bool) -> anyhow::Result<()> {
    let is_ci = std::env::var("CI").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    if is_ci && !everywhere {
        return Err(Mistake::new(
            "`--update` is refused when the variable `CI` is true",
            "update it on your machine and commit it, or add `--allow-update-in-ci`",
        )
        .into());
    }
    Ok(())
}

/// Refuses what cannot be updated, before anything is sent.
pub(super) fn check(script: &Script, path: &Path) -> anyhow::Result<()> {
    script.check_update().map_err(|error| {
        let what = format!(
            "cannot update `{}`: {error}",
            report::safe(&path.display().to_string())
        );
        let hint = "convert it with `tapewright export TAPE --as cassette -o FILE`";
        Mistake::new(what, hint).into()
    })
}

/// Replaces the cassette by one with the live answers.
pub(super) fn write(findings: &Findings, script: &Script, path: &Path) -> anyhow::Result<()> {
    let text = findings.updated(script)?;
    let permissions = fs::metadata(path).ok().map(|data| data.permissions());
    let mut file = NewFile::create(path)?;
    file.writer().write_all(&text)?;
    file.commit(permissions)?;
    let count = findings.replaced();
    let answers = if count == 1 { "answer" } else { "answers" };
    report::note(&format!(
        "replaced {count} {answers} in {}",
        report::safe(&path.display().to_string())
    ));
    Ok(())
}
