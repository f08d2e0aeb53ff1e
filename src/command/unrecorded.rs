//! A run without a recording, and the outputs that show or report it anyway.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Durability, Finished, Recorder, Settings, Target, WhenFull};
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use super::behind::Behind;
use super::faults;
use super::otlp::{Destination, OtlpArguments};
use super::page::{Page, PageArguments, PageSources};
use super::record::target;
use crate::here;
use crate::log::{self, LogListener};

/// A run without a recording.
pub(crate) struct UnrecordedRun<'u> {
    pub(crate) label: &'u str,
    pub(crate) transport: &'u str,
    pub(crate) redacted: bool,
    pub(crate) limit_bytes: usize,
    /// The rules for secrets, in case anything is written.
    pub(crate) rules: Box<dyn FnOnce() -> anyhow::Result<Arc<Rules>> + 'u>,
}

/// The readers of a tape that is being written.
pub(crate) struct Readers<'r> {
    pub(crate) page: &'r PageArguments,
    pub(crate) otlp: &'r OtlpArguments,
    pub(crate) destination: Destination,
    pub(crate) beside: &'r PageSources<'r>,
}

/// A recorder, its listener for the log, and the readers of its tape.
pub(crate) struct Running {
    pub(crate) recorder: Arc<Recorder>,
    log_listener: Option<LogListener>,
    // Whether the recording is kept.
    is_kept: bool,
    _page: Option<Page>,
    behind: Option<Behind>,
    // Dropped after the readers of its tape.
    _scratch: Option<Scratch>,
}

impl Running {
    /// Ends everything after the session. Returns how the recording finished.
    pub(crate) fn end(self, verbose: bool) -> Finished {
        let finished = self.recorder.finish();
        if self.is_kept {
            log::recorded(self.log_listener, &finished);
        } else {
            log::served(self.log_listener, &self.recorder);
        }
        if let Some(behind) = self.behind {
            behind.finish(verbose);
        }
        finished
    }
}

impl Readers<'_> {
    /// Starts a recorder with these settings, and the readers of its tape.
    pub(crate) fn start(
        self,
        mut settings: Settings,
        log_listener: Option<LogListener>,
        clock: Clock,
    ) -> anyhow::Result<Running> {
        let page = self.page.of_recorder(&settings, None, self.beside, None)?;
        let sending = self.otlp.start(self.destination)?;
        let behind = Behind::start(sending, false, &mut settings, None)?;
        let recorder = Recorder::start(settings, clock);
        let recorder = recorder.context("cannot start the recorder")?;
        Ok(Running {
            recorder: Arc::new(recorder),
            log_listener,
            is_kept: true,
            _page: page,
            behind,
            _scratch: None,
        })
    }

    /// Starts the recorder of an unrecorded run. If there are readers, the tape is in a temporary
    /// folder until the end.
    pub(crate) fn start_unrecorded(
        self,
        run: UnrecordedRun<'_>,
        clock: Clock,
    ) -> anyhow::Result<Running> {
        if self.page.is_asked() || self.destination.is_somewhere() {
            let scratch = Scratch::create().context("cannot create a folder for the tape")?;
            let (settings, log_listener) = run.settings(&scratch, self.beside, clock)?;
            let running = self.start(settings, log_listener, clock)?;
            return Ok(Running {
                is_kept: false,
                _scratch: Some(scratch),
                ..running
            });
        }
        let control = self.beside.control;
        let (recorder, log_listener) =
            faults::unrecorded(control, run.limit_bytes, run.rules, clock)?;
        Ok(Running {
            recorder,
            log_listener,
            is_kept: false,
            _page: None,
            behind: None,
            _scratch: None,
        })
    }
}

impl UnrecordedRun<'_> {
    fn settings(
        self,
        scratch: &Scratch,
        beside: &PageSources<'_>,
        clock: Clock,
    ) -> anyhow::Result<(Settings, Option<LogListener>)> {
        let (judging, log_listener) = log::heard(faults::watched(beside.control, None), false)?;
        let name = format!("{}.tape.jsonl", target::plain(self.label));
        let rules = (self.rules)()?;
        let settings = Settings {
            target: Target::tape_only(&scratch.0.join(name)),
            durability: Durability::Queue,
            // It never delays the traffic: events that cannot be shown in time become a gap.
            when_full: WhenFull::Gap,
            limit_bytes: self.limit_bytes,
            header: Header {
                tape: VERSION.to_owned(),
                created: target::timestamp(clock.created),
                by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
                transport: self.transport.to_owned(),
                label: self.label.to_owned(),
                made_in: here::made_in(),
                pid: std::process::id(),
                redacted: self.redacted,
                ..Header::default()
            },
            command: Vec::new(),
            rules: Box::new(move || rules),
            judging,
            operations: None,
        };
        Ok((settings, log_listener))
    }
}

/// A temporary folder that is removed when dropped.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn create() -> io::Result<Self> {
        let folder = std::env::temp_dir();
        let process = std::process::id();
        for attempt in 0..ATTEMPTS {
            let path = folder.join(format!("tapewright-page-{process}-{attempt}"));
            match tapewright_proxy::system::files::create_own_folder(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

const ATTEMPTS: u32 = 1_000;

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed cannot be reported from here.
        fs::remove_dir_all(&self.0).ok();
    }
}
