//! The traffic of a server, recorded beside the conversation with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Durability, Recorder, Settings, WhenFull};
use tapewright_proxy::upstream::{ChunkSink, ChunkSource, Link, OpenError, ReadResult, Upstream};
use tapewright_schemas::event::{CloseReason, Direction, Event, EventBody, LineEnd, Payload};
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::{Header, VERSION};

use super::servers::Shape;
use crate::command::record::target;

/// A recorder for one server.
pub(super) struct Taped {
    file: PathBuf,
    recorder: Arc<Recorder>,
    clock: Clock,
}

/// A server whose traffic is recorded.
pub(super) struct Around {
    inner: Arc<Shape>,
    recorder: Arc<Recorder>,
    clock: Clock,
}

/// The longest message that is recorded whole, in bytes.
const LONGEST_MESSAGE: usize = 64 << 20;

impl Taped {
    /// Starts recording a server into `FOLDER/SERVER.json`.
    pub(super) fn start(
        folder: &Path,
        server: &str,
        revision: Option<&str>,
        rules: &Arc<Rules>,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("`{}` cannot be made", folder.display()))?;
        let plain = |char: char| match char {
            '/' | '\\' | '\0'..='\u{1f}' => '_',
            other => other,
        };
        let name: String = server.chars().map(plain).collect();
        let file = match revision {
            Some(revision) => format!("{name}-{revision}.json"),
            None => format!("{name}.json"),
        };
        let file = folder.join(file);
        let rules = Arc::clone(rules);
        let settings = Settings {
            target: target::of(Some(&file), server, clock.created)?,
            durability: Durability::Queue,
            when_full: WhenFull::Wait,
            limit_bytes: LONGEST_MESSAGE,
            header: Header {
                tape: VERSION.to_owned(),
                created: target::timestamp(clock.created),
                by: concat!("tapewright ", env!("CARGO_PKG_VERSION")).to_owned(),
                transport: "stdio".to_owned(),
                label: server.to_owned(),
                pid: std::process::id(),
                durability: Durability::Queue.name().to_owned(),
                when_full: WhenFull::Wait.name().to_owned(),
                max_message_bytes: LONGEST_MESSAGE as u64,
                redacted: true,
                ..Header::default()
            },
            command: Vec::new(),
            rules: Box::new(move || rules),
        };
        let recorder = Recorder::start(settings, clock);
        let recorder = recorder.context("the recorder could not be started")?;
        Ok(Self {
            file,
            recorder: Arc::new(recorder),
            clock,
        })
    }

    /// The server, recorded.
    pub(super) fn around(&self, inner: &Arc<Shape>) -> Around {
        Around {
            inner: Arc::clone(inner),
            recorder: Arc::clone(&self.recorder),
            clock: self.clock,
        }
    }

    /// Finishes the cassette; what is to be said about it.
    pub(super) fn finish(self) -> Vec<String> {
        let finished = self.recorder.finish();
        if finished.is_whole() {
            return Vec::new();
        }
        vec![format!(
            "the recording `{}` is not whole",
            self.file.display()
        )]
    }
}

impl Upstream for Around {
    fn open(&self) -> Result<Link, OpenError> {
        let link = self.inner.open()?;
        let tap = |dir| Tap {
            dir,
            recorder: Arc::clone(&self.recorder),
            clock: self.clock,
            line: Vec::new(),
        };
        let mut opened = tap(Direction::ToClient);
        opened.event(EventBody::Opened(link.peer.clone()));
        Ok(Link {
            to_server: Box::new(TapedSink {
                inner: link.to_server,
                tap: tap(Direction::ToServer),
            }),
            to_client: Box::new(TapedSource {
                inner: link.to_client,
                tap: opened,
            }),
            ..link
        })
    }
}

/// Cuts one direction into lines and records them.
struct Tap {
    dir: Direction,
    recorder: Arc<Recorder>,
    clock: Clock,
    line: Vec<u8>,
}

impl Tap {
    fn take(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.last() != Some(&b'\n') {
                continue;
            }
            self.line.pop();
            let end = if self.line.last() == Some(&b'\r') {
                self.line.pop();
                LineEnd::CrLf
            } else {
                LineEnd::Lf
            };
            self.message(end);
        }
        // A message without an end is not held for ever.
        if self.line.len() > LONGEST_MESSAGE {
            self.message(LineEnd::None);
        }
    }

    fn message(&mut self, end: LineEnd) {
        let line = Bytes::from(std::mem::take(&mut self.line));
        let payload = if line.len() > LONGEST_MESSAGE {
            Payload::Clipped {
                len: line.len() as u64,
                head: line.slice(..HEAD),
            }
        } else {
            Payload::Whole(line)
        };
        self.event(EventBody::Message { payload, end });
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            self.message(LineEnd::None);
        }
        self.event(EventBody::Closed(CloseReason::EndOfInput));
    }

    fn event(&mut self, body: EventBody) {
        let mut event = Some(Event::new(self.clock.now(), self.dir, body));
        self.recorder.record(|| event.take());
        self.recorder.keep_pace();
    }
}

/// How much of a message is kept that is too long.
const HEAD: usize = 4 << 10;

struct TapedSink {
    inner: Box<dyn ChunkSink>,
    tap: Tap,
}

impl ChunkSink for TapedSink {
    /// A request is on the tape before its answer can be.
    fn write(&mut self, chunk: &[u8]) -> std::io::Result<()> {
        self.tap.take(chunk);
        self.inner.write(chunk)
    }
}

impl Drop for TapedSink {
    fn drop(&mut self) {
        self.tap.end();
    }
}

struct TapedSource {
    inner: Box<dyn ChunkSource>,
    tap: Tap,
}

impl ChunkSource for TapedSource {
    fn read(
        &mut self,
        space: &mut Vec<u8>,
        timeout: Option<Duration>,
    ) -> std::io::Result<ReadResult> {
        let before = space.len();
        let result = self.inner.read(space, timeout)?;
        match result {
            ReadResult::Bytes(_) => self.tap.take(space.get(before..).unwrap_or_default()),
            ReadResult::End => self.tap.end(),
            ReadResult::TimedOut => {}
        }
        Ok(result)
    }
}
