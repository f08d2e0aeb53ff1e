//! Sources for `watch`: tapes that grow or have ended, cassettes and captures, folders of them, and
//! the control of a recorder.

mod bodies;
mod control;
mod files;
mod opening;
mod row;
mod tape;
mod told;

use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};

use self::bodies::Bodies;
use super::run::Input;
use crate::command::control::Remote;

pub(super) use self::bodies::{Reading, serve};
pub(super) use self::control::{Asked, Asker};

/// A source.
pub(crate) enum Source {
    /// Files, and a folder in which more may appear.
    Files {
        /// The files.
        files: Vec<PathBuf>,
        /// The folder, if one was given.
        folder: Option<PathBuf>,
    },
    /// A running recorder whose tape, if any, cannot be read from here.
    Control {
        /// The recorder.
        remote: Arc<Remote>,
        /// Its address.
        address: String,
    },
}

/// The tapes by their numbers, to be read again.
pub(super) type Library = Arc<Mutex<Vec<Arc<Bodies>>>>;

/// The connection to the view.
pub(super) struct Watcher {
    send: SyncSender<Input>,
}

impl Watcher {
    /// Sends an update. Returns whether the view is still open.
    fn tell(&self, told: super::SourceUpdate) -> bool {
        self.send.send(Input::Told(Box::new(told))).is_ok()
    }
}

/// Reads a source on a separate thread, until the view is closed or nothing more can come.
pub(super) fn start(
    source: Source,
    send: SyncSender<Input>,
    library: Library,
) -> std::io::Result<()> {
    let watcher = Watcher { send };
    let thread = std::thread::Builder::new().name("source".to_owned());
    thread.spawn(move || match source {
        Source::Files { files, folder } => {
            files::follow(&files, folder.as_deref(), &watcher, &library);
        }
        Source::Control { remote, address } => {
            control::follow(&remote, &address, &watcher, &library);
        }
    })?;
    Ok(())
}

/// The name of a file, for people.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
