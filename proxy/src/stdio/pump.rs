//! One direction: read, pass on, record.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tapewright_engine::Lane;
use tapewright_engine::policy::{Policy, SideAction};
use tapewright_schemas::event::{CloseReason, Offset};

use crate::clock::Clock;
use crate::record::Recorder;
use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

/// One direction of a session, ready to run on a thread of its own.
pub(crate) struct Pump<P: Policy> {
    pub(crate) lane: Lane<P>,
    pub(crate) source: Box<dyn ChunkSource>,
    pub(crate) sink: Box<dyn ChunkSink>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) gauge: Arc<Gauge>,
    /// Does what is to be done beside this direction.
    pub(crate) beside: Box<dyn FnMut(SideAction) + Send>,
}

/// How one direction ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) reason: CloseReason,
    /// When its end was seen; it was passed on when the pump returned.
    pub(crate) seen: Offset,
}

/// How soon a sender that is not read from is looked after again.
const STALL: Duration = Duration::from_millis(5);

/// What can be seen of a pump from outside.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    busy: AtomicBool,
    moves: AtomicU64,
    over: AtomicBool,
}

impl Gauge {
    /// Whether something that was read is being worked on: judged, changed, recorded, or
    /// written to a receiver that is slow.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Grows with every read and write.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// The session is over: a pump that does not read would not learn it otherwise.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Something was read or written.
    pub(crate) fn moved(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }
}

impl<P: Policy> Drop for Pump<P> {
    fn drop(&mut self) {
        self.gauge.set_busy(false);
    }
}

impl<P: Policy> Pump<P> {
    /// Runs until one side is done. Both ends are closed when it returns.
    pub(crate) fn run(mut self) -> End {
        loop {
            let seen = self.step();
            if self.record_and_pass_on().is_err() {
                self.lane
                    .handle_close(self.clock.now(), CloseReason::ReceiverGone);
                self.record();
            }
            if let Some(reason) = self.lane.closed() {
                return End { reason, seen };
            }
        }
    }

    /// Takes what comes next; when that was.
    fn step(&mut self) -> Offset {
        let timeout = self
            .lane
            .poll_timeout()
            .map(|at| Duration::from_micros(at.since(self.clock.now()).0));
        // A sender that has gone sends no more than is there already, and must be seen to
        // have gone.
        if self.lane.is_stalled() && !self.source.is_over() {
            return self.stall(timeout.map_or(STALL, |timeout| timeout.min(STALL)));
        }
        let space = self.lane.space();
        self.gauge.set_busy(false);
        let read = self.source.read(space, timeout);
        self.gauge.set_busy(true);
        self.gauge.moved();
        let now = self.clock.now();
        match read {
            Ok(ReadResult::Bytes(_)) => {
                self.lane.made_by(self.source.maker());
                self.lane.handle_input(now);
            }
            Ok(ReadResult::TimedOut) => self.lane.handle_timeout(now),
            Ok(ReadResult::End) => self.lane.handle_eof(now),
            Err(_) => self.lane.handle_close(now, CloseReason::Failed),
        }
        now
    }

    /// Lets a time pass in which nothing is read, so that the sender's pipe fills up.
    fn stall(&mut self, time: Duration) -> Offset {
        if self.gauge.is_over() {
            let now = self.clock.now();
            self.lane.handle_close(now, CloseReason::Failed);
            return now;
        }
        self.gauge.set_busy(false);
        std::thread::sleep(time);
        self.gauge.set_busy(true);
        let now = self.clock.now();
        self.lane.handle_timeout(now);
        now
    }

    /// Events first: an answer must not be on the tape before its request. Waiting for a
    /// full queue comes last, so that it delays the next read and not these bytes. Where there
    /// is none any more, it would delay the end.
    fn record_and_pass_on(&mut self) -> io::Result<()> {
        self.record();
        self.pass_on()?;
        if self.lane.closed().is_none() {
            self.recorder.keep_pace();
        }
        Ok(())
    }

    fn pass_on(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.lane.poll_transmit() {
            let written = self.sink.write(bytes);
            self.gauge.moved();
            written?;
            self.lane.transmitted();
        }
        while let Some(aside) = self.lane.poll_aside() {
            // Many clients never read a log, and nobody owes it to them.
            self.gauge.set_busy(false);
            (self.beside)(aside);
            self.gauge.set_busy(true);
        }
        Ok(())
    }

    fn record(&mut self) {
        let lane = &mut self.lane;
        self.recorder.record(|| lane.poll_event());
    }
}
