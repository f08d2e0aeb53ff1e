//! The tape file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use tapewright_schemas::event::{Direction, Event, EventBody, Gap, GapReason, Offset, SessionKey};
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::slices::{Front as _, Part as _};
use tapewright_schemas::tape::{Encoder, Header, TapeFailure};
use tracing::{info, warn};

use super::counted::Counted;
use super::finish::{Failure, Finished, Projection};
use super::follow::{self, Facts, Follower, Progress};
use super::judging::Bench;
use super::names::create_tape;
use super::order::Order;
use super::queue::{Disk, payload_bytes};
use super::stats::Amount;
use super::{Durability, Judging, Settings, Target};
use crate::operations::Operations;
use crate::system::files::Identity;

/// The maximum size of encoded text before a write, in bytes.
const WRITE_SIZE: usize = 256 * 1024;

/// The size above which one of many tapes frees its buffer, in bytes.
const TRIM_SIZE: usize = 16 * 1024;

/// One encoded line that is not written yet.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where it ends in the encoded text.
    end: usize,
    /// What is missing if it is not written.
    events: u64,
    bytes: u64,
    /// It reports an earlier loss.
    tells_gap: bool,
}

/// Encodes events and appends them to the tape.
///
/// A failing disk never stops the traffic: what could not be written is counted, the file is
/// truncated to its last whole line, and every later batch tries again.
#[derive(Debug)]
pub(crate) struct TapeWriter {
    encoder: Encoder,
    order: Order,
    header: Header,
    target: Target,
    // The files at the cassette's and the capture's paths at the start.
    before: [Option<Identity>; 2],
    file: Option<Arc<File>>,
    disk: Arc<Disk>,
    path: PathBuf,
    number: u32,
    // Encoded lines that are not written yet, their content in numbers, and the end of each.
    out: Vec<u8>,
    unwritten: Gap,
    lines: Vec<Line>,
    // Bytes of whole lines in the file, and how many of the lines are events.
    good: u64,
    events: u64,
    lost: Gap,
    // The total loss, including losses already reported on the tape.
    lost_ever: Amount,
    // The first error.
    problem: Option<Failure>,
    // The judge's state.
    bench: Option<Bench>,
    // Counts operations that are on the tape.
    counted: Option<Counted>,
    // Projects the tape while it is written, from this length.
    follower: Option<Follower>,
    follow_from: u64,
    progress: Arc<Progress>,
    // What the encoder knows about the lines that are not written yet, for the follower.
    facts: Vec<Facts>,
    finished: bool,
}

impl TapeWriter {
    /// Creates the file and writes the header. A failure is stored as a problem.
    pub(crate) fn create(settings: Settings, disk: Arc<Disk>) -> Self {
        let Settings {
            target,
            mut header,
            command,
            rules,
            durability,
            judging,
            operations,
            ..
        } = settings;
        let mut redactor = Redactor::new(rules());
        redact_header(&mut redactor, &mut header, &command);
        Self::open(
            target,
            header,
            redactor,
            judging.map(|one| (one, durability)),
            operations,
            disk,
        )
    }

    /// Creates the file with a redacted header.
    pub(crate) fn open(
        target: Target,
        header: Header,
        redactor: Redactor,
        judging: Option<(Judging, Durability)>,
        operations: Option<Arc<Operations>>,
        disk: Arc<Disk>,
    ) -> Self {
        let judge = judging
            .as_ref()
            .and_then(|(judging, durability)| judging.of(&header, *durability));
        let before = [&target.cassette, &target.capture]
            .map(|path| path.as_ref().and_then(|path| Identity::of(path)));
        let counted = operations.map(|operations| Counted::new(operations, &header));
        let encoder = Encoder::new(redactor).with_judge(judge);
        let mut tape = Self {
            encoder: if counted.is_some() {
                encoder.with_gists()
            } else {
                encoder
            },
            order: Order::default(),
            header,
            path: target.tape.clone(),
            target,
            before,
            file: None,
            disk,
            number: 1,
            out: Vec::new(),
            unwritten: Gap::default(),
            lines: Vec::new(),
            good: 0,
            events: 0,
            lost: Gap::default(),
            lost_ever: Amount::default(),
            problem: None,
            bench: judging.map(|(judging, _)| Bench::new(judging)),
            counted,
            follower: None,
            follow_from: follow::FROM,
            progress: Arc::default(),
            facts: Vec::new(),
            finished: false,
        };
        match tape
            .disk
            .call(|| create_tape(&tape.target.tape, tape.target.cassette.as_deref()))
        {
            Ok((file, path, number)) => {
                tape.file = Some(Arc::new(file));
                tape.path = path;
                tape.number = number;
            }
            Err(error) => tape.problem = Some((TapeFailure::NotCreated, error.to_string())),
        }
        tape.tell_created();
        tape.flush();
        tape
    }

