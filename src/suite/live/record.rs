//! Records the traffic of a server during its conversation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Durability, Recorder, Settings, Tapped, Target, WhenFull};
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use super::servers::{HeadSink, Shape};
use crate::command::record::target;

/// A recorder for one server.
pub(super) struct Taped {
    file: PathBuf,
    recorder: Arc<Recorder>,
    upstream: Arc<Tapped>,
}

/// The settings for recording a server whose client uses this transport.
pub(super) fn settings(
    target: Target,
    server: &str,
    transport: &str,
    rules: &Arc<Rules>,
    clock: Clock,
) -> Settings {
    let rules = Arc::clone(rules);
    Settings {
        target,
        durability: Durability::Queue,
        when_full: WhenFull::Wait,
        limit_bytes: LONGEST_MESSAGE,
        header: Header {
            tape: VERSION.to_owned(),
            created: target::timestamp(clock.created),
            by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
            transport: transport.to_owned(),
            label: server.to_owned(),
            made_in: crate::here::made_in(),
            pid: std::process::id(),
            durability: Durability::Queue.name().to_owned(),
            when_full: WhenFull::Wait.name().to_owned(),
            max_message_bytes: LONGEST_MESSAGE as u64,
            redacted: true,
            ..Header::default()
        },
        command: Vec::new(),
        rules: Box::new(move || rules),
        judging: None,
        operations: None,
    }
}

/// The longest message that is recorded whole, in bytes.
const LONGEST_MESSAGE: usize = 64 << 20;

/// The cassette of a server in a folder: `FOLDER/SERVER.json`.
pub(super) fn file(folder: &Path, server: &str, revision: Option<&str>) -> PathBuf {
    let plain = |char: char| match char {
        '/' | '\\' | '\0'..='\u{1f}' => '_',
        other => other,
    };
    let name: String = server.chars().map(plain).collect();
    folder.join(match revision {
        Some(revision) => format!("{name}-{revision}.json"),
        None => format!("{name}.json"),
    })
}

/// The path to record a server to, in a folder that is created if missing.
pub(super) fn target(
    file: &Path,
    server: &str,
    times: bool,
    clock: Clock,
) -> anyhow::Result<Target> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("`{}` cannot be made", folder.display()))?;
    }
    let target = target::of(Some(file), server, clock.created)?;
    Ok(if times { target.with_times() } else { target })
}

impl Taped {
    /// Starts recording a server to a cassette.
    pub(super) fn start(
        file: PathBuf,
        settings: Settings,
        inner: &Arc<Shape>,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let recorder = Recorder::start(settings, clock);
        let recorder = Arc::new(recorder.context("cannot start the recorder")?);
        let inner: Arc<dyn Upstream> = Arc::<Shape>::clone(inner);
        Ok(Self {
            file,
            upstream: Arc::new(Tapped::new(inner, Arc::clone(&recorder), clock)),
            recorder,
        })
    }

    /// The server, with its traffic recorded.
    pub(super) fn upstream(&self) -> &Tapped {
        &self.upstream
    }

    /// Receives the heads of HTTP responses while there is a recording.
    pub(super) fn heads(&self) -> HeadSink {
        let tapped = Arc::downgrade(&self.upstream);
        Box::new(move |head| {
            if let Some(tapped) = tapped.upgrade() {
                tapped.note_head(head);
            }
        })
    }

    /// Finishes the cassette, and returns notes about it.
    pub(super) fn finish(self) -> Vec<String> {
        let finished = self.recorder.finish();
        if finished.is_whole() {
            return Vec::new();
        }
        vec![format!(
            "the recording `{}` is incomplete",
            self.file.display()
        )]
    }
}
