//! What `--mode new-episodes` adds to a cassette.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Recorder, Target};
use tapewright_schemas::cassette;

use super::way::Way;
use super::{Arguments, settings};
use crate::files::NewFile;
use crate::report::{self, Mistake};

/// A recording of what the live server is asked, in a folder of its own beside the
/// cassette until it is added. After a crash its tape is there.
pub(super) struct NewEpisodes {
    recorder: Arc<Recorder>,
    folder: PathBuf,
}

impl NewEpisodes {
    /// Begins to record.
    pub(super) fn start(
        path: &Path,
        arguments: &Arguments,
        way: &Way<'_>,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
        let shown = report::safe(&folder.display().to_string());
        fs::create_dir(&folder).with_context(|| {
            let hint = "name a cassette in a folder that this user may write";
            Mistake::new(format!("the folder `{shown}` could not be made"), hint)
        })?;
        let label = arguments.label.clone().unwrap_or_else(|| way.label());
        let target = Target::cassette(&folder.join("new.json"));
        let settings = settings(arguments, way, &label, clock, target, None)?;
        let recorder = Recorder::start(settings, clock);
        let recorder = Arc::new(recorder.context("the recorder could not be started")?);
        Ok(Self { recorder, folder })
    }

    pub(super) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Adds what was recorded to the cassette as it is now: by a new file that takes its
    /// name. False when something of it is missing; then the recording is left where it
    /// is, and that is said.
    pub(super) fn finish(self, path: &Path, asked: u64, verbose: bool) -> anyhow::Result<bool> {
        if asked == 0 {
            self.recorder.abandon();
            self.clean_up();
            return Ok(true);
        }
        let finished = self.recorder.finish();
        let shown = report::safe(&self.folder.display().to_string());
        let (Some(new), true) = (&finished.cassette, finished.is_whole()) else {
            report::note(&format!(
                "nothing was added: the recording in {shown} is not whole"
            ));
            return Ok(false);
        };
        let add = || -> anyhow::Result<()> {
            let (old, new) = (fs::read(path)?, fs::read(new)?);
            let merged = cassette::merge(&old, &new).context("it is no cassette any more")?;
            let permissions = fs::metadata(path).ok().map(|data| data.permissions());
            let mut file = NewFile::create(path)?;
            file.writer().write_all(&merged)?;
            file.commit(permissions)
        };
        add().with_context(|| {
            let what = format!(
                "what is new could not be added to `{}`",
                report::safe(&path.display().to_string())
            );
            Mistake::new(what, format!("it is kept in `{shown}`"))
        })?;
        if verbose {
            let requests = if asked == 1 { "request" } else { "requests" };
            report::note(&format!(
                "added {asked} new {requests} to {}",
                report::safe(&path.display().to_string())
            ));
        }
        self.clean_up();
        Ok(true)
    }

    fn clean_up(&self) {
        // Nothing but our own files is in it.
        fs::remove_dir_all(&self.folder).ok();
    }
}