    /// Logs the path of the tape, or that there is none.
    fn tell_created(&self) {
        let session = self.header.session;
        let file = self.path.display();
        match &self.problem {
            None => {
                info!(name: "tape_created", target: "tapewright::record", session, %file);
            }
            Some((why, detail)) => {
                let (why, detail) = (why.name(), detail.as_str());
                warn!(name: "tape_failed", target: "tapewright::record", session, %file, why, detail);
            }
        }
    }

    /// Adds an event, which is written with the next [`flush`](Self::flush).
    pub(crate) fn encode(&mut self, event: &mut Event) {
        self.order.set(event);
        if self.lost.events > 0 && self.unwritten.events == 0 {
            self.tell_gap(event.at);
        }
        let position = self.good + self.out.len() as u64;
        if let Some(facts) = self.encoder.encode(event, &mut self.out) {
            self.facts.push((position, facts));
        }
        self.line(1, payload_bytes(event) as u64);
        if let Some(bench) = &mut self.bench {
            bench.note(event);
            self.write_findings();
        }
        if self.out.len() >= WRITE_SIZE {
            self.flush();
        }
    }

    /// Writes the added events; returns the length of the tape.
    pub(crate) fn flush(&mut self) -> u64 {
        if self.good == 0 {
            // Nothing before the header, even if the first attempts failed.
            let events = std::mem::take(&mut self.out);
            self.header.write(&mut self.out);
            let header = self.out.len();
            self.out.extend_from_slice(&events);
            for line in &mut self.lines {
                line.end += header;
            }
        }
        if self.out.is_empty() {
            return self.good;
        }
        let written = match &self.file {
            Some(file) => write_all(file, &self.disk, &self.out),
            None => Err((0, io::ErrorKind::NotFound.into())),
        };
        match written {
            Ok(()) => {
                self.good += self.out.len() as u64;
                self.events += self.lines.len() as u64;
                self.unwritten = Gap::default();
                if let Some(counted) = &mut self.counted {
                    counted.written(self.encoder.gists(), u64::MAX);
                }
                self.let_follow(self.out.len() as u64);
            }
            Err((written, error)) => self.give_up(written, &error),
        }
        self.out.clear();
        self.lines.clear();
        self.facts.clear();
        self.good
    }

    /// Publishes the new length to the follower, after a write of this many bytes.
    fn let_follow(&mut self, written: u64) {
        self.progress.set(self.good, &mut self.facts);
        if let Some(follower) = &self.follower {
            // It writes to the disk as well.
            self.disk.call(|| follower.keep_up(written));
        }
        let wanted = self.target.cassette.is_some() || self.target.capture.is_some();
        if wanted && self.good >= self.follow_from {
            // Only once: a tape that cannot be followed is projected at the end.
            self.follow_from = u64::MAX;
            self.follower = Follower::start(&self.path, &self.target, &self.progress);
            if self.follower.is_some() {
                self.encoder.tell_facts();
            }
        }
    }

    /// Updates the time for the judge and the counters, and writes resulting findings.
    pub(crate) fn tick(&mut self, now: Offset) {
        if self.finished {
            return;
        }
        if self.bench.is_some() {
            self.encoder.tick_judge(now);
            self.write_findings();
            self.flush();
        }
        if let Some(counted) = &mut self.counted {
            counted.tick(now);
        }
    }

    /// Writes new findings of the judge.
    fn write_findings(&mut self) {
        while let Some(mut event) = self.encoder.poll_judge() {
            if let Some(bench) = &mut self.bench {
                bench.complete(&mut event, self.encoder.redactor());
                self.order.set(&mut event);
                self.encoder.encode(&event, &mut self.out);
                event.seq = self.encoder.events();
                bench.tell(&event);
                self.line(1, 0);
            }
        }
    }

    /// Notes an encoded line.
    fn line(&mut self, events: u64, bytes: u64) {
        self.unwritten.events += events;
        self.unwritten.bytes += bytes;
        let end = self.out.len();
        self.lines.push(Line {
            end,
            events,
            bytes,
            tells_gap: false,
        });
    }

    /// The file, for syncing.
    pub(crate) fn file(&self) -> Option<Arc<File>> {
        self.file.clone()
    }

    /// The number of the client's pending requests.
    pub(crate) fn owed(&self) -> usize {
        self.encoder.owed().count(Direction::ToServer)
    }

    /// Whether the footer has been written.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Writes the footer and the projections.
    pub(crate) fn finish(&mut self, now: Offset) -> Finished {
        let mut finished = self.close(now);
        let drafts = self.follower.take().and_then(Follower::finish);
        if self.file.is_some() {
            let projection = Projection {
                tapes: std::slice::from_ref(&self.path),
                number: self.number,
                target: &self.target,
                before: &self.before,
                ours: [false; 2],
                together: true,
            };
            projection.write(drafts.unwrap_or_default(), &mut finished);
            if let Some(tape) = &finished.tape {
                self.path.clone_from(tape);
            }
        }
        finished
    }

