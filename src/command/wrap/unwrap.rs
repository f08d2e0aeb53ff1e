//! `tapewright unwrap`: restores a client's original configuration.

use clap::Args;

use crate::exit::Exit;
use crate::report;
use crate::report::wrap::{self as words, ServerOutcome};

use super::EntrySelection;
use super::changed::{self, Changed};
use super::files::ClientFile;
use super::secrets::Masked;
use super::store::Store;
use tapewright_schemas::order::Order as _;

/// Remove the recorder from a client's configuration
///
/// Restores the original values byte for byte, whatever else has changed in the file.
/// Refuses entries whose own values have changed since. With `--all`, also deletes
/// what was stored for entries that are no longer in the file.
#[derive(Debug, Args)]
#[command(name = "unwrap", after_long_help = EXAMPLES)]
pub(crate) struct UnwrapArguments {
    #[command(flatten)]
    which: EntrySelection,
}

const EXAMPLES: &str = "\
Examples:
  tapewright unwrap --all --client cursor --dry-run
  tapewright unwrap --all --client cursor";

/// Unwraps.
pub(crate) fn run(arguments: &UnwrapArguments) -> anyhow::Result<Exit> {
    let which = &arguments.which;
    let (client, files) = which.files()?;
    let mut met = Vec::new();
    for file in &files {
        met.extend(file.names()?);
    }
    which.check(&met)?;
    let mut said = Vec::new();
    let mut changed = Vec::new();
    for file in files {
        changed.extend(restore(which, file, &mut said)?);
    }
    let changed = Changed::combined(changed);
    for change in &changed {
        if which.dry_run {
            report::out(&change.diff())?;
        } else {
            change.carry_out()?;
        }
    }
    report::out(&words::told(&said))?;
    if !which.dry_run && changed.iter().any(Changed::has_edits) {
        report::out(&changed::notes(client, &changed))?;
    }
    Ok(words::exit(&said))
}

fn restore(
    which: &EntrySelection,
    file: ClientFile,
    said: &mut Vec<ServerOutcome>,
) -> anyhow::Result<Option<Changed>> {
    let document = file.document()?;
    let mut store = Store::of(&file)?;
    let mut edits = Vec::new();
    let mut shown = Masked::default();
    for server in document.servers() {
        let name = server.name;
        if which.meant(std::slice::from_ref(&name)).is_empty() {
            continue;
        }
        let is_recorder = server.transport.is_recorder();
        let Some(kept) = store.kept(&name) else {
            if is_recorder || !which.all {
                said.push(ServerOutcome::unknown(&file, &name, is_recorder));
            }
            continue;
        };
        match document.unwrap(kept) {
            Ok(restored) => {
                edits.extend(restored.edits);
                shown.learn(&server.transport);
                store.forget(&name);
                said.push(ServerOutcome::unwrapped(&file, &name, which.dry_run));
            }
            Err(why) => {
                let backup = store.backup();
                said.push(ServerOutcome::refused(&file, &name, &why.into()).with_backup(backup));
            }
        }
    }
    let gone = if which.all {
        store.without(&file.names()?)
    } else {
        Vec::new()
    };
    for name in &gone {
        store.forget(name);
        said.push(ServerOutcome::gone(&file, name, which.dry_run));
    }
    edits.order_by_key(|edit| edit.range.start);
    let hidden = document.hidden();
    drop(document);
    let has_changed = !edits.is_empty() || !gone.is_empty();
    Ok(has_changed.then(|| Changed::new(file, store, edits, hidden, shown)))
}