    /// Writes the footer.
    pub(crate) fn close(&mut self, now: Offset) -> Finished {
        self.finished = true;
        self.encoder.end_judge(now);
        self.write_findings();
        if self.lost.events > 0 {
            self.tell_gap(now);
        }
        let footer = self
            .encoder
            .footer(self.order.of(now).0, self.problem.clone());
        footer.write(&mut self.out);
        self.flush();
        let mut gaps = self.encoder.gaps();
        if self.lost.events > 0 {
            gaps.add(&self.lost);
        }
        if let Some(counted) = self.counted.take() {
            counted.finish(Offset(footer.at_us));
        }
        Finished {
            tape: self.file.is_some().then(|| self.path.clone()),
            events: self.events,
            gaps,
            findings: self.bench.as_ref().map(Bench::found).unwrap_or_default(),
            lost: self.problem.take(),
            ..Finished::default()
        }
    }

    /// Writes to another file from now on; returns the previous one.
    #[cfg(test)]
    pub(super) fn swap_file(&mut self, file: Arc<File>) -> Option<Arc<File>> {
        self.file.replace(file)
    }

    /// What the disk did not take so far.
    pub(crate) fn lost(&self) -> Amount {
        self.lost_ever
    }

    /// Frees the memory of a large batch.
    pub(crate) fn trim(&mut self) {
        if self.out.capacity() > TRIM_SIZE {
            self.out = Vec::new();
        }
    }

    /// Removes the tape, which is empty.
    pub(crate) fn remove(&mut self) {
        if self.file.take().is_some() {
            // A tape that cannot be removed is empty and harmless.
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Counts the loss if only the first bytes of a batch could be written.
    fn give_up(&mut self, written: usize, error: &io::Error) {
        let lines = std::mem::take(&mut self.lines);
        let kept = lines.partition_point(|line| line.end <= written);
        if let Some(counted) = &mut self.counted {
            let missing = (lines.len() - kept) as u64;
            let whole = self.encoder.events().saturating_sub(missing);
            counted.written(self.encoder.gists(), whole);
        }
        for line in lines.iter().skip(kept) {
            self.lost.events += line.events;
            self.lost.bytes += line.bytes;
            if line.tells_gap {
                self.encoder.take_back_gap(line.events, line.bytes);
            } else {
                self.lost_ever.events += line.events;
                self.lost_ever.bytes += line.bytes;
            }
        }
        let last = kept.checked_sub(1).and_then(|last| lines.get(last));
        self.good += last.map_or(0, |line| line.end as u64);
        self.events += kept as u64;
        self.unwritten = Gap::default();
        if self.problem.is_none() {
            let (session, file) = (self.header.session, self.path.display());
            let (failure, detail) = (TapeFailure::NotWritten, error.to_string());
            let why = failure.name();
            warn!(name: "tape_failed", target: "tapewright::record", session, %file, why, detail);
            self.problem = Some((failure, detail));
        }
        if let Some(file) = &self.file {
            // A partial line would make the rest of the tape unreadable.
            drop(file.set_len(self.good));
        }
        // The follower may have read bytes that were truncated.
        self.follower = None;
        self.follow_from = u64::MAX;
    }

    /// Records the gap, when the tape can be written again.
    fn tell_gap(&mut self, at: Offset) {
        let mut gap = std::mem::take(&mut self.lost);
        gap.why = GapReason::Disk;
        gap.detail = self.problem.as_ref().map(|(_, detail)| detail.clone());
        let (events, bytes) = (gap.events, gap.bytes);
        let event = Event {
            session: SessionKey(self.header.session.unwrap_or_default()),
            ..Event::new(self.order.of(at), Direction::ToClient, EventBody::Gap(gap))
        };
        self.encoder.encode(&event, &mut self.out);
        self.line(events, bytes);
        if let Some(line) = self.lines.last_mut() {
            line.tells_gap = true;
        }
    }
}

/// Redacts a header.
pub(crate) fn redact_header(redactor: &mut Redactor, header: &mut Header, command: &[Vec<u8>]) {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    header.command = redactor.argv(command).into_iter().map(text).collect();
    header.cwd = text(redactor.text(header.cwd.as_bytes()).into_owned());
    header
        .made_in
        .hide(|path| *redactor.text(path.as_bytes()) != *path.as_bytes());
    header.label = text(redactor.text(header.label.as_bytes()).into_owned());
    header.upstream = redactor.url(&header.upstream);
}

/// The maximum size of one write, in bytes: a disk that completes it is slow, but has not stalled.
const MOST_AT_ONCE: usize = 1 << 20;

/// Writes all of `bytes`; an error contains the number of bytes written before it.
fn write_all(mut file: &File, disk: &Disk, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        let next = bytes.part(written..).front(MOST_AT_ONCE);
        match disk.call(|| file.write(next)) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
